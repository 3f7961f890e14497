//! What a window says of each size, and what several say together.

use innopool_policy::scale::Scale;
use innopool_recording::{Event, Provenance, Source};

use crate::error::WhatifError;
use crate::estimate::{Base, Reads, estimate, noise};
use crate::ghost;
use crate::hash::draw;
use crate::parallel::{Progress, in_parallel};
use crate::question::Question;
use crate::replay::{ReplayError, Scene};
use crate::room::{Pools, Room};
use crate::start::KnownList;
use crate::survey::Survey;
use crate::window::Window;

/// What one or more windows say.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) started_unix_us: u64,
    pub(crate) seconds: f64,
    pub(crate) events: u64,
    pub(crate) lost_events: u64,
    pub(crate) transactions: Option<u64>,
    pub(crate) read_requests: Option<u64>,
    pub(crate) read_time_ps: Option<u64>,
    pub(crate) timed_reads: Option<u64>,
    pub(crate) statement_time_ps: Option<u64>,
    /// By the server's count.
    pub(crate) measured: u64,
    /// `None` where the recorded size cannot be replayed.
    pub(crate) replayed: Option<f64>,
    /// By size.
    pub(crate) reads: Vec<Reads>,
    pub(crate) remarks: Vec<String>,
}

impl Told {
    /// Both together: counts add up, and what one of them does not know, both do not.
    pub(crate) fn and(mut self, other: Told) -> Told {
        let both = |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(a, b)| a + b);
        let sum = |one: Option<f64>, other: Option<f64>| one.zip(other).map(|(a, b)| a + b);
        for (one, more) in self.reads.iter_mut().zip(&other.reads) {
            *one = Reads {
                likely: sum(one.likely, more.likely),
                low: sum(one.low, more.low),
                high: sum(one.high, more.high),
            };
        }
        for remark in other.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        Told {
            started_unix_us: self.started_unix_us.min(other.started_unix_us),
            seconds: self.seconds + other.seconds,
            events: self.events + other.events,
            lost_events: self.lost_events + other.lost_events,
            transactions: both(self.transactions, other.transactions),
            read_requests: both(self.read_requests, other.read_requests),
            read_time_ps: both(self.read_time_ps, other.read_time_ps),
            timed_reads: both(self.timed_reads, other.timed_reads),
            statement_time_ps: both(self.statement_time_ps, other.statement_time_ps),
            measured: self.measured + other.measured,
            replayed: sum(self.replayed, other.replayed),
            ..self
        }
    }
}

/// Demand reads by the server's own count, where it tells: all that somebody waited for, random
/// read-ahead taken out. Loads of a dump cannot be told apart and stay in.
pub(crate) fn measured_reads(window: &Window) -> Option<u64> {
    window
        .rise(|counters| Some(counters.reads?.saturating_sub(counters.read_ahead_rnd.unwrap_or(0))))
}

