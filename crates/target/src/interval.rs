//! What happened between two moments. Ratios and rates of innopool come from here and never from
//! counters since start-up; a counter that went backwards makes its rate unknown and is named.

use crate::evidence::{Evidence, FileKind};
use crate::load_status::LoadState;
use crate::provenance::{Fact, Source};

/// Rates and ratios between two moments of one server. All `*_per_second` are per second of the
/// interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    /// Its length.
    pub seconds: f64,
    /// Page gets ("logical reads").
    pub read_requests_per_second: Option<Fact<f64>>,
    /// Demand reads: a get had to wait for the disk. `Innodb_buffer_pool_reads` less random
    /// read-ahead and less the warm-up load.
    pub disk_reads_per_second: Option<Fact<f64>>,
    /// Pages read ahead, linear and random.
    pub read_ahead_pages_per_second: Option<Fact<f64>>,
    /// Pages read ahead and evicted before anyone used them.
    pub read_ahead_evicted_per_second: Option<Fact<f64>>,
    /// All pages read: the disk's view.
    pub pages_read_per_second: Option<Fact<f64>>,
    /// Pages created.
    pub pages_created_per_second: Option<Fact<f64>>,
    /// Pages written.
    pub pages_written_per_second: Option<Fact<f64>>,
    /// Pages flushed by batches.
    pub pages_flushed_per_second: Option<Fact<f64>>,
    /// Moves to the head of the LRU list.
    pub made_young_per_second: Option<Fact<f64>>,
    /// Accesses to old pages that moved nothing.
    pub not_made_young_per_second: Option<Fact<f64>>,
    /// Rounds in which a thread found no free frame.
    pub free_waits_per_second: Option<Fact<f64>>,
    /// Bytes of redo log.
    pub redo_bytes_per_second: Option<Fact<f64>>,
    /// Waits for room in the log buffer.
    pub log_buffer_waits_per_second: Option<Fact<f64>>,
    /// Committed transactions as far as counted (explicit commits, plus handler commits).
    pub commits_per_second: Option<Fact<f64>>,
    /// fsync calls of InnoDB data and log files.
    pub syncs_per_second: Option<Fact<f64>>,
    /// Rows inserted, updated and deleted.
    pub row_changes_per_second: Option<Fact<f64>>,
    /// Hits of a thousand page gets: `1000 * (1 - reads / requests)`, rounded down; unknown without
    /// gets.
    pub hit_per_mille: Option<Fact<u64>>,
    /// Mean time of one read of a data file.
    pub read_latency_seconds: Option<Fact<f64>>,
    /// Mean time of one write of a data file.
    pub write_latency_seconds: Option<Fact<f64>>,
    /// Seconds of statement time per second: the average number of statements under way.
    pub statement_seconds_per_second: Option<Fact<f64>>,
    /// Statements.
    pub statements_per_second: Option<Fact<f64>>,
    /// Waits for latches of the pool.
    pub latch_waits_per_second: Option<Fact<f64>>,
    /// Bytes swapped in by the machine.
    pub swap_in_bytes_per_second: Option<Fact<f64>>,
    /// Bytes swapped out by the machine.
    pub swap_out_bytes_per_second: Option<Fact<f64>>,
    /// Share of the time some task stalled on memory, 0 to 1.
    pub memory_stall_ratio: Option<Fact<f64>>,
    /// Share of processor time spent waiting for I/O, 0 to 1.
    pub iowait_ratio: Option<Fact<f64>>,
    /// Counters that went backwards although the server did not restart, by name.
    pub went_backwards: Vec<Source>,
    /// True when the server restarted in between: no rate is given then.
    pub restarted: bool,
}

/// Marks that the rate between two moments of one counter cannot be told.
enum Delta {
    Unknown,
    Backwards(Source),
    Forward(Fact<u64>),
}

impl Interval {
    /// What happened from `earlier` to `later`; `None` if nothing can be compared or no time passed.
    pub fn between(earlier: &Evidence, later: &Evidence) -> Option<Self> {
        let seconds = elapsed_seconds(earlier, later)?;
        if seconds <= 0.0 {
            return None;
        }
        if restarted(earlier, later) {
            return Some(Self { seconds, restarted: true, ..Self::default() });
        }
        let mut rates = Rates { earlier, later, seconds, went_backwards: Vec::new() };
        let mut interval = Self { seconds, ..Self::default() };
        interval.fill_pool(&mut rates);
        interval.fill_writes(&mut rates);
        interval.fill_time(&rates);
        interval.fill_host(&rates);
        interval.went_backwards = rates.went_backwards;
        Some(interval)
    }

