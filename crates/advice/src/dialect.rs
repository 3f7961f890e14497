//! What to type, for this flavour and version: which variable exists, how a change is made to last,
//! and which file it belongs in. The differences between servers live here and nowhere else.

use innopool_target::effective_size::MARIADB_WITHOUT_CHUNKS;
use innopool_target::variables::Origin;
use innopool_target::{Evidence, Flavor, Version};

/// Variables that MySQL does not let anybody persist (seen on 9.7.4, error 1238).
const NOT_PERSISTABLE: &[&str] = &[
    "innodb_buffer_pool_load_at_startup",
    "innodb_dedicated_server",
    "innodb_doublewrite",
    "innodb_read_only",
];

/// How to say things to one server.
pub(crate) struct Dialect<'e> {
    evidence: &'e Evidence,
}

impl<'e> Dialect<'e> {
    /// The dialect of the server `evidence` is of.
    pub(crate) fn new(evidence: &'e Evidence) -> Self {
        Self { evidence }
    }

    fn flavor(&self) -> Flavor {
        self.evidence.server.flavor
    }

    fn mysql_since(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.flavor().is_mysql_like() && self.evidence.server.at_least(major, minor, patch)
    }

    /// `SET PERSIST` exists: MySQL and Percona from 8.0; MariaDB has none.
    pub(crate) fn can_persist(&self) -> bool {
        self.mysql_since(8, 0, 0)
    }

    fn can_persist_this(&self, variable: &str) -> bool {
        self.can_persist() && !NOT_PERSISTABLE.contains(&variable)
    }

    /// The pool can be resized online: MySQL 5.7.5, MariaDB 10.2.2.
    pub(crate) fn can_resize(&self) -> bool {
        match self.flavor() {
            Flavor::Mariadb => self.evidence.server.at_least(10, 2, 2),
            Flavor::Unknown => false,
            _ => self.mysql_since(5, 7, 5),
        }
    }

    /// Several pool instances exist in this version: gone in MariaDB 10.6, ignored from 10.5.1.
    pub(crate) fn has_instances(&self) -> bool {
        self.flavor() != Flavor::Mariadb || self.evidence.server.below(10, 5, 1)
    }

    /// Sizes are multiples of chunks: MySQL 5.7.5, MariaDB 10.2 to before 10.11.12 and peers.
    pub(crate) fn has_chunks(&self) -> bool {
        match self.flavor() {
            Flavor::Mariadb => self.evidence.server.at_least(10, 2, 2) && !self.has_size_max(),
            Flavor::Unknown => {
                self.evidence.variables.get("innodb_buffer_pool_chunk_size").is_some()
            }
            _ => self.mysql_since(5, 7, 5),
        }
    }

    /// MariaDB's reworked resize with `innodb_buffer_pool_size_max` (MDEV-29445).
    pub(crate) fn has_size_max(&self) -> bool {
        self.evidence.server.mariadb_has(&MARIADB_WITHOUT_CHUNKS)
    }

    /// The server throttles the warm-up load to `innodb_io_capacity`: MySQL and Percona always,
    /// MariaDB before 10.5.19, 10.6.12 and 10.11.2.
    pub(crate) fn load_is_throttled(&self) -> bool {
        const FREED: [Version; 3] =
            [Version::new(10, 5, 19), Version::new(10, 6, 12), Version::new(10, 11, 2)];
        match self.flavor() {
            Flavor::Mariadb => !self.evidence.server.mariadb_has(&FREED),
            Flavor::Unknown => false,
            _ => true,
        }
    }

    /// A shutdown dumps even when the load was not finished: MySQL and Percona (bug 76656), MariaDB
    /// before 10.3.5.
    pub(crate) fn dumps_half_warm_pool(&self) -> bool {
        match self.flavor() {
            Flavor::Mariadb => self.evidence.server.below(10, 3, 5),
            Flavor::Unknown => false,
            _ => true,
        }
    }

    /// The variable that sets the redo log's size, and whether it can be changed online.
    pub(crate) fn redo_variable(&self) -> (&'static str, bool) {
        match self.flavor() {
            Flavor::Mariadb => ("innodb_log_file_size", self.evidence.server.at_least(10, 9, 0)),
            _ if self.mysql_since(8, 0, 30)
                || self.evidence.variables.get("innodb_redo_log_capacity").is_some() =>
            {
                ("innodb_redo_log_capacity", true)
            }
            _ => ("innodb_log_file_size", false),
        }
    }

    /// A change of a dynamic variable that lasts, as lines to type.
    pub(crate) fn set(&self, variable: &str, value: &str) -> String {
        if self.can_persist_this(variable) {
            return format!("SET PERSIST {variable} = {value};");
        }
        if self.flavor() == Flavor::Unknown {
            return format!(
                "SET GLOBAL {variable} = {value};\nand so that it lasts (MySQL 8.0 and newer: SET \
                 PERSIST instead), in {}:\n{variable} = {value}",
                self.file_of(variable)
            );
        }
        format!(
            "SET GLOBAL {variable} = {value};\nand so that it lasts, in {}:\n{variable} = {value}",
            self.file_of(variable)
        )
    }

    /// A change that takes effect at the next start, as lines to type.
    pub(crate) fn set_for_restart(&self, variable: &str, value: &str) -> String {
        if self.can_persist_this(variable) {
            let value = if value.chars().all(|c| c.is_ascii_alphanumeric() && !c.is_alphabetic())
                || matches!(value, "ON" | "OFF")
            {
                value.to_owned()
            } else {
                format!("'{value}'")
            };
            return format!("SET PERSIST_ONLY {variable} = {value};\nthen restart the server");
        }
        format!("in {}:\n{variable} = {value}\nthen restart the server", self.file_of(variable))
    }

    /// The first file that is an option file by its name, and not a page of pasted output.
    fn option_file(&self) -> Option<&str> {
        let files = &self.evidence.configuration.files;
        files
            .iter()
            .map(String::as_str)
            .find(|file| [".cnf", ".ini"].iter().any(|end| file.ends_with(end)))
    }

    /// The option file a variable was set in, or where it belongs.
    pub(crate) fn file_of(&self, variable: &str) -> String {
        match self.evidence.variables.get(variable).map(|v| &v.origin) {
            Some(Origin::File(path)) if !path.is_empty() => path.clone(),
            _ => match self.evidence.configuration.get(variable) {
                Some(setting) => setting.path.clone(),
                None => match self.option_file() {
                    Some(file) => format!("{file}, group [mysqld]"),
                    None => "the server's option file, group [mysqld]".to_owned(),
                },
            },
        }
    }
}
