//! What a server, or a file, says its version is.

#![no_main]

use innopool_target::Version;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Version::parse(text);
});
