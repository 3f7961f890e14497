//! Holds the whole pool against the model, over random histories.
//!
//! After every step both have the same lists, free frames and counters, and both did the same: read,
//! evicted, wrote and moved the same pages in the same order.

#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "the numbers of a test are small, and what is missing fails it"
)]

mod model;

use std::time::Duration;

use innopool_policy::fetch::Fetch;
use innopool_policy::promotion::Verdict;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{
    BufferPool, DirtyPages, Found, GetOutcome, PoolConfig, ReserveKeeping,
};
use innopool_policy::rules::ListRules;
use innopool_policy::variant::Variant;
use innopool_policy::{PageId, Time};
use model::pool::{Counters, Event, Instance, Mode, Pool, Settings};
use model::{Constants, Id, Server, ratio_of_pct};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Get {
        id: Id,
        mode: Mode,
    },
    /// Through a remembered block (0), the hash index (1), or only to look (2).
    OtherGet {
        id: Id,
        kind: u8,
    },
    /// Gets of neighbouring pages, so that read-ahead has something to see.
    Scan {
        from: Id,
        pages: u32,
        down: bool,
        mode: Mode,
        gap_micros: u64,
    },
    /// Gets of a page again and again, with a pause between.
    Burst {
        id: Id,
        gets: u32,
        gap_micros: u64,
    },
    Create {
        id: Id,
    },
    Load {
        id: Id,
    },
    Drop {
        id: Id,
    },
    Dirty {
        id: Id,
    },
    /// The flush list's writes reach the page.
    Clean {
        id: Id,
    },
    Pin {
        id: Id,
    },
    Unpin {
        id: Id,
    },
    /// Dirties a run of pages, so that evictions meet many.
    DirtyRun {
        from: Id,
        pages: u32,
    },
    Cleaner,
    Wait {
        micros: u64,
    },
    SetPct {
        pct: u32,
    },
    SetTime {
        ms: u64,
    },
    /// To so many percent of the size it has.
    Resize {
        percent: usize,
    },
}

/// Files and pages of a history: few enough that a page comes back, more than the pool holds.
fn ids(pages: u32) -> impl Strategy<Value = Id> {
    (1..4u32, prop_oneof![2 => 0..pages, 1 => 0..pages / 8 + 1])
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        5 => Just(Mode::Normal),
        1 => Just(Mode::Scan),
        1 => Just(Mode::IfInPool),
        1 => Just(Mode::PeekIfInPool),
        1 => Just(Mode::NoReadAhead),
    ]
}

/// Time between two accesses: within a millisecond, or around the second that makes a page young.
fn gaps() -> impl Strategy<Value = u64> {
    prop_oneof![0..5_000u64, 998_000..1_002_000u64, Just(1_000_000), 0..400_000u64]
}

fn steps(pages: u32) -> impl Strategy<Value = Step> {
    let id = move || ids(pages);
    let run = 1..80u32;
    prop_oneof![
        8 => (id(), modes()).prop_map(|(id, mode)| Step::Get { id, mode }),
        2 => (id(), 0..3u8).prop_map(|(id, kind)| Step::OtherGet { id, kind }),
        4 => (id(), run.clone(), any::<bool>(), modes(), prop_oneof![Just(0u64), Just(100), 0..3000u64])
            .prop_map(|(from, pages, down, mode, gap_micros)| {
                Step::Scan { from, pages, down, mode, gap_micros }
            }),
        3 => (id(), 2..4u32, gaps()).prop_map(|(id, gets, gap_micros)| {
            Step::Burst { id, gets, gap_micros }
        }),
        2 => id().prop_map(|id| Step::Create { id }),
        2 => id().prop_map(|id| Step::Load { id }),
        2 => id().prop_map(|id| Step::Drop { id }),
        3 => id().prop_map(|id| Step::Dirty { id }),
        1 => id().prop_map(|id| Step::Clean { id }),
        2 => id().prop_map(|id| Step::Pin { id }),
        2 => id().prop_map(|id| Step::Unpin { id }),
        1 => (id(), run).prop_map(|(from, pages)| Step::DirtyRun { from, pages }),
        2 => Just(Step::Cleaner),
        3 => gaps().prop_map(|micros| Step::Wait { micros }),
        1 => (5..=95u32).prop_map(|pct| Step::SetPct { pct }),
        1 => prop_oneof![Just(0u64), Just(1000), 1..2000u64].prop_map(|ms| Step::SetTime { ms }),
        1 => (40..200usize).prop_map(|percent| Step::Resize { percent }),
    ]
}

