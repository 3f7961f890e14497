//! Reads an option file with everything it includes, in the order a server reads it. Knows nothing
//! of what the groups and options mean, and gets included files from its caller.

use std::fmt;

use super::line::{Line, take_apart};
use crate::option_file::Problem;

/// How deep includes may be nested: the server passes over a directive in a file at this depth.
const INCLUDE_DEPTH_MAX: usize = 10;

/// How many files are read in one go. A server has no such limit, but two files that include each
/// other twice each would keep it busy for long.
const FILES_MAX: usize = 500;

/// Bytes a server takes as one line at most, with its line break.
const LINE_BYTES_MAX: usize = 4094;

/// Why an included file or directory was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncludeError {
    /// Nobody looked: only the text at hand is to be read.
    NotLookedFor,
    /// It is not there.
    Missing,
    /// Everybody may write to the file, so that servers and clients ignore it.
    WorldWritable,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl fmt::Display for IncludeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLookedFor => f.write_str("it was not given"),
            Self::Missing => f.write_str("it does not exist"),
            Self::WorldWritable => {
                f.write_str("everybody may write to it, so it is ignored (chmod o-w)")
            }
            Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}

/// Where included files come from.
pub trait Includes {
    /// The text of a file, by its path as written.
    ///
    /// # Errors
    /// [`IncludeError`] says why there is none.
    fn file(&mut self, path: &str) -> Result<String, IncludeError>;

    /// The names of the files in a directory, in any order.
    ///
    /// # Errors
    /// [`IncludeError`] says why there are none.
    fn directory(&mut self, path: &str) -> Result<Vec<String>, IncludeError>;
}

/// One option, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The group it stands in.
    pub(crate) group: String,
    /// Its name as written.
    pub(crate) name: String,
    /// Its value, without quotes and escapes; `None` without a `=`.
    pub(crate) value: Option<String>,
    /// The file.
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: u32,
}

/// One group header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupHeader {
    pub(crate) group: String,
    pub(crate) path: String,
    pub(crate) line: u32,
}

/// All that stands in a file and in what it includes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Contents {
    pub(crate) groups: Vec<GroupHeader>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) files: Vec<String>,
}

/// Reads `text`, which came from `path`, and all that it includes.
pub(crate) fn walk(text: &str, path: &str, includes: &mut dyn Includes) -> Contents {
    let mut walker = Walker { includes, contents: Contents::default(), open: Vec::new() };
    walker.file(text, path);
    walker.contents
}

struct Walker<'i> {
    includes: &'i mut dyn Includes,
    contents: Contents,
    /// The files being read, outermost first.
    open: Vec<String>,
}

/// The place a line is read at.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p str,
    line: u32,
}

/// What to do after a line a server refuses.
#[derive(PartialEq, Eq)]
enum Next {
    ReadOn,
    LeaveFile,
}