    /// Everything since the server started, as if nothing had been counted before; `None` without
    /// an uptime. The present is hidden in such averages: they are for evidence of one moment only.
    pub fn since_start(now: &Evidence) -> Option<Self> {
        let mut start = Evidence::default();
        for (name, fact) in now.status.iter() {
            // Texts stay out; every counter began at 0.
            if now.status.count(name).is_some() {
                start.status.insert(name, "0", fact.source.clone());
            }
        }
        let zero = |io: &crate::evidence::FileIo| crate::evidence::FileIo {
            reads: 0,
            read_seconds: 0.0,
            read_bytes: 0,
            writes: 0,
            write_seconds: 0.0,
            syncs: 0,
            sync_seconds: 0.0,
            ..io.clone()
        };
        start.file_io = now.file_io.iter().map(zero).collect();
        start.statements = now.statements.clone().map(|totals| crate::evidence::StatementTotals {
            count: 0,
            seconds: 0.0,
            ..totals
        });
        start.latches = now
            .latches
            .iter()
            .map(|latch| crate::evidence::LatchWaits { waits: 0, ..latch.clone() })
            .collect();
        start.pool_stats = now.pool_stats.clone().map(|stats| crate::pool::PoolStats {
            instances: stats
                .instances
                .iter()
                .map(|_| crate::pool::PoolBlock {
                    made_young: Some(0),
                    not_made_young: Some(0),
                    ..crate::pool::PoolBlock::default()
                })
                .collect(),
            ..stats
        });
        // Without clock times the uptimes, 0 and now, give the length.
        let mut later = now.clone();
        later.taken_unix_seconds = None;
        Self::between(&start, &later)
    }

    fn fill_pool(&mut self, rates: &mut Rates<'_>) {
        self.read_requests_per_second = rates.status("innodb_buffer_pool_read_requests");
        self.pages_read_per_second = rates.status("innodb_pages_read");
        self.pages_created_per_second = rates.status("innodb_pages_created");
        let random = rates.status("innodb_buffer_pool_read_ahead_rnd");
        let linear = rates.status("innodb_buffer_pool_read_ahead");
        self.read_ahead_evicted_per_second = rates.status("innodb_buffer_pool_read_ahead_evicted");
        self.free_waits_per_second = rates.status("innodb_buffer_pool_wait_free");
        self.made_young_per_second = rates.pool_stats("PAGES_MADE_YOUNG", |b| b.made_young);
        self.not_made_young_per_second =
            rates.pool_stats("PAGES_NOT_MADE_YOUNG", |b| b.not_made_young);
        let reads = rates.status("innodb_buffer_pool_reads");
        let random_rate = random.as_ref().map_or(0.0, |fact| fact.value);
        let loaded = rates.pages_loaded_per_second();
        self.disk_reads_per_second =
            reads.map(|fact| fact.map(|rate| (rate - random_rate - loaded).max(0.0)));
        self.read_ahead_pages_per_second = linear.map(|fact| fact.map(|rate| rate + random_rate));
        self.hit_per_mille = self.hit();
    }

    /// Hits per mille from the interval's demand reads and gets.
    fn hit(&self) -> Option<Fact<u64>> {
        let requests = self.read_requests_per_second.as_ref().filter(|fact| fact.value > 0.0)?;
        let reads = self.disk_reads_per_second.as_ref()?;
        // More reads than gets is a counter that wrapped or does not count; no ratio then.
        if reads.value > requests.value {
            return None;
        }
        let ratio = (1.0 - reads.value / requests.value).clamp(0.0, 1.0);
        // Between 0 and 1000 by the clamp.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let per_mille = (ratio * 1000.0).floor() as u64;
        Some(Fact::new(per_mille, reads.source.clone()))
    }

