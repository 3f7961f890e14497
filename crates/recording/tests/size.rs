//! Bytes an event takes, on traces like a server's.

#![allow(clippy::unwrap_used, reason = "a test may end by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "a trace is made of rounded random numbers")]

mod common;

use common::{event, provenance};
use innopool_recording::{EventKind, RecordWriter, WindowStart};

/// splitmix64: the same trace every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A server's load: tables of so many pages each, asked by a Zipf law (exponent near 1) over the pages,
/// whose ranks are scattered; one event in five is of a scan; so many events a second.
struct Load {
    tables: u32,
    table_pages: u64,
    events_per_second: f64,
}

fn bytes_per_event(load: &Load) -> f64 {
    const EVENTS: u64 = 300_000;
    let mut random = Random(42);
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    let start = WindowStart { unix_us: 0, counters: Default::default(), has_residents: false };
    writer.window_start(&start).unwrap();
    let head = writer.written_bytes();
    let pages = (u64::from(load.tables) * load.table_pages) as f64;
    let (mut time, mut scanned) = (0.0, 0_u64);
    for number in 0..EVENTS {
        time += -random.unit().max(1e-12).ln() * 1e6 / load.events_per_second;
        let (page, kind) = if number % 5 == 0 {
            scanned += 1;
            (scanned, EventKind::AheadRead)
        } else {
            // Inverse of the distribution function of a Zipf law with exponent 1: pages^u.
            let rank = pages.powf(random.unit()) as u64;
            let kind =
                if rank.is_multiple_of(3) { EventKind::MadeYoung } else { EventKind::DemandRead };
            (Random(rank).next() % pages as u64, kind)
        };
        let space = u32::try_from(page / load.table_pages).unwrap() + 10;
        let page_no = u32::try_from(page % load.table_pages).unwrap();
        writer.event(&event(time as u64, space, page_no, kind)).unwrap();
    }
    writer.flush().unwrap();
    (writer.written_bytes() - head) as f64 / EVENTS as f64
}

#[test]
fn an_event_takes_eight_bytes_at_most() {
    let loads = [
        ("1 GB in 10 tables", Load { tables: 10, table_pages: 6_500, events_per_second: 7e3 }, 5.0),
        ("100 GB in 20", Load { tables: 20, table_pages: 330_000, events_per_second: 2e4 }, 6.0),
        ("1 TB in 5,000", Load { tables: 5_000, table_pages: 13_000, events_per_second: 5e4 }, 8.0),
        ("4 TB in one", Load { tables: 1, table_pages: 260_000_000, events_per_second: 1e5 }, 7.0),
        ("nearly idle", Load { tables: 10, table_pages: 6_500, events_per_second: 10.0 }, 8.0),
    ];
    for (name, load, bytes_max) in loads {
        let bytes = bytes_per_event(&load);
        assert!(bytes <= bytes_max, "{name}: {bytes:.2} bytes an event");
        // What the page numbers and times themselves say, or the trace is no trace.
        assert!(bytes >= 4.0, "{name}: {bytes:.2} bytes an event");
    }
}
