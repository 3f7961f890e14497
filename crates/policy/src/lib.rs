//! InnoDB's buffer pool, as rules: which pages a MySQL or MariaDB server keeps in memory, which it reads
//! ahead, and which it writes. Pure code: nothing here does I/O, starts a thread, reads a clock or is
//! unsafe. Time, sizes and events come in as values, so the same rules run inside a buffer pool and
//! inside a simulator, and cannot disagree.
//!
//! # A tour
//!
//! A server keeps copies of disk pages in the **frames** of its **buffer pool**. When a page is wanted
//! that has no frame, some other page must give up its own. Which one, is what replacement decides.
//!
//! Plain LRU gives up the page that was not used for longest, and has a flaw: one scan over a large table
//! uses every page once, and pushes out all that the rest of the day depends on. InnoDB's list
//! ([`list`]) therefore has a **midpoint**. From the head, the hot end, to the tail it is one list; but
//! its last 3/8 are the **old** sublist, the rest is **young**. A page read from disk enters at the
//! midpoint, at the head of the old part. It has from there to the tail to prove itself.
//!
//! The life of a page:
//!
//! 1. It is **read**, because somebody waits for it, or ahead of need ([`read_ahead`]), or from a
//!    [`dump`] of the last run; it enters old. A page newly **created** enters at the head instead.
//! 2. Its **first access** is noted, once. Every access is judged ([`promotion`]). An old page moves to
//!    the head, is **made young**, by an access that comes at least a second after the first: the burst
//!    of accesses of one scan over it does not count. A young page is moved again only after a quarter
//!    of the young part's worth of evictions, so hot pages rarely move at all.
//! 3. When it is **modified** it becomes dirty, and has to be written before it can go ([`flushing`]).
//! 4. Unwanted, it sinks to the tail and is **evicted**, by the page cleaner, which keeps a [`reserve`]
//!    of free frames in hand, or by a thread that finds none. The instance's eviction clock ticks; it is
//!    the clock by which step 2 measures how long ago a page was at the head.
//!
//! Before the first eviction nothing is judged: in a pool with room for everything, all places are good.
//! All of this happens in each **instance** of the pool by itself; [`page`] says which one a page has.
//!
//! Servers differ in details. [`Variant`] names them, and [`variant`] has the details as data.
//! [`counters`] and [`hit_rate`] are what a server shows of it all, in the server's own arithmetic, and
//! [`scale`] makes everything smaller for a sample of the pages.
//!
//! [`replay`] puts it together: a whole pool without bytes. Here it shows what the midpoint is good for,
//! 500 hot pages and a scan of 20,000:
//!
//! ```
//! use innopool_policy::replay::{BufferPool, PoolConfig};
//! use innopool_policy::{Fetch, PageId, Time, Variant};
//!
//! /// How many hot pages are still in a pool of 2000 frames after the scan.
//! fn left_after_scan(variant: Variant) -> Result<usize, Box<dyn std::error::Error>> {
//!     let hot = || (0..500).map(|page_no| PageId::new(1, page_no));
//!     let scan = || (0..20_000).map(|page_no| PageId::new(2, page_no));
//!     let mut pool = BufferPool::new(PoolConfig::new(variant, 2000))?;
//!
//!     // Other work fills the pool: from the first eviction on, accesses are judged.
//!     for page_no in 0..3000 {
//!         pool.get(PageId::new(3, page_no), Fetch::Normal, Time::from_millis(0))?;
//!     }
//!     // The hot pages are read, and wanted again two seconds later: they are made young.
//!     for (page, second) in hot().map(|page| (page, 1)).chain(hot().map(|page| (page, 3))) {
//!         pool.get(page, Fetch::Normal, Time::from_millis(second * 1000))?;
//!     }
//!     // The scan wants every page five times in a row, one after the other.
//!     for page in scan() {
//!         for _ in 0..5 {
//!             pool.get(page, Fetch::Normal, Time::from_millis(4000 + u64::from(page.page_no)))?;
//!         }
//!     }
//!     Ok(hot().filter(|&page| pool.contains(page)).count())
//! }
//!
//! assert_eq!(left_after_scan(Variant::Mysql84)?, 500);
//! assert_eq!(left_after_scan(Variant::Lru)?, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Who writes a pool with real frames takes the parts instead: a [`list::LruList`] per instance with its
//! links in the pool's own descriptors ([`blocks::Blocks`]), [`promotion::judge`] at every access,
//! [`read_ahead::linear`] at first accesses, and [`reserve`] and [`flushing`] in the page cleaner.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod counters;
pub mod dump;
pub mod fetch;
pub mod flushing;
pub mod hit_rate;
pub mod list;
pub mod page;
pub mod promotion;
pub mod read_ahead;
pub mod replay;
pub mod reserve;
pub mod rules;
pub mod scale;
pub mod time;
pub mod variant;

pub use fetch::Fetch;
pub use page::PageId;
pub use time::{Lsn, Time};
pub use variant::Variant;
