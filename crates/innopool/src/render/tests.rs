//! Pages as they come out, from reports built here: healthy, one finding, many, extremes.

mod reports;
mod sizes;

use super::{Format, Page, report};
use innopool_advice::Report;

const PIPE: Page = Page { width: 80, colour: false, verbose: false, live: true };

fn text(of: &Report, page: Page) -> String {
    report(of, Format::Text, page)
}

#[test]
fn a_healthy_server_gets_a_short_calm_page() {
    insta::assert_snapshot!(text(&reports::healthy(), PIPE));
}

#[test]
fn a_healthy_server_in_full() {
    let page = Page { verbose: true, ..PIPE };
    insta::assert_snapshot!(text(&reports::healthy(), page));
}

#[test]
fn one_finding() {
    insta::assert_snapshot!(text(&reports::one_finding(), PIPE));
}

#[test]
fn many_findings_at_80_columns() {
    insta::assert_snapshot!(text(&reports::many(), PIPE));
}

#[test]
fn many_findings_at_40_columns() {
    insta::assert_snapshot!(text(&reports::many(), Page { width: 40, ..PIPE }));
}

#[test]
fn many_findings_at_200_columns() {
    let page = Page { width: 200, ..PIPE };
    insta::assert_snapshot!(text(&reports::many(), page));
}

#[test]
fn many_findings_in_full_and_in_colour() {
    let page = Page { verbose: true, colour: true, ..PIPE };
    insta::assert_snapshot!(text(&reports::many(), page).replace('\x1b', "<ESC>"));
}

#[test]
fn extremes_of_numbers_and_names() {
    let page = Page { verbose: true, live: false, ..PIPE };
    insta::assert_snapshot!(text(&reports::extremes(), page));
}

#[test]
fn nothing_known() {
    let page = Page { live: false, ..PIPE };
    insta::assert_snapshot!(text(&reports::nothing(), page));
}

#[test]
fn markdown_for_a_ticket() {
    insta::assert_snapshot!(report(&reports::many(), Format::Markdown, PIPE));
}

#[test]
fn json_keeps_its_keys() {
    let json = report(&reports::many(), Format::Json, PIPE);
    assert!(json.ends_with("}\n"));
    insta::assert_snapshot!(json);
}

#[test]
fn no_line_is_wider_than_the_page_unless_it_is_typed() {
    for of in [
        reports::healthy(),
        reports::one_finding(),
        reports::many(),
        reports::extremes(),
        reports::nothing(),
    ] {
        let typed: Vec<&str> =
            of.findings.iter().flat_map(|finding| finding.action.lines()).map(str::trim).collect();
        for width in [0, 24, 40, 60, 79, 80, 100, 120, 200, usize::MAX] {
            for verbose in [false, true] {
                let page = Page { width, verbose, ..PIPE };
                for line in text(&of, page).lines() {
                    let command = line.trim().trim_start_matches("Next:").trim();
                    let allowed = typed.contains(&line.trim())
                        || command.starts_with("innopool ")
                        || command.starts_with("add -");
                    let columns = unicode_width::UnicodeWidthStr::width(line);
                    assert!(columns <= page.columns() || allowed, "{width}: {line:?}");
                    assert_eq!(line.trim_end(), line, "spaces at the end");
                }
            }
        }
    }
}

#[test]
fn what_is_typed_stays_whole_and_alone_on_its_line() {
    let statement = "SET PERSIST innodb_buffer_pool_size = 25769803776;";
    for width in [24, 40, 80] {
        let page = text(&reports::many(), Page { width, ..PIPE });
        assert!(page.lines().any(|line| line.trim() == statement), "{page}");
    }
}

#[test]
fn a_servers_text_cannot_reach_the_terminal_as_commands() {
    let mut hostile = reports::one_finding();
    let evil = "\x1b]0;owned\x07\x1b[2J\u{202e}";
    hostile.name = format!("db{evil}");
    hostile.server.version = Some(format!("8.0{evil}"));
    hostile.headline.push_str(evil);
    hostile.findings[0].summary.push_str(evil);
    hostile.findings[0].action = format!("SET x = '{evil}';\nsay {evil}");
    hostile.findings[0].evidence[0].source.push_str(evil);
    hostile.not_read.push(innopool_advice::report::NotReadReport {
        what: evil.to_owned(),
        why: evil.to_owned(),
    });
    let page = Page { verbose: true, ..PIPE };
    for format in [Format::Text, Format::Markdown] {
        let shown = report(&hostile, format, page);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(bad), "{shown:?}");
    }
}