/// What a window says of `sizes`.
pub(crate) fn tell(
    window: &Window,
    provenance: &Provenance,
    question: &Question,
    sizes: &[u64],
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Told, WhatifError> {
    let room = Room::of(window, &provenance.pool);
    let pools = Pools::new(provenance, question, room);
    let counted = window.events.iter().filter(|event| is_demand_read(event)).count() as u64;
    let measured = measured_reads(window);
    let mut told = Told {
        started_unix_us: window.unix_us,
        seconds: window.seconds(),
        events: window.events.len() as u64,
        lost_events: window.lost_events,
        transactions: window.rise(|c| c.transactions),
        read_requests: window.rise(|c| c.read_requests),
        read_time_ps: window.rise(|c| c.data_read_time_ps),
        timed_reads: window.rise(|c| c.data_reads),
        statement_time_ps: window.rise(|c| c.statement_time_ps),
        measured: measured.unwrap_or(counted),
        replayed: None,
        reads: Vec::new(),
        remarks: Vec::new(),
    };
    if measured.is_none() {
        told.remarks.push(
            "The server's count of reads is not in the recording, so the replay is held against the events only."
                .to_owned(),
        );
    }
    let ask = Ask { window, provenance, question, pools: &pools, sizes, progress };
    match provenance.source {
        Source::Events | Source::EveryGet if !pools.is_full() => ask.not_full(&mut told)?,
        Source::Events | Source::EveryGet => ask.replays(&mut told)?,
        Source::Reads => told.reads = ghost::tell(window, &pools, provenance, sizes, told.measured),
        // One snapshot says nothing; they are taken together elsewhere.
        Source::Dumps | Source::Lru => told.reads = vec![UNKNOWN; sizes.len()],
    }
    Ok(told)
}

/// Nothing.
pub(crate) const UNKNOWN: Reads = Reads { likely: None, low: None, high: None };

pub(crate) fn is_demand_read(event: &Event) -> bool {
    event.kind == innopool_recording::EventKind::DemandRead
}

struct Ask<'a> {
    window: &'a Window,
    provenance: &'a Provenance,
    question: &'a Question,
    pools: &'a Pools,
    sizes: &'a [u64],
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Ask<'_> {
    /// A pool with frames to spare reads each page once, and would at any size that has room for all.
    fn not_full(&self, told: &mut Told) -> Result<(), WhatifError> {
        let arrivals = self.window.events.iter().filter(|e| crate::survey::arrives(e.kind)).count();
        let held = crate::room::to_pages(self.window.mean(|c| c.pages_data).unwrap_or(0.0));
        let held = held.max(self.window.resident_pages());
        let used = held + arrivals as u64;
        let reads = told.measured as f64;
        told.replayed = Some(reads);
        let recorded = self.provenance.pool.size_bytes;
        let has_gets = self.provenance.source == Source::EveryGet;
        for &size in self.sizes {
            let fits = size >= recorded || self.pools.capacity_pages(size) >= used;
            told.reads.push(if fits {
                Reads { likely: Some(reads), low: Some(reads), high: Some(reads) }
            } else if has_gets {
                let part = Part::new(self.window, self.provenance, self.pools, None);
                part.reads(&[size], self.question.threads, self.progress)?.1[0]
            } else {
                Reads { likely: None, low: Some(reads), high: None }
            });
        }
        if !has_gets {
            told.remarks.push(
                "The pool was not full: nothing was evicted, and how far it could shrink below what it held is unknown \
                 without a recording of every get."
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn replays(&self, told: &mut Told) -> Result<(), WhatifError> {
        let Some(rate) = self.question.sampling.filter(|&rate| rate < 1.0) else {
            let part = Part::new(self.window, self.provenance, self.pools, None);
            let (replayed, reads) = part.reads(self.sizes, self.question.threads, self.progress)?;
            told.replayed = Some(replayed);
            told.reads = self.calibrated(reads, replayed, told.measured);
            if part.survey.is_rushed() {
                told.remarks.push(RUSHED.to_owned());
            }
            return Ok(());
        };
        let smallest = self.sizes.iter().map(|&size| self.pools.capacity_pages(size)).min();
        let groups = groups(rate, smallest.unwrap_or(1));
        let mut answers = Vec::new();
        for group in 0..groups {
            let sample = Sample {
                from: rate * f64::from(group) / f64::from(groups),
                rate: rate / f64::from(groups),
            };
            let thinned = sample.of(self.window);
            let part = Part::new(&thinned, self.provenance, self.pools, Scale::new(sample.rate));
            answers.push(part.reads(self.sizes, self.question.threads, self.progress)?);
        }
        let (replayed, reads) = together(answers);
        told.replayed = Some(replayed);
        told.reads = self.calibrated(reads, replayed, told.measured);
        told.remarks.push(format!(
            "{:.1} % of the pages were looked at, as {groups} separate samples; their spread is in the band.",
            rate * 100.0
        ));
        Ok(())
    }

    /// Brings the replays to the server's own count at the recorded size, and widens the bands by what
    /// they were off there.
    fn calibrated(&self, reads: Vec<Reads>, replayed: f64, measured: u64) -> Vec<Reads> {
        let measured = measured as f64;
        let factor = if replayed > 0.0 { measured / replayed } else { 1.0 };
        let off = (replayed - measured).abs() / measured.max(1.0);
        let slices = crate::survey::reads_by_slice(self.window);
        let recorded = self.provenance.pool.size_bytes;
        let as_served = self.question.policy.is_none() && self.question.old_blocks_time.is_none();
        self.sizes
            .iter()
            .zip(reads)
            .map(|(&size, reads)| {
                if size == recorded && as_served {
                    let own = noise(&slices).max(MEASURED_ERROR) * measured;
                    let low = Some((measured - own).max(0.0));
                    return Reads { likely: Some(measured), low, high: Some(measured + own) };
                }
                let reads = if off <= OFF_MAX { reads.times(factor) } else { reads };
                let spare = reads.likely.unwrap_or(measured) * off;
                Reads {
                    low: reads.low.map(|low| (low - spare).max(0.0)),
                    high: reads.high.map(|high| high + spare),
                    ..reads
                }
            })
            .collect()
    }
}

const RUSHED: &str = "Pages leave the pool within innodb_old_blocks_time of being read, so hardly any is promoted. \
    Larger sizes may do better than told here, from some size on abruptly.";

/// A replay that is off by more than this at the recorded size says nothing of others.
pub(crate) const OFF_MAX: f64 = 0.25;
/// The recorded size run once more would not read exactly as often.
const MEASURED_ERROR: f64 = 0.02;
/// A pool in miniature has at least this many pages, or its samples are made larger.
const MINIATURE_PAGES: f64 = 1000.0;
const GROUPS_MAX: f64 = 4.0;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 4")]
fn groups(rate: f64, smallest_pages: u64) -> u32 {
    (rate * smallest_pages as f64 / MINIATURE_PAGES).clamp(1.0, GROUPS_MAX) as u32
}

/// Pages whose draw is at least `from` and below `from + rate`.
#[derive(Clone, Copy, Debug)]
struct Sample {
    from: f64,
    rate: f64,
}

/// Salts the draws that samples are made by.
const SAMPLE_SALT: u64 = 0x5A17;

impl Sample {
    fn of(self, window: &Window) -> Window {
        let taken = |page| (self.from..self.from + self.rate).contains(&draw(page, SAMPLE_SALT));
        let residents = window.residents.iter();
        Window {
            residents: residents
                .map(|list| list.iter().copied().filter(|&page| taken(page)).collect())
                .collect(),
            events: window.events.iter().copied().filter(|event| taken(event.page)).collect(),
            samples: Vec::new(),
            ..window.clone_without_pages()
        }
    }
}

/// Adds up disjoint samples, and lets their spread into the bands.
fn together(answers: Vec<(f64, Vec<Reads>)>) -> (f64, Vec<Reads>) {
    let number = answers.len() as f64;
    let replayed = answers.iter().map(|(replayed, _)| replayed).sum::<f64>() / number;
    let sizes = answers.first().map_or(0, |(_, reads)| reads.len());
    let reads = (0..sizes).map(|size| {
        let mean = |part: fn(&Reads) -> Option<f64>| {
            let parts: Option<Vec<f64>> =
                answers.iter().map(|(_, reads)| part(&reads[size])).collect();
            parts.map(|parts| parts.iter().sum::<f64>() / number)
        };
        let likely = mean(|reads| reads.likely);
        let spread = match likely {
            Some(mean) if number > 1.0 => {
                let parts = answers.iter().filter_map(|(_, reads)| reads[size].likely);
                let squares = parts.map(|part| (part - mean).powi(2)).sum::<f64>();
                2.0 * (squares / (number - 1.0) / number).sqrt()
            }
            _ => 0.0,
        };
        Reads {
            likely,
            low: mean(|reads| reads.low).map(|low| (low - spread).max(0.0)),
            high: mean(|reads| reads.high).map(|high| high + spread),
        }
    });
    (replayed, reads.collect())
}

/// A window, or a sample of its pages, with what replays need to know of it.
struct Part<'a> {
    window: &'a Window,
    pools: Pools,
    survey: Survey,
    known: KnownList,
    source: Source,
    recorded: u64,
    scale: Scale,
}

impl<'a> Part<'a> {
    fn new(
        window: &'a Window,
        provenance: &Provenance,
        pools: &Pools,
        scale: Option<Scale>,
    ) -> Part<'a> {
        let scale = scale.unwrap_or(Scale::FULL);
        let pools = pools.clone().in_miniature(scale);
        let recorded = provenance.pool.size_bytes;
        let survey = Survey::of(window, &pools);
        let list = &pools.recorded_rules().list;
        let known =
            KnownList::new(&window.residents, list, survey.heads_per_read(), pools.is_full());
        Part { window, pools, survey, known, source: provenance.source, recorded, scale }
    }

    /// Demand reads at the recorded size, replayed, and at each of `sizes`.
    fn reads(
        &self,
        sizes: &[u64],
        threads: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(f64, Vec<Reads>), WhatifError> {
        let scene = Scene {
            window: self.window,
            survey: &self.survey,
            known: &self.known,
            source: self.source,
            depths: &[],
            salt: 1,
        };
        let base = Base::of(&scene, &self.pools, self.recorded)
            .map_err(|error| at(self.recorded, error))?;
        let scene = Scene { depths: &base.returns.depths, ..scene };
        let in_all = 1.0 / self.scale.rate();
        let reads = in_parallel(sizes, threads, progress, |size| {
            let reads = estimate(&scene, &self.pools, &base, size);
            reads.map(|reads| reads.times(in_all)).map_err(|error| at(size, error))
        })?;
        Ok((base.total() * in_all, reads))
    }
}

fn at(size_bytes: u64, error: ReplayError) -> WhatifError {
    match error {
        ReplayError::Config(source) => WhatifError::Size { size_bytes, source },
        ReplayError::NoFreeFrame(source) => WhatifError::Replay { size_bytes, source },
    }
}
