//! The option files a local server read when it started, in its order, and what its command line
//! sets. Of both only allowed settings are kept (see [`crate::keep`]).
//!
//! Files are split where they include others, so that the documents in their order say what the
//! server read in its order.

use super::locate::LocalServer;
use super::process;
use super::roots::read_text;
use crate::keep::{Kept, OptionFileLines, is_allowed};
use crate::provenance::NotRead;

/// Read when the command line names no other file. Builds of one's own may have more.
const DEFAULT_FILES: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// How deep servers follow includes.
const INCLUDE_DEPTH_MAX: usize = 10;

/// Against files that include each other; no server has as many.
const DOCUMENTS_MAX: usize = 500;

/// A part of an option file with its line numbers kept.
pub(super) struct OptionFileText {
    pub(super) path: String,
    pub(super) text: String,
}

#[derive(Default)]
pub(super) struct Options {
    pub(super) files: Vec<OptionFileText>,
    pub(super) not_read: Vec<NotRead>,
}

/// Reads what configures the server.
pub(super) fn read(server: &LocalServer) -> Options {
    let arguments = process::command_line(&server.roots, server.pid);
    let mut reader = Reader {
        server,
        group_suffix: value_of(&arguments, "defaults-group-suffix"),
        options: Options::default(),
    };
    if arguments.is_empty() {
        let what = "command line of the server";
        reader.not_read(what, "it cannot be seen; the usual option files are read");
    }
    let no_defaults = arguments.iter().any(|argument| argument == "--no-defaults");
    match value_of(&arguments, "defaults-file") {
        Some(path) => reader.file(&path, 0),
        None if no_defaults => {}
        None => {
            for path in DEFAULT_FILES {
                if server.path(path).exists() {
                    reader.file(path, 0);
                }
            }
            if let Some(path) = value_of(&arguments, "defaults-extra-file") {
                reader.file(&path, 0);
            }
        }
    }
    reader.command_line(&arguments);
    reader.options
}

/// The value of `--name=value`.
fn value_of(arguments: &[String], name: &str) -> Option<String> {
    arguments.iter().find_map(|argument| {
        let (key, value) = argument.strip_prefix("--")?.split_once('=')?;
        (key.replace('_', "-") == name).then(|| value.to_owned())
    })
}

struct Reader<'s> {
    server: &'s LocalServer,
    group_suffix: Option<String>,
    options: Options,
}

impl Reader<'_> {
    fn not_read(&mut self, what: &str, why: impl Into<String>) {
        self.options.not_read.push(NotRead::new(what, why));
    }

    fn file(&mut self, path: &str, depth: usize) {
        let what = format!("option file {path}");
        if !path.starts_with('/') {
            return self.not_read(&what, "its path depends on where the server was started");
        }
        if self.options.files.len() >= DOCUMENTS_MAX {
            return self.not_read(&what, "there are too many option files");
        }
        let here = self.server.path(path);
        if is_world_writable(&here) {
            return self.not_read(&what, "everybody may write to it, so the server ignores it");
        }
        match read_text(&here) {
            Ok(text) => self.text(path, &text, depth),
            Err(error) => self.not_read(&what, error.to_string()),
        }
    }

    /// Keeps what may be kept of a file, a document for each part between its includes.
    fn text(&mut self, path: &str, text: &str, depth: usize) {
        let mut lines = OptionFileLines::with_group_suffix(self.group_suffix.clone());
        let mut part = Part::default();
        for line in text.lines() {
            match lines.next(line) {
                Kept::Nothing => part.blank(),
                Kept::Group(line) => part.group(line),
                Kept::Setting(line) => part.setting(line),
                Kept::Include { directory, path: to } => {
                    part.blank();
                    self.push(path, part.take());
                    self.include(&to, directory, depth + 1);
                }
            }
        }
        let known = self.options.files.iter().any(|file| file.path == path);
        if part.has_settings || !known {
            self.options.files.push(part.document(path));
        }
    }

    fn push(&mut self, path: &str, part: Part) {
        if part.has_settings {
            self.options.files.push(part.document(path));
        }
    }

    fn include(&mut self, path: &str, directory: bool, depth: usize) {
        if depth > INCLUDE_DEPTH_MAX {
            return self.not_read(&format!("option file {path}"), "included too deeply");
        }
        if !directory {
            return self.file(path, depth);
        }
        let entries = match std::fs::read_dir(self.server.path(path)) {
            Ok(entries) => entries,
            Err(error) => {
                return self.not_read(&format!("option files in {path}"), error.to_string());
            }
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".cnf"))
            .collect();
        names.sort_unstable();
        for name in names {
            self.file(&format!("{}/{name}", path.trim_end_matches('/')), depth);
        }
    }

    /// The command line's InnoDB settings as one more option file, each on the line of its number:
    /// it is read last and so wins, as in the server.
    fn command_line(&mut self, arguments: &[String]) {
        let mut part = Part::default();
        part.group("[mysqld]".to_owned());
        for argument in arguments.iter().skip(1) {
            let setting = argument.strip_prefix("--").unwrap_or_default();
            let name = setting.split('=').next().unwrap_or_default();
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-=./:,+".contains(c);
            if !name.contains("innodb") || !is_allowed(name) {
                part.blank();
            } else if setting.chars().all(plain) {
                part.setting(setting.to_owned());
            } else {
                part.blank();
                self.not_read(&format!("{name} of the command line"), "an unusual value");
            }
        }
        self.push(&format!("/proc/{}/cmdline", self.server.pid), part);
    }
}

/// The lines of a file from one include to the next, behind blank ones.
#[derive(Default)]
struct Part {
    lines: Vec<String>,
    /// Position of the current group's head in `lines`.
    group_at: Option<usize>,
    has_settings: bool,
}

impl Part {
    fn blank(&mut self) {
        self.lines.push(String::new());
    }

    fn group(&mut self, line: String) {
        self.group_at = Some(self.lines.len());
        self.lines.push(line);
    }

    fn setting(&mut self, line: String) {
        self.has_settings = true;
        self.lines.push(line);
    }

    /// Ends the part: what remains has the same number of lines, and of them only the head of the
    /// current group.
    fn take(&mut self) -> Self {
        let mut rest = Self {
            lines: vec![String::new(); self.lines.len()],
            group_at: self.group_at,
            has_settings: false,
        };
        if let Some(at) = self.group_at
            && let (Some(to), Some(head)) = (rest.lines.get_mut(at), self.lines.get(at))
        {
            to.clone_from(head);
        }
        std::mem::replace(self, rest)
    }

    fn document(self, path: &str) -> OptionFileText {
        let mut text = self.lines.join("\n");
        text.push('\n');
        OptionFileText { path: path.to_owned(), text }
    }
}

#[cfg(unix)]
fn is_world_writable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn is_world_writable(_path: &std::path::Path) -> bool {
    false
}
