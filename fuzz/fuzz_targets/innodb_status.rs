//! `SHOW ENGINE INNODB STATUS`, however it was pasted.

#![no_main]

mod kept;

use innopool_target::read::innodb_status::{keep_pool_sections, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let kept = keep_pool_sections(text);
    assert_eq!(parse(&kept, "fuzz"), parse(text, "fuzz"), "{kept}");
    if !kept.is_empty() {
        kept::status(&kept);
    }
    kept::check(text);
});
