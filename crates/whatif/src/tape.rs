//! Where the records of a recording come from: a file, or memory in tests.

use innopool_recording::{Provenance, Record};

use crate::error::WhatifError;

/// The records of one recording, in order, one at a time.
pub type Records<'a> = Box<dyn Iterator<Item = Result<Record, WhatifError>> + 'a>;

/// A recording that can be played.
pub trait Tape {
    /// What was recorded.
    fn provenance(&self) -> &Provenance;

    /// The records from the beginning.
    ///
    /// # Errors
    ///
    /// When the recording cannot be read any more.
    fn play(&self) -> Result<Records<'_>, WhatifError>;
}

/// A recording in memory.
#[derive(Clone, Debug)]
pub struct MemoryTape {
    /// What was recorded.
    pub provenance: Provenance,
    /// The records.
    pub records: Vec<Record>,
}

impl Tape for MemoryTape {
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn play(&self) -> Result<Records<'_>, WhatifError> {
        Ok(Box::new(self.records.iter().cloned().map(Ok)))
    }
}