/// A pool to begin with.
#[derive(Clone, Debug)]
struct Start {
    server: usize,
    constants: Constants,
    frames: usize,
    instances: usize,
    pct: u32,
    old_blocks_time_ms: u64,
    scan_depth: usize,
    threshold: u32,
    random: bool,
    file_pages: u32,
    cleaner_writes: bool,
    cleaner_after_each: bool,
    /// Pages created before the history begins.
    fill: u32,
}

const SERVERS: [(Variant, Server); 4] = [
    (Variant::Mysql57, Server::MySql57),
    (Variant::Mysql80, Server::MySql80),
    (Variant::Mysql84, Server::MySql84),
    (Variant::Mariadb, Server::MariaDb),
];

impl Start {
    fn server(&self) -> Server {
        SERVERS[self.server].1
    }

    /// MariaDB always has one instance.
    fn instances(&self) -> usize {
        if self.server() == Server::MariaDb { 1 } else { self.instances }
    }

    fn list_rules(&self) -> ListRules {
        let rules = SERVERS[self.server].0.rules().list;
        ListRules {
            old_min_len_pages: self.constants.old_min_len as u64,
            old_tolerance_pages: self.constants.tolerance as u64,
            non_old_min_len_pages: self.constants.non_old_min_len as u64,
            old_blocks_time: Duration::from_millis(self.old_blocks_time_ms),
            ..rules
        }
        .with_old_blocks_pct(self.pct)
    }

    fn ours(&self) -> BufferPool {
        let mut config = PoolConfig::new(SERVERS[self.server].0, self.frames as u64);
        config.instances = self.instances();
        config.rules.list = self.list_rules();
        config.rules.reserve.scan_depth_pages = self.scan_depth as u64;
        config.rules.reserve.lru_min_len_pages = self.constants.cleaner_min_len as u64;
        config.rules.reserve.tail_scan_pages = self.constants.user_scan as u64;
        config.read_ahead = ReadAheadSettings { threshold: self.threshold, random: self.random };
        config.dirty = if self.cleaner_writes { DirtyPages::Write } else { DirtyPages::Skip };
        config.reserve = if self.cleaner_after_each {
            ReserveKeeping::EveryMiss
        } else {
            ReserveKeeping::OnPass
        };
        let mut pool = BufferPool::new(config).unwrap();
        for space in 1..4 {
            pool.set_file_pages(space, self.file_pages);
        }
        pool
    }

    fn model(&self) -> Pool {
        let n = self.instances();
        let frames = (0..n).map(|i| self.frames / n + usize::from(i < self.frames % n)).collect();
        Pool::new(Settings {
            server: self.server(),
            constants: self.constants,
            frames,
            old_blocks_pct: self.pct as usize,
            old_blocks_time_ms: self.old_blocks_time_ms,
            scan_depth: self.scan_depth,
            read_ahead_threshold: self.threshold,
            random_read_ahead: self.random,
            file_pages: self.file_pages,
            rounds: 2,
            cleaner_writes: self.cleaner_writes,
            cleaner_after_each: self.cleaner_after_each,
            page_size: 16_384,
        })
    }
}

/// The pool and the model, taking every step together.
struct Pair {
    ours: BufferPool,
    model: Pool,
    rules: ListRules,
    now: u64,
}

fn page(id: Id) -> PageId {
    PageId::new(id.0, id.1)
}

fn fetch(mode: Mode) -> Fetch {
    match mode {
        Mode::Normal => Fetch::Normal,
        Mode::Scan => Fetch::Scan,
        Mode::IfInPool => Fetch::IfInPool,
        Mode::PeekIfInPool => Fetch::PeekIfInPool,
        Mode::NoReadAhead => Fetch::PossiblyFreedNoReadAhead,
    }
}

impl Pair {
    fn now(&self) -> Time {
        Time::from_micros(self.now)
    }

