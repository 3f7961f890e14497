//! A [`Report`] as something to read: the terminal page ([`text`]), JSON for programs ([`json`]) and
//! Markdown for a ticket ([`markdown`]).
//!
//! Rendering is a pure function of the report and a [`Page`]; who is looking (a terminal, its
//! width, whether it has colours) was found out before. Text that came from a server is made
//! harmless ([`layout::plain`]) before it can reach a terminal.

mod action;
mod evidence;
mod explain;
mod json;
mod layout;
mod markdown;
mod server;
mod size;
mod size_markdown;
mod size_table;
#[cfg(test)]
mod tests;
mod text;

use innopool_advice::{Report, SizeReport};

pub(crate) use explain::{entry as explain_entry, list as explain_list};
pub(crate) use layout::{Page, Paper, plain};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// A page for a person
    #[default]
    Text,
    /// For programs
    Json,
    /// For pasting in a ticket
    Markdown,
}

/// Writes `report` in a format; the result ends with a newline.
pub(crate) fn report(report: &Report, format: Format, page: Page) -> String {
    match format {
        Format::Text => text::report(report, page),
        Format::Json => json::text(report),
        Format::Markdown => markdown::report(report, page),
    }
}

/// Writes a recommended size in a format; the result ends with a newline.
pub(crate) fn size(report: &SizeReport, format: Format, page: Page) -> String {
    match format {
        Format::Text => size::report(report, page),
        Format::Json => json::text(report),
        Format::Markdown => size_markdown::report(report),
    }
}
