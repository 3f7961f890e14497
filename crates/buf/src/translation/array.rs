//! The page table as arrays: a directory of segments, each with a place for 8,192 neighbouring pages.
//!
//! A segment is an array of frame numbers, made when one of its pages is first wanted and kept for the life of the pool.
//! The directory is an open-addressing hash table from (tablespace, segment number) to segment that only ever gains
//! entries, so a reader needs no lock. When it is half full a directory of twice the size replaces it; readers still
//! in the old one find all that it had, and who misses there looks again under the lock.

use std::sync::{Arc, OnceLock};

use innopool_policy::PageId;

use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod sizes {
    pub(super) const SEGMENT_BITS: u32 = 13;
    pub(super) const FIRST_DIRECTORY_BITS: u32 = 8;
}
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod sizes {
    pub(super) const SEGMENT_BITS: u32 = 2;
    pub(super) const FIRST_DIRECTORY_BITS: u32 = 1;
}
use sizes::{FIRST_DIRECTORY_BITS, SEGMENT_BITS};

/// Directories double, and 2^40 segments would be more pages than page numbers and tablespaces in use can name.
const DIRECTORIES_MAX: usize = 32;

const SEGMENT_PAGES: usize = 1 << SEGMENT_BITS;

/// Frame numbers plus 1; 0 is none.
type Segment = [AtomicU32; SEGMENT_PAGES];

struct Entry {
    /// The segment's key plus 1; 0 is an empty entry. Published after `segment`.
    key: AtomicU64,
    segment: OnceLock<Arc<Segment>>,
}

struct Directory {
    entries: Box<[Entry]>,
    bits: u32,
}

pub(crate) struct ArrayTable {
    directories: [OnceLock<Directory>; DIRECTORIES_MAX],
    /// Which directory is the newest.
    current: AtomicUsize,
    /// Segments made so far. Held while anything is added.
    segments: Mutex<usize>,
}

impl Directory {
    fn new(bits: u32) -> Directory {
        let entries = (0..1usize << bits)
            .map(|_| Entry { key: AtomicU64::new(0), segment: OnceLock::new() })
            .collect();
        Directory { entries, bits }
    }

    /// The entries in the order in which a key is looked for.
    #[inline]
    fn probe(&self, key: u64) -> impl Iterator<Item = &Entry> {
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.bits);
        #[allow(clippy::cast_possible_truncation, reason = "`mixed` is below the directory's size")]
        let (start, mask) = (mixed as usize, self.entries.len() - 1);
        (0..self.entries.len()).map(move |step| &self.entries[(start + step) & mask])
    }

    #[inline]
    fn find(&self, key: u64) -> Option<&Arc<Segment>> {
        for entry in self.probe(key) {
            match entry.key.load(Ordering::Acquire) {
                0 => return None,
                found if found == key + 1 => return entry.segment.get(),
                _ => {}
            }
        }
        None
    }

    /// Adds a key that is not there. The caller holds the table's lock and has made sure there is room.
    fn add(&self, key: u64, segment: Arc<Segment>) {
        for entry in self.probe(key) {
            if entry.key.load(Ordering::Relaxed) == 0 {
                let _ = entry.segment.set(segment);
                entry.key.store(key + 1, Ordering::Release);
                return;
            }
        }
    }
}

/// The segment a page is in, and its place there. A key is below 2^51, so `key + 1` never overflows.
#[inline]
fn split(page: PageId) -> (u64, usize) {
    let key =
        u64::from(page.space) << (32 - SEGMENT_BITS) | u64::from(page.page_no >> SEGMENT_BITS);
    (key, page.page_no as usize % SEGMENT_PAGES)
}

impl ArrayTable {
    pub(crate) fn new() -> ArrayTable {
        let directories = [const { OnceLock::new() }; DIRECTORIES_MAX];
        let _ = directories[0].set(Directory::new(FIRST_DIRECTORY_BITS));
        ArrayTable { directories, current: AtomicUsize::new(0), segments: Mutex::new(0) }
    }

    #[inline]
    fn segment(&self, key: u64) -> Option<&Segment> {
        let newest = self.current.load(Ordering::Acquire);
        self.directories[newest].get()?.find(key).map(|segment| &**segment)
    }

    #[inline]
    pub(crate) fn find(&self, page: PageId) -> Option<u32> {
        let (key, place) = split(page);
        self.segment(key)?[place].load(Ordering::Acquire).checked_sub(1)
    }

    pub(crate) fn claim(&self, page: PageId, frame: u32) -> Result<(), u32> {
        let (key, place) = split(page);
        let made;
        let segment = match self.segment(key) {
            Some(segment) => segment,
            None => {
                made = self.make(key);
                &*made
            }
        };
        segment[place]
            .compare_exchange(0, frame + 1, Ordering::AcqRel, Ordering::Acquire)
            .map_or_else(|taken| Err(taken - 1), |_| Ok(()))
    }

    pub(crate) fn set(&self, page: PageId, from: u32, to: Option<u32>) {
        let (key, place) = split(page);
        let Some(segment) = self.segment(key) else { return };
        let to = to.map_or(0, |frame| frame + 1);
        let before = segment[place].swap(to, Ordering::AcqRel);
        debug_assert_eq!(before, from + 1, "{page} is not where it should be");
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let segments = *self.segments.lock() << SEGMENT_BITS;
        let entries: usize =
            self.directories.iter().filter_map(OnceLock::get).map(|d| d.entries.len()).sum();
        (segments * size_of::<AtomicU32>() + entries * size_of::<Entry>()) as u64
    }

    #[cold]
    fn make(&self, key: u64) -> Arc<Segment> {
        let mut segments = self.segments.lock();
        let newest = self.current.load(Ordering::Relaxed);
        let Some(directory) = self.directories[newest].get() else {
            // `new` fills the first directory, and `current` only ever names filled ones.
            unreachable!("the newest directory is there");
        };
        if let Some(made) = directory.find(key) {
            return made.clone();
        }
        let segment: Arc<Segment> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
        *segments += 1;
        if *segments * 2 <= directory.entries.len() || newest + 1 == DIRECTORIES_MAX {
            directory.add(key, segment.clone());
        } else {
            let larger = self.directories[newest + 1].get_or_init(|| directory.doubled());
            larger.add(key, segment.clone());
            self.current.store(newest + 1, Ordering::Release);
        }
        segment
    }
}

impl Directory {
    fn doubled(&self) -> Directory {
        let larger = Directory::new(self.bits + 1);
        for entry in &self.entries {
            let key = entry.key.load(Ordering::Relaxed);
            if let (Some(key), Some(segment)) = (key.checked_sub(1), entry.segment.get()) {
                larger.add(key, segment.clone());
            }
        }
        larger
    }
}
