//! The pool as a MySQL server would print it: the BUFFER POOL AND MEMORY section of `SHOW ENGINE INNODB STATUS`, and the
//! rows of `INFORMATION_SCHEMA.INNODB_BUFFER_POOL_STATS`.
//!
//! Both show counts since the pool was made, sizes of this moment, and **rates**: per second, and of a thousand gets, over
//! the time since somebody last looked. Whoever wants rates keeps a [`StatusReader`], which remembers the [`Snapshot`] it saw
//! last; each look is compared with that one.
//!
//! In the server there is one remembered snapshot for everybody: every session that prints the status, every query of the
//! table and the server's own monitor replace it. So two monitoring programs that each look once a minute get rates over whatever
//! was left of the minute when they looked, and the one that looks a moment after the other sees an idle pool. Here
//! each reader has its own interval, and no reader changes what another sees, or anything in the pool.
//!
//! ```
//! # use std::sync::Arc;
//! # use innopool_buf::store::SimStore;
//! # use innopool_buf::{Hint, NoLog, PageId, PageSize, PlainPages, Pool, PoolOptions};
//! use innopool_buf::status::StatusReader;
//! # let store = SimStore::new(PageSize::KIB_16, 1);
//! # store.create_space(1, 100);
//! # let options = PoolOptions { size_bytes: 1 << 20, ..PoolOptions::default() };
//! # let pool = Pool::new(options, Arc::new(store), Arc::new(NoLog::new()), Arc::new(PlainPages))?;
//!
//! let mut reader = StatusReader::new();
//! for _ in 0..4 {
//!     pool.get_shared(PageId::new(1, 7), Hint::Normal)?;
//! }
//! let status = reader.look(pool.snapshot());
//! assert!(status.to_string().contains("Buffer pool hit rate 750 / 1000"));
//! assert_eq!(status.rows()[0].number_pages_get, 4);
//! let idle = reader.look(pool.snapshot());
//! assert!(idle.to_string().contains("No buffer pool page gets since the last printout"));
//! # Ok::<(), innopool_buf::PoolError>(())
//! ```

mod rates;
mod row;
mod text;

use std::time::Duration;

use innopool_policy::Time;

use crate::pool::Pool;
use crate::stats::{MemoryUse, PoolStats};

pub use rates::Rates;
pub use row::{COLUMNS, StatsRow, Value};

/// What a pool had counted and held at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When the pool began to count.
    pub since: Time,
    /// When the snapshot was taken, by the same clock.
    pub at: Time,
    /// Counts and sizes of each instance, in the order of their numbers.
    pub instances: Vec<PoolStats>,
    /// The pool's memory.
    pub memory: MemoryUse,
}

impl Pool {
    /// Counts, sizes and memory of this moment, for a [`StatusReader`]. Takes each flush list's lock for an instant and sums 64
    /// rows of counters per instance: some microseconds, at any size of the pool.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            since: self.inner.made_at,
            at: self.inner.clock().now(),
            instances: self.instance_stats(),
            memory: self.memory(),
        }
    }
}

/// Looks at one pool again and again, and gives rates over the time between two looks. Costs one snapshot of memory.
#[derive(Clone, Debug, Default)]
pub struct StatusReader {
    last: Option<Snapshot>,
}

impl StatusReader {
    /// A reader that has not looked yet. The rates of its first look are over all the time since the pool was made, as
    /// the first printout of a server is.
    pub fn new() -> StatusReader {
        StatusReader::default()
    }

    /// Compares `now` with the last look, and remembers it for the next.
    pub fn look(&mut self, now: Snapshot) -> Status {
        let before = self.last.take().unwrap_or_else(|| Snapshot {
            at: now.since,
            instances: vec![PoolStats::default(); now.instances.len()],
            ..now
        });
        let elapsed = now.at.since(before.at);
        let instances: Vec<Block> = now
            .instances
            .iter()
            .zip(&before.instances)
            .map(|(now, before)| Block::new(*now, before, elapsed))
            .collect();
        let (sum_now, sum_before) =
            (PoolStats::sum_of(&now.instances), PoolStats::sum_of(&before.instances));
        let total = Block::new(sum_now, &sum_before, elapsed);
        let memory = now.memory;
        self.last = Some(now);
        Status { elapsed, total, instances, memory, dictionary_bytes: 0 }
    }
}

/// Counts and sizes of one instance or of all, and rates over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Block {
    /// Counts since the pool was made, and sizes at the end of the interval.
    pub stats: PoolStats,
    /// Rates over the interval.
    pub rates: Rates,
}

impl Block {
    fn new(stats: PoolStats, before: &PoolStats, elapsed: Duration) -> Block {
        Block { stats, rates: Rates::between(before, &stats, elapsed) }
    }
}

/// One look at a pool. As text (`Display`) it is the BUFFER POOL AND MEMORY section in MySQL's layout, from its heading to its
/// last line; see [`Status::rows`] for the table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// The interval that the rates are over: what the head of the server's text calls "per second averages
    /// calculated from the last N seconds". Below two seconds, rates say little.
    pub elapsed: Duration,
    /// All instances together. Its rates are of the sums, not sums of rates.
    pub total: Block,
    /// Each instance.
    pub instances: Vec<Block>,
    /// Memory of the pool, printed as "Total large memory allocated".
    pub memory: MemoryUse,
    /// "Dictionary memory allocated", in bytes: what the engine around the pool keeps of its tables' definitions. The pool
    /// knows nothing of it; set it before printing.
    pub dictionary_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(at_seconds: u64, instances: &[PoolStats]) -> Snapshot {
        Snapshot {
            since: Time::from_millis(1_000),
            at: Time::from_millis(1_000 + at_seconds * 1_000),
            instances: instances.to_vec(),
            memory: MemoryUse::default(),
        }
    }

    fn read(gets: u64, pages_read: u64) -> PoolStats {
        PoolStats { gets, pages_read, ..PoolStats::default() }
    }

    #[test]
    fn the_first_look_is_at_all_the_time_before_it() {
        let status = StatusReader::new().look(snapshot(10, &[read(1_000, 50)]));
        assert_eq!(status.elapsed, Duration::from_secs(10));
        assert_eq!(status.total.rates.hits_per_mille, Some(950));
        assert!((status.total.rates.reads_per_second - 5.0).abs() < 0.001);
    }

    #[test]
    fn readers_do_not_disturb_each_other() {
        let (mut often, mut seldom) = (StatusReader::new(), StatusReader::new());
        seldom.look(snapshot(0, &[read(0, 0)]));
        for second in 0..60 {
            often.look(snapshot(second, &[read(second * 100, second)]));
        }
        let end = snapshot(60, &[read(6_000, 600)]);
        let (often, seldom) = (often.look(end.clone()), seldom.look(end));
        assert_eq!((often.elapsed.as_secs(), seldom.elapsed.as_secs()), (1, 60));
        assert!((seldom.total.rates.reads_per_second - 10.0).abs() < 0.001);
        assert!(often.total.rates.reads_per_second > 500.0);
    }

    #[test]
    fn the_total_is_a_ratio_of_sums() {
        let mut reader = StatusReader::new();
        let status = reader.look(snapshot(1, &[read(1_000, 0), read(10, 10)]));
        let hits: Vec<_> =
            status.instances.iter().map(|block| block.rates.hits_per_mille).collect();
        assert_eq!(hits, [Some(1000), Some(0)]);
        assert_eq!(status.total.rates.hits_per_mille, Some(991));
    }
}
