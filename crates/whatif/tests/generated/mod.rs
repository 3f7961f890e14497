//! Generated page accesses, a server that is driven by them, and what a recorder would see of it.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]
#![allow(unreachable_pub, reason = "a module of a test has no other public")]

use innopool_policy::promotion::Verdict;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{BufferPool, Found, PoolConfig};
use innopool_policy::{Fetch, PageId, Time, Variant};
use innopool_recording::{
    Counters, Event, EventKind, Flavor, PoolSettings, Provenance, Record, Sampling, Source,
    WindowEnd, WindowStart,
};
use innopool_whatif::MemoryTape;

pub const PAGE: u64 = 16 * 1024;

/// Numbers that look random, the same in every run.
#[derive(Clone)]
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.unit() * n as f64) as u64
    }
}

/// Ranks by Zipf's law, spread over the page numbers.
#[derive(Clone)]
pub struct Zipf {
    cumulative: Vec<f64>,
    place: Vec<u32>,
}

impl Zipf {
    pub fn new(pages: u32, exponent: f64, seed: u64) -> Zipf {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=pages)
            .map(|rank| {
                sum += f64::from(rank).powf(-exponent);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|value| *value /= sum);
        let mut place: Vec<u32> = (0..pages).collect();
        let mut draws = Draws::new(seed);
        for at in (1..place.len()).rev() {
            place.swap(at, draws.below(at as u64 + 1) as usize);
        }
        Zipf { cumulative, place }
    }

    pub fn draw(&self, draws: &mut Draws) -> u32 {
        let unit = draws.unit();
        let rank = self.cumulative.partition_point(|&value| value < unit);
        self.place[rank.min(self.place.len() - 1)]
    }
}

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Zipf 0.8 over one table.
    Zipf,
    /// The same beside a scan that goes round and round.
    ZipfScan,
    /// A hot window that drifts through a table, and some scan.
    Drift,
    /// A hot fifth gets most, evenly; the rest evenly.
    HotCold,
    /// Steeper Zipf, inserts at the end of the table.
    ZipfInsert,
    /// Bursts: rows of orders that are looked at for a while, then left.
    Orders,
    /// A large table evenly and a small one steeply, with scans of a part at times.
    TwoTables,
    /// A load whose hot part widens and narrows every twenty seconds.
    Waves,
}

/// The accesses of a kind of work, without end.
pub struct Work {
    kind: Kind,
    draws: Draws,
    zipf: Zipf,
    turn: u64,
    gets_per_second: f64,
    queue: Vec<Access>,
    end: u32,
}

#[derive(Clone, Copy)]
pub struct Access {
    pub page: PageId,
    pub create: bool,
}

const TABLE: u32 = 10;
const SCANNED: u32 = 11;
const ROOTS: u32 = 12;

impl Work {
    /// `pages` is the size of the data.
    pub fn new(kind: Kind, pages: u32, gets_per_second: f64, seed: u64) -> Work {
        let exponent = if kind == Kind::ZipfInsert { 1.0 } else { 0.8 };
        Work {
            kind,
            draws: Draws::new(seed),
            zipf: Zipf::new(pages, exponent, 7),
            turn: 0,
            gets_per_second,
            queue: Vec::new(),
            end: pages,
        }
    }

    pub fn next(&mut self) -> (Time, Access) {
        let time = Time::from_micros((self.turn as f64 * 1e6 / self.gets_per_second) as u64);
        self.turn += 1;
        if self.queue.is_empty() {
            self.plan();
        }
        (time, self.queue.pop().unwrap())
    }

