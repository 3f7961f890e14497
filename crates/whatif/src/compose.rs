//! From recordings to an answer: window by window, then all windows together.

use std::path::PathBuf;

use innopool_recording::{Batch, Provenance, Record, Source};

use crate::answer::{Answer, Calibration, Captured, Row, WindowAnswer};
use crate::error::WhatifError;
use crate::parallel::Progress;
use crate::question::Question;
use crate::sizes::{KNEE_SAVING, knee, sizes};
use crate::snapshots;
use crate::tape::{FileTape, Tape};
use crate::told::{OFF_MAX, Told, tell};
use crate::window::Window;

/// Answers `question` from the recordings at `paths`, all of one server at one pool size. `progress` is
/// told whenever a size is done, from any thread.
///
/// One window at a time is held in memory, at 24 bytes an event; the sizes are replayed in parallel.
///
/// # Errors
///
/// When there is nothing to answer from, a size is impossible, or a recording cannot be read.
pub fn answer(
    paths: &[PathBuf],
    question: &Question,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Answer, WhatifError> {
    let open = |path: &PathBuf| FileTape::open(path).map(|tape| Box::new(tape) as Box<dyn Tape>);
    let mut tapes = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    answer_tapes(&mut tapes, question, progress)
}

/// As [`answer`], from recordings that are open or in memory.
///
/// # Errors
///
/// As [`answer`].
pub fn answer_tapes(
    tapes: &mut [Box<dyn Tape>],
    question: &Question,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Answer, WhatifError> {
    let first = tapes.first().ok_or(WhatifError::NoRecording)?;
    let provenance = first.provenance().clone();
    for tape in tapes.iter() {
        belongs(&provenance, tape.provenance())?;
    }
    let sizes = sizes(question, provenance.pool.size_bytes);
    let mut told = Vec::new();
    let mut remarks = provenance.remarks.clone();
    for tape in tapes {
        let mut seen = snapshots::Seen::new(&provenance);
        while let Some(window) = next_window(tape.as_mut())? {
            told.push(if matches!(provenance.source, Source::Dumps | Source::Lru) {
                seen.tell(window, question, &sizes)
            } else {
                tell(&window, &provenance, question, &sizes, progress)?
            });
        }
        remarks.extend(tape.remarks());
    }
    told.retain(|told| told.seconds > 0.0);
    let windows = if told.len() > 1 {
        told.iter().map(|told| window_answer(&provenance, question, &sizes, told)).collect()
    } else {
        Vec::new()
    };
    let sum = told.into_iter().reduce(Told::and).ok_or(WhatifError::Empty)?;
    Ok(compose(&provenance, question, &sizes, &sum, windows, remarks))
}

fn belongs(first: &Provenance, other: &Provenance) -> Result<(), WhatifError> {
    if first.source != other.source {
        return Err(WhatifError::Mixed("they were recorded in different ways"));
    }
    if first.pool.size_bytes != other.pool.size_bytes {
        return Err(WhatifError::Mixed("the pool had another size in each"));
    }
    if first.server_uuid != other.server_uuid {
        return Err(WhatifError::Mixed("they are of different servers"));
    }
    Ok(())
}

/// Gathers the next window. What follows its end, up to the next start, is nothing.
fn next_window(tape: &mut dyn Tape) -> Result<Option<Window>, WhatifError> {
    let mut window: Option<Window> = None;
    while let Some(batch) = tape.next_batch()? {
        match (batch, &mut window) {
            (Batch::Record(Record::WindowStart(start)), None) => {
                window = Some(Window::begin(start))
            }
            (batch, Some(window)) => {
                let ends = matches!(batch, Batch::Record(Record::WindowEnd(_)));
                window.add(batch);
                if ends {
                    break;
                }
            }
            (_, None) => {}
        }
    }
    Ok(window)
}

/// Counts to rates.
struct Rates<'a> {
    told: &'a Told,
    transactions: Option<u64>,
    recorded_bytes: u64,
}

impl Rates<'_> {
    fn latency_seconds(&self) -> Option<f64> {
        let (time, reads) = self.told.read_time_ps.zip(self.told.timed_reads)?;
        (reads > 0).then(|| time as f64 / reads as f64 / 1e12)
    }

    fn statement_seconds(&self) -> Option<f64> {
        self.told.statement_time_ps.map(|time| time as f64 / 1e12)
    }

    fn curve(&self, sizes: &[u64]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::with_capacity(sizes.len());
        for (&size, reads) in sizes.iter().zip(&self.told.reads) {
            let per_second = |reads: f64| reads / self.told.seconds;
            let reading = |reads: f64| {
                let busy = self.statement_seconds().filter(|&seconds| seconds > 0.0)?;
                Some(reads * self.latency_seconds()? / busy)
            };
            let likely = reads.likely;
            let saved = rows.last().and_then(|before| {
                let more_gb = (size - before.pool_size_bytes) as f64 / 1e9;
                Some((before.disk_reads_per_second? - per_second(likely?)) / more_gb)
            });
            rows.push(Row {
                pool_size_bytes: size,
                size_factor: size as f64 / self.recorded_bytes.max(1) as f64,
                disk_reads_per_second: likely.map(per_second),
                disk_reads_low_per_second: reads.low.map(per_second),
                disk_reads_high_per_second: reads.high.map(per_second),
                disk_reads_per_transaction: likely
                    .zip(self.transactions)
                    .map(|(reads, number)| reads / number as f64),
                miss_per_mille: likely
                    .zip(self.told.read_requests.filter(|&number| number > 0))
                    .map(|(reads, requests)| (reads * 1000.0 / requests as f64).min(1000.0)),
                read_time_ratio: likely.and_then(reading),
                reads_saved_per_second_per_gb: saved,
                bound_only: likely.is_none(),
            });
        }
        rows
    }
}

