//! What reading pages from disk costs, by the best evidence at hand.
//!
//! Best first: the share of all statement time spent waiting for reads; the share of running
//! threads that wait; the reads under way at once; and, where nothing else is known, the hit ratio,
//! which misleads (DESIGN 5.2) and so is believed only when it is bad.

use innopool_target::Fact;
use innopool_target::pool::HitRate;

use crate::facts::Facts;
use crate::finding::{Severity, computed};
use crate::report::Basis;
use crate::rules::counters::read_requests_do_not_count;
use crate::thresholds::{
    MISS_PER_MILLE, PENDING_READS_ONCE, READ_COST, READS_IN_FLIGHT, READS_WORTH_A_LOOK,
};

/// What the cost of reads is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShareOf {
    /// All time that statements took.
    StatementTime,
    /// The threads that ran, by samples.
    RunningThreads,
}

impl ShareOf {
    /// The word in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::StatementTime => "statement_time",
            Self::RunningThreads => "running_threads",
        }
    }

    /// The words on a page: "60 % of ...".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::StatementTime => "statement time",
            Self::RunningThreads => "running threads",
        }
    }
}

/// What reads cost, by the strongest measure that could be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReadCost {
    /// Share of statement time, or of running threads where that is not accounted; 0 to 1.
    Share {
        /// The share.
        ratio: Fact<f64>,
        /// What it is a share of.
        of: ShareOf,
    },
    /// Average number of reads under way.
    InFlight(Fact<f64>),
    /// Reads pending at the one moment we have.
    PendingOnce(Fact<u64>),
    /// Hits of a thousand gets.
    HitPerMille(Fact<u64>),
}

impl ReadCost {
    /// Measures the cost; `None` when nothing at all is known.
    pub(crate) fn of(facts: &Facts<'_>) -> Option<Self> {
        let share = |of| move |ratio| Self::Share { ratio, of };
        share_of_statement_time(facts)
            .map(share(ShareOf::StatementTime))
            .or_else(|| share_of_running_threads(facts).map(share(ShareOf::RunningThreads)))
            .or_else(|| in_flight(facts).map(Self::InFlight))
            .or_else(|| pending_once(facts))
            .or_else(|| hit_per_mille(facts).map(Self::HitPerMille))
    }

    /// How bad it is.
    pub(crate) fn severity(&self) -> Option<Severity> {
        match self {
            Self::Share { ratio, .. } => READ_COST.judge(ratio.value),
            Self::InFlight(reads) => READS_IN_FLIGHT.judge(reads.value),
            Self::PendingOnce(reads) => PENDING_READS_ONCE.judge(reads.value as f64),
            Self::HitPerMille(hits) => {
                MISS_PER_MILLE.judge(1000_u64.saturating_sub(hits.value) as f64)
            }
        }
    }
}

/// True when too few reads happen for their cost to matter, whatever the share.
pub(crate) fn is_background_noise(facts: &Facts<'_>) -> bool {
    if let Some(text) = facts.now.innodb_status.as_ref().filter(|text| !text.rates_unusable)
        && let Some(printed) = text.pool.as_ref().and_then(|pool| pool.reads_per_second)
        && facts.watched().is_none()
        && printed > 0.0
    {
        return READS_WORTH_A_LOOK.judge(printed).is_none();
    }
    // An average since start-up says little of now; a ratio printed now says more.
    let printed =
        matches!(facts.pool.printed_hit_rate, Some(Fact { value: HitRate::PerMille(_), .. }));
    if facts.watched().is_none() && printed {
        return false;
    }
    facts
        .rate(|interval| interval.disk_reads_per_second.as_ref())
        .is_some_and(|reads| READS_WORTH_A_LOOK.judge(reads.value).is_none())
}

/// Demand reads times their latency over statement time, all of one interval.
fn share_of_statement_time(facts: &Facts<'_>) -> Option<Fact<f64>> {
    let statement = facts.rate(|i| i.statement_seconds_per_second.as_ref())?;
    let waiting = waiting_seconds_per_second(facts)?;
    if statement.value <= 0.0 {
        return None;
    }
    let how = "disk reads x read latency / statement time";
    Some(Fact::new((waiting / statement.value).min(1.0), computed(how)))
}

/// Reads in flight over running threads, where statement time is not accounted.
fn share_of_running_threads(facts: &Facts<'_>) -> Option<Fact<f64>> {
    let (running, samples) = facts.gauge_average("threads_running")?;
    // Our own sampling statement is always one of them.
    let running = (running - 1.0).max(0.0);
    let in_flight = waiting_seconds_per_second(facts)
        .or_else(|| facts.gauge_average("innodb_data_pending_reads").map(|(reads, _)| reads))?;
    // Under one statement at a time the share of so few samples means nothing.
    if running < 0.5 {
        return None;
    }
    let how = format!("reads in flight / running threads, {samples} samples");
    Some(Fact::new((in_flight / running).min(1.0), computed(&how)))
}

/// Seconds spent in demand reads per second: the reads under way on average.
fn waiting_seconds_per_second(facts: &Facts<'_>) -> Option<f64> {
    let reads = facts.rate(|i| i.disk_reads_per_second.as_ref())?;
    let latency = facts.rate(|i| i.read_latency_seconds.as_ref())?;
    Some(reads.value * latency.value)
}

fn in_flight(facts: &Facts<'_>) -> Option<Fact<f64>> {
    if let Some(waiting) = waiting_seconds_per_second(facts) {
        return Some(Fact::new(waiting, computed("disk reads x read latency")));
    }
    let (reads, samples) = facts.gauge_average("innodb_data_pending_reads")?;
    let how = format!("Innodb_data_pending_reads, mean of {samples} samples");
    Some(Fact::new(reads, computed(&how)))
}

/// A gauge read once says something only when it is high.
fn pending_once(facts: &Facts<'_>) -> Option<ReadCost> {
    let text = facts.now.innodb_status.as_ref()?;
    let pending = text.pool.as_ref()?.pending_reads?;
    PENDING_READS_ONCE.judge(pending as f64)?;
    Some(ReadCost::PendingOnce(Fact::new(pending, text.source("Pending reads"))))
}

/// The ratio of the interval; else what the status text prints; else since start-up.
pub(crate) fn hit_per_mille(facts: &Facts<'_>) -> Option<Fact<u64>> {
    if read_requests_do_not_count(facts.server()) {
        return None;
    }
    let of_interval = || facts.interval.as_ref().and_then(|i| i.hit_per_mille.clone());
    if facts.basis == Basis::Interval {
        return of_interval();
    }
    match &facts.pool.printed_hit_rate {
        Some(Fact { value: HitRate::PerMille(hits), source }) if *hits <= 1000 => {
            Some(Fact::new(*hits, source.clone()))
        }
        _ => of_interval(),
    }
}
