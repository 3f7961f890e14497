//! `/proc/meminfo` into the memory figures of [`Host`].

use crate::host::Host;
use crate::provenance::{Fact, Source};

/// Lines innopool reads.
const LABELS: &[&str] =
    &["MemTotal", "MemAvailable", "SwapTotal", "SwapFree", "HugePages_Total", "Hugepagesize"];

/// Reads what the text says; absent lines leave their figure unknown. All figures are bytes.
pub fn parse(text: &str, place: &str) -> Host {
    let bytes = |label: &str| {
        let (line, value, unit) = find(text, label)?;
        let value = match unit {
            "kB" => value.checked_mul(1024)?,
            _ => value,
        };
        Some(Fact::new(value, Source::at_line(place, line, label)))
    };
    let huge_pages_bytes = bytes("HugePages_Total").and_then(|count| {
        let size = bytes("Hugepagesize")?;
        let total = count.value.checked_mul(size.value)?;
        Some(Fact::new(total, count.source))
    });
    Host {
        ram_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        swap_total_bytes: bytes("SwapTotal"),
        swap_free_bytes: bytes("SwapFree"),
        huge_pages_bytes,
        ..Host::default()
    }
}

/// True for the line that a pasted `/proc/meminfo` begins with.
pub(crate) fn is_first_line(raw: &str) -> bool {
    label_of(raw).is_some_and(|(label, _, _)| label == "MemTotal")
}

/// True for any line of `/proc/meminfo`.
pub(crate) fn is_line(raw: &str) -> bool {
    label_of(raw).is_some()
}

/// The line if innopool reads it, without its blanks; else empty.
pub(crate) fn keep_line(raw: &str) -> String {
    match label_of(raw) {
        Some((label, value, unit)) if LABELS.contains(&label) => {
            format!("{label}: {value} {unit}").trim_end().to_owned()
        }
        _ => String::new(),
    }
}

fn find<'t>(text: &'t str, label: &str) -> Option<(u32, u64, &'t str)> {
    text.lines().zip(1..).find_map(|(raw, line)| {
        let (found, value, unit) = label_of(raw)?;
        (found == label).then_some((line, value, unit))
    })
}

/// `MemTotal:       32780424 kB`.
fn label_of(raw: &str) -> Option<(&str, u64, &str)> {
    let (label, rest) = raw.trim().split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_()".contains(c);
    if label.is_empty() || label.len() > 40 || !label.chars().all(plain) {
        return None;
    }
    let mut words = rest.split_whitespace();
    let value = words.next()?.parse().ok()?;
    let unit = words.next().unwrap_or("");
    let known = matches!(unit, "" | "kB") && words.next().is_none();
    known.then_some((label, value, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_bytes_with_their_lines() {
        let text = "MemTotal:       2000 kB\nMemFree: 1 kB\nMemAvailable:    900 kB\nSwapTotal: 0 kB\n\
                    HugePages_Total:       3\nHugepagesize:       2048 kB\n";
        let host = parse(text, "/proc/meminfo");
        let ram = host.ram_bytes.expect("RAM");
        assert_eq!(ram.value, 2_048_000);
        assert_eq!(ram.source.to_string(), "/proc/meminfo:1: MemTotal");
        assert_eq!(host.available_bytes.map(|f| f.value), Some(921_600));
        assert_eq!(host.swap_total_bytes.map(|f| f.value), Some(0));
        assert_eq!(host.swap_free_bytes, None);
        assert_eq!(host.huge_pages_bytes.map(|f| f.value), Some(6 << 20));
    }

    #[test]
    fn only_its_own_lines() {
        assert!(is_first_line("MemTotal:  5 kB"));
        assert!(!is_first_line("MemTotal: much"));
        assert!(!is_line("POOL_SIZE : 7 kB 9"));
        assert_eq!(keep_line("Active(file): 7 kB"), "");
        assert_eq!(keep_line("SwapFree:    7 kB"), "SwapFree: 7 kB");
    }
}
