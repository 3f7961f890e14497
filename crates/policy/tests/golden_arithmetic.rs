//! Numbers a server prints or acts on: hit rates, flushing, redo limits, dumps, instances.

use std::time::Duration;

use innopool_policy::counters::PoolStats;
use innopool_policy::dump::{
    LoadThrottle, RankedPage, disk_order, dumped_pages, keep_hottest, sort_for_load,
};
use innopool_policy::flushing::adaptive::{
    FlushInputs, Recommendation, count_limit, instance_share, pct_for_dirty, pct_for_lsn,
    recommend, sync_flush_pages, without_redo_pages,
};
use innopool_policy::flushing::averages::FlushAverages;
use innopool_policy::flushing::neighbours::{self, FlushNeighbours};
use innopool_policy::flushing::redo::{RedoLimits, Urgency};
use innopool_policy::flushing::{FlushSettings, dirty_pct, mariadb};
use innopool_policy::hit_rate::Interval;
use innopool_policy::read_ahead::Area;
use innopool_policy::time::Lsn;
use innopool_policy::variant::{
    DumpBasis, ElapsedForm, FlushingForm, HitRateForm, InstanceDefault,
};
use innopool_policy::{PageId, Time, Variant};

fn interval(gets: u64, reads: u64) -> Interval {
    let delta = PoolStats { read_requests: gets, pages_read: reads, ..PoolStats::default() };
    Interval { delta, elapsed: Duration::from_millis(2500) }
}

#[test]
fn few_reads_print_1000_in_mysql_and_999_in_mariadb() {
    let few = interval(1_000_000, 999);
    assert_eq!(few.hit_rate_per_mille(HitRateForm::Wrapping), Some(1000));
    assert_eq!(few.hit_rate_per_mille(HitRateForm::Capped), Some(999));
    let per_mille = interval(1_000_000, 1000);
    assert_eq!(per_mille.hit_rate_per_mille(HitRateForm::Wrapping), Some(999));
    let none = interval(1_000_000, 0);
    assert_eq!(none.hit_rate_per_mille(HitRateForm::Wrapping), Some(1000));
    assert_eq!(none.hit_rate_per_mille(HitRateForm::Capped), Some(1000));
}

/// Read-ahead reads pages nobody has asked for yet: 1000 - 1500 wraps as an unsigned 64-bit number.
#[test]
fn more_reads_than_requests_wrap_in_mysql_and_are_0_in_mariadb() {
    let ahead = interval(100, 150);
    assert_eq!(ahead.hit_rate_per_mille(HitRateForm::Wrapping), Some(18_446_744_073_709_551_116));
    assert_eq!(ahead.hit_rate_per_mille(HitRateForm::Capped), Some(0));
}

#[test]
fn no_requests_have_no_rate() {
    assert_eq!(interval(0, 5).hit_rate_per_mille(HitRateForm::Wrapping), None);
    assert_eq!(interval(0, 5).hit_rate_per_mille(HitRateForm::Capped), None);
    assert_eq!(interval(0, 5).made_young_per_mille(), None);
}

#[test]
fn rates_are_cut_and_elapsed_seconds_get_a_thousandth() {
    let delta = PoolStats {
        read_requests: 3000,
        made_young: 8,
        not_made_young: 12,
        ..PoolStats::default()
    };
    let interval = Interval { delta, elapsed: Duration::from_millis(2500) };
    assert_eq!(interval.made_young_per_mille(), Some(2));
    assert_eq!(interval.not_made_young_per_mille(), Some(4));
    assert_eq!(interval.per_second(4002, ElapsedForm::WholeSeconds), 2000.0);
    assert_eq!(interval.per_second(2501, ElapsedForm::Fractional), 1000.0);
}

fn settings(variant: Variant) -> FlushSettings {
    FlushSettings::new(&variant.rules().flush_defaults)
}

