//! Where a value came from. Every number innopool shows can be traced to the statement, file and
//! line it was read from, because every number travels as a [`Fact`] with its [`Source`].

use std::fmt;
use std::sync::Arc;

/// The statement or file a value was read from, and its name there.
///
/// Shown as `SHOW GLOBAL STATUS: Innodb_buffer_pool_reads` or `my.cnf:12: innodb_buffer_pool_size`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A statement (`SHOW GLOBAL STATUS`), a file (`/etc/mysql/my.cnf`, `/proc/meminfo`) or the
    /// command line option that gave the value.
    pub place: Arc<str>,
    /// Line of the file, from 1; absent for statements.
    pub line: Option<u32>,
    /// The name the value has there: a variable, a column, a label.
    pub name: String,
}

impl Source {
    /// A source without a line.
    pub fn new(place: impl Into<Arc<str>>, name: impl Into<String>) -> Self {
        Self { place: place.into(), line: None, name: name.into() }
    }

    /// A source at a line (from 1) of a file.
    pub fn at_line(place: impl Into<Arc<str>>, line: u32, name: impl Into<String>) -> Self {
        Self { place: place.into(), line: Some(line), name: name.into() }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if self.name.is_empty() { Ok(()) } else { write!(f, ": {}", self.name) }
    }
}

/// A value together with where it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact<T> {
    /// The value itself, in the unit its name or documentation gives.
    pub value: T,
    /// Where it was read.
    pub source: Source,
}

impl<T> Fact<T> {
    /// Ties a value to its source.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// Applies `convert` to the value and keeps the source.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Fact<U> {
        Fact { value: convert(self.value), source: self.source }
    }
}

/// Something that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotRead {
    /// What is missing, in a person's words ("file I/O latency").
    pub what: String,
    /// Why it is missing ("performance_schema is OFF").
    pub why: String,
}

impl NotRead {
    /// Names a missing thing and its reason.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}
