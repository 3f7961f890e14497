//! The pool in its exact mode and the replay of `innopool-policy` are one and the same: after any history, the same pages are
//! in the same order with the same marks, and the same things were counted. So what the replay predicts is what the pool does,
//! and a comparison of the replay with a server is one of the pool.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test's helpers")]

mod pool_common;

use std::time::Duration;

use innopool_buf::{Hint, ReadAheadSettings, Time, Variant};
use innopool_policy::fetch::Fetch;
use innopool_policy::replay::{BufferPool, DirtyPages, PoolConfig, ReserveKeeping};
use pool_common::{Rig, page};
use proptest::prelude::*;

const FILE_PAGES: u32 = 4000;

#[derive(Clone, Debug)]
enum Event {
    Get(u32, bool),
    /// A burst of accesses to neighbouring pages, as a scan makes them.
    Run(u32, u32),
    Peek(u32),
    Create(u32),
    Load(u32),
    Discard(u32),
    Wait(u64),
    Clean,
    OldBlocksPct(u32),
}

fn event(pages: u32) -> impl Strategy<Value = Event> {
    // Some pages are far hotter than others.
    let number = prop_oneof![0..pages / 20, 0..pages];
    prop_oneof![
        20 => (number.clone(), any::<bool>()).prop_map(|(page, scan)| Event::Get(page, scan)),
        4 => (number.clone(), 1..200u32).prop_map(|(page, len)| Event::Run(page, len)),
        1 => number.clone().prop_map(Event::Peek),
        2 => number.clone().prop_map(Event::Create),
        1 => number.clone().prop_map(Event::Load),
        1 => number.prop_map(Event::Discard),
        4 => (1..2500u64).prop_map(Event::Wait),
        2 => Just(Event::Clean),
        1 => (25..95u32).prop_map(Event::OldBlocksPct),
    ]
}

struct Pair {
    rig: Rig,
    replay: BufferPool,
    now_ms: u64,
}

impl Pair {
    fn new(size_pages: u64, instances: usize, old_time_ms: u64, random: bool) -> Pair {
        let mut rules = Variant::Mysql84.rules();
        rules.list.old_blocks_time = Duration::from_millis(old_time_ms);
        rules.reserve.scan_depth_pages = 40;
        let read_ahead = ReadAheadSettings { random, ..ReadAheadSettings::default() };
        let rig = Rig::with(size_pages, FILE_PAGES, |options| {
            options.instances = instances;
            options.list = rules.list;
            options.reserve = rules.reserve;
            options.read_ahead = read_ahead;
        });
        let mut replay = BufferPool::new(PoolConfig {
            rules,
            instances,
            reserve: ReserveKeeping::OnPass,
            dirty: DirtyPages::Write,
            read_ahead,
            ..PoolConfig::new(Variant::Mysql84, size_pages)
        })
        .unwrap();
        replay.set_file_pages(1, FILE_PAGES);
        let mut pair = Pair { rig, replay, now_ms: 0 };
        pair.wait(1);
        pair
    }

    fn wait(&mut self, millis: u64) {
        self.now_ms += millis;
        self.rig.clock.set(self.now());
    }

    fn now(&self) -> Time {
        Time::from_millis(self.now_ms)
    }

    fn get(&mut self, number: u32, scan: bool) {
        let (hint, fetch) =
            if scan { (Hint::Scan, Fetch::Scan) } else { (Hint::Normal, Fetch::Normal) };
        drop(self.rig.pool.get_shared(page(number), hint).unwrap());
        self.replay.get(page(number), fetch, self.now()).unwrap();
    }

    fn apply(&mut self, event: &Event) {
        match *event {
            Event::Get(number, scan) => self.get(number, scan),
            Event::Run(first, len) => {
                for number in first..(first + len).min(FILE_PAGES) {
                    self.get(number, false);
                    self.get(number, false);
                }
            }
            Event::Peek(number) => {
                let found = self.rig.pool.peek(page(number)).unwrap().is_some();
                let now = self.now();
                let told = self.replay.get(page(number), Fetch::PeekIfInPool, now).unwrap();
                assert_eq!(found, told.found == innopool_policy::replay::Found::Hit);
            }
            Event::Create(number) if !self.replay.contains(page(number)) => {
                drop(self.rig.pool.create(page(number)).unwrap());
                self.replay.create(page(number), self.now()).unwrap();
            }
            Event::Create(_) => {}
            Event::Load(number) => {
                let started = self.rig.pool.prefetch([page(number)], Hint::Warm).started;
                assert_eq!(started == 1, self.replay.load(page(number)).unwrap());
            }
            Event::Discard(number) => {
                self.rig.pool.discard(page(number)).unwrap();
                self.replay.drop_page(page(number));
            }
            Event::Wait(millis) => self.wait(millis),
            Event::Clean => {
                self.rig.pool.clean().unwrap();
                self.replay.cleaner_pass();
            }
            Event::OldBlocksPct(percent) => {
                self.rig.pool.set_old_blocks_pct(percent);
                let list = self.replay.config().rules.list;
                self.replay.set_list_rules(list.with_old_blocks_pct(percent));
            }
        }
    }

