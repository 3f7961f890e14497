//! How long and how large the benchmarks are, and where their files go.

use std::path::PathBuf;

use crate::data::PAGE_BYTES;
use crate::machine;

/// Any error ends the run: a figure from a pool that fails is none.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

const REPEATS: usize = 7;
const REPEATS_SHORT: usize = 5;
/// What a short look's work is divided by.
const SHORT_DIVISOR: u32 = 4;
/// The data set against the last-level cache.
const TIMES_CACHE: u64 = 4;
/// Three ways to the same pages are in memory at once, and some must be left.
const MEMORY_SHARE: u64 = 4;
/// Used where the kernel names no cache.
const CACHE_BYTES_GUESS: u64 = 32 << 20;

/// What is fixed for a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How often each thing is measured.
    pub(crate) repeats: usize,
    divisor: u32,
    /// Pages of the working set that is to be larger than the processor's caches.
    pub(crate) wide_pages: u32,
    /// Pages of the data file.
    pub(crate) file_pages: u32,
    /// Where data files may be made.
    pub(crate) directory: PathBuf,
    /// What could not be as it should, for the reader of the table.
    pub(crate) remarks: Vec<String>,
}

impl Settings {
    /// Settings for a run in `directory`, with less work if it is to be `short`.
    pub(crate) fn new(short: bool, directory: PathBuf) -> Settings {
        let divisor = if short { SHORT_DIVISOR } else { 1 };
        let mut remarks = Vec::new();
        if short {
            remarks.push("A short look: less work, so more spread.  Not to be quoted.".to_owned());
        }
        let cache = machine::last_level_cache_bytes().unwrap_or(CACHE_BYTES_GUESS);
        let wanted = cache * TIMES_CACHE;
        let most = machine::available_bytes().map_or(u64::MAX, |bytes| bytes / MEMORY_SHARE);
        // Whole GiB, or half of one where it must be less.
        let wide = wanted.next_multiple_of(1 << 30).min(most >> 29 << 29).max(1 << 29);
        if wide < wanted {
            remarks.push(format!(
                "Not enough memory for {TIMES_CACHE} times the last-level cache: {} MiB of pages.",
                wide >> 20
            ));
        }
        let pages = |bytes: u64| u32::try_from(bytes / PAGE_BYTES as u64).unwrap_or(u32::MAX);
        Settings {
            repeats: if short { REPEATS_SHORT } else { REPEATS },
            divisor,
            wide_pages: pages(wide),
            file_pages: pages((4 << 30) / u64::from(divisor)),
            directory,
            remarks,
        }
    }

    /// Less work for a short look.
    pub(crate) fn scaled(&self, work: u32) -> u32 {
        (work / self.divisor).max(1)
    }
}