fn rates<'a>(provenance: &Provenance, question: &Question, told: &'a Told) -> Rates<'a> {
    let transactions = told.transactions.filter(|&number| number > 0).or(question.transactions);
    Rates { told, transactions, recorded_bytes: provenance.pool.size_bytes }
}

fn calibration(told: &Told) -> Option<Calibration> {
    let replayed = told.replayed?;
    let measured = told.measured as f64;
    let off = (replayed - measured).abs();
    Some(Calibration {
        measured_disk_reads: told.measured,
        replayed_disk_reads: crate::room::to_pages(replayed),
        error_ratio: if off > 0.0 { off / measured.max(1.0) } else { 0.0 },
    })
}

fn window_answer(
    provenance: &Provenance,
    question: &Question,
    sizes: &[u64],
    told: &Told,
) -> WindowAnswer {
    // Transactions given by hand are those of the whole.
    let question = Question { transactions: None, ..question.clone() };
    let rates = rates(provenance, &question, told);
    WindowAnswer {
        started_unix_us: told.started_unix_us,
        duration_seconds: told.seconds,
        transactions: rates.transactions,
        calibration: calibration(told),
        curve: rates.curve(sizes),
    }
}

fn compose(
    provenance: &Provenance,
    question: &Question,
    sizes: &[u64],
    told: &Told,
    windows: Vec<WindowAnswer>,
    mut remarks: Vec<String>,
) -> Answer {
    let rates = rates(provenance, question, told);
    let curve = rates.curve(sizes);
    let calibration = calibration(told);
    remarks.extend(told.remarks.iter().cloned());
    let refused_because = refusal(provenance, told, calibration);
    if let Some(calibration) = calibration
        && calibration.error_ratio > REMARKED_ERROR
        && refused_because.is_none()
    {
        remarks.push(format!(
            "Replayed at the recorded size, the recording comes to {} reads where the server counted {}: the band is \
             wider by that.",
            calibration.replayed_disk_reads, calibration.measured_disk_reads
        ));
    }
    let knee_bytes = knee(&curve, provenance.pool.size_bytes);
    if knee_bytes.is_some() {
        remarks.push(format!(
            "Beyond the knee, adding the recorded size once more saves less than {:.0} % of the reads there.",
            KNEE_SAVING * 100.0
        ));
    }
    Answer {
        schema: "innopool.whatif/1",
        captured: Captured {
            source: provenance.source,
            pool_size_bytes: provenance.pool.size_bytes,
            duration_seconds: told.seconds,
            events: told.events,
            lost_events: told.lost_events,
            transactions: rates.transactions,
            read_requests: told.read_requests,
            read_latency_seconds: rates.latency_seconds(),
            statement_seconds: rates.statement_seconds(),
        },
        calibration,
        curve,
        knee_bytes,
        windows,
        refused_because,
        remarks,
    }
}

/// A replay that is off by more than this is remarked on.
const REMARKED_ERROR: f64 = 0.05;
/// More lost events than this share leave too little.
const LOST_SHARE_MAX: f64 = 0.05;

fn refusal(
    provenance: &Provenance,
    told: &Told,
    calibration: Option<Calibration>,
) -> Option<String> {
    let lost = told.lost_events as f64 / (told.events + told.lost_events).max(1) as f64;
    if lost > LOST_SHARE_MAX {
        return Some(format!(
            "{:.0} % of the events were lost while it was recorded; record again, with less overhead or a larger \
             buffer",
            lost * 100.0
        ));
    }
    match calibration {
        Some(calibration) if calibration.error_ratio > OFF_MAX => Some(format!(
            "replayed at the recorded size, the recording comes to {} reads where the server counted {}: something \
             that moves pages is not in it",
            calibration.replayed_disk_reads, calibration.measured_disk_reads
        )),
        Some(_) => None,
        None if provenance.source == Source::Reads => None,
        None => Some("snapshots of the list give bounds, not an estimate".to_owned()),
    }
}
