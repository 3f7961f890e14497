//! Values as people type them: spans of time, sizes, accounts.

use std::time::Duration;

/// The longest look; beyond a day, collect twice instead.
const INTERVAL_MAX: Duration = Duration::from_secs(86_400);

/// Reads `10`, `10s`, `2m` or `1h`; 0 is allowed.
///
/// # Errors
/// What may be written.
pub(super) fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_span(text)?;
    if interval > INTERVAL_MAX {
        return Err("a look takes a day at most: 24h".to_owned());
    }
    Ok(interval)
}

/// Reads a time limit, which is not 0.
///
/// # Errors
/// What may be written.
pub(super) fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_span(text)? {
        Duration::ZERO => Err("a time limit is longer than 0".to_owned()),
        limit if limit > INTERVAL_MAX => Err("a time limit is a day at most".to_owned()),
        limit => Ok(limit),
    }
}

fn parse_span(text: &str) -> Result<Duration, String> {
    let wrong = || "write seconds, or a number with s, m or h: 10, 90s, 2m".to_owned();
    let (number, unit) = split_number(text);
    let seconds_of_unit = match unit.to_ascii_lowercase().as_str() {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds_of_unit).map_err(|_| wrong())
}

/// Reads a TCP port.
///
/// # Errors
/// What may be written.
pub(super) fn parse_port(text: &str) -> Result<u16, String> {
    match text.trim().parse() {
        Ok(port) if port != 0 => Ok(port),
        _ => Err("a port is a number from 1 to 65535".to_owned()),
    }
}

/// Reads a size as the server and `free` print it: `34359738368`, `32G`, `31.3GiB`, `512 MB`.
/// All units are binary, as the server's own are.
///
/// # Errors
/// What may be written.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "write bytes, or a number with K, M, G or T: 32G".to_owned();
    let (number, unit) = split_number(text);
    let unit = unit.to_ascii_lowercase();
    let stem = unit
        .strip_suffix("ib")
        .or_else(|| unit.strip_suffix('b'))
        .or_else(|| unit.strip_suffix('i'))
        .unwrap_or(&unit);
    let shift = match stem {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return Err(wrong()),
    };
    let bytes = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(1 << shift).ok_or_else(wrong)?,
        Err(_) => {
            let number: f64 = number.parse().map_err(|_| wrong())?;
            let bytes = number * (1_u64 << shift) as f64;
            // Bounded by the check; a fraction of a byte is dropped.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            if (0.0..9e18).contains(&bytes) {
                bytes as u64
            } else {
                return Err(wrong());
            }
        }
    };
    // Less than a server can run in is a mistake, most likely a missing unit ("32").
    if bytes < 1 << 20 {
        return Err("less than 1 MB; is the unit missing? Write 32G".to_owned());
    }
    Ok(bytes)
}

/// Digits and point, and what follows them.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// Reads `'user'@'host'`, with or without quotes; the host is `%` where it is left out.
///
/// # Errors
/// What may be written.
pub(crate) fn parse_account(text: &str) -> Result<(String, String), String> {
    let wrong = || "write an account as 'innopool'@'%'".to_owned();
    let text = text.trim();
    let (user, rest) = account_part(text, true).ok_or_else(wrong)?;
    let host = match rest.strip_prefix('@') {
        None if rest.is_empty() => "%".to_owned(),
        None => return Err(wrong()),
        Some(rest) => match account_part(rest, false) {
            Some((host, "")) if !host.is_empty() => host,
            _ => return Err(wrong()),
        },
    };
    if user.is_empty() {
        return Err("an account for innopool has a name: 'innopool'@'%'".to_owned());
    }
    let harmless = |part: &str| !part.chars().any(|c| c.is_control() || c == '\\');
    if harmless(&user) && harmless(&host) { Ok((user, host)) } else { Err(wrong()) }
}

/// One part of an account and what follows it. A quote inside quotes is doubled.
fn account_part(text: &str, is_user: bool) -> Option<(String, &str)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"' | '`')) else {
        let end = if is_user { text.rfind('@') } else { None }.unwrap_or(text.len());
        let (part, rest) = text.split_at(end);
        return (!part.contains(['\'', '"', '`'])).then(|| (part.to_owned(), rest));
    };
    let mut part = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character != quote {
            part.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            part.push(quote);
        } else {
            return Some((part, text.get(at + quote.len_utf8()..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time() {
        for (text, seconds) in [
            ("10", 10.0),
            ("10s", 10.0),
            ("2m", 120.0),
            ("2 min", 120.0),
            ("1h", 3600.0),
            ("0", 0.0),
            ("0.5", 0.5),
        ] {
            assert_eq!(parse_interval(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for text in ["", "-1", "x", "1d", "ten", "1e9", "25h", "1.2.3", "9".repeat(400).as_str()] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
        assert!(parse_limit("0").is_err());
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("34359738368", 32 << 30),
            ("32G", 32 << 30),
            ("32 GiB", 32 << 30),
            ("32Gi", 32 << 30),
            ("32768mb", 32 << 30),
            ("0.5T", 512 << 30),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "32", "G", "-1G", "32X", "1.5.5G", "99999999P", "0"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ports() {
        assert_eq!(parse_port("1"), Ok(1));
        assert_eq!(parse_port("65535"), Ok(65_535));
        for text in ["", "0", "-1", "65536", "abc", "3306x"] {
            assert!(parse_port(text).is_err(), "{text}");
        }
    }

    #[test]
    fn accounts() {
        for (text, user, host) in [
            ("'innopool'@'%'", "innopool", "%"),
            ("innopool@10.0.0.%", "innopool", "10.0.0.%"),
            ("innopool", "innopool", "%"),
            ("`o'hara`@localhost", "o'hara", "localhost"),
            ("'o''hara'@'::1'", "o'hara", "::1"),
            ("a@b@h", "a@b", "h"),
        ] {
            assert_eq!(parse_account(text), Ok((user.to_owned(), host.to_owned())), "{text}");
        }
        for text in ["", "@h", "''@'h'", "'a", "'a'@", "'a'x", "a'b@h", "'a'@'h'; DROP", "a\\@h"] {
            assert!(parse_account(text).is_err(), "{text}");
        }
    }
}