    fn get(&mut self, id: Id, mode: Mode) -> Result<(), TestCaseError> {
        let before = self.model.page(id).cloned();
        self.model.events.clear();
        let present = self.model.get(id, mode, self.now);
        let outcome = self.ours.get(page(id), fetch(mode), self.now());
        let read = self.model.events.contains(&Event::Read(id));
        match outcome {
            Err(_) => prop_assert!(!present && !read, "ours found no frame, the model did"),
            Ok(outcome) => {
                let found = match (read, present) {
                    (true, _) => Found::Read,
                    (false, true) => Found::Hit,
                    (false, false) => Found::Absent,
                };
                prop_assert_eq!(outcome.found, found);
                let first = present && before.is_none_or(|page| page.access.is_none());
                prop_assert_eq!(outcome.first_access, first, "first access");
                let moved = self.model.events.contains(&Event::MovedToHead(id));
                prop_assert_eq!(outcome.verdict == Some(Verdict::MakeYoung), moved, "moved");
                self.compare_read_ahead(&outcome)?;
            }
        }
        Ok(())
    }

    fn compare_read_ahead(&self, outcome: &GetOutcome) -> Result<(), TestCaseError> {
        let (mut linear, mut random) = (0, 0);
        for event in &self.model.events {
            linear += u32::from(matches!(event, Event::ReadAhead(_)));
            random += u32::from(matches!(event, Event::ReadAheadRandom(_)));
        }
        prop_assert_eq!(outcome.linear.map_or(0, |started| started.pages), linear, "linear");
        prop_assert_eq!(outcome.random.map_or(0, |started| started.pages), random, "random");
        Ok(())
    }

    fn other_get(&mut self, id: Id, kind: u8) -> Result<(), TestCaseError> {
        let (ours, models) = match kind {
            0 => (
                self.ours.optimistic_get(page(id), self.now()).is_some(),
                self.model.optimistic_get(id, self.now),
            ),
            1 => (
                self.ours.hashed_get(page(id), self.now()).is_some(),
                self.model.hashed_get(id, self.now),
            ),
            _ => (self.ours.try_get(page(id)), self.model.try_get(id)),
        };
        prop_assert_eq!(ours, models);
        Ok(())
    }

