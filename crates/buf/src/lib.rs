//! InnoDB's buffer pool, as a library for anyone who writes a storage engine.
//!
//! A [`Pool`] keeps pages of files in memory: it reads a page when it is wanted, decides which pages stay (by the rules of
//! [`innopool_policy`]), lets threads read and write pages under latches, and writes what was changed, after the log. It
//! knows no tables, keys or transactions: those are its user's.
//!
//! ```
//! use std::sync::Arc;
//! use innopool_buf::store::{FileStore, FileStoreOptions};
//! use innopool_buf::{Hint, NoLog, PageId, PageSize, PlainPages, Pool, PoolOptions};
//!
//! let directory = tempfile::tempdir()?;
//! let files = FileStore::open(FileStoreOptions::new(PageSize::KIB_16))?;
//! files.open_or_create_space(1, &directory.path().join("t1.ibd"), 1000)?;
//! let log = Arc::new(NoLog::new());
//! let options = PoolOptions { size_bytes: 8 << 20, ..PoolOptions::default() };
//! let pool = Pool::new(options, Arc::new(files), log.clone(), Arc::new(PlainPages))?;
//!
//! let mut page = pool.get_exclusive(PageId::new(1, 42), Hint::Normal)?;
//! page[..5].copy_from_slice(b"hello");
//! let start = log.advance(); // a real log's record of the change: from where to where
//! page.mark_dirty(start, log.advance())?;
//! drop(page);
//!
//! assert_eq!(&pool.get_shared(PageId::new(1, 42), Hint::Normal)?[..5], b"hello");
//! pool.flush_all()?;
//! let stats = pool.stats();
//! assert_eq!((stats.gets, stats.demand_reads, stats.pages_written), (2, 1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guards
//!
//! A page's bytes are reached through a guard, which pins the page (it stays in its frame) and latches it (its bytes stay
//! as they are). Dropping the guard gives up both.
//!
//! | guard | from | may read | may write | others at the page meanwhile |
//! |---|---|---|---|---|
//! | [`SharedGuard`] | [`Pool::get_shared`], [`Pool::peek`] | yes | | readers, one `UpdateGuard` |
//! | [`UpdateGuard`] | [`Pool::get_update`] | yes | after [`upgrade`](UpdateGuard::upgrade) | readers |
//! | [`ExclusiveGuard`] | [`Pool::get_exclusive`], [`Pool::create`] | yes | yes | nobody |
//! | [`Pinned`] | [`Pool::pin`], `unlatch` of the others | | | everybody |
//!
//! A thread must not get a page it already holds, and takes several pages in one order: nobody looks for deadlocks among
//! latches.
//!
//! # What you provide
//!
//! | trait | says | ready-made |
//! |---|---|---|
//! | [`PageStore`](store::PageStore) | how a page is read, written and synced | [`FileStore`](store::FileStore): files, `O_DIRECT`, io_uring; [`SimStore`](store::SimStore): memory, with a disk's faults on demand |
//! | [`Log`] | up to where the write-ahead log is durable, and makes it so | [`NoLog`], for pages that can be made again |
//! | [`PageFormat`] | whether the bytes of a page are right; puts LSN and checksum into a copy to be written | [`PlainPages`] |
//!
//! # What the pool promises
//!
//! 1. A guard's bytes are its page's, whole, as the last writer left them. Nobody reads a page that is being changed.
//! 2. A page is written only after [`Log::make_durable`] has returned for the newest change that was noted on it.
//! 3. A noted change stays in the pool until a write with it has succeeded; [`Pool::checkpoint_lsn`] never passes a change that
//!    is not durable in the store.
//! 4. A read that fails, or bytes that [`PageFormat::verify`] refuses, are an error for every thread that waited for that
//!    read, and of no consequence afterwards: the next get reads again.
//! 5. After a sync has failed nothing more is written, and nothing can be changed ([`PoolError::Poisoned`]).
//! 6. Nothing waits without a limit for a frame: a pool whose frames are all held answers [`PoolError::Exhausted`]. (Waiting
//!    for a latch has no limit but its holder's.)
//! 7. A [`resize`](Pool::resize) never stops gets. It ends with the new size or leaves the old one, and loses no page to a shrink
//!    but the coldest.
//! 8. One pass over a large table leaves the young pages, 5/8 of the pool, where they are: in instances whose list has 512 pages or more
//!    (smaller ones have no old sublist), as long as `old_blocks_time` is longer than the pass stays at a page.
//!
//! # What it costs
//!
//! | step | cost |
//! |---|---|
//! | a hit for reading | two atomic additions on one cache line (one to get, one to drop the guard), a look-up of two dependent loads, a counter of the thread's own; no lock |
//! | a hit that makes a page young | once per page and quarter of the young pages' worth of evictions: a note in a queue ([`Promotion::Batched`]) or the list's lock ([`Promotion::Exact`]) |
//! | a hit for writing | a look-up, an addition, a compare-and-swap |
//! | noting a change | the flush list's lock of one instance, for a few loads and stores |
//! | a miss | the list's lock twice, and one synchronous read by the thread itself |
//! | memory beyond the frames | 128 bytes a frame, 4 bytes for each page of every piece of 8,192 ever touched, and [`writes_in_flight_max`](PoolOptions::writes_in_flight_max) pages ([`Pool::memory`] says how much) |
//!
//! # Where to read next
//!
//! - `examples/kv.rs`: a storage engine with a log and recovery, in 150 lines.
//! - `docs/buffer-pool.md` in the repository: what each thing is for, the numbered rules that the code cites, the order of
//!   locks, the life of a frame, what happens on errors, differences from InnoDB, how to choose options.
//! - [`PoolOptions`] for everything that can be set, [`PoolStats`] and [`status`] for everything that is counted, [`store`] for
//!   where pages live.
//! - [`innopool_policy`] for the rules themselves.

mod adaptive;
mod arena;
mod cleaner;
mod clock;
mod counters;
pub mod dump;
mod error;
mod flush;
mod flush_list;
mod format;
mod frame;
mod free;
mod get;
mod guard;
mod headroom;
mod inner;
mod instance;
mod io_history;
mod log;
#[cfg(all(test, feature = "loom"))]
mod loom_models;
mod options;
mod page_size;
mod pool;
mod prefetch;
mod resize;
mod snapshot;
mod staging;
mod stats;
pub mod status;
pub mod store;
mod sync;
mod translation;

pub use innopool_policy::flushing::neighbours::FlushNeighbours;
pub use innopool_policy::page::Fold;
pub use innopool_policy::read_ahead::ReadAheadSettings;
pub use innopool_policy::rules::{ListRules, Replacement};
pub use innopool_policy::variant::{ReserveRules, Variant};
pub use innopool_policy::{Lsn, PageId, Time};

pub use clock::{Clock, ManualClock};
pub use error::PoolError;
pub use format::{PageFormat, PlainPages};
pub use get::Hint;
pub use guard::{ExclusiveGuard, Pinned, SharedGuard, UpdateGuard};
pub use log::{Log, NoLog};
pub use options::{Background, PoolOptions, Promotion};
pub use page_size::PageSize;
pub use pool::Pool;
pub use prefetch::Prefetched;
pub use resize::ResizeControl;
pub use stats::{MemoryUse, PoolStats};
pub use translation::Translation;