    fn fill_writes(&mut self, rates: &mut Rates<'_>) {
        self.pages_written_per_second = rates.status("innodb_pages_written");
        self.pages_flushed_per_second = rates.status("innodb_buffer_pool_pages_flushed");
        self.redo_bytes_per_second = rates
            .status("innodb_os_log_written")
            .or_else(|| rates.status("innodb_lsn_current"))
            .or_else(|| rates.status("innodb_redo_log_current_lsn"));
        self.log_buffer_waits_per_second = rates.status("innodb_log_waits");
        self.commits_per_second =
            rates.status("handler_commit").or_else(|| rates.status("com_commit"));
        self.syncs_per_second = rates.status("innodb_data_fsyncs");
        self.row_changes_per_second =
            rates.sum(&["innodb_rows_inserted", "innodb_rows_updated", "innodb_rows_deleted"]);
    }

    fn fill_time(&mut self, rates: &Rates<'_>) {
        self.read_latency_seconds = rates
            .file_latency(|io| (io.reads, io.read_seconds))
            .or_else(|| rates.device_read_latency());
        self.write_latency_seconds = rates.file_latency(|io| (io.writes, io.write_seconds));
        if let (Some(before), Some(after)) = (&rates.earlier.statements, &rates.later.statements) {
            let seconds = (after.seconds - before.seconds).max(0.0) / rates.seconds;
            let count = after.count.saturating_sub(before.count) as f64 / rates.seconds;
            let fact = |value| Some(Fact::new(value, after.source.clone()));
            self.statement_seconds_per_second = fact(seconds);
            self.statements_per_second = fact(count);
        }
        self.latch_waits_per_second = rates.latch_waits();
    }

    fn fill_host(&mut self, rates: &Rates<'_>) {
        let (Some(before), Some(after)) = (&rates.earlier.host, &rates.later.host) else {
            return;
        };
        let page_bytes = after.memory_page_bytes.as_ref().map_or(4096, |fact| fact.value) as f64;
        let rate = |from: &Option<Fact<u64>>, to: &Option<Fact<u64>>, unit: f64| {
            let (from, to) = (from.as_ref()?, to.as_ref()?);
            let grown = to.value.checked_sub(from.value)? as f64;
            Some(Fact::new(grown * unit / rates.seconds, to.source.clone()))
        };
        self.swap_in_bytes_per_second =
            rate(&before.swapped_in_pages, &after.swapped_in_pages, page_bytes);
        self.swap_out_bytes_per_second =
            rate(&before.swapped_out_pages, &after.swapped_out_pages, page_bytes);
        self.memory_stall_ratio =
            rate(&before.memory_stall_microseconds, &after.memory_stall_microseconds, 1e-6);
        let waited = rate(&before.iowait_ticks, &after.iowait_ticks, 1.0);
        let ticks = rate(&before.cpu_ticks, &after.cpu_ticks, 1.0);
        self.iowait_ratio = match (waited, ticks) {
            (Some(waited), Some(ticks)) if ticks.value > 0.0 => {
                Some(waited.map(|rate| rate / ticks.value))
            }
            _ => None,
        };
    }
}

/// Seconds between the moments: by the clock where both are known, else by the server's uptime.
fn elapsed_seconds(earlier: &Evidence, later: &Evidence) -> Option<f64> {
    if let (Some(from), Some(to)) = (earlier.taken_unix_seconds, later.taken_unix_seconds) {
        return Some(to - from);
    }
    let from = earlier.uptime_seconds()?.value;
    let to = later.uptime_seconds()?.value;
    // A restart in between: the later uptime is all that is known of the interval.
    Some(if to >= from { to - from } else { to } as f64)
}

/// Uptime that went down, or that grew by much less than the clock, is a restart.
fn restarted(earlier: &Evidence, later: &Evidence) -> bool {
    match (earlier.uptime_seconds(), later.uptime_seconds()) {
        (Some(from), Some(to)) => to.value < from.value,
        _ => false,
    }
}

/// Reads rates between two moments and remembers what went backwards.
struct Rates<'e> {
    earlier: &'e Evidence,
    later: &'e Evidence,
    seconds: f64,
    went_backwards: Vec<Source>,
}