#[test]
fn io_capacity_max_follows_io_capacity() {
    let of = |variant: Variant, io| variant.rules().flush_defaults.io_capacity_max(io);
    assert_eq!([of(Variant::Mysql57, 200), of(Variant::Mysql57, 5000)], [2000, 10_000]);
    assert_eq!([of(Variant::Mysql80, 200), of(Variant::Mariadb, 200)], [2000, 2000]);
    assert_eq!([of(Variant::Mysql84, 10_000), of(Variant::Mysql84, 200)], [20_000, 400]);
}

#[test]
fn dirty_share_counts_lists_and_free_frames() {
    assert_eq!(dirty_pct(250, 799, 200), 25.0);
    assert_eq!(dirty_pct(0, 0, 0), 0.0);
}

#[test]
fn dirty_pages_ask_for_all_or_nothing_without_a_low_water_mark() {
    let mut without = settings(Variant::Mysql57);
    assert_eq!([74.9, 75.0].map(|pct| pct_for_dirty(&without, pct)), [0, 100]);
    without.max_dirty_pct_lwm = 10.0;
    // 50 * 100 / 76 = 65.8.
    assert_eq!([0.0, 9.9, 50.0].map(|pct| pct_for_dirty(&without, pct)), [0, 0, 65]);
    // 45 * 100 / 91 = 49.45.
    assert_eq!(pct_for_dirty(&settings(Variant::Mysql80), 45.0), 49);
}

fn limits(capacity: u64, limit: u64) -> RedoLimits {
    RedoLimits {
        capacity_bytes: capacity,
        dirty_age_limit_bytes: limit,
        async_age_bytes: limit,
        sync_age_bytes: limit + limit / 10,
        checkpoint_age_bytes: limit + limit / 5,
        free_check_age_bytes: capacity,
    }
}

/// Half the limit: 10 * 50 * sqrt(50) / 7.5 = 471.4; 50.5 %: 10 * 50.5 * sqrt(50.5) / 7.5 = 478.5.
#[test]
fn age_asks_for_its_power_of_three_halves() {
    let (old, new) = (settings(Variant::Mysql57), settings(Variant::Mysql80));
    let limits = limits(10_000, 8000);
    assert_eq!(pct_for_lsn(FlushingForm::Integer, &old, &limits, 4040), 471, "50.5 is cut to 50");
    assert_eq!(pct_for_lsn(FlushingForm::Float, &new, &limits, 4040), 478);
    assert_eq!(pct_for_lsn(FlushingForm::Float, &new, &limits, 999), 0, "below 10 % of the log");
    let off = FlushSettings { adaptive: false, ..new };
    assert_eq!(pct_for_lsn(FlushingForm::Float, &off, &limits, 7999), 0);
    // 10 * 100 * 10 / 7.5.
    assert_eq!(pct_for_lsn(FlushingForm::Float, &off, &limits, 8000), 1333, "urgent all the same");
}

#[test]
fn iteration_writes_the_mean_of_three() {
    let settings = settings(Variant::Mysql80);
    let limits = limits(10_000, 8000);
    let inputs = FlushInputs {
        dirty_pct: 45.0,
        age_bytes: 0,
        pages_per_second: 300,
        pages_below_target: 1000,
        log_moved: true,
    };
    let recommendation = recommend(FlushingForm::Float, &settings, &limits, &inputs);
    // 49 % of 200 = 98; (98 + 300 + 333) / 3 = 243.
    assert_eq!(recommendation, Recommendation { pages: 243, pct_for_dirty: 49, pct_for_lsn: 0 });

    let urgent = FlushInputs { age_bytes: 8000, pages_below_target: 1_000_000, ..inputs };
    let recommendation = recommend(FlushingForm::Float, &settings, &limits, &urgent);
    // 1333 % of 200 = 2666; pages below the target stop at 4000; (2666 + 300 + 4000) / 3 = 2322.
    assert_eq!((recommendation.pages, recommendation.pct_for_lsn), (2000, 1333), "io_capacity_max");

    let still = FlushInputs { log_moved: false, ..urgent };
    assert_eq!(recommend(FlushingForm::Float, &settings, &limits, &still).pages, 0);
}

