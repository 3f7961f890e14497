//! Lines of a page: wrapping at display columns, hanging indents, aligned columns and colour.
//!
//! Widths are display columns, not bytes or characters: a CJK character takes two. Nothing a page
//! wraps is wider than the page; only what a person must type whole ([`Paper::verbatim`]) may be.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Prose wider than this is hard to read, however wide the terminal.
const WIDTH_MAX: usize = 120;
/// Below this a page is not readable anyway; it is laid out for this width.
const WIDTH_MIN: usize = 24;

/// What a page is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Display columns; see [`Page::columns`] for what is used of them.
    pub(crate) width: usize,
    /// Whether escape sequences for colour may be written.
    pub(crate) colour: bool,
    /// Whether everything is shown: all evidence, what is fine, the memory budget.
    pub(crate) verbose: bool,
    /// Whether the server can be asked again (not saved evidence).
    pub(crate) live: bool,
}

impl Page {
    /// The columns a line may take.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(WIDTH_MIN, WIDTH_MAX)
    }
}

/// How a piece of text stands out, where there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Red,
    Yellow,
}

impl Style {
    fn sequence(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("\x1b[1m"),
            Self::Faint => Some("\x1b[2m"),
            Self::Red => Some("\x1b[1;31m"),
            Self::Yellow => Some("\x1b[33m"),
        }
    }
}

/// A page being written, line by line.
pub(crate) struct Paper {
    page: Page,
    text: String,
}

impl Paper {
    pub(crate) fn new(page: Page) -> Self {
        Self { page, text: String::new() }
    }

    pub(crate) fn columns(&self) -> usize {
        self.page.columns()
    }

    /// The finished text.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// An empty line, unless the page just had one.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Prose at an indent, wrapped.
    pub(crate) fn prose(&mut self, indent: usize, text: &str) {
        self.hanging(&" ".repeat(indent), text);
    }

    /// Text behind `label`, wrapped; later lines start where the text of the first line starts.
    pub(crate) fn hanging(&mut self, label: &str, text: &str) {
        let indent = label.width();
        self.labelled(&[(label, Style::Plain)], indent, text, Style::Plain);
    }

    /// Text in which every line begins with `mark`, as comments do.
    pub(crate) fn commented(&mut self, mark: &str, text: &str) {
        let columns = self.columns().saturating_sub(mark.width());
        for line in wrap(&plain(text), columns, columns) {
            self.text.push_str(mark);
            self.text.push_str(&line);
            self.end_line();
        }
    }

    /// Text behind several styled pieces; later lines are indented by `indent`.
    pub(crate) fn labelled(
        &mut self,
        labels: &[(&str, Style)],
        indent: usize,
        text: &str,
        style: Style,
    ) {
        let columns = self.columns();
        let first: usize = labels.iter().map(|(label, _)| label.width()).sum();
        if first >= columns {
            // A label as wide as the page is wrapped with its text.
            let whole: String = labels.iter().map(|(label, _)| *label).collect();
            let before = whole.width() - whole.trim_start().width();
            let whole = format!("{whole} {text}");
            return self.labelled(&[(&" ".repeat(before), Style::Plain)], indent, &whole, style);
        }
        for (label, style) in labels {
            self.paint(*style, label);
        }
        let lines =
            wrap(&plain(text), columns.saturating_sub(first), columns.saturating_sub(indent));
        for (position, line) in lines.iter().enumerate() {
            if position > 0 {
                self.text.push_str(&" ".repeat(indent));
            }
            self.paint(style, line);
            self.end_line();
        }
        if lines.is_empty() {
            self.end_line();
        }
    }

    /// A line that must not be broken: something to type.
    pub(crate) fn verbatim(&mut self, indent: usize, line: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(&plain(line));
        self.end_line();
    }

    /// A short heading, which has no line break in it.
    pub(crate) fn heading(&mut self, indent: usize, text: &str) {
        self.labelled(&[(&" ".repeat(indent), Style::Plain)], indent, text, Style::Strong);
    }

    fn paint(&mut self, style: Style, text: &str) {
        match style.sequence() {
            Some(sequence) if self.page.colour && !text.is_empty() => {
                self.text.push_str(sequence);
                self.text.push_str(text);
                self.text.push_str("\x1b[0m");
            }
            _ => self.text.push_str(text),
        }
    }

    fn end_line(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
    }
}

/// Columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` filled with spaces up to a width in columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(fill))
}

/// `text` with spaces before it up to a width in columns.
pub(crate) fn padded_left(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(text.width());
    format!("{}{text}", " ".repeat(fill))
}

/// `text` without anything that could move a terminal's cursor, change its colours or reverse the
/// order of what is read: control characters become a space, direction overrides are dropped.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .filter(|character| {
            !matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        })
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect()
}

/// Breaks `text` at spaces into lines of at most `first` columns, then `rest`; a word that is wider
/// than a line is broken wherever it must.
fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let limit = |lines: &Vec<String>| if lines.is_empty() { first } else { rest }.max(1);
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        if line.width() + space + word.width() <= limit(&lines) {
            if space == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        // Also a first line that has no room beside its label for a word that fits on the next.
        if !line.is_empty() || (lines.is_empty() && first < rest && word.width() > first) {
            lines.push(std::mem::take(&mut line));
        }
        if line.width() + word.width() <= limit(&lines) {
            line.push_str(word);
            continue;
        }
        for character in word.chars() {
            let next = line.width() + character.width().unwrap_or(0);
            if next > limit(&lines) && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_columns_and_breaks_only_what_is_wider_than_a_line() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh xy", 4, 3), ["abcd", "efg", "h", "xy"]);
        assert_eq!(wrap("abcdefgh xy", 3, 4), ["", "abcd", "efgh", "xy"]);
        assert_eq!(wrap("abcd xy", 3, 6), ["", "abcd", "xy"]);
        assert_eq!(wrap("  ", 5, 5), Vec::<String>::new());
        // Four columns hold two wide characters.
        assert_eq!(wrap("数据库", 4, 4), ["数据", "库"]);
        // A width of nothing still comes to an end.
        assert_eq!(wrap("数据", 0, 0), ["数", "据"]);
    }

    #[test]
    fn hanging_lines_start_where_the_text_starts() {
        let mut paper = Paper::new(Page { width: 24, colour: false, verbose: false, live: true });
        paper.hanging("  label  ", "alpha beta gamma delta");
        assert_eq!(paper.finish(), "  label  alpha beta\n         gamma delta\n");
    }

    #[test]
    fn escape_sequences_and_direction_overrides_do_not_get_through() {
        assert_eq!(plain("a\x1b[31mb\u{202e}c\r\nd\u{9b}e"), "a [31mbc  d e");
        assert_eq!(plain("数据库 é"), "数据库 é");
    }

    #[test]
    fn colour_is_written_only_where_it_is_wanted() {
        for (colour, expected) in [(true, "\x1b[1;31mX\x1b[0m y\n"), (false, "X y\n")] {
            let mut paper = Paper::new(Page { width: 80, colour, verbose: false, live: true });
            paper.labelled(&[("X", Style::Red), (" ", Style::Plain)], 2, "y", Style::Plain);
            assert_eq!(paper.finish(), expected);
        }
    }
}
