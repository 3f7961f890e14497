//! Numbers and times in the form people read: units, thousands separators, three digits that
//! matter. Sizes are binary (1 MB = 1,048,576 bytes), as the server's own settings are.

/// Bytes as `512 B`, `128 MB`, `1.5 GB`; at most three digits that matter.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = count as f64;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        // Switch where three digits would round up to 1024 of the smaller unit.
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", short(value))
}

/// A whole number with thousands separators: `9,420`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate: whole above 100, one decimal to 10, two below.
pub fn rate(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    if value >= 99.95 {
        // Rates are far below 2^63; the cast saturates otherwise.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return count(value.round() as u64);
    }
    short(value)
}

/// A share of one as a percentage: `0.4 %`, `61 %`; never `100 %` or `0 %` for something in between.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    if !value.is_finite() {
        "unknown".to_owned()
    } else if value > 0.0 && value < 0.1 {
        "under 0.1 %".to_owned()
    } else if value < 9.95 {
        format!("{} %", trim(format!("{value:.1}")))
    } else if value > 99.0 && value < 100.0 {
        format!("{} %", trim(format!("{:.1}", value.min(99.9))))
    } else {
        format!("{value:.0} %")
    }
}

/// A span of time in the two largest units people use: `41 days`, `2 h 5 min`, `10 s`, `0.9 ms`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    if seconds < 1e-3 {
        return format!("{} us", short(seconds * 1e6));
    }
    if seconds < 1.0 {
        return format!("{} ms", short(seconds * 1e3));
    }
    if seconds < 59.5 {
        return format!("{} s", short(seconds));
    }
    // Bounded below by 59.5 above; the cast saturates for absurd spans.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = seconds.round() as u64;
    let (days, hours, minutes, rest) =
        (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60, whole % 60);
    match (days, hours, minutes) {
        (0, 0, _) if rest == 0 => format!("{minutes} min"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, 0) => format!("{hours} h"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (1, 0, _) => "1 day".to_owned(),
        (1, _, _) => format!("1 day {hours} h"),
        _ => format!("{} days", count(days)),
    }
}

/// The text with a capital at its start, unless it starts with the name of a variable.
pub(crate) fn sentence_start(text: &str) -> String {
    let mut text = text.to_owned();
    let is_name = text.split(' ').next().is_some_and(|word| word.contains('_'));
    if let Some(first) = text.get_mut(..1).filter(|_| !is_name) {
        first.make_ascii_uppercase();
    }
    text
}

/// Three digits that matter, without trailing zeros.
fn short(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        trim(format!("{value:.1}"))
    } else {
        trim(format!("{value:.2}"))
    }
}

fn trim(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_three_digits_and_binary_units() {
        for (input, expected) in [
            (0, "0 B"),
            (1, "1 B"),
            (1023, "1023 B"),
            (1024, "1 KB"),
            (134_217_728, "128 MB"),
            (1_610_612_736, "1.5 GB"),
            (10_995_116_277_760, "10 TB"),
            (u64::MAX, "16 EB"),
        ] {
            assert_eq!(bytes(input), expected);
        }
    }

    #[test]
    fn thousands_are_separated_from_one_to_ten_to_the_thirteen() {
        assert_eq!(count(1), "1");
        assert_eq!(count(9_420), "9,420");
        assert_eq!(count(10_000_000_000_000), "10,000,000,000,000");
    }

    #[test]
    fn shares_between_none_and_all_never_look_like_either() {
        assert_eq!(percent(0.000_04), "under 0.1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.999_99), "99.9 %");
        assert_eq!(percent(0.61), "61 %");
        assert_eq!(percent(1.0), "100 %");
    }

    #[test]
    fn spans_use_the_units_people_use() {
        for (input, expected) in [
            (0.000_05, "50 us"),
            (0.0009, "900 us"),
            (0.0123, "12.3 ms"),
            (10.0, "10 s"),
            (59.9, "1 min"),
            (7_500.0, "2 h 5 min"),
            (3_542_400.0, "41 days"),
        ] {
            assert_eq!(duration(input), expected);
        }
    }
}
