//! `manifest.json`: which file is which document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CollectError, tsv};
use crate::observation::Content;
use crate::provenance::NotRead;

/// Name of the manifest in its directory.
pub(super) const MANIFEST: &str = "manifest.json";

/// The newest schema this version writes and reads.
pub const SCHEMA: &str = "innopool.evidence/1";
const SCHEMA_FAMILY: &str = "innopool.evidence/";
const SCHEMA_VERSION: u64 = 1;

/// The manifest as it is in the file. What a later version adds is not looked at.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    schema: String,
    /// The server's name for people.
    pub(super) name: String,
    pub(super) documents: Vec<Entry>,
    #[serde(default)]
    not_read: Vec<Missing>,
    #[serde(skip)]
    names: BTreeMap<String, u32>,
}

/// One document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) file: String,
    pub(super) kind: String,
    pub(super) moment: usize,
    pub(super) place: String,
    pub(super) taken_unix_seconds: Option<f64>,
    /// Lines the rows had in the file they were pasted from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lines: Option<Vec<Option<u32>>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Missing {
    what: String,
    why: String,
}

/// Name and file ending of a kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    ending: &'static str,
}

impl Manifest {
    pub(super) fn new(name: &str, not_read: &[NotRead]) -> Self {
        let missing =
            |entry: &NotRead| Missing { what: entry.what.clone(), why: entry.why.clone() };
        Self {
            schema: SCHEMA.to_owned(),
            name: name.to_owned(),
            documents: Vec::new(),
            not_read: not_read.iter().map(missing).collect(),
            names: BTreeMap::new(),
        }
    }

    /// A name no other document has: `0-status.tsv`, `0-status-2.tsv`.
    pub(super) fn file_name(&mut self, moment: usize, kind: Kind) -> String {
        let Kind { name, ending } = kind;
        let stem = format!("{moment}-{name}");
        let count = self.names.entry(stem.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => format!("{stem}.{ending}"),
            count => format!("{stem}-{count}.{ending}"),
        }
    }

    /// The text of the file.
    pub(super) fn render(&self) -> String {
        // Strings, numbers and lists of them, with text keys: nothing that could fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads the text of the file at `path`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, CollectError> {
        /// Enough to tell whose it is, whatever else a newer version changes.
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let bad = |why: String| CollectError::BadManifest { path: path.to_owned(), why };
        let head: Head = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let version =
            head.schema.strip_prefix(SCHEMA_FAMILY).and_then(|version| version.parse::<u64>().ok());
        match version {
            None => Err(bad(format!("'{}' is not evidence of innopool", head.schema))),
            Some(version) if version > SCHEMA_VERSION => {
                Err(CollectError::NewerSchema { path: path.to_owned(), schema: head.schema })
            }
            Some(_) => serde_json::from_str(text).map_err(|error| bad(error.to_string())),
        }
    }

    pub(super) fn not_read(&self) -> Vec<NotRead> {
        self.not_read
            .iter()
            .map(|missing| NotRead::new(missing.what.as_str(), missing.why.as_str()))
            .collect()
    }
}

impl Entry {
    /// Where the document's file is. A name that leads out of the directory is refused: evidence
    /// comes from strangers.
    pub(super) fn path_in(&self, dir: &Path, manifest: &Path) -> Result<PathBuf, CollectError> {
        let plain =
            Path::new(&self.file).file_name().is_some_and(|name| name == self.file.as_str());
        if plain {
            Ok(dir.join(&self.file))
        } else {
            Err(CollectError::BadManifest {
                path: manifest.to_owned(),
                why: format!("'{}' is not the name of a file beside it", self.file),
            })
        }
    }
}

/// Calls `$visit!` with every kind of document: its variant, name and file ending.
macro_rules! with_kinds {
    ($visit:ident) => {
        $visit! {
            tables {
                Variables "variables" "tsv", VariableOrigins "variable_origins" "tsv",
                Status "status" "tsv", PoolStats "pool_stats" "tsv", Metrics "metrics" "tsv",
                Persisted "persisted" "tsv", SchemaSizes "schema_sizes" "tsv",
                FileIo "file_io" "tsv", Statements "statements" "tsv", Digests "digests" "tsv",
                Memory "memory" "tsv", Transactions "transactions" "tsv",
                Latches "latches" "tsv", Host "host" "tsv", Gauges "gauges" "tsv",
                NotRead "not_read" "tsv",
            }
            texts {
                InnodbStatus "innodb_status" "txt", Exporter "exporter" "prom",
                OptionFile "option_file" "cnf", MysqldAuto "mysqld_auto" "json",
                Meminfo "meminfo" "txt", ErrorLog "error_log" "log",
            }
        }
    };
}

macro_rules! define_kinds {
    (tables { $($table:ident $table_name:literal $table_ending:literal,)* }
     texts { $($text:ident $text_name:literal $text_ending:literal,)* }) => {
        /// The kind of a document.
        pub(super) fn kind(content: &Content) -> Kind {
            match content {
                $(Content::$table(_) => Kind { name: $table_name, ending: $table_ending },)*
                $(Content::$text(_) => Kind { name: $text_name, ending: $text_ending },)*
            }
        }

        /// The document of this kind in a file's text; `None` for a kind we do not know.
        pub(super) fn content(
            kind: &str,
            text: String,
            lines: Option<&[Option<u32>]>,
        ) -> Option<Content> {
            match kind {
                $($table_name => Some(Content::$table(tsv::parse(&text, lines))),)*
                $($text_name => Some(Content::$text(text)),)*
                _ => None,
            }
        }
    };
}

with_kinds!(define_kinds);