    fn plan(&mut self) {
        // A tree's root and a branch page before each leaf.
        let leaf = |space: u32, page_no: u32| {
            [
                Access { page: PageId::new(space, page_no), create: false },
                Access { page: PageId::new(ROOTS, page_no % 40), create: false },
            ]
        };
        let pages = self.zipf.place.len() as u64;
        let seconds = self.turn as f64 / self.gets_per_second;
        match self.kind {
            Kind::Zipf => self.queue.extend(leaf(TABLE, self.zipf.draw(&mut self.draws))),
            Kind::ZipfScan => {
                if self.draws.below(8) == 0 {
                    let at = (self.turn / 8) as u32 % (pages as u32 * 2);
                    for _ in 0..4 {
                        self.queue.extend(leaf(SCANNED, at));
                    }
                } else {
                    self.queue.extend(leaf(TABLE, self.zipf.draw(&mut self.draws)));
                }
            }
            Kind::Drift => {
                if self.draws.below(20) == 0 {
                    let at = (self.turn / 40) as u32 % pages as u32;
                    self.queue.extend(leaf(SCANNED, at));
                    self.queue.extend(leaf(SCANNED, at));
                } else {
                    let hot = pages / 4;
                    let from = (seconds * pages as f64 / 600.0) as u64;
                    let at = (from + self.draws.below(hot)) % pages;
                    self.queue.extend(leaf(TABLE, at as u32));
                }
            }
            Kind::HotCold => {
                let hot = pages / 8;
                let at = if self.draws.below(10) < 8 {
                    self.draws.below(hot)
                } else {
                    self.draws.below(pages)
                };
                self.queue.extend(leaf(TABLE, at as u32));
            }
            Kind::ZipfInsert => {
                if self.draws.below(60) == 0 {
                    let page = PageId::new(TABLE, self.end);
                    self.end += 1;
                    self.queue.push(Access { page, create: true });
                } else if self.draws.below(3) == 0 {
                    // What was made lately is wanted.
                    let back = (self.draws.unit().powi(3) * 8000.0) as u32;
                    self.queue.extend(leaf(TABLE, self.end.saturating_sub(1 + back)));
                } else {
                    self.queue.extend(leaf(TABLE, self.zipf.draw(&mut self.draws)));
                }
            }
            Kind::TwoTables => {
                if self.draws.below(400) == 0 {
                    let from = self.draws.below(pages) as u32;
                    for step in (0..150).rev() {
                        self.queue.extend(leaf(SCANNED, from + step));
                    }
                } else if self.draws.below(3) == 0 {
                    self.queue.extend(leaf(SCANNED, self.draws.below(pages / 3) as u32));
                } else {
                    self.queue.extend(leaf(TABLE, self.zipf.draw(&mut self.draws)));
                }
            }
            Kind::Waves => {
                let wave = (seconds * std::f64::consts::TAU / 20.0).sin();
                let width = pages as f64 * (0.25 + 0.15 * wave);
                let at = (self.draws.unit().powi(2) * width) as u32;
                self.queue.extend(leaf(TABLE, at));
            }
            Kind::Orders => {
                let home = self.zipf.draw(&mut self.draws);
                for step in 0..self.draws.below(6) as u32 {
                    self.queue.extend(leaf(TABLE, (home + step * 7) % pages as u32));
                }
                self.queue.extend(leaf(TABLE, home));
            }
        }
    }
}

/// A server: the policy's pool, asked for every page.
pub fn server(frames: u64) -> BufferPool {
    let config = PoolConfig {
        read_ahead: ReadAheadSettings::OFF,
        ..PoolConfig::new(Variant::Mysql84, frames)
    };
    BufferPool::new(config).unwrap()
}

pub struct Plan {
    pub kind: Kind,
    pub pages: u32,
    pub gets_per_second: f64,
    pub warm_seconds: f64,
    pub seconds: f64,
    pub seed: u64,
}

impl Plan {
    fn work(&self) -> Work {
        Work::new(self.kind, self.pages, self.gets_per_second, self.seed)
    }

    fn apply(pool: &mut BufferPool, time: Time, access: Access) -> Option<EventKind> {
        if access.create {
            pool.create(access.page, time).unwrap();
            return Some(EventKind::Created);
        }
        let outcome = pool.get(access.page, Fetch::Normal, time).unwrap();
        match (outcome.found, outcome.verdict) {
            (Found::Read, _) => Some(EventKind::DemandRead),
            (_, Some(Verdict::MakeYoung)) => Some(EventKind::MadeYoung),
            _ => None,
        }
    }

