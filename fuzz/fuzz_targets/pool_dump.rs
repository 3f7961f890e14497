//! Dump files of a buffer pool. What is read must come back when it is written and read again; and of the pages
//! none may be lost or invented when their order of heat is sought.

#![no_main]

use std::collections::BTreeSet;

use innopool_buf::dump::{format, rank};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Reading memory cannot fail.
    let parsed = format::parse(bytes).unwrap();
    let in_pieces = format::parse(std::io::BufReader::with_capacity(7, bytes)).unwrap();
    assert_eq!(parsed, in_pieces);
    assert!(parsed.bad_lines.len() as u64 <= parsed.bad_lines_total);
    assert!(parsed.pages.len() as u64 + parsed.bad_lines_total <= parsed.lines);
    assert_eq!(parsed.truncated, bytes.last().is_some_and(|&byte| byte != b'\n'));
    assert_eq!(parsed.check("dump").is_ok(), parsed.bad_lines_total == 0);

    let mut written = Vec::new();
    format::write(&mut written, parsed.pages.iter().copied()).unwrap();
    let again = format::parse(&written[..]).unwrap();
    assert_eq!(again.pages, parsed.pages);
    assert_eq!(again.bad_lines_total, 0);

    let ranked = rank::hottest_first(&parsed.pages);
    let distinct: BTreeSet<_> = parsed.pages.iter().collect();
    assert!(ranked.len() == distinct.len() && ranked.iter().all(|page| distinct.contains(page)));
});
