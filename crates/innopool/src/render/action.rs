//! Splits a finding's action into prose, which may be wrapped, and lines to type, which may not.

/// One line of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A sentence.
    Prose(&'a str),
    /// A statement, a setting or a command, to be typed as it stands.
    Typed(&'a str),
}

/// The lines of an action, without empty ones.
pub(super) fn lines(action: &str) -> impl Iterator<Item = Line<'_>> {
    action.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).map(|line| {
        if is_typed(line.trim()) { Line::Typed(line) } else { Line::Prose(line.trim()) }
    })
}

fn is_typed(line: &str) -> bool {
    let is_command = line.starts_with("innopool ") && !line.ends_with('.');
    line.ends_with(';') || line.starts_with(['[', '$']) || is_command || is_setting(line)
}

/// `innodb_buffer_pool_size = 24G`, or a bare `skip-name-resolve`.
fn is_setting(line: &str) -> bool {
    let name = line.split_once('=').map_or(line, |(name, _)| name).trim();
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_typed_from_what_is_read() {
        let action = "Grow it online:\nSET GLOBAL innodb_buffer_pool_size = 1073741824;\n\n\
                      and in the option file:\n[mysqld]\ninnodb_buffer_pool_size = 1G\n\
                      $ swapon --show\ninnopool check -v\n= is no setting.\nOK";
        let read: Vec<_> = lines(action).collect();
        assert_eq!(
            read,
            [
                Line::Prose("Grow it online:"),
                Line::Typed("SET GLOBAL innodb_buffer_pool_size = 1073741824;"),
                Line::Prose("and in the option file:"),
                Line::Typed("[mysqld]"),
                Line::Typed("innodb_buffer_pool_size = 1G"),
                Line::Typed("$ swapon --show"),
                Line::Typed("innopool check -v"),
                Line::Prose("= is no setting."),
                Line::Prose("OK"),
            ]
        );
    }
}
