//! Whole files of bytes: which outputs they hold, and what is kept of them.

#![no_main]

mod kept;

use innopool_target::Content;
use innopool_target::read::{meminfo, read_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for document in read_bytes(bytes, "fuzz") {
        if let Content::Meminfo(text) = &document.content {
            let _ = meminfo::parse(text, "fuzz");
        }
    }
    kept::check(&String::from_utf8_lossy(bytes));
});
