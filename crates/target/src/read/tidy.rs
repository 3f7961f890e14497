//! Lines as people paste them, brought into one shape for comparison: lower case, single blanks,
//! no markdown. Values are read from the tidy form only where their case does not matter.

/// Brings one line into the shape the recognisers compare: ASCII lower case, runs of white space as
/// one blank, trimmed, markdown escapes (`\-`, `\_`) and bold marks removed, quote marks (`>`) cut
/// from the front.
pub(crate) fn tidy(line: &str) -> String {
    let mut tidy = String::with_capacity(line.len().min(256));
    let mut chars = line
        .trim_start_matches(|c: char| c.is_whitespace() || c == '>' || c == '`')
        .chars()
        .peekable();
    let mut blank = false;
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        if c == '\\' && chars.peek().is_some_and(|next| "-_*#.|>~=`".contains(*next)) {
            continue;
        }
        if c == '*' && chars.peek() == Some(&'*') {
            // Bold text is marked by pairs.
            chars.next();
            continue;
        }
        if blank && !tidy.is_empty() {
            tidy.push(' ');
        }
        blank = false;
        tidy.push(c.to_ascii_lowercase());
    }
    tidy
}

/// True for a line of nothing but dashes or equals signs.
pub(crate) fn is_rule(tidy: &str) -> bool {
    tidy.len() >= 3 && (tidy.bytes().all(|b| b == b'-') || tidy.bytes().all(|b| b == b'='))
}

/// The whole number at the start of `text`, behind blanks, `:` and `=`.
///
/// `None` when there is none, when it has a fraction, or when it does not fit.
pub(crate) fn leading_count(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', ':', '=']);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let mut rest = rest.chars();
    if rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The decimal number at the start of `text`, behind blanks and `:`.
pub(crate) fn leading_decimal(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', ':']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    finite(text.get(..end)?)
}

/// The decimal number that ends right before `unit` (`0.82 youngs/s`).
pub(crate) fn decimal_before(text: &str, unit: &str) -> Option<f64> {
    let before = text.get(..text.find(unit)?)?.trim_end();
    let start = before
        .char_indices()
        .rev()
        .find(|(_, c)| !c.is_ascii_digit() && *c != '.')
        .map_or(0, |(at, c)| at + c.len_utf8());
    finite(before.get(start..)?)
}

/// The whole number right after the first `label` in `text`.
pub(crate) fn count_after(text: &str, label: &str) -> Option<u64> {
    leading_count(text.get(text.find(label)? + label.len()..)?)
}

fn finite(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('.');
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_loses_markdown_case_and_spare_blanks() {
        assert_eq!(tidy("\t> **Buffer\u{a0} POOL   size**  17 "), "buffer pool size 17");
        assert_eq!(tidy(r"\-\-\-\-"), "----");
        assert!(is_rule(&tidy(r"  \-\-\-")));
        assert!(!is_rule("--=--"));
    }

    #[test]
    fn numbers_end_where_they_end() {
        assert_eq!(leading_count("   42, not"), Some(42));
        assert_eq!(leading_count(" 0.5"), None);
        assert_eq!(leading_count(" 7."), Some(7));
        assert_eq!(leading_count(" 99999999999999999999999"), None);
        assert_eq!(leading_count(" ahead 3"), None);
        assert_eq!(decimal_before("0.10 youngs/s, 2.5 non", " youngs/s"), Some(0.1));
        assert_eq!(decimal_before("é1.5 youngs/s", " youngs/s"), Some(1.5));
        assert_eq!(leading_decimal("1.2.3"), None);
    }
}
