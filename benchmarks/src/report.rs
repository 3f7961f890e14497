//! The table: sections of rows, each a median with its spread, a ratio to what it was compared with, and the aim.

use std::fmt::Write as _;

use crate::measure::Figures;

/// What a figure should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    Below(f64),
    AtMost(f64),
    AtLeast(f64),
}

impl Aim {
    fn is_held(self, figure: f64) -> bool {
        match self {
            Aim::Below(limit) => figure < limit,
            Aim::AtMost(limit) => figure <= limit,
            Aim::AtLeast(limit) => figure >= limit,
        }
    }

    fn words(self) -> String {
        match self {
            Aim::Below(limit) => format!("< {limit}"),
            Aim::AtMost(limit) => format!("<= {limit}"),
            Aim::AtLeast(limit) => format!(">= {limit}"),
        }
    }
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    name: String,
    figures: Figures,
    unit: &'static str,
    aim: Option<(Aim, bool)>,
}

impl Row {
    /// A row that states a figure.
    pub(crate) fn new(name: impl Into<String>, figures: &Figures, unit: &'static str) -> Row {
        Row { name: name.into(), figures: figures.clone(), unit, aim: None }
    }

    /// A row that sets one figure against another.
    pub(crate) fn ratio(name: impl Into<String>, ours: &Figures, theirs: &Figures) -> Row {
        Row::new(name, &ours.ratio_to(theirs), "x")
    }

    /// Says what the median should be.
    pub(crate) fn aim(mut self, aim: impl Into<Option<Aim>>) -> Row {
        self.aim = aim.into().map(|aim| (aim, aim.is_held(self.figures.median())));
        self
    }

    fn print(&self, out: &mut String) {
        let Row { name, figures, unit, aim } = self;
        let spread = format!("{} - {}", short(figures.least()), short(figures.most()));
        let value = short(figures.median());
        let _ = write!(out, "  {name:<28} {value:>9} {unit:<6} {spread:>15}");
        if let Some((aim, held)) = aim {
            let _ = write!(out, "  {:<7} {}", aim.words(), if *held { "held" } else { "MISSED" });
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// Rows that belong together.
#[derive(Debug)]
pub(crate) struct Section {
    title: String,
    /// The mode the pool was in, and whatever else a reader must know of the figures.
    notes: Vec<String>,
    rows: Vec<Row>,
}

impl Section {
    pub(crate) fn new(title: impl Into<String>, mode: impl Into<String>) -> Section {
        Section { title: title.into(), notes: vec![mode.into()], rows: Vec::new() }
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The section as text, with the line that names the columns.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for note in &self.notes {
            let _ = writeln!(out, "  {note}");
        }
        let (name, value, spread) = ("", "median", "least - most");
        let _ = writeln!(out, "  {name:<28} {value:>9} {:<6} {spread:>15}  aim", "");
        self.rows.iter().for_each(|row| row.print(&mut out));
        out
    }
}

/// A figure with three digits that count, or all before the point, in groups of three.
pub(crate) fn short(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{figure:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_grouped() {
        let said = [0.0123, 1.234, 12.34, 999.4, 1_234_567.8, -4321.0].map(short);
        assert_eq!(said, ["0.012", "1.23", "12.3", "999", "1,234,568", "-4,321"]);
    }

    #[test]
    fn a_row_tells_whether_its_aim_held() {
        let (ours, theirs) = (Figures::new(vec![10.0]), Figures::new(vec![20.0]));
        let mut section = Section::new("1. Hits", "batched promotion");
        section.row(Row::new("pool", &ours, "ns").aim(Aim::Below(10.0)));
        section.row(Row::ratio("pool / table", &ours, &theirs).aim(Aim::AtMost(0.5)));
        let text = section.text();
        let rows: Vec<&str> = text.lines().skip(3).collect();
        assert!(rows[0].ends_with("10.0 - 10.0  < 10    MISSED"), "{text}");
        assert!(rows[1].ends_with("0.500 - 0.500  <= 0.5  held"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