#[test]
fn instances_share_evenly_until_the_log_is_old() {
    let calm = Recommendation { pages: 800, pct_for_dirty: 50, pct_for_lsn: 30 };
    assert_eq!(instance_share(FlushingForm::Integer, &calm, 8, 1, 10), 100);
    assert_eq!(instance_share(FlushingForm::Float, &calm, 8, 1, 10), 101);
    let old = Recommendation { pct_for_lsn: 31, ..calm };
    assert_eq!(instance_share(FlushingForm::Float, &old, 8, 5, 10), 401);
    assert_eq!(instance_share(FlushingForm::Integer, &old, 8, 0, 10), 1);
    assert_eq!(count_limit(FlushingForm::Float, 2000, 8), Some(3000));
    assert_eq!(count_limit(FlushingForm::Integer, 2000, 8), None);
}

#[test]
fn synchronous_and_idle_flushes_write_at_least_io_capacity() {
    let settings = settings(Variant::Mysql80);
    assert_eq!([5, 5000].map(|below| sync_flush_pages(&settings, below)), [200, 5000]);
    assert_eq!(settings.idle_flush_pages(), 200);
    assert_eq!(FlushSettings { idle_pct: 5, ..settings }.idle_flush_pages(), 10);
}

#[test]
fn without_redo_the_growth_of_dirty_pages_decides() {
    let settings = settings(Variant::Mysql84);
    // sqrt(22.5 / 90) = 0.5; (100 + 0.5 * (400 + 200)) / 2 = 200.
    assert_eq!(without_redo_pages(&settings, 100, 22.5, 400.0, 200.0), 200);
    assert_eq!(
        without_redo_pages(&settings, 100, 22.5, 400.0, -900.0),
        50,
        "shrinking counts as 0"
    );
    assert_eq!(without_redo_pages(&settings, 100, 90.0, 1e9, 0.0), 20_000);
}

#[test]
fn averages_weigh_each_new_interval_as_all_before() {
    let mut averages = FlushAverages::new(Time::from_millis(0), Lsn(8192));
    for second in 1..=30_u64 {
        let moved =
            averages.iterate(Time::from_millis(second * 1000), Lsn(8192 + second * 1000), 40, 30);
        assert!(moved);
    }
    assert_eq!((averages.pages_per_second, averages.lsn_bytes_per_second), (20, 500));
    assert!(
        !averages.iterate(Time::from_millis(31_000), Lsn(38_192), 0, 30),
        "the log stands still"
    );
    for second in 32..=60_u64 {
        averages.iterate(Time::from_millis(second * 1000), Lsn(38_192 + second), 0, 30);
    }
    // Thirty seconds had passed: no pages, and 60 bytes in 30 s.
    assert_eq!((averages.pages_per_second, averages.lsn_bytes_per_second), (10, 251));
    assert_eq!(averages.target_lsn(Lsn(100)), Lsn(100 + 3 * 251));
}

#[test]
fn mariadb_writes_by_the_share_of_dirty_pages_while_the_log_is_young() {
    let settings = settings(Variant::Mariadb);
    let limits = limits(10_000, 8000);
    let inputs = |dirty_pct, age_bytes| FlushInputs {
        dirty_pct,
        age_bytes,
        pages_per_second: 300,
        pages_below_target: 3000,
        log_moved: true,
    };
    let pages = |inputs, dirty| mariadb::recommend_pages(&settings, &limits, &inputs, dirty, false);
    assert_eq!(pages(inputs(45.0, 0), 150), 150, "few: all of them");
    assert_eq!(pages(inputs(45.0, 0), 5000), 100, "half of the limit: half of io_capacity");
    assert_eq!(pages(inputs(100.0, 0), 5000), 222, "beyond the limit");
    // 10 * 50 * sqrt(50) / 7.5 = 471 %: (200 * 4.71 + 300 + 1000) / 3 = 747.
    assert_eq!(pages(inputs(45.0, 4000), 5000), 747);
    assert_eq!(pages(inputs(45.0, 8800), 5000), 2000, "furious");
    assert_eq!(mariadb::idle_flush_pages(&settings, 1.0), 200);
}