    fn cleaner_pass(&mut self) -> Result<(), TestCaseError> {
        self.model.events.clear();
        for i in 0..self.model.instances.len() {
            self.model.cleaner_pass(i);
        }
        let (mut written, mut evicted) = (0, 0);
        for event in &self.model.events {
            written += u64::from(matches!(event, Event::Written(_)));
            evicted += u64::from(matches!(event, Event::Evicted(_)));
        }
        let work = self.ours.cleaner_pass();
        prop_assert_eq!((work.evicted_pages, work.written_pages), (evicted - written, written));
        Ok(())
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Get { id, mode } => self.get(id, mode)?,
            Step::OtherGet { id, kind } => self.other_get(id, kind)?,
            Step::Scan { from: (space, from), pages, down, mode, gap_micros } => {
                for i in 0..pages {
                    let no = if down { from.checked_sub(i) } else { Some(from + i) };
                    let Some(no) = no.filter(|no| *no < self.model.settings.file_pages) else {
                        break;
                    };
                    self.get((space, no), mode)?;
                    self.now += gap_micros;
                }
            }
            Step::Burst { id, gets, gap_micros } => {
                for _ in 0..gets {
                    self.get(id, Mode::Normal)?;
                    self.now += gap_micros;
                }
            }
            Step::Create { id } => {
                let created = self.ours.create(page(id), self.now());
                prop_assert_eq!(created.unwrap_or(false), self.model.create(id, self.now));
            }
            Step::Load { id } => {
                let loaded = self.ours.load(page(id));
                prop_assert_eq!(loaded.unwrap_or(false), self.model.load(id));
            }
            Step::Drop { id } => {
                // Nobody drops the table of a page in use.
                if self.model.page(id).is_none_or(|page| page.fixes == 0) {
                    prop_assert_eq!(self.ours.drop_page(page(id)), self.model.drop_page(id));
                }
            }
            Step::Dirty { id } => self.dirty(id)?,
            Step::DirtyRun { from: (space, from), pages } => {
                for no in from..from + pages {
                    self.dirty((space, no))?;
                }
            }
            Step::Clean { id } => {
                let ours = self.ours.mark_clean(page(id));
                prop_assert_eq!(ours.is_ok(), self.model.page(id).is_some());
                self.model.clean(id);
            }
            Step::Pin { id } => {
                let ours = self.ours.pin(page(id));
                prop_assert_eq!(ours.is_ok(), self.model.page(id).is_some());
                if let Some(page) = self.model.page_mut(id) {
                    page.fixes += 1;
                }
            }
            Step::Unpin { id } => {
                let ours = self.ours.unpin(page(id));
                prop_assert_eq!(ours.is_ok(), self.model.page(id).is_some());
                if let Some(page) = self.model.page_mut(id) {
                    page.fixes = page.fixes.saturating_sub(1);
                }
            }
            Step::Cleaner => self.cleaner_pass()?,
            Step::Wait { micros } => self.now += micros,
            Step::SetPct { pct } => {
                self.rules = self.rules.with_old_blocks_pct(pct);
                self.ours.set_list_rules(self.rules);
                for instance in &mut self.model.instances {
                    instance.lru.set_ratio(ratio_of_pct(pct as usize));
                }
            }
            Step::Resize { percent } => self.resize(percent)?,
            Step::SetTime { ms } => {
                self.rules = self.rules.with_old_blocks_time(Duration::from_millis(ms));
                self.ours.set_list_rules(self.rules);
                self.model.settings.old_blocks_time_ms = ms;
            }
        }
        Ok(())
    }

    fn resize(&mut self, percent: usize) -> Result<(), TestCaseError> {
        let n = self.model.instances.len();
        let before: usize = self.model.instances.iter().map(|one| one.frames).sum();
        // Not out of the range that the histories' pages are made for.
        let frames = (before * percent / 100).clamp(8 * n, 1500 * n);
        let owed = self.ours.resize(frames as u64);
        for i in 0..n {
            self.model.resize(i, frames / n + usize::from(i < frames % n));
        }
        let models: usize = self.model.instances.iter().map(|one| one.withdraw).sum();
        prop_assert_eq!(owed, Ok(models as u64), "frames still to be withdrawn");
        Ok(())
    }

    fn dirty(&mut self, id: Id) -> Result<(), TestCaseError> {
        let ours = self.ours.mark_dirty(page(id));
        prop_assert_eq!(ours.is_ok(), self.model.page(id).is_some());
        self.model.dirty(id);
        Ok(())
    }

    /// Holds everything the pool shows against the model.
    fn compare(&self) -> Result<(), TestCaseError> {
        self.ours.assert_consistent();
        prop_assert_eq!(self.ours.instances(), self.model.instances.len());
        for (i, instance) in self.model.instances.iter().enumerate() {
            instance.lru.check();
            let listed: Vec<Id> =
                self.ours.pages_from_head(i).map(|page| (page.space, page.page_no)).collect();
            let expected: Vec<Id> = instance.lru.pages.iter().map(|page| page.id).collect();
            // A whole list in a message would bury the history that matters.
            let differs = (0..listed.len().max(expected.len()))
                .find(|at| listed.get(*at) != expected.get(*at))
                .map(|at| (at, listed.get(at), expected.get(at)));
            prop_assert_eq!(differs, None, "place, ours and the model's, in instance {}", i);
            for page in &instance.lru.pages {
                self.compare_page(page)?;
            }
            self.compare_counts(i, instance)?;
        }
        Ok(())
    }

    fn compare_page(&self, expected: &model::lru::Page) -> Result<(), TestCaseError> {
        let ours = self.ours.recency(page(expected.id));
        prop_assert!(ours.is_some(), "{:?} is in the list but not in the pool", expected.id);
        let ours = ours.unwrap();
        let server = self.model.settings.server;
        let access = ours.first_access.map(|at| server.kept_time(at.micros()));
        prop_assert_eq!(
            (ours.is_old, ours.freed_page_clock, access),
            (expected.old, expected.clock, expected.access),
            "{:?}: old, clock, first access",
            expected.id
        );
        Ok(())
    }

    fn compare_counts(&self, i: usize, instance: &Instance) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.ours.freed_page_clock(i), Some(instance.lru.clock));
        let full = self.ours.instance_occupancy(i).unwrap();
        let dirty = instance.lru.pages.iter().filter(|page| page.dirty).count();
        prop_assert_eq!(
            [full.total_pages, full.data_pages, full.old_pages, full.dirty_pages, full.free_pages],
            [instance.frames, instance.lru.pages.len(), instance.lru.old_len, dirty, instance.free]
                .map(|n| n as u64),
            "total, data, old, dirty, free of instance {}",
            i
        );
        let stats = self.ours.instance_stats(i).unwrap();
        let ours = Counters {
            read_requests: stats.read_requests,
            reads: stats.reads(),
            pages_read: stats.pages_read,
            read_ahead: stats.read_ahead,
            read_ahead_rnd: stats.read_ahead_rnd,
            read_ahead_evicted: stats.read_ahead_evicted,
            wait_free: stats.wait_free,
            pages_created: stats.pages_created,
            pages_written: stats.pages_written,
            pages_flushed: stats.pages_flushed,
            write_requests: stats.write_requests,
            made_young: stats.made_young,
            not_made_young: stats.not_made_young,
            evicted: stats.evicted,
            dropped: stats.dropped,
        };
        prop_assert_eq!(ours, instance.counters, "counters of instance {}", i);
        Ok(())
    }
}

