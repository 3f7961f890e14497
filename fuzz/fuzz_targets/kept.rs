//! What must hold of every document, whatever it was read from.

use std::collections::BTreeMap;
use std::mem::discriminant;

use innopool_target::read::{error_log, innodb_status, pool_stats, read_text};
use innopool_target::{Content, Document, Table, allow};

/// Reads a text and checks all that comes out.
pub fn check(text: &str) -> Vec<Document> {
    let documents = read_text(text, "fuzz");
    let mut moments = BTreeMap::new();
    for document in &documents {
        check_document(document);
        let kind = format!("{:?}", discriminant(&document.content));
        let next: &mut usize = moments.entry(kind).or_default();
        assert_eq!(document.moment, *next, "moments count from 0 without gaps");
        *next += 1;
    }
    documents
}

fn check_document(document: &Document) {
    match &document.content {
        Content::Status(table) => names(table, allow::is_status),
        Content::Variables(table) => names(table, allow::is_variable),
        Content::Metrics(table) => names(table, |name| allow::METRICS.contains(&name)),
        Content::VariableOrigins(table) => names(table, allow::is_variable),
        Content::PoolStats(table) => {
            for cell in table.rows.iter().flat_map(|row| row.cells.iter().flatten()) {
                assert!(cell.parse::<f64>().is_ok(), "{cell}");
            }
            let _ = pool_stats::parse(table, "fuzz");
        }
        Content::InnodbStatus(text) => status(text),
        Content::ErrorLog(text) => assert_eq!(&error_log::keep_events(text), text),
        _ => {}
    }
}

fn names(table: &Table, allowed: fn(&str) -> bool) {
    for row in &table.rows {
        assert_eq!(row.cells.len(), table.columns.len());
        let name = row.cells.first().and_then(Option::as_deref);
        assert!(name.is_some_and(allowed), "{name:?} is not on the list");
    }
}

/// The words a kept status text is made of; nothing else may stand in it but numbers and the names
/// of the pool's source files.
const WORDS: &str = "INNODB MONITOR OUTPUT Per second averages calculated from the last seconds \
    SEMAPHORES --Thread has waited at line semaphore: LOG Log sequence number flushed up to Pages \
    Last checkpoint BUFFER POOL AND MEMORY Total large memory allocated Dictionary Buffer pool size \
    size, bytes Free buffers Database pages Old database Modified db Pending reads writes: LRU, LRU \
    flush list list, single page made young young, not youngs/s read, read created created, written \
    reads/s, reads/s creates/s, creates/s writes/s No gets since page buffer printout hit rate / ahead ahead, \
    evicted without access len: len:, unzip_LRU INDIVIDUAL INFO ---BUFFER TRANSACTIONS History length \
    END OF";

/// A kept status text holds known words and numbers, and is what is kept of itself.
pub fn status(kept: &str) {
    for word in kept.split_whitespace() {
        let figure = word.bytes().all(|b| b.is_ascii_digit() || b".,/s-=".contains(&b));
        let known = WORDS.split_whitespace().any(|known| known == word);
        assert!(figure || known || word.starts_with("buf0"), "{word}");
    }
    assert_eq!(innodb_status::keep_pool_sections(kept), kept);
}