impl Rates<'_> {
    fn delta(from: Option<Fact<u64>>, to: Option<Fact<u64>>) -> Delta {
        match (from, to) {
            (Some(from), Some(to)) => match to.value.checked_sub(from.value) {
                Some(grown) => Delta::Forward(Fact::new(grown, to.source)),
                None => Delta::Backwards(to.source),
            },
            _ => Delta::Unknown,
        }
    }

    fn rate(&mut self, delta: Delta) -> Option<Fact<f64>> {
        match delta {
            Delta::Unknown => None,
            Delta::Backwards(source) => {
                self.went_backwards.push(source);
                None
            }
            Delta::Forward(grown) => Some(grown.map(|count| count as f64 / self.seconds)),
        }
    }

    fn status(&mut self, name: &str) -> Option<Fact<f64>> {
        let delta = Self::delta(self.earlier.status.count(name), self.later.status.count(name));
        self.rate(delta)
    }

    fn sum(&mut self, names: &[&str]) -> Option<Fact<f64>> {
        let rates: Option<Vec<_>> = names.iter().map(|name| self.status(name)).collect();
        let rates = rates?;
        let source = rates.first()?.source.clone();
        Some(Fact::new(rates.iter().map(|fact| fact.value).sum(), source))
    }

    fn pool_stats(
        &mut self,
        column: &str,
        figure: impl Fn(&crate::pool::PoolBlock) -> Option<u64> + Copy,
    ) -> Option<Fact<f64>> {
        let total = |evidence: &Evidence| {
            let stats = evidence.pool_stats.as_ref()?;
            Some(Fact::new(stats.total(figure)?, Source::new(stats.source.place.clone(), column)))
        };
        let status_name = format!("innodb_buffer_pool_{}", column.to_ascii_lowercase());
        let delta = match Self::delta(total(self.earlier), total(self.later)) {
            Delta::Unknown => Self::delta(
                self.earlier.status.count(&status_name),
                self.later.status.count(&status_name),
            ),
            known => known,
        };
        self.rate(delta)
    }

    /// Pages the warm-up load read per second, which `Innodb_buffer_pool_reads` counts too.
    fn pages_loaded_per_second(&self) -> f64 {
        let loaded = |evidence: &Evidence| {
            let text = evidence.status.text("innodb_buffer_pool_load_status")?;
            Some(LoadState::parse(&text.value))
        };
        let pages = match (loaded(self.earlier), loaded(self.later)) {
            (
                Some(LoadState::Running { progress: Some((from, _)) }),
                Some(LoadState::Running { progress: Some((to, _)) }),
            ) => to.saturating_sub(from),
            // It ended in between: what was left of it was read.
            (
                Some(LoadState::Running { progress: Some((from, all)) }),
                Some(LoadState::Completed),
            ) => all.saturating_sub(from),
            _ => 0,
        };
        pages as f64 / self.seconds
    }

    fn file_latency(
        &self,
        of: impl Fn(&crate::evidence::FileIo) -> (u64, f64),
    ) -> Option<Fact<f64>> {
        let (before, after) =
            (self.earlier.file_io(FileKind::Data)?, self.later.file_io(FileKind::Data)?);
        let ((calls_before, time_before), (calls_after, time_after)) = (of(before), of(after));
        let calls = calls_after.checked_sub(calls_before).filter(|calls| *calls > 0)?;
        let time = (time_after - time_before).max(0.0);
        Some(Fact::new(time / calls as f64, after.source.clone()))
    }

    /// The device's own mean read time: of all its users, so a substitute only.
    fn device_read_latency(&self) -> Option<Fact<f64>> {
        let (before, after) = (self.earlier.host.as_ref()?, self.later.host.as_ref()?);
        let grown = |from: &Option<Fact<u64>>, to: &Option<Fact<u64>>| {
            to.as_ref()?.value.checked_sub(from.as_ref()?.value)
        };
        let reads =
            grown(&before.data_device_reads, &after.data_device_reads).filter(|n| *n > 0)?;
        let milliseconds =
            grown(&before.data_device_read_milliseconds, &after.data_device_read_milliseconds)?;
        let source = after.data_device_read_milliseconds.as_ref()?.source.clone();
        Some(Fact::new(milliseconds as f64 / 1000.0 / reads as f64, source))
    }

    fn latch_waits(&self) -> Option<Fact<f64>> {
        let source = self.later.latches.first()?.source.clone();
        let total =
            |evidence: &Evidence| evidence.latches.iter().map(|latch| latch.waits).sum::<u64>();
        if self.earlier.latches.is_empty() {
            return None;
        }
        let grown = total(self.later).checked_sub(total(self.earlier))?;
        Some(Fact::new(grown as f64 / self.seconds, source))
    }
}
