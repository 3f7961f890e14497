//! The page of mysqld_exporter.

#![no_main]

mod kept;

use innopool_target::Content;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let page: String = text.lines().map(|line| format!("mysql_{line}\n")).collect();
    for document in kept::check(&page) {
        if let Content::Status(table) | Content::Variables(table) = document.content {
            let lines = table.rows.iter().filter_map(|row| row.line);
            assert!(lines.is_sorted(), "values come in the order of the page");
        }
    }
});
