//! What can go wrong with a recording, on the way in and on the way out.

use std::io;

use thiserror::Error;

/// Why a recording could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file could not be made.
    #[error("cannot create {file}: {source}")]
    Create {
        /// Its name.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is a file of that name already.
    #[error("{file} exists; give another name, or say that it may be replaced")]
    Exists {
        /// Its name.
        file: String,
    },
    /// The system would not take more.
    #[error(
        "cannot write to {file} at byte {at_byte}: {source}; the recording up to there ({events} events) is whole \
         and can be used"
    )]
    Io {
        /// The file's name.
        file: String,
        /// How many bytes of whole blocks it has.
        at_byte: u64,
        /// How many events are in them.
        events: u64,
        /// What the system said.
        source: io::Error,
    },
    /// An earlier write failed, and what would follow it could not be read.
    #[error("{file} takes no more: writing to it failed before, at byte {at_byte}")]
    Failed {
        /// The file's name.
        file: String,
        /// How many bytes of whole blocks it has.
        at_byte: u64,
    },
    /// A record that cannot come now, such as an event outside a window.
    #[error("a recording cannot have {what}")]
    OutOfPlace {
        /// What it would have been.
        what: &'static str,
    },
    /// A time far below that of the event before it: not two clocks that differ, but a mistake.
    #[error(
        "an event at {time_us} us after one at {last_us} us of the same window: events must come in the order of \
         their times"
    )]
    Backwards {
        /// The event's time since the window began, in microseconds.
        time_us: u64,
        /// That of the event before it.
        last_us: u64,
    },
    /// A provenance that no reader would take.
    #[error("{field} cannot be {value}")]
    Provenance {
        /// Which field.
        field: &'static str,
        /// What it is.
        value: String,
    },
    /// More than a block may have.
    #[error("{what} of {bytes} bytes is more than a recording's block can have")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// How long it would be.
        bytes: usize,
    },
}

/// Why a recording could not be read.
#[derive(Debug, Error)]
#[error("{file}: {fault}")]
pub struct ReadError {
    /// The file's name.
    pub file: String,
    /// What is wrong.
    pub fault: ReadFault,
}

/// What is wrong with a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// There is no such file, or it may not be read.
    #[error("cannot be opened: {source}")]
    Open {
        /// What the system said.
        source: io::Error,
    },
    /// The system could not read.
    #[error("cannot be read at byte {at_byte}: {source}")]
    Io {
        /// Where.
        at_byte: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Another kind of file.
    #[error("not a recording of innopool")]
    NotARecording,
    /// The first sixteen bytes are damaged, so nothing that follows can be trusted.
    #[error("its first 16 bytes are damaged; take another copy of the file")]
    HeaderDamaged,
    /// Written by a newer innopool, in a way that this one does not know.
    #[error(
        "in version {major}.{minor} of the recording format, and this innopool reads {} at most; use a newer innopool",
        crate::layout::VERSION_MAJOR
    )]
    Newer {
        /// The file's major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// It ends before it says where it comes from.
    #[error("ends after {bytes} bytes, before it says which server it is of: nothing was recorded")]
    Empty {
        /// Its length.
        bytes: u64,
    },
    /// Bytes are not as they were written.
    #[error("damaged at byte {at_byte}: {what}; take another copy, or have the damage skipped")]
    Damaged {
        /// Where the damaged block begins.
        at_byte: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// As it was written, and not what a recording can be.
    #[error("wrong at byte {at_byte}: {what}; it was written wrongly")]
    Malformed {
        /// Where the block begins.
        at_byte: u64,
        /// What is wrong there.
        what: String,
    },
}
