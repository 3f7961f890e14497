//! Following a recording: one made by a pool of our own agrees in everything, and each kind of
//! disagreement is counted where it belongs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use innopool_policy::promotion::Verdict;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{
    Agreement, BufferPool, Follower, Following, Found, PoolConfig, Source,
};
use innopool_policy::{Fetch, PageId, Time, Variant};

#[derive(Clone, Copy)]
enum Event {
    Got(PageId, Time),
    Read(PageId),
    Moved(PageId),
    Evicted(PageId),
}

fn page(page_no: u32) -> PageId {
    PageId::new(3, page_no)
}

fn pool(pages: u64) -> BufferPool {
    let config = PoolConfig::new(Variant::Mysql84, pages);
    BufferPool::new(PoolConfig { read_ahead: ReadAheadSettings::OFF, ..config }).unwrap()
}

/// What a server would record of a skewed load on a pool of 1000 pages.
fn recording() -> (BufferPool, Vec<Event>) {
    let mut server = pool(1000);
    let mut events = Vec::new();
    let mut state = 11_u64;
    for turn in 0..60_000_u64 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = u32::try_from(state >> 33).unwrap();
        let page = page(if draw % 3 == 0 { draw / 3 % 500 } else { draw / 3 % 5000 });
        let now = Time::from_millis(turn);
        let full = server.occupancy().free_pages == 0;
        if full && !server.contains(page) {
            let victim = server.next_victim(0).unwrap();
            server.evict_page(victim);
            events.push(Event::Evicted(victim));
        }
        events.push(Event::Got(page, now));
        let outcome = server.get(page, Fetch::Normal, now).unwrap();
        if outcome.found == Found::Read {
            events.push(Event::Read(page));
        }
        if outcome.verdict == Some(Verdict::MakeYoung) {
            events.push(Event::Moved(page));
        }
    }
    (server, events)
}

fn follow(events: &[Event], following: Following) -> (BufferPool, Agreement) {
    let mut follower = Follower::new(pool(1000), following);
    for &event in events {
        match event {
            Event::Got(page, now) => {
                follower.got(page, Fetch::Normal, now).unwrap();
            }
            Event::Read(page) => follower.page_read(page).unwrap(),
            Event::Moved(page) => follower.moved_young(page),
            Event::Evicted(page) => follower.evicted(page),
        }
    }
    follower.finish()
}

const ALL: [Following; 4] = [
    Following { moves: Source::Policy, evictions: Source::Policy },
    Following { moves: Source::Policy, evictions: Source::Recording },
    Following { moves: Source::Recording, evictions: Source::Policy },
    Following { moves: Source::Recording, evictions: Source::Recording },
];

#[test]
fn recording_of_the_same_rules_agrees_in_everything() {
    let (server, events) = recording();
    let count = |kind: fn(&Event) -> bool| events.iter().filter(|event| kind(event)).count() as u64;
    let expected = Agreement {
        moves_agreed: count(|event| matches!(event, Event::Moved(_))),
        reads_agreed: count(|event| matches!(event, Event::Read(_))),
        evictions_agreed: count(|event| matches!(event, Event::Evicted(_))),
        ..Agreement::default()
    };
    assert!(expected.moves_agreed > 1000 && expected.evictions_agreed > 10_000);
    for following in ALL {
        let (pool, agreement) = follow(&events, following);
        assert_eq!(agreement, expected, "{following:?}");
        assert!(pool.export(0).eq(server.export(0)), "{following:?}: the lists are the same");
    }
}

#[test]
fn moves_that_the_recording_lacks_are_missing_and_followed() {
    let (_, events) = recording();
    let mut moves = 0_u64;
    let events: Vec<Event> = events
        .into_iter()
        .filter(|event| {
            let is_move = matches!(event, Event::Moved(_));
            moves += u64::from(is_move);
            !is_move || !moves.is_multiple_of(10)
        })
        .collect();
    let agreed_with = |moves_from| {
        let following = Following { moves: moves_from, evictions: Source::Policy };
        let (pool, agreement) = follow(&events, following);
        pool.assert_consistent();
        agreement
    };
    // The policy's own moves are right, so only those left out are missing.
    let by_policy = agreed_with(Source::Policy);
    assert_eq!(by_policy.moves_missing, moves / 10);
    assert_eq!(by_policy.moves_agreed, moves - moves / 10);
    assert_eq!(by_policy.moves_unforeseen, 0);
    assert!(agreed_with(Source::Recording).moves_missing > 0);
}

#[test]
fn each_disagreement_is_counted_once() {
    let following = Following { moves: Source::Recording, evictions: Source::Recording };
    let mut follower = Follower::new(pool(600), following);
    for page_no in 0..600 {
        follower.got(page(page_no), Fetch::Normal, Time::from_millis(1)).unwrap();
        follower.page_read(page(page_no)).unwrap();
    }
    follower.moved_young(page(7));
    assert_eq!(follower.pool().pages_from_head(0).next(), Some(page(7)), "the recording decides");
    follower.moved_young(page(9999));
    follower.page_read(page(8)).unwrap();
    let victim = follower.pool().next_victim(0).unwrap();
    let hottest = follower.pool().pages_from_head(0).next().unwrap();
    follower.evicted(victim);
    follower.evicted(hottest);
    follower.page_read(page(1000)).unwrap();
    follower.got(page(1001), Fetch::Normal, Time::from_millis(2)).unwrap();
    follower.got(page(1002), Fetch::Normal, Time::from_millis(2)).unwrap();
    let (pool, agreement) = follower.finish();
    let expected = Agreement {
        moves_unforeseen: 1,
        moves_of_absent: 1,
        reads_agreed: 600,
        reads_unforeseen: 1,
        reads_ahead: 1,
        reads_missing: 2,
        evictions_agreed: 1,
        evictions_other: 1,
        evictions_unrecorded: 1,
        ..Agreement::default()
    };
    assert_eq!(agreement, expected);
    pool.assert_consistent();
}
