//! Dump and load: which pages were in the pool, kept over a restart.
//!
//! [`Pool::dump`](crate::Pool::dump) writes the numbers of the hottest pages into a small text file, the one that MySQL and
//! MariaDB call `ib_buffer_pool`; [`Pool::load`](crate::Pool::load) reads those pages back.
//!
//! # The file
//!
//! [`mod@format`] is the file itself: a line `tablespace,page` in decimal for each page, the hottest first, and instance after
//! instance with nothing between them. [`rank`] finds the instances again and makes one order of them, so that a dump of
//! eight instances can be loaded into one, and one that MySQL wrote into this pool. Both are plain functions over
//! bytes and page numbers, of use without a pool.
//!
//! # What a load keeps, and what it does not do
//!
//! - **Order.** Pages are read as they lie on disk, in large batches, and yet stand in the list as the dump lists them:
//!   each page enters right behind the nearest hotter page of the dump that is there already. So the list is right
//!   at every moment, also if the load is cancelled half-way.
//! - **Place.** The loaded pages enter where the young sublist ends. As the list grows its boundary moves down into
//!   them by the list's own rule, so that after a load into an empty pool the hottest 5/8 are young and the coldest 3/8
//!   old, as they were before the restart, and a scan that comes first flushes old ones only. (The servers' own load puts
//!   all pages in the old sublist in the order of their numbers.) Pages that were read and not promoted before the load
//!   stand behind the loaded ones; no page that was there is moved or evicted.
//! - **Not an access.** No page counts as accessed by being loaded: an old one becomes young as any page that was read ahead
//!   does.
//! - **What fits.** Only free frames are used, and of them only those that the page cleaner would not take back at once for
//!   its reserve. If the pool is smaller than the dump, the coldest pages of each instance are left out, not
//!   the last lines.
//!
//! # When a dump is refused
//!
//! A server that is stopped soon after its start would overwrite the good dump of yesterday by what it has read in a
//! minute. So a dump that would have fewer pages than the file has pages that exist is refused, unless the pool may be
//! taken at its word: it has been full (every instance has evicted pages, or has no frames free but its reserve), or
//! since it was made it has loaded, not cut short, a file with as many pages. A pool that was made smaller has been
//! full, and a tablespace that was dropped counts no more: neither is refused for long.

mod collect;
mod file;
pub mod format;
mod load;
pub mod rank;
mod rank_set;
mod warmth;

pub use collect::{DumpOptions, DumpReport};
pub use load::{LoadControl, LoadOptions, LoadOrder, LoadProgress, LoadReport};
pub(crate) use warmth::Warmth;
