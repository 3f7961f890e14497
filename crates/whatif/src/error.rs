//! What keeps a recording from being answered.

use innopool_policy::replay::{ConfigError, NoFreeFrame};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhatifError {
    /// No recording was named.
    #[error("no recording was given: name at least one file that `innopool capture` wrote")]
    NoRecording,
    /// A recording cannot be read.
    #[error(transparent)]
    Read(#[from] innopool_recording::ReadError),
    /// A recording holds no window with anything in it.
    #[error("the recording holds no watched time: nothing can be said of it. Record again, longer")]
    Empty,
    /// Recordings that do not belong together.
    #[error("the recordings do not belong together: {0}. Answer them one by one")]
    Mixed(&'static str),
    /// A size that no pool can have.
    #[error("a pool of {size_bytes} bytes cannot be replayed: {source}")]
    Size {
        /// The size asked for.
        size_bytes: u64,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// A replayed pool ran out of frames.
    #[error("the replay at {size_bytes} bytes stopped: {source}")]
    Replay {
        /// The size replayed.
        size_bytes: u64,
        /// What happened.
        source: NoFreeFrame,
    },
}