    /// Demand reads of the watched time in a pool of `frames`.
    pub fn truth(&self, frames: u64) -> u64 {
        let (mut pool, mut work) = (server(frames), self.work());
        let mut before = 0;
        loop {
            let (time, access) = work.next();
            let seconds = time.micros() as f64 / 1e6;
            if seconds < self.warm_seconds {
                Plan::apply(&mut pool, time, access);
                before = pool.stats().demand_reads;
            } else if seconds < self.warm_seconds + self.seconds {
                Plan::apply(&mut pool, time, access);
            } else {
                return pool.stats().demand_reads - before;
            }
        }
    }

    /// What a recorder sees of a pool of `frames`.
    pub fn record(&self, frames: u64, source: Source) -> MemoryTape {
        let (mut pool, mut work) = (server(frames), self.work());
        let mut records = Vec::new();
        let mut before = pool.stats();
        let start = (self.warm_seconds * 1e6) as u64;
        loop {
            let (time, access) = work.next();
            let seconds = time.micros() as f64 / 1e6;
            if seconds < self.warm_seconds {
                Plan::apply(&mut pool, time, access);
                continue;
            }
            if records.is_empty() {
                before = pool.stats();
                records.push(Record::WindowStart(WindowStart {
                    unix_us: 1_796_083_200_000_000,
                    counters: counters(&pool, 0),
                    has_residents: source != Source::Reads,
                }));
                if source != Source::Reads {
                    let pages = pool.pages_from_head(0).collect();
                    records.push(Record::Resident { instance: 0, pages });
                }
            }
            if seconds >= self.warm_seconds + self.seconds {
                break;
            }
            let time_in = Time::from_micros(time.micros() - start);
            if source == Source::EveryGet && !access.create {
                let kind = EventKind::Get(Fetch::Normal);
                records.push(Record::Event(Event { time: time_in, page: access.page, kind }));
            }
            let seen = |&kind: &EventKind| source != Source::Reads || kind == EventKind::DemandRead;
            if let Some(kind) = Plan::apply(&mut pool, time, access).filter(seen) {
                records.push(Record::Event(Event { time: time_in, page: access.page, kind }));
            }
        }
        let asked = pool.stats().read_requests - before.read_requests;
        records.push(Record::WindowEnd(WindowEnd {
            time_us: (self.seconds * 1e6) as u64,
            counters: counters(&pool, asked / 40),
            lost_events: 0,
            stopped_because: None,
        }));
        MemoryTape::new(provenance(frames, source), records)
    }
}

fn counters(pool: &BufferPool, transactions: u64) -> Counters {
    let (stats, occupancy) = (pool.stats(), pool.occupancy());
    Counters {
        read_requests: Some(stats.read_requests),
        reads: Some(stats.reads()),
        pages_read: Some(stats.pages_read),
        read_ahead: Some(stats.read_ahead),
        read_ahead_rnd: Some(stats.read_ahead_rnd),
        pages_created: Some(stats.pages_created),
        pages_total: Some(occupancy.total_pages),
        pages_data: Some(occupancy.data_pages),
        pages_free: Some(occupancy.free_pages),
        pages_misc: Some(occupancy.misc_pages),
        transactions: Some(transactions),
        ..Counters::default()
    }
}

fn provenance(frames: u64, source: Source) -> Provenance {
    Provenance {
        recorded_by: "tests".to_owned(),
        flavor: Flavor::Mysql,
        server_version: "9.7.4".to_owned(),
        server_uuid: None,
        source,
        pool: PoolSettings {
            size_bytes: frames * PAGE,
            chunk_bytes: None,
            instances: 1,
            page_size_bytes: 16 * 1024,
            old_blocks_pct: 37.0,
            old_blocks_time_ms: 1000,
            lru_scan_depth: 1024,
            read_ahead_threshold: 0,
            random_read_ahead: false,
            adaptive_hash_index: false,
        },
        sampling: Sampling::ALL,
        tablespaces: Vec::new(),
        started_unix_us: 1_796_083_200_000_000,
        remarks: Vec::new(),
    }
}
