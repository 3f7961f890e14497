//! One piece of evidence in words: its name without the unit, its value with it.

use innopool_advice::EvidenceItem;
use innopool_advice::words;
use serde_json::Value;

/// The name as a person says it: `disk_reads_per_second` is "disk reads".
pub(super) fn name(item: &EvidenceItem) -> String {
    let suffix = format!("_{}", item.unit);
    let stem = item
        .name
        .strip_suffix(&suffix)
        .filter(|stem| !item.unit.is_empty() && !stem.is_empty())
        .unwrap_or(&item.name);
    stem.replace('_', " ")
}

/// The value with its unit: `9,420/s`, `128 MB`, `501 of 1000`.
pub(super) fn value(item: &EvidenceItem) -> String {
    match &item.value {
        Value::Null => "unknown".to_owned(),
        Value::Bool(flag) => (if *flag { "yes" } else { "no" }).to_owned(),
        Value::Number(number) => match number.as_u64() {
            Some(count) => whole(count, item.unit),
            None => number
                .as_f64()
                .map_or_else(|| number.to_string(), |value| fraction(value, item.unit)),
        },
        Value::String(text) if item.unit.is_empty() => text.clone(),
        Value::String(text) => format!("{text} {}", item.unit.replace('_', " ")),
        other => other.to_string(),
    }
}

fn whole(count: u64, unit: &str) -> String {
    match unit {
        "" => words::count(count),
        "bytes" => words::bytes(count),
        "bytes_per_second" => format!("{}/s", words::bytes(count)),
        "per_second" => format!("{}/s", words::count(count)),
        "per_mille" => format!("{} of 1000", words::count(count)),
        "seconds" | "ratio" => fraction(count as f64, unit),
        "pages" if count == 1 => "1 page".to_owned(),
        other => format!("{} {}", words::count(count), other.replace('_', " ")),
    }
}

fn fraction(value: f64, unit: &str) -> String {
    // Sizes in evidence are below 2^63 and the cast saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rounded = value.round().max(0.0) as u64;
    match unit {
        "bytes" | "bytes_per_second" if value >= 0.0 => whole(rounded, unit),
        "per_second" => format!("{}/s", signed(value)),
        "per_mille" => format!("{} of 1000", signed(value)),
        "seconds" if value >= 0.0 => words::duration(value),
        "ratio" => words::percent(value),
        "" => signed(value),
        other => format!("{} {}", signed(value), other.replace('_', " ")),
    }
}

fn signed(value: f64) -> String {
    if value < 0.0 { format!("-{}", words::rate(-value)) } else { words::rate(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, unit: &'static str, value: impl Into<Value>) -> EvidenceItem {
        EvidenceItem::new(name, unit, value, "a test")
    }

    #[test]
    fn values_carry_their_unit() {
        for (unit, given, expected) in [
            ("bytes", Value::from(134_217_728_u64), "128 MB"),
            ("pages", Value::from(8192), "8,192 pages"),
            ("pages", Value::from(1), "1 page"),
            ("per_second", Value::from(9420.4), "9,420/s"),
            ("per_second", Value::from(0.25), "0.25/s"),
            ("seconds", Value::from(0.0009), "900 us"),
            ("ratio", Value::from(0.61), "61 %"),
            ("per_mille", Value::from(501), "501 of 1000"),
            ("", Value::from(10_000_000_000_000_u64), "10,000,000,000,000"),
            ("", Value::from("O_DIRECT"), "O_DIRECT"),
            ("", Value::from(true), "yes"),
            ("", Value::Null, "unknown"),
            ("", Value::from(-3), "-3"),
            ("bytes_per_second", Value::from(1_048_576.0), "1 MB/s"),
        ] {
            assert_eq!(value(&item("x", unit, given)), expected);
        }
    }

    #[test]
    fn names_leave_the_unit_to_the_value() {
        assert_eq!(name(&item("disk_reads_per_second", "per_second", 1)), "disk reads");
        assert_eq!(name(&item("pages_free", "pages", 1)), "pages free");
        assert_eq!(name(&item("innodb_flush_method", "", "O_DIRECT")), "innodb flush method");
    }
}
