//! Every threshold innopool judges by, in one table, each with the reason for its value. Rules read
//! their numbers here and nowhere else; `innopool explain` prints them.

use crate::finding::Severity;

/// From which value on a figure is a notice, a warning or critical.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The finding it belongs to.
    pub code: &'static str,
    /// The figure judged.
    pub figure: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// At or above: a notice.
    pub notice: Option<f64>,
    /// At or above: a warning.
    pub warning: Option<f64>,
    /// At or above: critical.
    pub critical: Option<f64>,
    /// Why these values.
    pub reason: &'static str,
}

impl Threshold {
    const fn new(code: &'static str, figure: &'static str, unit: &'static str) -> Self {
        Self { code, figure, unit, notice: None, warning: None, critical: None, reason: "" }
    }

    const fn notice(self, at: f64) -> Self {
        Self { notice: Some(at), ..self }
    }

    const fn warning(self, at: f64) -> Self {
        Self { warning: Some(at), ..self }
    }

    const fn critical(self, at: f64) -> Self {
        Self { critical: Some(at), ..self }
    }

    const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// The severity of a value, or `None` below all thresholds.
    pub fn judge(&self, value: f64) -> Option<Severity> {
        let at_least = |limit: Option<f64>| limit.is_some_and(|limit| value >= limit);
        if at_least(self.critical) {
            Some(Severity::Critical)
        } else if at_least(self.warning) {
            Some(Severity::Warning)
        } else if at_least(self.notice) {
            Some(Severity::Notice)
        } else {
            None
        }
    }
}

/// Share of statement time spent waiting for page reads.
pub const READ_COST: Threshold =
    Threshold::new("pool-too-small", "disk reads x latency / statement time", "ratio")
        .warning(0.05)
        .critical(0.30)
        .because(
            "The hit ratio stays at 99 % while throughput halves; the share of time spent waiting \
             for reads is what a larger pool can give back. Below 5 % it is within noise.",
        );

/// Reads under way at once, where statement time is unknown.
pub const READS_IN_FLIGHT: Threshold =
    Threshold::new("pool-too-small", "average reads in flight", "reads")
        .warning(1.0)
        .critical(16.0)
        .because(
            "One read in flight on average means that at any moment somebody waits for the disk; \
             sixteen fill the read queue of one I/O thread pool.",
        );

/// Reads under way at the one moment we have.
pub const PENDING_READS_ONCE: Threshold =
    Threshold::new("pool-too-small", "reads pending at one moment", "reads").warning(8.0).because(
        "A single look can hit a burst; eight at once is more than a burst of one session.",
    );

/// Misses of a thousand gets, where only the ratio is known.
pub const MISS_PER_MILLE: Threshold =
    Threshold::new("pool-too-small", "misses of 1000 page gets", "per_mille")
        .warning(15.0)
        .critical(100.0)
        .because(
            "Common practice alerts below 985 of 1000 hits. The ratio alone says nothing of cost, \
             so the confidence is low; nine hits in ten or fewer is beyond doubt.",
        );

/// Reads per second below which their cost is not worth a finding.
pub const READS_WORTH_A_LOOK: Threshold =
    Threshold::new("pool-too-small", "disk reads per second", "per_second").notice(10.0).because(
        "Fewer than ten reads a second are background work on any disk made in this century.",
    );

/// Free share of a pool that holds all there is.
pub const FREE_SHARE: Threshold =
    Threshold::new("pool-larger-than-data", "free pages / all pages", "ratio").notice(0.5).because(
        "Half a pool that never filled is memory somebody else could use; less is growth room.",
    );

/// Pool size against the size of all data.
pub const POOL_TO_DATA: Threshold =
    Threshold::new("pool-larger-than-data", "pool / data files", "ratio").notice(1.5).because(
        "Pages hold rows, undo and change information beyond the files' size, so up to half as \
         much again is sensible; more cannot be filled.",
    );

/// The pool against the memory budget.
pub const POOL_TO_BUDGET: Threshold =
    Threshold::new("pool-over-memory-budget", "pool / memory budget", "ratio")
        .warning(1.0)
        .because("The budget already keeps a reserve; beyond it the host swaps or kills.");

/// The pool with its overhead against the whole limit.
pub const POOL_TO_LIMIT: Threshold =
    Threshold::new("pool-over-memory-budget", "pool with overhead / memory limit", "ratio")
        .critical(1.0)
        .because("A pool that is as large as the limit ends in an out-of-memory kill once full.");

/// Swap-in while we watched.
pub const SWAP_IN: Threshold =
    Threshold::new("host-swapping", "bytes swapped in per second", "bytes_per_second")
        .warning(16.0 * 1024.0)
        .critical(1024.0 * 1024.0)
        .because(
            "A few pages a minute are leftovers; 16 KB/s is a page of the pool each second, and \
             1 MB/s stalls queries (in a published sweep throughput fell from there on).",
        );