/// Two files of 48 MiB, 16 KiB pages, no limit of threads.
#[test]
fn redo_limits_of_mysql57() {
    let limits = RedoLimits::mysql57(2, 48 << 20, 16_384, 0);
    // 2 * (50331648 - 2048) = 100659200, less a tenth: 90593280.
    assert_eq!(limits.capacity_bytes, 90_593_280);
    // Less 48 pages: 89806848; less a tenth: 80826164.
    assert_eq!(limits.free_check_age_bytes, 80_826_164);
    assert_eq!(limits.async_age_bytes, 80_826_164 - 10_103_270);
    assert_eq!(limits.sync_age_bytes, 80_826_164 - 5_051_635);
    assert_eq!(limits.checkpoint_age_bytes, 80_826_164 - 2_525_817);
}

/// 100 MiB: a file is 3276800; 30 of them less 31 headers, 128 KiB and a tenth of a file.
#[test]
fn redo_limits_of_mysql80() {
    let limits = RedoLimits::mysql80(100 << 20, 16_384, 0);
    // 98304000 - 63488 - 131072 - 327680 = 97781760, a multiple of 512; 0.95 of it: 92892672.
    let soft = 92_892_672;
    assert_eq!(limits.async_age_bytes, soft - soft / 8);
    assert_eq!(limits.sync_age_bytes, soft - soft / 16);
    assert_eq!(limits.checkpoint_age_bytes, soft - soft / 32);
    // 40 pages of 16 KiB, and 5 %.
    let margin = 655_360 + 4_644_633;
    assert_eq!(limits.free_check_age_bytes, soft - margin);
    assert_eq!(limits.dirty_age_limit_bytes, soft - soft / 8 - margin);
    assert_eq!(limits.capacity_bytes, limits.free_check_age_bytes);
}

#[test]
fn redo_limits_of_mariadb() {
    let limits = RedoLimits::mariadb(96 << 20, 16_384);
    // 100663296 less a tenth less 48 pages: 89810535; less a tenth: 80829482.
    assert_eq!(limits.capacity_bytes, 89_810_535);
    assert_eq!(limits.free_check_age_bytes, 80_829_482);
    assert_eq!(limits.async_age_bytes, 80_829_482 - 10_103_685);
}

#[test]
fn log_too_small_for_any_thread_is_always_blocked() {
    for limits in [
        RedoLimits::mysql57(0, 0, 16_384, 64),
        RedoLimits::mysql80(0, 65_536, u64::MAX),
        RedoLimits::mariadb(0, 16_384),
    ] {
        assert_eq!(limits.urgency(0), Urgency::Blocked);
        let settings = settings(Variant::Mysql80);
        assert_eq!(
            pct_for_lsn(FlushingForm::Float, &settings, &limits, 10),
            0,
            "no percentage of 0"
        );
    }
}

#[test]
fn urgency_rises_with_age() {
    let limits = limits(10_000, 8000);
    let ladder = [7999, 8000, 8800, 10_000].map(|age| limits.urgency(age));
    let expected =
        [Urgency::Adaptive, Urgency::Asynchronous, Urgency::Synchronous, Urgency::Blocked];
    assert_eq!(ladder, expected);
}

#[test]
fn neighbours_end_at_the_first_clean_page_and_at_the_area() {
    let dirty = |page: PageId| page.page_no != 100;
    let of = |mode, page_no, lru| {
        neighbours::area(mode, PageId::new(1, page_no), 8192, lru, dirty)
            .map(|area| (area.first, area.end))
    };
    assert_eq!(of(FlushNeighbours::Off, 110, 8000), Some((110, 111)));
    assert_eq!(of(FlushNeighbours::Contiguous, 110, 8000), Some((101, 128)));
    assert_eq!(of(FlushNeighbours::Area, 110, 8000), Some((64, 128)));
    assert_eq!(of(FlushNeighbours::Area, 110, 511), Some((110, 111)), "a short list");
}

