//! Lines that hold names with their values one after another: SQL tuples, quoted or loose pairs, and
//! telegraf's line protocol.

use super::listing::{ListingKind, Pair};

/// The pairs on one line, and the time it was taken where the line says so.
pub(crate) fn pairs_in(raw: &str, line: usize) -> Option<(Vec<Pair>, Option<f64>)> {
    let tuples = tuples(raw, line);
    if !tuples.is_empty() {
        return Some((tuples, None));
    }
    if let Some((fields, taken)) = telegraf(raw, line) {
        return Some((fields, taken));
    }
    quoted(raw, line).or_else(|| loose(raw, line)).map(|pair| (vec![pair], None))
}

/// `('Innodb_pages_read','17'),('Uptime',5)`.
fn tuples(raw: &str, line: usize) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut rest = raw;
    while let Some((_, behind)) = rest.split_once("('") {
        rest = behind;
        let Some((name, after_name)) = sql_string(behind) else {
            continue;
        };
        let Some(value) = after_name.trim_start().strip_prefix(',') else {
            continue;
        };
        let value = value.trim_start();
        let value = match value.strip_prefix('\'') {
            Some(quoted) => sql_string(quoted),
            None => value
                .find([',', ')'])
                .and_then(|end| value.split_at_checked(end))
                .map(|(value, after)| (value.trim().to_owned(), after)),
        };
        if let Some((value, after)) = value
            && after.trim_start().starts_with(')')
        {
            found.extend(Pair::new(&name, &value, line, None));
            rest = after;
        }
    }
    found
}

/// Longest value that is looked at.
const MAX_STRING_BYTES: usize = 4096;

/// The text up to the closing quote, escapes resolved, and what follows the quote.
fn sql_string(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at > MAX_STRING_BYTES {
            return None;
        }
        match c {
            '\\' => value.push(chars.next()?.1),
            '\'' if chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
                value.push('\'');
            }
            '\'' => return Some((value, text.get(at + 1..)?)),
            c => value.push(c),
        }
    }
    None
}

/// `'Innodb_pages_read', '17'`, also with double quotes or none: rows copied as CSV.
fn quoted(raw: &str, line: usize) -> Option<Pair> {
    let (name, value) = raw.split_once(',')?;
    let quotes: &[char] = &['\'', '"', ' '];
    let value = value.trim_end_matches([',', ';', ' ']);
    Pair::new(name.trim_matches(quotes), value.trim_matches(quotes), line, None)
}

/// `Innodb_pages_read 17` or `Innodb_pages_read: 17`: copied from a page without its lines.
///
/// A variable only with a plain value: a size with a suffix is no value in force.
fn loose(raw: &str, line: usize) -> Option<Pair> {
    let raw = raw.trim();
    let end = raw.find([' ', ':'])?;
    let (name, rest) = raw.split_at_checked(end)?;
    if !name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("innodb_")) {
        return None;
    }
    let colon = rest.starts_with(':');
    let value = rest.trim_start_matches(':').trim();
    let pair = Pair::new(name, value, line, None)?;
    let plain = matches!(value, "ON" | "OFF")
        || (!value.is_empty() && value.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    match pair.kind {
        ListingKind::Status if plain || value.contains("buffer pool") => Some(pair),
        ListingKind::Variables if plain && !colon => Some(pair),
        _ => None,
    }
}

/// `mysql,server=x innodb_pages_read=17i,uptime=5i 1700000000000000000`.
fn telegraf(raw: &str, line: usize) -> Option<(Vec<Pair>, Option<f64>)> {
    if !raw.contains("i,") && !raw.contains("i ") {
        return None;
    }
    let words = split_unquoted(raw.trim(), b' ');
    let hint = if words.first().is_some_and(|word| word.contains("variables")) {
        ListingKind::Variables
    } else {
        ListingKind::Status
    };
    let mut pairs = Vec::new();
    let mut whole_numbers = 0;
    for word in &words {
        for field in split_unquoted(word, b',') {
            let Some((name, value)) = field.split_once('=') else {
                continue;
            };
            let number = value.strip_suffix(['i', 'u']).unwrap_or(value);
            let whole = number.len() < value.len() && number.parse::<i64>().is_ok();
            let value = if whole { number } else { value.trim_matches('"') };
            if let Some(pair) = Pair::new(name, value, line, Some(hint)) {
                whole_numbers += usize::from(whole);
                pairs.push(pair);
            }
        }
    }
    let taken = words
        .last()
        .filter(|word| word.len() == 19)
        .and_then(|word| word.parse::<u64>().ok())
        .map(|nanoseconds| nanoseconds as f64 / 1e9);
    (whole_numbers > 0).then_some((pairs, taken))
}

/// Splits at a separator outside of double quotes; a backslash takes the next byte's meaning.
fn split_unquoted(text: &str, separator: u8) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut in_quotes, mut escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_quotes = !in_quotes,
            byte if byte == separator && !in_quotes => {
                parts.extend(text.get(start..at).filter(|part| !part.is_empty()));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..).filter(|part| !part.is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(raw: &str) -> Vec<(String, String)> {
        pairs_in(raw, 0)
            .map(|(pairs, _)| pairs)
            .unwrap_or_default()
            .into_iter()
            .map(|pair| (pair.name, pair.value))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn sql_tuples() {
        let raw = "INSERT INTO s VALUES ('Innodb_pages_read','17'),('secret','x'),\
                   ('Innodb_buffer_pool_load_status','Cannot open \\'/x\\' for reading: it''s gone'), ('Uptime', 5);";
        assert_eq!(
            named(raw),
            vec![
                pair("Innodb_pages_read", "17"),
                pair("Innodb_buffer_pool_load_status", "Cannot open '/x' for reading: it's gone"),
                pair("Uptime", "5"),
            ]
        );
        assert_eq!(named("('('('(' ('Uptime"), vec![]);
    }

    #[test]
    fn rows_copied_as_csv_or_bare() {
        assert_eq!(named("'Uptime', '9'"), vec![pair("Uptime", "9")]);
        assert_eq!(named("\"Uptime\",\"9\""), vec![pair("Uptime", "9")]);
        assert_eq!(named("Innodb_pages_read   9"), vec![pair("Innodb_pages_read", "9")]);
        assert_eq!(named("innodb_buffer_pool_size: 8G"), vec![]);
        assert_eq!(named("innodb_buffer_pool_size 8G"), vec![]);
        assert_eq!(named("innodb_buffer_pool_size = 8"), vec![]);
        assert_eq!(
            named("innodb_buffer_pool_size 8388608"),
            vec![pair("innodb_buffer_pool_size", "8388608")]
        );
    }

    #[test]
    fn telegraf_lines() {
        let raw = r#"mysql,host=db\ 1,server=x innodb_pages_read=17i,innodb_buffer_pool_load_status="load, done at x",slave_x=3i,uptime=5u 1700000000000000000"#;
        let (pairs, taken) = pairs_in(raw, 3).expect("pairs");
        let names: Vec<_> = pairs.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(
            names,
            vec![
                ("innodb_pages_read", "17"),
                ("innodb_buffer_pool_load_status", "load, done at x"),
                ("uptime", "5"),
            ]
        );
        assert_eq!(taken, Some(1.7e9));
    }
}
