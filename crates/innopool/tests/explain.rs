//! `innopool explain`: every code at length, the list, and a hint for what is nearly one.

mod common;

use common::innopool;

#[test]
fn the_list_has_a_line_for_each_code_and_each_code_is_explained() {
    let list = innopool(["explain"]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    let codes: Vec<&str> = list
        .stdout
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(codes.len() >= 28, "{codes:?}");
    for code in codes {
        let run = innopool(["explain", code]);
        assert_eq!(run.code, Some(0), "{run:?}");
        for heading in ["Why it matters", "How innopool tells", "What to do", "Sources"] {
            assert!(run.stdout.contains(heading), "{code}: {heading}");
        }
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80, "{code}: {line}");
        }
    }
}

#[test]
fn thresholds_are_shown_with_their_reasons() {
    let run = innopool(["explain", "pool-too-small"]);
    assert!(run.stdout.contains("warning from 5 %, critical from 30 %"), "{}", run.stdout);
}

#[test]
fn an_unknown_code_is_wrong_usage_with_the_nearest() {
    innopool(["explain", "pool-to-small"]).assert_fails(64, &["did you mean pool-too-small?"]);
    innopool(["explain", "\x1b[31m"]).assert_fails(64, &["innopool explain lists them all"]);
}