#[test]
fn dump_has_a_share_of_each_list_or_of_the_pool() {
    let mysql = |percent, lru| dumped_pages(DumpBasis::InstanceList, percent, lru, 8192);
    assert_eq!([mysql(25, 7000), mysql(25, 3), mysql(100, 3), mysql(25, 0)], [1750, 1, 3, 0]);
    let mariadb = |percent, lru| dumped_pages(DumpBasis::PoolFrames, percent, lru, 8192);
    assert_eq!([mariadb(25, 7000), mariadb(25, 1000)], [2048, 1000]);
}

#[test]
fn load_sorts_by_tablespace_then_page() {
    let mut pages = [(5, 1), (3, 9), (5, 0), (3, 10)].map(|(space, no)| PageId::new(space, no));
    let dumped = pages;
    sort_for_load(&mut pages);
    assert_eq!(pages, [(3, 9), (3, 10), (5, 0), (5, 1)].map(|(space, no)| PageId::new(space, no)));
    let ranked = disk_order(dumped.into_iter().chain([PageId::new(3, 9)]));
    let ranks: Vec<(u32, u32)> =
        ranked.iter().map(|RankedPage { page, rank }| (page.page_no, *rank)).collect();
    assert_eq!(ranks, [(9, 1), (10, 3), (0, 2), (1, 0)], "recency is kept beside the order");
}

#[test]
fn smaller_pool_drops_the_coldest_of_every_instance() {
    assert_eq!(keep_hottest(&[100, 300], 1000), [100, 300]);
    assert_eq!(keep_hottest(&[100, 300], 200), [50, 150]);
    assert_eq!(keep_hottest(&[3, 3, 3], 5), [2, 2, 1], "what rounding leaves goes to the first");
    assert_eq!(keep_hottest(&[0, 7], 0), [0, 0]);
}

#[test]
fn load_sleeps_out_the_second_on_a_busy_server_only() {
    let at = Time::from_millis;
    let mut throttle = LoadThrottle::new(3, at(0), 0);
    assert_eq!(throttle.after_read(at(10), 5), None);
    assert_eq!(throttle.after_read(at(20), 5), None);
    assert_eq!(throttle.after_read(at(400), 5), Some(Duration::from_millis(600)));
    assert_eq!([1010, 1020, 1030].map(|ms| throttle.after_read(at(ms), 5)), [None; 3], "idle");
    assert_eq!([1040, 1050, 2040].map(|ms| throttle.after_read(at(ms), 9)), [None; 3], "slow");
}

#[test]
fn instances_by_default() {
    const GIB: u64 = 1 << 30;
    const CHUNK: u64 = 128 << 20;
    let of = |rule: InstanceDefault, set, gib| rule.resolve(set, gib * GIB, CHUNK, 32);
    assert_eq!(InstanceDefault::Eight.resolve(Some(16), GIB - 1, CHUNK, 32), 1);
    assert_eq!(
        [of(InstanceDefault::Eight, None, 1), of(InstanceDefault::Eight, Some(99), 1)],
        [8, 64]
    );
    assert_eq!(of(InstanceDefault::BySizeAndCpus, None, 1), 4, "by chunks: 8 / 2");
    assert_eq!(of(InstanceDefault::BySizeAndCpus, None, 16), 8, "by processors: 32 / 4");
    assert_eq!(InstanceDefault::BySizeAndCpus.resolve(None, 4 * GIB, CHUNK, 2), 1);
    assert_eq!(of(InstanceDefault::AlwaysOne, Some(8), 64), 1);
}

#[test]
fn area_of_a_page_at_the_end_of_the_numbers() {
    assert_eq!(Area::around(PageId::new(0, u32::MAX), 64), None);
    assert_eq!(Area::around(PageId::new(0, 130), 64).map(|area| area.first), Some(128));
}
