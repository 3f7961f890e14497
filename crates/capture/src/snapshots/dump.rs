//! Having the server dump its whole list, and reading the file.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use innopool_policy::page::PageId;
use innopool_target::host::LocalServer;
use innopool_target::live::Connection;
use innopool_target::load_status::DumpState;

use super::files::{FileId, Files};
use super::settings::DumpSettings;
use super::{Look, SnapshotError, lists, unix_us};

/// How long a dump may take when nobody said: a pool of 200 GB has been dumped in a second, and a slow
/// disk is a hundred times slower.
pub const DUMP_LIMIT: Duration = Duration::from_secs(60);

/// Between two looks whether the dump is done.
const WAIT_MIN: Duration = Duration::from_millis(5);
const WAIT_MAX: Duration = Duration::from_millis(250);

/// `ER_INCORRECT_GLOBAL_LOCAL_VAR`: the variable cannot be set while the server runs.
const READ_ONLY_VARIABLE: u16 = 1238;

/// Has the server dump all pages of its pool, reads the file, and puts everything back as it was: `before`
/// is to be [asked](DumpSettings::ask) first, and written down for whoever may have to put it back.
///
/// `instances` is `innodb_buffer_pool_instances` as in use. Takes some milliseconds, of the server a copy of
/// eight bytes a page under each list's latch, and a file of some ten bytes a page. That file is one of our
/// own, [`DUMP_FILE_NAME`](super::DUMP_FILE_NAME); where the server knows only one name (MariaDB), its own
/// dump is kept beside as [`KEPT_FILE_NAME`](super::KEPT_FILE_NAME) meanwhile, so that at any time there is
/// a dump to start with.
///
/// MariaDB leaves the pages of its temporary tablespace out, and those that are free in their file.
///
/// The account needs `SYSTEM_VARIABLES_ADMIN` (`SUPER` before MySQL 8.0 and on MariaDB), and we the right to
/// read the server's data directory; for MariaDB, to write there.
///
/// # Errors
///
/// When the file cannot be read from here (nothing was set then), the server refuses, cannot dump, or does
/// not within `limit`. Everything is put back whatever happens; [`SnapshotError::NotPutBack`] if not even
/// that can be done.
pub fn dump(
    connection: &mut Connection,
    server: &LocalServer,
    instances: u32,
    before: &DumpSettings,
    limit: Duration,
) -> Result<Look, SnapshotError> {
    let files = Files::of(server, before)?;
    files.prepare()?;
    let (asked_unix_us, asked) = (unix_us(), Instant::now());
    let text = dump_text(connection, &files, limit);
    let took = asked.elapsed();
    let put_back = before.put_back(connection);
    let mut remarks: Vec<String> = files.clean_up().into_iter().collect();
    put_back.map_err(|error| SnapshotError::NotPutBack(Box::new(error)))?;
    let pages = text?;
    let lists = lists::divide(&pages, instances).unwrap_or_else(|| {
        remarks.push(format!(
            "the dump's order is not that of {instances} instances, so it was taken as one list"
        ));
        vec![(0, pages)]
    });
    Ok(Look { lists, asked_unix_us, took, remarks })
}

/// Has the server dump and returns the pages in the order of the file.
fn dump_text(
    connection: &mut Connection,
    files: &Files,
    limit: Duration,
) -> Result<Vec<PageId>, SnapshotError> {
    let words_before = status(connection)?;
    let old = FileId::of(&files.ours);
    match connection.query(&DumpSettings::dump_to_ours()) {
        Ok(_) => {
            wait(connection, &files.ours, old, &words_before, limit)?;
            read(&files.ours)
        }
        Err(error) if error.code() == Some(READ_ONLY_VARIABLE) => {
            let is_kept = files.keep_its_own()?;
            let old = FileId::of(&files.its_own);
            connection.query(&DumpSettings::dump_to_its_own())?;
            wait(connection, &files.its_own, old, &words_before, limit)?;
            let pages = read(&files.its_own)?;
            if !is_kept {
                // Left behind, it would be loaded at a start after a crash; no more than that.
                let _ = std::fs::remove_file(&files.its_own);
            }
            Ok(pages)
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until there is a file other than `old`. A server writes its dump under another name and gives it
/// this one when it is whole; the time that its status tells is in seconds, so it cannot tell two dumps
/// apart.
fn wait(
    connection: &mut Connection,
    path: &Path,
    old: Option<FileId>,
    words_before: &str,
    limit: Duration,
) -> Result<(), SnapshotError> {
    let begin = Instant::now();
    let mut pause = WAIT_MIN;
    loop {
        thread::sleep(pause);
        let is_there = FileId::of(path).is_some_and(|found| Some(found) != old);
        let words = status(connection)?;
        let is_late = begin.elapsed() > limit;
        match DumpState::parse(&words) {
            // The words may be those of an earlier failure, until it is too late to be so.
            DumpState::Failed(_) if words != words_before || is_late => {
                return Err(SnapshotError::Failed(words));
            }
            DumpState::Completed if is_there => return Ok(()),
            _ if is_late => {
                return Err(SnapshotError::TooLong { path: path.to_owned(), limit });
            }
            _ => pause = (pause * 2).min(WAIT_MAX),
        }
    }
}

/// What the server says of its last dump.
fn status(connection: &mut Connection) -> Result<String, SnapshotError> {
    let table = connection
        .query("SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_buffer_pool_dump_status'")?;
    let words = table.rows.first().and_then(|row| table.cell(row, "Value"));
    words.map(str::to_owned).ok_or(SnapshotError::Answer {
        asked: "Innodb_buffer_pool_dump_status",
        what: "there is no such status variable".to_owned(),
    })
}

fn read(path: &Path) -> Result<Vec<PageId>, SnapshotError> {
    let path = path.to_owned();
    match std::fs::read(&path) {
        Ok(text) => lists::parse(&text).map_err(|line| SnapshotError::Line { path, line }),
        Err(source) => Err(SnapshotError::File { path, source }),
    }
}
