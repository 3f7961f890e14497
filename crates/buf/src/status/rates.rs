//! What happened between two snapshots, per second and per thousand gets.
//!
//! The arithmetic is the server's, by way of [`innopool_policy::hit_rate`], so that a value here can be laid beside one of a
//! server. One difference is deliberate: the server subtracts reads from gets without looking, so a pool that read more
//! pages than were asked for (read-ahead, a load) prints a hit rate near 2^64. Here that is 0.

use std::time::Duration;

use innopool_policy::counters;
use innopool_policy::hit_rate::Interval;
use innopool_policy::variant::{ElapsedForm, HitRateForm};

use crate::stats::PoolStats;

/// Rates over an interval, of one instance or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// Pages made young.
    pub youngs_per_second: f64,
    /// Accesses that found an old page not yet proven.
    pub non_youngs_per_second: f64,
    /// Pages read, for whatever reason.
    pub reads_per_second: f64,
    /// Pages made new.
    pub creates_per_second: f64,
    /// Pages written.
    pub writes_per_second: f64,
    /// Pages that linear read-ahead started to read.
    pub read_ahead_per_second: f64,
    /// Pages that random read-ahead started to read.
    pub read_ahead_random_per_second: f64,
    /// Pages read ahead and evicted without an access.
    pub read_ahead_evicted_per_second: f64,
    /// Of a thousand gets, those that no page was read for: 1000 less the pages read (with read-ahead and loads) per thousand
    /// gets; 0 when more were read than asked for. `None`: there were no gets.
    pub hits_per_mille: Option<u64>,
    /// Pages made young per thousand gets. 0 without gets.
    pub youngs_per_mille: u64,
    /// Accesses that found an old page not yet proven, per thousand gets. 0 without gets.
    pub non_youngs_per_mille: u64,
}

impl Rates {
    /// The rates from `before` to `now`, which were taken `elapsed` apart. A count that went back counts as nothing.
    pub fn between(before: &PoolStats, now: &PoolStats, elapsed: Duration) -> Rates {
        let interval = Interval { delta: counters_of(now) - counters_of(before), elapsed };
        let delta = &interval.delta;
        // As MySQL 8.0 and later, in fractions of a second.
        let per_second = |count: u64| interval.per_second(count, ElapsedForm::Fractional);
        Rates {
            youngs_per_second: per_second(delta.made_young),
            non_youngs_per_second: per_second(delta.not_made_young),
            reads_per_second: per_second(delta.pages_read),
            creates_per_second: per_second(delta.pages_created),
            writes_per_second: per_second(delta.pages_written),
            read_ahead_per_second: per_second(delta.read_ahead),
            read_ahead_random_per_second: per_second(delta.read_ahead_rnd),
            read_ahead_evicted_per_second: per_second(delta.read_ahead_evicted),
            hits_per_mille: interval
                .hit_rate_per_mille(HitRateForm::Wrapping)
                .map(|hits| if hits > 1000 { 0 } else { hits }),
            youngs_per_mille: interval.made_young_per_mille().unwrap_or(0),
            non_youngs_per_mille: interval.not_made_young_per_mille().unwrap_or(0),
        }
    }
}

/// The counts that rates are made of, under the names of the rules.
fn counters_of(stats: &PoolStats) -> counters::PoolStats {
    counters::PoolStats {
        read_requests: stats.gets,
        pages_read: stats.pages_read,
        demand_reads: stats.demand_reads,
        load_reads: stats.load_reads,
        read_ahead: stats.read_ahead,
        read_ahead_rnd: stats.read_ahead_random,
        read_ahead_evicted: stats.read_ahead_evicted,
        pages_created: stats.pages_created,
        write_requests: stats.write_requests,
        pages_written: stats.pages_written,
        // No thread here writes a page singly.
        pages_flushed: stats.pages_written,
        made_young: stats.made_young,
        not_made_young: stats.not_made_young,
        wait_free: stats.wait_free,
        evicted: stats.evicted,
        dropped: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(gets: u64, pages_read: u64) -> Rates {
        let now = PoolStats { gets, pages_read, ..PoolStats::default() };
        Rates::between(&PoolStats::default(), &now, Duration::from_secs(1))
    }

    #[test]
    fn a_hit_rate_is_cut_off_by_integer_division() {
        for (gets, pages_read, hits) in [
            (1000, 0, 1000),
            // 0.999 misses of a thousand are cut to none.
            (100_100, 100, 1000),
            (1000, 1, 999),
            (3, 1, 667),
            (3, 2, 334),
            (1, 1, 0),
            (1_000_000_000_000, 10_000_000_000, 990),
        ] {
            assert_eq!(rates(gets, pages_read).hits_per_mille, Some(hits), "{pages_read}/{gets}");
        }
    }

    #[test]
    fn more_reads_than_gets_is_no_hits_and_does_not_wrap() {
        assert_eq!(rates(10, 11).hits_per_mille, Some(0));
        assert_eq!(rates(1, 10_000_000_000_000).hits_per_mille, Some(0));
    }

    #[test]
    fn without_gets_there_is_no_hit_rate() {
        assert_eq!(rates(0, 0).hits_per_mille, None);
        assert_eq!(rates(0, 64).hits_per_mille, None);
        assert_eq!(rates(0, 64).youngs_per_mille, 0);
    }

    #[test]
    fn an_interval_of_nothing_is_a_millisecond() {
        let now = PoolStats { pages_written: 5, ..PoolStats::default() };
        let rates = Rates::between(&PoolStats::default(), &now, Duration::ZERO);
        assert_eq!(rates.writes_per_second, 5000.0);
    }

    #[test]
    fn a_count_that_went_back_is_nothing() {
        let before = PoolStats { pages_read: 9, gets: 9, ..PoolStats::default() };
        let now = PoolStats { pages_read: 4, gets: 12, ..PoolStats::default() };
        let rates = Rates::between(&before, &now, Duration::from_secs(1));
        assert_eq!((rates.reads_per_second, rates.hits_per_mille), (0.0, Some(1000)));
    }
}
