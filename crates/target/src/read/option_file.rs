//! Option files (`my.cnf`) as `mysqld` and `mariadbd` read them.
//!
//! [`parse`] is pure: it gets the files that `!include` and `!includedir` name from an [`Includes`].
//! [`read_file`] and [`read_files_present`] follow them on this machine's disk. [`render`] writes
//! settings down again. Nothing fails as a whole: what a server refuses, ignores or reads otherwise
//! than it looks becomes a [`Problem`] with its file and line.
//!
//! The client's option files have the same syntax; `login` reads them through the same parts.

mod disk;
mod line;
mod setting;
mod walk;

pub use disk::{Disk, NotFollowed};
pub use walk::{IncludeError, Includes};

pub(crate) use line::{Line, take_apart_login};
pub(crate) use walk::{Contents, walk};

use crate::option_file::{Configuration, Problem, Setting, server_reads_group};
use crate::version::Server;

/// The files a server reads when it is not told otherwise, first to last. Builds from other sources
/// than a distribution's may have another directory of their own in between.
pub const DEFAULT_FILES: &[&str] = &["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// Reads the text of an option file, named `path` in what is said of it, as `server` would.
///
/// Settings of all names are kept, in the order of reading; where a name is set again the last
/// wins. Values may be secrets: see [`Configuration::keep_allowed`] before saving them.
pub fn parse(
    text: &str,
    path: &str,
    server: &Server,
    includes: &mut dyn Includes,
) -> Configuration {
    let Contents { groups, entries, mut problems, files } = walk(text, path, includes);
    for header in groups {
        let trimmed = header.group.trim_start();
        if trimmed != header.group && server_reads_group(trimmed, server) {
            problems.push(Problem {
                path: header.path,
                line: header.line,
                message: format!(
                    "servers do not read this group, for the blank belongs to its name; \
                     write [{trimmed}]"
                ),
                fatal: false,
            });
        }
    }
    let mut settings = Vec::new();
    for entry in &entries {
        if server_reads_group(&entry.group, server) {
            let (setting, found) = setting::interpret(entry, server);
            settings.push(setting);
            problems.extend(found);
        }
    }
    sort_by_place(&mut problems, &files);
    Configuration { settings, problems, files }
}

/// Puts problems in the order a person meets them: by file as first read, then by line.
fn sort_by_place(problems: &mut [Problem], files: &[String]) {
    problems.sort_by_cached_key(|problem| {
        let file = files.iter().position(|path| *path == problem.path);
        (file, problem.line)
    });
}

/// Reads an option file of this machine and all that it includes.
///
/// A file that cannot be read is a fatal problem: a server told to read it does not start.
pub fn read_file(path: &str, server: &Server) -> Configuration {
    match Disk.file(path) {
        Ok(text) => parse(&text, path, server, &mut Disk),
        Err(error) => {
            let ignored = error == IncludeError::WorldWritable;
            not_read(path, &error, !ignored)
        }
    }
}

/// Reads those of some option files that exist, first to last, as a server reads its default files:
/// one that is not there does not matter, and one that cannot be read is passed over.
pub fn read_files_present(paths: &[&str], server: &Server) -> Configuration {
    let mut configuration = Configuration::default();
    for path in paths {
        match Disk.file(path) {
            Ok(text) => configuration.append(parse(&text, path, server, &mut Disk)),
            Err(IncludeError::Missing) => {}
            Err(error) => configuration.append(not_read(path, &error, false)),
        }
    }
    configuration
}

/// A configuration that says only that its file was not read.
fn not_read(path: &str, error: &IncludeError, fatal: bool) -> Configuration {
    Configuration {
        problems: vec![Problem {
            path: path.to_owned(),
            line: 0,
            message: format!("not read: {error}"),
            fatal,
        }],
        ..Configuration::default()
    }
}

/// Writes settings as the text of an option file, in their order. Read again, it gives the same
/// names, values and groups.
///
/// Left out are names no server can have (with blanks, quotes or the like): they have no meaning
/// that could be kept.
pub fn render(settings: &[Setting]) -> String {
    let mut text = String::new();
    let mut group = None;
    for setting in settings.iter().filter(|setting| is_name(&setting.name)) {
        if group != Some(&setting.group) {
            let gap = if group.is_some() { "\n" } else { "" };
            text.push_str(&format!("{gap}[{}]\n", setting.group));
            group = Some(&setting.group);
        }
        let loose = if setting.loose { "loose_" } else { "" };
        text.push_str(&format!("{loose}{}", setting.name));
        if let Some(value) = &setting.value {
            text.push_str(&format!(" = {}", line::quote(value)));
        }
        text.push('\n');
    }
    text
}

/// True for the characters variable names are made of.
fn is_name(name: &str) -> bool {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(part)
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod real;
#[cfg(test)]
mod tests;
