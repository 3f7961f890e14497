//! Which server the documents of a moment are from. Only what the server says of itself counts,
//! and marks that one flavour alone has; a pasted listing without them stays unknown.

use crate::evidence::Evidence;
use crate::observation::{Content, Document};
use crate::table::Table;
use crate::variables::normalise_name;
use crate::version::{Flavor, Server};

/// Takes the server's own word: `version` and `version_comment`, else the start-up line of its
/// error log.
pub(super) fn identify(server: &mut Server, documents: &[Document]) {
    let variable = |wanted: &str| {
        documents.iter().rev().find_map(|document| {
            let Content::Variables(table) = &document.content else {
                return None;
            };
            value_of(table, wanted)
        })
    };
    if let Some(version) = variable("version") {
        let comment = variable("version_comment").unwrap_or_default();
        *server = Server::detect(version, comment);
        return;
    }
    let from_log = documents.iter().rev().find_map(|document| {
        let Content::ErrorLog(text) = &document.content else {
            return None;
        };
        text.lines().rev().find_map(startup_line)
    });
    if let Some(found) = from_log {
        *server = found;
    }
}

fn value_of<'t>(table: &'t Table, wanted: &str) -> Option<&'t str> {
    table.rows.iter().rev().find_map(|row| {
        let name = row.cells.first()?.as_deref()?;
        let value = row.cells.get(1)?.as_deref()?;
        (normalise_name(name) == wanted && !value.trim().is_empty()).then_some(value)
    })
}

/// Reads the line a server ends its start-up with: `Version: '8.0.36'  socket: ... port: ...`
/// followed by its version comment.
fn startup_line(line: &str) -> Option<Server> {
    let (_, rest) = line.split_once("Version: '")?;
    let (version, rest) = rest.split_once('\'')?;
    let server = Server::detect(version, rest);
    server.version.is_some().then_some(server)
}

/// Names only MariaDB has ever had, among those innopool keeps.
const MARIADB_STATUS: &[&str] = &["innodb_buffer_pool_load_incomplete"];
const MARIADB_VARIABLES: &[&str] = &[
    "innodb_buffer_pool_size_auto_min",
    "innodb_data_file_buffering",
    "innodb_data_file_write_through",
    "innodb_log_file_buffering",
    "innodb_lru_flush_size",
];

/// Tells MariaDB by what only MariaDB prints, where nothing names the server.
pub(super) fn from_signs(evidence: &mut Evidence, is_mariadb_text: bool) {
    if evidence.server.flavor != Flavor::Unknown {
        return;
    }
    let status = MARIADB_STATUS.iter().any(|name| evidence.status.text(name).is_some());
    let variable = MARIADB_VARIABLES.iter().any(|name| evidence.variables.get(name).is_some());
    if status || variable || is_mariadb_text {
        evidence.server.flavor = Flavor::Mariadb;
    }
}

/// MariaDB alone prints the share of dirty pages, and from 10.6 on no single page writes behind it.
/// The line must be whole: that of another server may have been cut off.
pub(super) fn is_mariadb_text(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("Percent of dirty pages(LRU & free pages)") else {
        return false;
    };
    let Some((_, rest)) = rest.split_once("Pending writes: LRU") else {
        return false;
    };
    let Some((writes, _)) = rest.split_once("Pages made young") else {
        return false;
    };
    writes.contains("flush list") && !writes.contains("single page")
}
