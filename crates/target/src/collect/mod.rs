//! Evidence as a directory of plain files that a person can read, send to somebody else and diff.
//!
//! A directory holds one file per document (`0-status.tsv`, `1-innodb_status.txt`) and a
//! `manifest.json` that says what each is. [`write()`] makes it in one step: it appears whole or not at
//! all. [`read()`] gives the same documents back. Whatever the documents hold, only what the
//! allow-list has is written (`reduce`).

mod directory;
mod manifest;
mod reduce;
#[cfg(test)]
mod tests;
mod tsv;

use std::path::{Path, PathBuf};

pub use manifest::SCHEMA;

use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use directory::Staging;
use manifest::{Entry, MANIFEST, Manifest};

/// Why evidence was not written or not read.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The directory has no manifest: perhaps files somebody pasted.
    #[error("{} has no {MANIFEST}: it was not written by innopool collect", .0.display())]
    NoManifest(PathBuf),
    /// The evidence was written by a newer innopool.
    #[error(
        "{}: written as {schema}, and this innopool reads up to {SCHEMA}: use a newer innopool",
        path.display()
    )]
    NewerSchema {
        /// The manifest.
        path: PathBuf,
        /// The schema it names.
        schema: String,
    },
    /// A manifest that cannot be understood.
    #[error("{}: {why}; collect the evidence again", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong in it.
        why: String,
    },
    /// The place to write to holds something else, which is left alone.
    #[error("{} {why}; nothing was written: give another directory", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// What is there.
        why: String,
    },
    /// The directory to write into is not there.
    #[error("{} does not exist: make it first", .0.display())]
    NoParent(PathBuf),
    /// Somebody else wrote to the same place at the same time.
    #[error("another collect wrote {} meanwhile; this evidence was not saved", .0.display())]
    Meanwhile(PathBuf),
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl CollectError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// Checks that evidence can be written to `dir`, before it costs anybody a look.
///
/// # Errors
/// When `dir` holds anything but evidence of ours, or has no parent.
pub fn check_place(dir: &Path) -> Result<(), CollectError> {
    directory::target(dir).map(drop)
}

/// Writes evidence to the directory `dir`, which is made, or replaced when it holds nothing but
/// evidence of ours. Only the owner may read it. Returns the files, the manifest first.
///
/// What is not on the allow-list is left out. A time that is not a finite number is not written.
///
/// # Errors
/// When `dir` holds anything else, or the system refuses; `dir` is then as it was.
pub fn write(
    dir: &Path,
    documents: &[Document],
    not_read: &[NotRead],
    name: &str,
) -> Result<Vec<PathBuf>, CollectError> {
    let target = directory::target(dir)?;
    let staging = Staging::begin(&target)?;
    let mut manifest = Manifest::new(name, not_read);
    for document in documents.iter().flat_map(reduce::reduce) {
        let (text, lines) = match table_of(&document.content) {
            Some(table) => (tsv::render(table), tsv::line_numbers(table)),
            None => (text_of(&document.content).to_owned(), None),
        };
        let kind = manifest::kind(&document.content);
        let file = manifest.file_name(document.moment, kind);
        staging.write(&file, &text)?;
        manifest.documents.push(Entry {
            file,
            kind: kind.name.to_owned(),
            moment: document.moment,
            place: document.place,
            taken_unix_seconds: document.taken_unix_seconds.filter(|s| s.is_finite()),
            lines,
        });
    }
    staging.write(MANIFEST, &manifest.render())?;
    let files = std::iter::once(MANIFEST)
        .chain(manifest.documents.iter().map(|entry| entry.file.as_str()))
        .map(|file| dir.join(file))
        .collect();
    staging.finish()?;
    Ok(files)
}

/// Reads a directory that [`write()`] made: the server's name, the documents in their order, and what
/// the collector could not read. A file that was taken out since then is named among the latter.
///
/// # Errors
/// [`CollectError::NoManifest`] when the directory is not of ours; others when it is and cannot be
/// read.
pub fn read(dir: &Path) -> Result<(String, Vec<Document>, Vec<NotRead>), CollectError> {
    let path = dir.join(MANIFEST);
    if !path.exists() {
        return Err(CollectError::NoManifest(dir.to_owned()));
    }
    let manifest = Manifest::parse(&directory::read_text(&path)?, &path)?;
    let mut not_read = manifest.not_read();
    let mut documents = Vec::new();
    for entry in &manifest.documents {
        let file = entry.path_in(dir, &path)?;
        if !file.exists() {
            let why = format!("{} was taken out of {}", entry.file, dir.display());
            not_read.push(NotRead::new(entry.place.as_str(), why));
            continue;
        }
        let text = directory::read_text(&file)?;
        match manifest::content(&entry.kind, text, entry.lines.as_deref()) {
            Some(content) => documents.push(Document {
                content,
                place: entry.place.clone(),
                moment: entry.moment,
                taken_unix_seconds: entry.taken_unix_seconds,
            }),
            None => {
                let why = format!("{}: unknown kind '{}'", file.display(), entry.kind);
                not_read.push(NotRead::new(entry.place.as_str(), why));
            }
        }
    }
    Ok((manifest.name, documents, not_read))
}

/// The table of a document that is one.
fn table_of(content: &Content) -> Option<&crate::table::Table> {
    match content {
        Content::Variables(table)
        | Content::VariableOrigins(table)
        | Content::Status(table)
        | Content::PoolStats(table)
        | Content::Metrics(table)
        | Content::Persisted(table)
        | Content::SchemaSizes(table)
        | Content::FileIo(table)
        | Content::Statements(table)
        | Content::Digests(table)
        | Content::Memory(table)
        | Content::Transactions(table)
        | Content::Latches(table)
        | Content::Host(table)
        | Content::Gauges(table)
        | Content::NotRead(table) => Some(table),
        Content::InnodbStatus(_)
        | Content::Exporter(_)
        | Content::OptionFile(_)
        | Content::MysqldAuto(_)
        | Content::Meminfo(_)
        | Content::ErrorLog(_) => None,
    }
}

/// The text of a document that is no table.
fn text_of(content: &Content) -> &str {
    match content {
        Content::InnodbStatus(text)
        | Content::Exporter(text)
        | Content::OptionFile(text)
        | Content::MysqldAuto(text)
        | Content::Meminfo(text)
        | Content::ErrorLog(text) => text,
        _ => "",
    }
}
