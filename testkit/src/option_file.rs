//! The option file that each instance is started with.
//!
//! Options stand in a file rather than on the command line so that a server can tell where each
//! value came from (`variables_info.VARIABLE_PATH`, `GLOBAL_VALUE_PATH`), which is something that
//! innopool reports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Kind;

/// The options of one instance, in the order in which they are written.
#[derive(Clone, Debug)]
pub(crate) struct OptionFile {
    path: PathBuf,
    lines: Vec<(String, Option<String>)>,
}

impl OptionFile {
    /// Starts with what every instance in `directory` needs, and nothing that has a usable default.
    pub(crate) fn new(kind: Kind, directory: &Path, port: u16) -> Self {
        let mut file = OptionFile { path: directory.join("my.cnf"), lines: Vec::new() };
        let inside = |name: &str| directory.join(name).display().to_string();
        // Both servers refuse to run as root unless told that it is meant.
        file.set("user=root");
        file.set(&format!("datadir={}", inside("data")));
        file.set(&format!("socket={}", inside("server.sock")));
        file.set(&format!("pid_file={}", inside("server.pid")));
        file.set(&format!("log_error={}", inside("error.log")));
        // A MariaDB that starts removes the temporary tables of the others from a shared directory;
        // its data directory is there from the beginning.
        file.set(&format!("tmpdir={}", inside("data")));
        file.set("bind_address=127.0.0.1");
        file.set(&format!("port={port}"));
        if kind == Kind::Mysql {
            // The X protocol would take a second port, and its default is the same everywhere.
            file.set("mysqlx=OFF");
            // The packaged default is a directory that exists only after the full package.
            file.set("secure_file_priv=NULL");
        }
        file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets one option, given as `name=value`, `--name=value` or `name`, in place of an earlier one.
    pub(crate) fn set(&mut self, option: &str) {
        let (name, value) = match option.trim().trim_start_matches("--").split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (option.trim().trim_start_matches("--"), None),
        };
        let name = name.replace('-', "_");
        match self.lines.iter_mut().find(|(earlier, _)| *earlier == name) {
            Some(line) => line.1 = value,
            None => self.lines.push((name, value)),
        }
    }

    /// Removes an option, so that the server's default holds.
    pub(crate) fn remove(&mut self, name: &str) {
        let name = name.replace('-', "_");
        self.lines.retain(|(earlier, _)| *earlier != name);
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> Result<()> {
        fs::write(&self.path, self.text())
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn text(&self) -> String {
        let mut text = String::from("[mysqld]\n");
        for (name, value) in &self.lines {
            text.push_str(name);
            if let Some(value) = value {
                text.push('=');
                text.push_str(value);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_option_takes_the_place_of_an_earlier_one() {
        let mut file = OptionFile { path: PathBuf::new(), lines: Vec::new() };
        file.set("--innodb-buffer-pool-size=64M");
        file.set("skip-log-bin");
        file.set("innodb_buffer_pool_size = 1G");
        assert_eq!(file.text(), "[mysqld]\ninnodb_buffer_pool_size=1G\nskip_log_bin\n");
    }
}
