//! Where the records of a recording come from: a file, or memory in tests.

use std::fs::File;
use std::path::{Path, PathBuf};

use innopool_recording::{Batch, Ending, Provenance, Record, RecordReader};

use crate::error::WhatifError;

/// A recording that is played once, from its beginning to its end.
pub trait Tape {
    /// What was recorded.
    fn provenance(&self) -> &Provenance;

    /// The next record, or the next events together; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the recording cannot be read.
    fn next_batch(&mut self) -> Result<Option<Batch<'_>>, WhatifError>;

    /// What the reader of the answer must know of the recording itself, once it is played.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A recording in memory.
#[derive(Clone, Debug)]
pub struct MemoryTape {
    /// What was recorded.
    pub provenance: Provenance,
    /// The records.
    pub records: Vec<Record>,
    played: usize,
}

impl MemoryTape {
    /// A recording of these records.
    pub fn new(provenance: Provenance, records: Vec<Record>) -> MemoryTape {
        MemoryTape { provenance, records, played: 0 }
    }
}

impl Tape for MemoryTape {
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn next_batch(&mut self) -> Result<Option<Batch<'_>>, WhatifError> {
        let record = self.records.get(self.played);
        self.played += 1;
        Ok(record.map(|record| match record {
            Record::Event(event) => Batch::Events(std::slice::from_ref(event)),
            other => Batch::Record(other.clone()),
        }))
    }
}

/// A recording in a file.
pub(crate) struct FileTape {
    path: PathBuf,
    reader: RecordReader<File>,
}

impl FileTape {
    pub(crate) fn open(path: &Path) -> Result<FileTape, WhatifError> {
        Ok(FileTape { path: path.to_owned(), reader: innopool_recording::open(path)? })
    }
}

impl Tape for FileTape {
    fn provenance(&self) -> &Provenance {
        self.reader.provenance()
    }

    fn next_batch(&mut self) -> Result<Option<Batch<'_>>, WhatifError> {
        Ok(self.reader.next_batch()?)
    }

    fn remarks(&self) -> Vec<String> {
        match self.reader.ending() {
            Some(Ending::Complete) | None => Vec::new(),
            Some(_) => vec![format!(
                "{} ends in the middle: its recorder was stopped hard. What is whole was used.",
                self.path.display()
            )],
        }
    }
}
