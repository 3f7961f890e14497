//! From recordings to an answer: window by window, sizes in parallel, then all windows together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use innopool_recording::{Provenance, Record};

use crate::answer::{Answer, Calibration, Captured, Row};
use crate::error::WhatifError;
use crate::estimate::{Base, Reads, estimate};
use crate::question::Question;
use crate::replay::{ReplayError, Scene};
use crate::room::{Pools, Room};
use crate::start::KnownList;
use crate::survey::Survey;
use crate::tape::Tape;
use crate::window::Window;

/// Answers from recordings that are at hand as records.
///
/// # Errors
///
/// When there is nothing to answer from, a size is impossible, or a recording cannot be read.
pub fn answer_tapes(tapes: &[&dyn Tape], question: &Question) -> Result<Answer, WhatifError> {
    let first = tapes.first().ok_or(WhatifError::NoRecording)?;
    let provenance = first.provenance();
    let sizes = sizes(question, provenance.pool.size_bytes);
    let mut sum: Option<Told> = None;
    for tape in tapes {
        let mut window: Option<Window> = None;
        for record in tape.play()? {
            match record? {
                Record::WindowStart(start) => {
                    if let Some(window) = window.replace(Window::begin(start)) {
                        add(&mut sum, tell(&window, tape.provenance(), question, &sizes)?);
                    }
                }
                other => {
                    if let Some(window) = &mut window {
                        window.add(other);
                    }
                }
            }
        }
        if let Some(window) = window {
            add(&mut sum, tell(&window, tape.provenance(), question, &sizes)?);
        }
    }
    let told = sum.ok_or(WhatifError::Empty)?;
    Ok(compose(provenance, question, &sizes, told))
}

fn sizes(question: &Question, recorded: u64) -> Vec<u64> {
    let mut sizes = question.sizes.clone();
    sizes.push(recorded);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What one or more windows say.
#[derive(Clone, Debug)]
struct Told {
    seconds: f64,
    events: u64,
    lost: u64,
    transactions: Option<u64>,
    requests: Option<u64>,
    measured: u64,
    replayed: f64,
    reads: Vec<Reads>,
}

fn add(sum: &mut Option<Told>, told: Told) {
    let Some(sum) = sum else {
        *sum = Some(told);
        return;
    };
    sum.seconds += told.seconds;
    sum.events += told.events;
    sum.lost += told.lost;
    sum.transactions = sum.transactions.zip(told.transactions).map(|(a, b)| a + b);
    sum.requests = sum.requests.zip(told.requests).map(|(a, b)| a + b);
    sum.measured += told.measured;
    sum.replayed += told.replayed;
    for (sum, reads) in sum.reads.iter_mut().zip(told.reads) {
        sum.likely += reads.likely;
        sum.low += reads.low;
        sum.high += reads.high;
        sum.bound_only |= reads.bound_only;
    }
}

fn tell(
    window: &Window,
    provenance: &Provenance,
    question: &Question,
    sizes: &[u64],
) -> Result<Told, WhatifError> {
    let size_bytes = provenance.pool.size_bytes;
    let pools = Pools::new(provenance, question, Room::of(window, &provenance.pool));
    let survey = Survey::of(window, &pools, size_bytes);
    let known = KnownList::new(&window.residents, &pools.rules().list, survey.heads_per_read());
    let scene = Scene {
        window,
        survey: &survey,
        known: &known,
        source: provenance.source,
        depths: &[],
        salt: 1,
    };
    let base = Base::of(&scene, &pools, size_bytes).map_err(|error| at(size_bytes, error))?;
    let scene = Scene { depths: &base.returns.depths, ..scene };
    let measured = window
        .rise(|c| Some(c.reads?.saturating_sub(c.read_ahead_rnd.unwrap_or(0))))
        .unwrap_or(survey.demand_reads);
    let reads = in_parallel(sizes, question.threads, |size| {
        estimate(&scene, &pools, &base, size).map_err(|error| at(size, error))
    })?;
    Ok(Told {
        seconds: window.seconds(),
        events: window.events.len() as u64,
        lost: window.lost_events,
        transactions: window.rise(|c| c.transactions),
        requests: window.rise(|c| c.read_requests),
        measured,
        replayed: base.total(),
        reads,
    })
}

fn at(size_bytes: u64, error: ReplayError) -> WhatifError {
    match error {
        ReplayError::Config(source) => WhatifError::Size { size_bytes, source },
        ReplayError::NoFreeFrame(source) => WhatifError::Replay { size_bytes, source },
    }
}

/// Applies `work` to each size, on several threads; the results in the order of the sizes.
fn in_parallel<T: Send>(
    sizes: &[u64],
    threads: usize,
    work: impl Fn(u64) -> Result<T, WhatifError> + Sync,
) -> Result<Vec<T>, WhatifError> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        some => some,
    };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(sizes.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(sizes.len()) {
            scope.spawn(|| {
                while let Some(&size) = sizes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(size);
                    if let Ok(mut done) = done.lock() {
                        done.push((size, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|&(size, _)| size);
    done.into_iter().map(|(_, result)| result).collect()
}

fn compose(provenance: &Provenance, question: &Question, sizes: &[u64], told: Told) -> Answer {
    let recorded = provenance.pool.size_bytes;
    let transactions = told.transactions.filter(|&n| n > 0).or(question.transactions);
    let error_ratio = (told.replayed - told.measured as f64).abs() / (told.measured.max(1) as f64);
    let curve = sizes
        .iter()
        .zip(&told.reads)
        .map(|(&size, reads)| Row {
            pool_size_bytes: size,
            size_factor: size as f64 / recorded as f64,
            disk_reads_per_second: Some(reads.likely / told.seconds),
            disk_reads_low_per_second: Some(reads.low / told.seconds),
            disk_reads_high_per_second: Some(reads.high / told.seconds),
            disk_reads_per_transaction: transactions.map(|n| reads.likely / n as f64),
            miss_per_mille: told.requests.map(|n| reads.likely * 1000.0 / n as f64),
            read_time_ratio: None,
            reads_saved_per_second_per_gb: None,
            bound_only: reads.bound_only,
        })
        .collect();
    Answer {
        schema: "innopool.whatif/1",
        captured: Captured {
            source: provenance.source,
            pool_size_bytes: recorded,
            duration_seconds: told.seconds,
            events: told.events,
            lost_events: told.lost,
            transactions,
            read_requests: told.requests,
            read_latency_seconds: None,
            statement_seconds: None,
        },
        calibration: Some(Calibration {
            measured_disk_reads: told.measured,
            replayed_disk_reads: crate::room::to_pages(told.replayed),
            error_ratio,
        }),
        curve,
        knee_bytes: None,
        refused_because: None,
        remarks: Vec::new(),
    }
}
