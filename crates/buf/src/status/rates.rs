//! What happened between two snapshots, per second and per thousand gets.
//!
//! Per-mille figures are integers and cut off downwards, as the server prints them, so that a value here can be laid beside
//! one of a server. One difference is deliberate: the server subtracts reads from gets without looking, so a
//! pool that read more pages than were asked for (read-ahead, a load) prints a hit rate near 2^64. Here that is 0.

use crate::stats::PoolStats;

/// Added to every interval, so that none is zero. The server's own constant.
const ELAPSED_EXTRA_SECONDS: f64 = 0.001;

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
    /// The rates from `before` to `now`, which were taken `elapsed_seconds` (at least 0) apart. A count that went back
    /// counts as nothing.
    pub fn between(before: &PoolStats, now: &PoolStats, elapsed_seconds: f64) -> Rates {
        let change = |count: fn(&PoolStats) -> u64| count(now).saturating_sub(count(before));
        let seconds = elapsed_seconds.max(0.0) + ELAPSED_EXTRA_SECONDS;
        let per_second = |count: fn(&PoolStats) -> u64| change(count) as f64 / seconds;
        let gets = change(|stats| stats.gets);
        Rates {
            youngs_per_second: per_second(|stats| stats.made_young),
            non_youngs_per_second: per_second(|stats| stats.not_made_young),
            reads_per_second: per_second(|stats| stats.pages_read),
            creates_per_second: per_second(|stats| stats.pages_created),
            writes_per_second: per_second(|stats| stats.pages_written),
            read_ahead_per_second: per_second(|stats| stats.read_ahead),
            read_ahead_random_per_second: per_second(|stats| stats.read_ahead_random),
            read_ahead_evicted_per_second: per_second(|stats| stats.read_ahead_evicted),
            hits_per_mille: per_mille(change(|stats| stats.pages_read), gets)
                .map(|misses| 1000_u64.saturating_sub(misses)),
            youngs_per_mille: per_mille(change(|stats| stats.made_young), gets).unwrap_or(0),
            non_youngs_per_mille: per_mille(change(|stats| stats.not_made_young), gets)
                .unwrap_or(0),
        }
    }
}

/// `count` per thousand of `gets`, cut off; `None` without gets.
fn per_mille(count: u64, gets: u64) -> Option<u64> {
    let ratio = (u128::from(count) * 1000).checked_div(u128::from(gets))?;
    Some(u64::try_from(ratio).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(gets: u64, pages_read: u64) -> Rates {
        let now = PoolStats { gets, pages_read, ..PoolStats::default() };
        Rates::between(&PoolStats::default(), &now, 1.0)
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
        assert_eq!(rates(1, u64::MAX).hits_per_mille, Some(0));
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
        let rates = Rates::between(&PoolStats::default(), &now, 0.0);
        assert_eq!(rates.writes_per_second, 5000.0);
    }

    #[test]
    fn a_count_that_went_back_is_nothing() {
        let before = PoolStats { pages_read: 9, gets: 9, ..PoolStats::default() };
        let now = PoolStats { pages_read: 4, gets: 12, ..PoolStats::default() };
        let rates = Rates::between(&before, &now, 1.0);
        assert_eq!((rates.reads_per_second, rates.hits_per_mille), (0.0, Some(1000)));
    }
}