    fn assert_same(&self, when: &str) {
        for instance in 0..self.replay.instances() {
            let (ours, theirs) =
                (self.rig.pool.lru_snapshot(instance), self.replay.export(instance));
            let theirs: Vec<_> = theirs.collect();
            assert_eq!(ours.len(), theirs.len(), "pages {when}");
            for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                assert_eq!(ours, theirs, "place {place} of instance {instance} {when}");
            }
        }
        let (ours, theirs) = (self.rig.pool.stats(), self.replay.stats());
        assert_eq!(ours.made_young, theirs.made_young, "made young");
        assert_eq!(ours.not_made_young, theirs.not_made_young, "not made young");
        assert_eq!(ours.gets, theirs.read_requests, "gets");
        assert_eq!(ours.buffer_pool_reads(), theirs.reads(), "reads");
        assert_eq!(ours.read_ahead, theirs.read_ahead, "read ahead");
        assert_eq!(ours.read_ahead_random, theirs.read_ahead_rnd, "random read-ahead");
        assert_eq!(ours.read_ahead_evicted, theirs.read_ahead_evicted, "read ahead, evicted");
        assert_eq!(ours.pages_created, theirs.pages_created, "created");
        assert_eq!(ours.pages_read, theirs.pages_read, "pages read");
    }
}

// The old sublist is kept longer than a read-ahead area: in a shorter one the replay, whose reads are done at once, evicts the
// first pages of an area for its last, which the pool cannot while they are being read.
proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_leaves_the_pool_and_the_replay_alike(
        size_pages in 400..1400u64,
        instances in prop_oneof![3 => Just(1usize), 1 => Just(2usize), 1 => Just(3usize)],
        old_time_ms in prop_oneof![Just(0u64), Just(1000u64)],
        random in any::<bool>(),
        events in prop::collection::vec(event(FILE_PAGES), 1..400),
    ) {
        let mut pair = Pair::new(size_pages * instances as u64, instances, old_time_ms, random);
        for (step, event) in events.iter().enumerate() {
            pair.apply(event);
            pair.assert_same(&format!("after {event:?}, step {step}"));
        }
    }
}

#[test]
fn a_long_history_evicts_and_promotes_and_stays_alike() {
    let mut pair = Pair::new(700, 1, 1000, false);
    let mut seed = 7u32;
    for step in 0..20_000u32 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let hot = seed >> 30 != 0;
        let number = if hot { (seed >> 8) % 300 } else { (seed >> 8) % FILE_PAGES };
        pair.get(number, false);
        if step % 100 == 0 {
            pair.wait(400);
            pair.apply(&Event::Clean);
        }
    }
    pair.assert_same("at the end");
    let stats = pair.rig.pool.stats();
    assert!(stats.made_young > 200 && stats.evicted > 2000, "{stats:?}");
}

/// With an old sublist shorter than an area, the first pages of a read-ahead are at the tail while the last are still
/// wanted. They are being read, so others must go.
#[test]
fn pages_being_read_ahead_do_not_evict_each_other() {
    let mut pair = Pair::new(544, 1, 0, false);
    for event in [
        Event::Run(199, 185),
        Event::Run(403, 173),
        Event::Run(0, 96),
        Event::OldBlocksPct(5),
        Event::Run(614, 90),
        Event::Run(80, 80),
    ] {
        pair.apply(&event);
        pair.assert_same(&format!("after {event:?}"));
    }
    let read_ahead = (160..192).map(page);
    let held = pair.rig.pool.lru_snapshot(0);
    assert!(read_ahead.into_iter().all(|page| held.iter().any(|row| row.page == page)));
}
