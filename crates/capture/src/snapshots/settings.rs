//! The two settings that a dump changes, and putting them back.

use innopool_target::Table;
use innopool_target::live::Connection;
use serde::{Deserialize, Serialize};

use super::SnapshotError;

/// What the dumps of a capture are called. Not by the server's own name: at its next start the server would
/// load our dump, of another share of the pool, instead of its own. MariaDB cannot be told another name.
pub const DUMP_FILE_NAME: &str = "ib_buffer_pool.innopool";

/// The share of the list that a capture dumps.
const WHOLE_PCT: u64 = 100;
const WHOLE_DUMP: &str =
    "GLOBAL innodb_buffer_pool_dump_pct = 100, GLOBAL innodb_buffer_pool_dump_now = ON";

/// What a dump changes, as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DumpSettings {
    /// `innodb_buffer_pool_dump_pct`, 1 to 100.
    pub pct: u64,
    /// `innodb_buffer_pool_filename`.
    pub filename: String,
}

impl DumpSettings {
    /// Asks for the settings as they are now.
    ///
    /// # Errors
    ///
    /// When the server does not answer; when the settings are those of a capture that was killed, or have
    /// a value that [`put_back`](Self::put_back) would refuse.
    pub fn ask(connection: &mut Connection) -> Result<Self, SnapshotError> {
        let settings = Self::ask_any(connection)?;
        if settings.filename == DUMP_FILE_NAME {
            return Err(SnapshotError::LeftOver);
        }
        settings.check()?;
        Ok(settings)
    }

    fn ask_any(connection: &mut Connection) -> Result<Self, SnapshotError> {
        const ASKED: &str = "SELECT @@GLOBAL.innodb_buffer_pool_dump_pct AS pct, \
            @@GLOBAL.innodb_buffer_pool_filename AS filename";
        let table = connection.query(ASKED)?;
        Self::from_table(&table).ok_or(SnapshotError::Answer {
            asked: "innodb_buffer_pool_dump_pct and innodb_buffer_pool_filename",
            what: "one of them has no value".to_owned(),
        })
    }

    fn from_table(table: &Table) -> Option<Self> {
        let row = table.rows.first()?;
        let pct = table.number(row, "pct")?;
        Some(Self { pct, filename: table.cell(row, "filename")?.to_owned() })
    }

    /// Puts these settings back, each only if it has the value that a capture sets: what somebody else has
    /// set meanwhile stays. Doing it twice, or after a capture that changed nothing, does nothing.
    ///
    /// # Errors
    ///
    /// When the server refuses or does not answer, or when this is nothing that was read from a server.
    pub fn put_back(&self, connection: &mut Connection) -> Result<(), SnapshotError> {
        self.check()?;
        let now = Self::ask_any(connection)?;
        let mut parts = Vec::new();
        if now.filename == DUMP_FILE_NAME {
            parts.push(format!("GLOBAL innodb_buffer_pool_filename = '{}'", self.filename));
        }
        if now.pct == WHOLE_PCT && self.pct != WHOLE_PCT {
            parts.push(format!("GLOBAL innodb_buffer_pool_dump_pct = {}", self.pct));
        }
        if !parts.is_empty() {
            connection.query(&format!("SET {}", parts.join(", ")))?;
        }
        Ok(())
    }

    /// The statement that dumps into a file of our own.
    pub(super) fn dump_to_ours() -> String {
        format!("SET GLOBAL innodb_buffer_pool_filename = '{DUMP_FILE_NAME}', {WHOLE_DUMP}")
    }

    /// The statement that dumps into the server's file.
    pub(super) fn dump_to_its_own() -> String {
        format!("SET {WHOLE_DUMP}")
    }

    /// Refuses what could be more than a value within a statement, whatever the server's SQL mode.
    fn check(&self) -> Result<(), SnapshotError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+@:=, ".contains(c);
        if self.filename.is_empty() || !self.filename.chars().all(is_plain) {
            return Err(SnapshotError::FileName(self.filename.clone()));
        }
        if !(1..=100).contains(&self.pct) {
            let what = format!("{} %", self.pct);
            return Err(SnapshotError::Answer { asked: "innodb_buffer_pool_dump_pct", what });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pct: u64, filename: &str) -> DumpSettings {
        DumpSettings { pct, filename: filename.to_owned() }
    }

    #[test]
    fn what_could_end_a_string_is_never_put_into_a_statement() {
        for filename in ["ib_buffer_pool", "/srv/db 1/dump-2.txt", "a,b=c:d@e+f"] {
            assert!(of(25, filename).check().is_ok(), "{filename}");
        }
        for filename in ["", "a'b", "a\\", "a\nb", "a`b", "a\"b", "a;b", "ä"] {
            assert!(
                matches!(of(25, filename).check(), Err(SnapshotError::FileName(_))),
                "{filename}"
            );
        }
        assert!(of(0, "a").check().is_err());
        assert!(of(101, "a").check().is_err());
    }
}
