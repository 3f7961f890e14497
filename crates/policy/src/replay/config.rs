//! What a replayed pool is made of: its size, its rules, and how its page cleaner is imagined.

use std::fmt;

use crate::read_ahead::ReadAheadSettings;
use crate::variant::{Variant, VariantRules};

/// How the free frames are kept in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReserveKeeping {
    /// The page cleaner passes when the caller says, with
    /// [`cleaner_pass`](super::BufferPool::cleaner_pass). Without a pass, pages are evicted as frames
    /// are wanted.
    OnPass,
    /// A page cleaner that is never late: it passes after every frame that is taken.
    EveryMiss,
}

/// What becomes of a dirty page at the cold end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DirtyPages {
    /// The page cleaner passes over it; it stays until it is marked clean.
    Skip,
    /// The page cleaner writes it and takes its frame, at once.
    Write,
}

/// What a [`BufferPool`](super::BufferPool) is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolConfig {
    /// The server's rules.
    pub rules: VariantRules,
    /// Frames in all instances together.
    pub size_pages: u64,
    /// Frames of these that hold something else than pages (hash index, locks), over all instances.
    pub misc_pages: u64,
    /// Instances; frames are divided evenly, the first instances take the remainder.
    pub instances: usize,
    /// How the free frames are kept in hand.
    pub reserve: ReserveKeeping,
    /// What becomes of dirty pages at the cold end.
    pub dirty: DirtyPages,
    /// Read-ahead. The default is the server's; pages are taken to lie in their files in key order.
    pub read_ahead: ReadAheadSettings,
    /// Page size, in bytes.
    pub page_size_bytes: u32,
}

const PAGE_SIZE_BYTES: u32 = 16 * 1024;

impl PoolConfig {
    /// A pool of `size_pages` frames in one instance, with the variant's default settings, a page
    /// cleaner that passes when told and writes the dirty pages it meets.
    pub fn new(variant: Variant, size_pages: u64) -> PoolConfig {
        PoolConfig {
            rules: variant.rules(),
            size_pages,
            misc_pages: 0,
            instances: 1,
            reserve: ReserveKeeping::OnPass,
            dirty: DirtyPages::Write,
            read_ahead: ReadAheadSettings::default(),
            page_size_bytes: PAGE_SIZE_BYTES,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.instances == 0 {
            return Err(ConfigError::NoInstance);
        }
        let instances = self.instances as u64;
        if self.size_pages.saturating_sub(self.misc_pages) < instances {
            return Err(ConfigError::NoFrame { size_pages: self.size_pages, instances });
        }
        if self.size_pages / instances >= FRAMES_MAX {
            return Err(ConfigError::TooManyFrames { size_pages: self.size_pages, instances });
        }
        Ok(())
    }
}

/// Block numbers have 32 bits, of which one value means none.
const FRAMES_MAX: u64 = u32::MAX as u64;

/// The part of `total` that instance `index` of `instances` has.
pub(crate) fn share(total: u64, instances: usize, index: usize) -> u64 {
    let (instances, index) = (instances.max(1) as u64, index as u64);
    total / instances + u64::from(index < total % instances)
}

/// A pool that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// There are no instances.
    NoInstance,
    /// An instance would have no frame for a page.
    NoFrame {
        /// Frames asked for.
        size_pages: u64,
        /// Instances they are divided among.
        instances: u64,
    },
    /// An instance would have 2^32 - 1 frames or more.
    TooManyFrames {
        /// Frames asked for.
        size_pages: u64,
        /// Instances they are divided among.
        instances: u64,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoInstance => f.write_str("a pool has at least one instance"),
            ConfigError::NoFrame { size_pages, instances } => write!(
                f,
                "{size_pages} frames, less those used otherwise, leave none for some of the \
                 {instances} instances: take a larger pool or fewer instances"
            ),
            ConfigError::TooManyFrames { size_pages, instances } => write!(
                f,
                "{size_pages} frames in {instances} instances are more than 4,294,967,294 each: \
                 take more instances"
            ),
        }
    }
}

impl std::error::Error for ConfigError {}