impl Walker<'_> {
    fn file(&mut self, text: &str, path: &str) {
        self.open.push(path.to_owned());
        self.contents.files.push(path.to_owned());
        self.lines(text, path);
        self.open.pop();
    }

    fn lines(&mut self, text: &str, path: &str) {
        let start = Place { path, line: 1 };
        let unmarked = text.strip_prefix('\u{feff}');
        if unmarked.is_some()
            && self.refuse(start, "the file begins with a byte order mark; save it without one")
                == Next::LeaveFile
        {
            return;
        }
        let text = unmarked.unwrap_or(text);
        if text.contains('\0') {
            let message = "the file contains NUL bytes (is it UTF-16?); a server reads each line \
                           only up to the first of them";
            self.problem(start, message, false);
        }
        let mut group = None;
        let mut line = 0_u32;
        for whole in text.split_inclusive('\n') {
            line = line.saturating_add(1);
            let at = Place { path, line };
            if whole.len() > LINE_BYTES_MAX {
                let message = format!(
                    "the line is longer than {LINE_BYTES_MAX} bytes; a server takes the rest for \
                     another line"
                );
                self.problem(at, &message, false);
            }
            for piece in pieces(whole) {
                if self.line(piece, at, &mut group) == Next::LeaveFile {
                    return;
                }
            }
        }
    }

    fn line(&mut self, text: &str, at: Place<'_>, group: &mut Option<String>) -> Next {
        match take_apart(text) {
            Line::Nothing => Next::ReadOn,
            Line::Group(name) => {
                self.contents.groups.push(GroupHeader {
                    group: name.to_owned(),
                    path: at.path.to_owned(),
                    line: at.line,
                });
                *group = Some(name.to_owned());
                Next::ReadOn
            }
            Line::UnclosedGroup => self.refuse(at, "a group name without ']'; write [group]"),
            Line::IncludeNothing => {
                self.refuse(at, "an include without a path; name one or remove the line")
            }
            Line::UnknownDirective => {
                let message = "neither !include nor !includedir: servers ignore this line";
                self.problem(at, message, false);
                Next::ReadOn
            }
            Line::Include(target) => {
                self.warn_of_missing_line_break(text, at);
                self.include(target, at);
                Next::ReadOn
            }
            Line::IncludeDirectory(target) => {
                self.warn_of_missing_line_break(text, at);
                self.include_directory(target, at)
            }
            Line::Assignment { name, value } => {
                let Some(group) = group.clone() else {
                    return self.refuse(at, "an option before any [group]; put its group above it");
                };
                self.contents.entries.push(Entry {
                    group,
                    name: name.to_owned(),
                    value,
                    path: at.path.to_owned(),
                    line: at.line,
                });
                Next::ReadOn
            }
        }
    }

    /// MariaDB, and MySQL before 9, overwrite the path's last letter where they expect `\n`.
    fn warn_of_missing_line_break(&mut self, text: &str, at: Place<'_>) {
        if !text.ends_with('\n') {
            let message = "the file ends without a line break, and some servers then cut the last \
                           letter off this path; end the file with a line break";
            self.problem(at, message, false);
        }
    }

    fn include(&mut self, target: &str, at: Place<'_>) {
        if self.too_deep(at) || self.too_many(at) {
            return;
        }
        if self.open.iter().any(|open| open == target) {
            let message = format!("includes {target}, which is being read already");
            self.problem(at, &message, false);
        }
        match self.includes.file(target) {
            Ok(text) => self.file(&text, target),
            Err(IncludeError::NotLookedFor) => {
                let message = format!("{target} was not read: give it too if it is on your side");
                self.problem(at, &message, false);
            }
            Err(reason) => {
                let message = format!("{target} was not read: {reason}");
                self.problem(at, &message, false);
            }
        }
    }

    fn include_directory(&mut self, target: &str, at: Place<'_>) -> Next {
        if self.too_deep(at) {
            return Next::ReadOn;
        }
        let mut names = match self.includes.directory(target) {
            Ok(names) => names,
            Err(IncludeError::NotLookedFor) => {
                let message =
                    format!("the files in {target} were not read: give them too if they matter");
                self.problem(at, &message, false);
                return Next::ReadOn;
            }
            Err(reason) => {
                let message = format!("{target} cannot be listed: {reason}; make the directory");
                return self.refuse(at, &message);
            }
        };
        names.retain(|name| name.ends_with(".cnf"));
        names.sort();
        for name in names {
            let separator = if target.ends_with('/') { "" } else { "/" };
            self.include(&format!("{target}{separator}{name}"), at);
        }
        Next::ReadOn
    }

    fn too_deep(&mut self, at: Place<'_>) -> bool {
        let too_deep = self.open.len() > INCLUDE_DEPTH_MAX;
        if too_deep {
            let message = format!(
                "included through {INCLUDE_DEPTH_MAX} files already: servers pass over this line"
            );
            self.problem(at, &message, false);
        }
        too_deep
    }

    fn too_many(&mut self, at: Place<'_>) -> bool {
        let too_many = self.contents.files.len() >= FILES_MAX;
        if too_many {
            let message = format!("{FILES_MAX} files read: this and further includes are left out");
            self.problem(at, &message, false);
        }
        too_many
    }

    /// Notes what a server refuses. In the outermost file that keeps it from starting (and we read
    /// on, to find what else is wrong); in an included file it only leaves the rest of it unread.
    fn refuse(&mut self, at: Place<'_>, message: &str) -> Next {
        if self.open.len() <= 1 {
            self.problem(at, message, true);
            return Next::ReadOn;
        }
        let message = format!("{message}. Servers leave the rest of this included file unread");
        self.problem(at, &message, false);
        Next::LeaveFile
    }

    fn problem(&mut self, at: Place<'_>, message: &str, fatal: bool) {
        let problem =
            Problem { path: at.path.to_owned(), line: at.line, message: message.to_owned(), fatal };
        // Files that include each other are read over and over; once said is enough.
        if !self.contents.problems.contains(&problem) {
            self.contents.problems.push(problem);
        }
    }
}

/// A line in the pieces a server's line buffer makes of it.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len().min(LINE_BYTES_MAX);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}
