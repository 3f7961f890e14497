//! Recordings to test with.

#![allow(dead_code, reason = "no test needs all of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end by panicking")]

use innopool_policy::fetch::Fetch;
use innopool_policy::page::PageId;
use innopool_policy::time::Time;
use innopool_recording::{
    CounterSample, Counters, Ending, Event, EventKind, Flavor, OnDamage, PoolSettings, Provenance,
    ReadError, Record, RecordReader, RecordWriter, Sampling, Skipped, Source, Tablespace,
    WindowEnd, WindowStart,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a small server would be recorded as.
pub(crate) fn provenance() -> Provenance {
    Provenance {
        recorded_by: "innopool 0.1.0".to_owned(),
        flavor: Flavor::Mysql,
        server_version: "9.7.0".to_owned(),
        server_uuid: None,
        source: Source::Events,
        pool: PoolSettings {
            size_bytes: 256 << 20,
            chunk_bytes: Some(128 << 20),
            instances: 1,
            page_size_bytes: 16384,
            old_blocks_pct: 37.0,
            old_blocks_time_ms: 1000,
            lru_scan_depth: 1024,
            read_ahead_threshold: 56,
            random_read_ahead: false,
            adaptive_hash_index: false,
        },
        sampling: Sampling::ALL,
        tablespaces: vec![Tablespace { space: 5, pages: Some(100) }],
        started_unix_us: 1_700_000_000_000_000,
        remarks: vec![],
    }
}

pub(crate) fn event(time_us: u64, space: u32, page_no: u32, kind: EventKind) -> Event {
    Event { time: Time::from_micros(time_us), page: PageId::new(space, page_no), kind }
}

/// One window with something of everything.
pub(crate) fn small() -> Vec<Record> {
    let counters = Counters { reads: Some(7), ..Counters::default() };
    vec![
        Record::WindowStart(WindowStart {
            unix_us: 1_700_000_000_000_123,
            counters: counters.clone(),
            has_residents: true,
        }),
        Record::Resident { instance: 0, pages: vec![PageId::new(5, 3), PageId::new(0, 70_000)] },
        Record::Event(event(10, 5, 4, EventKind::DemandRead)),
        Record::Event(event(10, 5, 300, EventKind::MadeYoung)),
        Record::Sample(CounterSample { time_us: 11, counters: counters.clone() }),
        Record::Event(event(900, u32::MAX, 5, EventKind::Get(Fetch::Scan))),
        Record::WindowEnd(WindowEnd {
            time_us: 1000,
            counters,
            lost_events: 2,
            stopped_because: Some("asked to".to_owned()),
        }),
    ]
}

/// Writes a finished recording.
pub(crate) fn write(records: &[Record]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    records.iter().for_each(|record| writer.record(record).unwrap());
    writer.finish().unwrap()
}

/// What was read of a recording.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) records: Vec<Record>,
    pub(crate) ending: Option<Ending>,
    pub(crate) skipped: Skipped,
}

/// Reads everything; lists of resident pages are put together.
pub(crate) fn read(bytes: &[u8], on_damage: OnDamage) -> Result<Read, (Vec<Record>, ReadError)> {
    let mut reader = match RecordReader::new(bytes) {
        Ok(reader) => reader.on_damage(on_damage),
        Err(error) => return Err((Vec::new(), error)),
    };
    let mut records = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(record)) => push(&mut records, record),
            Ok(None) => break,
            Err(error) => return Err((records, error)),
        }
    }
    Ok(Read { records, ending: reader.ending(), skipped: reader.skipped() })
}

/// Adds a record; pages that go on with the last record's list go there.
pub(crate) fn push(records: &mut Vec<Record>, record: Record) {
    if let (
        Some(Record::Resident { instance, pages }),
        Record::Resident { instance: next, pages: more },
    ) = (records.last_mut(), &record)
        && instance == next
    {
        pages.extend(more);
        return;
    }
    records.push(record);
}

fn page() -> impl Strategy<Value = PageId> {
    let space = prop_oneof![5 => 0..4_u32, 2 => 0..2000_u32, 1 => any::<u32>()];
    let page_no = prop_oneof![3 => 0..300_u32, 2 => 0..1_000_000_u32, 1 => any::<u32>()];
    (space, page_no).prop_map(|(space, page_no)| PageId::new(space, page_no))
}

fn kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        Just(EventKind::DemandRead),
        Just(EventKind::AheadRead),
        Just(EventKind::Created),
        Just(EventKind::MadeYoung),
        prop::sample::select(vec![
            Fetch::Normal,
            Fetch::Scan,
            Fetch::NoLatch,
            Fetch::IfInPool,
            Fetch::IfInPoolOrWatch,
            Fetch::PeekIfInPool,
            Fetch::PossiblyFreed,
            Fetch::PossiblyFreedNoReadAhead,
        ])
        .prop_map(EventKind::Get),
    ]
}

/// Distances in time: none, small, and beyond what fits a distance, which begins a block; so rarely that
/// blocks also get full.
fn distance() -> impl Strategy<Value = u64> {
    prop_oneof![
    2000 => Just(0),
    5000 => 0..300_u64,
    2000 => 0..100_000_u64,
    1 => 0..1_u64 << 40,
    ]
}

fn counters() -> impl Strategy<Value = Counters> {
    (any::<Option<u64>>(), any::<Option<u64>>()).prop_map(|(reads, transactions)| Counters {
        reads,
        transactions,
        ..Counters::default()
    })
}

#[derive(Clone, Debug)]
enum Step {
    Event(u64, PageId, EventKind),
    Sample(Box<Counters>),
}

fn window() -> impl Strategy<Value = Vec<Record>> {
    let step = prop_oneof![
        5000 => (distance(), page(), kind()).prop_map(|(wait, page, kind)| Step::Event(wait, page, kind)),
        1 => counters().prop_map(|counters| Step::Sample(Box::new(counters))),
    ];
    let residents =
        prop_oneof![3 => vec(vec(page(), 0..50), 0..3), 1 => vec(vec(page(), 0..40_000), 1)];
    let steps = prop_oneof![4 => vec(step.clone(), 0..400), 1 => vec(step, 0..30_000)];
    let end = (any::<u64>(), counters(), any::<Option<String>>());
    (any::<u64>(), counters(), residents, steps, end).prop_map(
        |(unix_us, counters, residents, steps, (lost_events, at_end, stopped_because))| {
            let has_residents = !residents.is_empty();
            let mut records =
                vec![Record::WindowStart(WindowStart { unix_us, counters, has_residents })];
            for (instance, pages) in (0..).zip(residents) {
                records.push(Record::Resident { instance, pages });
            }
            let mut now = 0;
            for step in steps {
                records.push(match step {
                    Step::Event(wait, page, kind) => {
                        now += wait;
                        Record::Event(Event { time: Time::from_micros(now), page, kind })
                    }
                    Step::Sample(counters) => {
                        Record::Sample(CounterSample { time_us: now, counters: *counters })
                    }
                });
            }
            records.push(Record::WindowEnd(WindowEnd {
                time_us: now,
                counters: at_end,
                lost_events,
                stopped_because,
            }));
            records
        },
    )
}

/// Any recording of a few windows.
pub(crate) fn recording() -> impl Strategy<Value = Vec<Record>> {
    vec(window(), 0..4).prop_map(|windows| windows.concat())
}