fn run(start: &Start, steps: &[Step]) -> Result<(), TestCaseError> {
    let (ours, model) = (start.ours(), start.model());
    let mut pair = Pair { ours, model, rules: start.list_rules(), now: 5_000_000 };
    for i in 0..start.fill {
        pair.take(&Step::Create { id: (1 + i % 3, i / 3) })?;
    }
    pair.compare()?;
    for step in steps {
        pair.take(step)?;
        pair.compare()?;
    }
    Ok(())
}

/// Settings that do not depend on the size of the pool.
fn switches() -> impl Strategy<Value = (usize, u32, u64, u32, bool, bool, bool)> {
    (
        0..4usize,
        prop_oneof![Just(37u32), 5..=95u32],
        prop_oneof![Just(0u64), Just(1000), Just(1000), 1..2000u64],
        prop_oneof![Just(0u32), Just(56), 0..=64u32],
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.3),
    )
}

fn small_pools() -> impl Strategy<Value = Start> {
    let constants = (0..4usize, 1..3usize, 2..15usize, 1..10usize, 0..20usize);
    let sizes = (8..150usize, 1..4usize, 0..12usize, 100..200u32, 0..200u32);
    (constants, sizes, switches()).prop_map(|(constants, sizes, switches)| {
        let (tolerance, non_old_min_len, more, user_scan, cleaner_min_len) = constants;
        let (frames, instances, scan_depth, file_pages, fill) = sizes;
        let constants = Constants {
            old_min_len: tolerance + non_old_min_len + more,
            tolerance,
            non_old_min_len,
            user_scan,
            cleaner_min_len,
        };
        start(constants, frames, instances, scan_depth, file_pages, fill, switches)
    })
}

/// Pools with the servers' own numbers, whose lists cross 512 pages.
fn real_pools() -> impl Strategy<Value = Start> {
    let sizes = (520..800usize, 1..3usize, 0..40usize, 500..600u32, 480..900u32);
    (sizes, switches()).prop_map(|((each, instances, depth, file_pages, fill), switches)| {
        start(Constants::INNODB, each * instances, instances, depth, file_pages, fill, switches)
    })
}

fn start(
    constants: Constants,
    frames: usize,
    instances: usize,
    scan_depth: usize,
    file_pages: u32,
    fill: u32,
    switches: (usize, u32, u64, u32, bool, bool, bool),
) -> Start {
    let (server, pct, old_blocks_time_ms, threshold, random, cleaner_writes, cleaner_after_each) =
        switches;
    Start {
        server,
        constants,
        frames,
        instances,
        pct,
        old_blocks_time_ms,
        scan_depth,
        threshold,
        random,
        file_pages,
        cleaner_writes,
        cleaner_after_each,
        fill,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_500))]

    #[test]
    fn a_small_pool_is_the_models(
        start in small_pools(),
        steps in prop::collection::vec(steps(100), 0..120),
    ) {
        run(&start, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_pool_with_the_servers_numbers_is_the_models(
        start in real_pools(),
        steps in prop::collection::vec(steps(500), 0..80),
    ) {
        run(&start, &steps)?;
    }
}