/// Share of the server's memory that is swapped out.
pub const SERVER_SWAPPED: Threshold = Threshold::new(
    "host-swapping",
    "server memory swapped out / pool",
    "ratio",
)
.warning(0.01)
.because("Cold start-up code may be swapped for good reason; one hundredth of the pool is pages.");

/// Time a throttled warm-up takes.
pub const LOAD_SECONDS: Threshold =
    Threshold::new("warmup-throttled", "expected load time", "seconds")
        .notice(600.0)
        .warning(1800.0)
        .because("Ten minutes of cold cache can be served; half an hour is an outage.");

/// Dirty share against the configured maximum.
pub const DIRTY_SHARE: Threshold =
    Threshold::new("dirty-pages-high", "dirty pages / innodb_max_dirty_pages_pct", "ratio")
        .warning(0.75)
        .because("From three quarters of the limit on a burst reaches it and writers wait.");

/// Dirty share that deserves a longer look.
pub const DIRTY_SHARE_ONCE: Threshold =
    Threshold::new("dirty-pages-high", "dirty pages / data pages, one look", "ratio")
        .notice(0.15)
        .because(
            "One look cannot tell high from high and rising; a sixth of the pool is worth a \
             second look of a minute.",
        );

/// Threads that found no free frame.
pub const FREE_WAITS: Threshold =
    Threshold::new("flush-behind", "waits for a free frame per second", "per_second")
        .warning(1.0)
        .because("Each is a statement that had to write a page before it could read one.");

/// Flushing against io_capacity.
pub const FLUSH_TO_IO_CAPACITY: Threshold =
    Threshold::new("io-capacity-low", "pages flushed per second / innodb_io_capacity", "ratio")
        .warning(0.8)
        .because("Flushing at the configured rate while dirty pages stay high: the brake is on.");

/// io_capacity that is certainly too low for flash.
pub const IO_CAPACITY_FLASH: f64 = 200.0;

/// Checkpoint age against the redo capacity.
pub const CHECKPOINT_AGE: Threshold = Threshold::new(
    "redo-too-small",
    "checkpoint age / redo capacity",
    "ratio",
)
.warning(0.70)
.critical(0.80)
.because(
    "InnoDB flushes hard from about 5/6 of the capacity on and stops writers shortly after; \
             at 70 % a burst gets there.",
);

/// Redo written in ten minutes against the capacity.
pub const REDO_TEN_MINUTES: Threshold =
    Threshold::new("redo-too-small", "redo written in 10 minutes / redo capacity", "ratio")
        .notice(1.0)
        .because(
            "About an hour of peak writes lets flushing merge repeated changes; a log that is full \
             in under ten minutes has pages written again and again.",
        );

/// Contention on the pool's latches.
pub const LATCH_WAITS: Threshold =
    Threshold::new("instances-too-few", "waits for pool latches per second", "per_second")
        .warning(1000.0)
        .because("A thousand waits a second cost about a hundredth of a processor second each.");

/// Read-ahead that was for nothing.
pub const READ_AHEAD_WASTED: Threshold =
    Threshold::new("read-ahead-wasted", "read-ahead pages evicted unused / read ahead", "ratio")
        .warning(0.2)
        .because(
            "The server's counter misses what the page cleaner evicts, so a fifth counted is a \
             fifth at least.",
        );

/// Read-ahead worth judging.
pub const READ_AHEAD_WORTH_A_LOOK: f64 = 10.0;

/// Time of the work at a recommended size, over that at the best affordable one.
///
/// Five percent is what two runs of the same load differ by on a busy machine.
pub const SIZE_WITHIN: f64 = 1.05;

/// The same where a size is chosen anew, so that two percent are left for what a curve gets wrong
/// of one size and not of the next.
pub const SIZE_CHOSEN_WITHIN: f64 = 1.03;

/// From here on more memory gives nothing that could be measured.
pub const NOTHING_MORE_WITHIN: f64 = 1.005;

/// The share of the pool that a shrink must give back: a quarter. A shrink stalls queries, and less
/// memory than that is hardly missed elsewhere.
pub const SHRINK_WORTH: f64 = 0.25;

/// The share of the memory budget that a pool is grown to at most: what the rest of the server and
/// other processes use changes from look to look by a few percent, and advice must not follow it.
pub const BUDGET_GROWN_INTO: f64 = 0.97;

/// All thresholds, in the order of the findings.
pub const ALL: &[Threshold] = &[
    READ_COST,
    READS_IN_FLIGHT,
    PENDING_READS_ONCE,
    MISS_PER_MILLE,
    READS_WORTH_A_LOOK,
    FREE_SHARE,
    POOL_TO_DATA,
    POOL_TO_BUDGET,
    POOL_TO_LIMIT,
    SWAP_IN,
    SERVER_SWAPPED,
    LOAD_SECONDS,
    DIRTY_SHARE,
    DIRTY_SHARE_ONCE,
    FREE_WAITS,
    FLUSH_TO_IO_CAPACITY,
    CHECKPOINT_AGE,
    REDO_TEN_MINUTES,
    LATCH_WAITS,
    READ_AHEAD_WASTED,
];
