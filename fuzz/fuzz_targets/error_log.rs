//! Error logs of any version.

#![no_main]

use innopool_target::read::error_log::{keep_events, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let events = parse(text, "fuzz");
    let kept = keep_events(text);
    assert_eq!(parse(&kept, "fuzz"), events, "{kept}");
    assert_eq!(keep_events(&kept), kept);
    assert!(events.is_sorted_by_key(|event| event.line));
});
