//! Predictions from what a recorder sees, against what other sizes really read.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests that show their figures")]
#![allow(clippy::cast_possible_truncation, reason = "tests")]

mod generated;

use generated::{Kind, PAGE, Plan};
use innopool_recording::Source;
use innopool_whatif::{Question, Tape, answer_tapes};

#[test]
fn events_table() {
    let kinds =
        [Kind::Zipf, Kind::ZipfScan, Kind::Drift, Kind::HotCold, Kind::ZipfInsert, Kind::Orders];
    let only = std::env::var("ONLY").unwrap_or_default();
    for kind in kinds {
        if !format!("{kind:?}").starts_with(&only) {
            continue;
        }
        for rate in [4000.0, 40000.0] {
            let plan = Plan {
                kind,
                pages: 64_000,
                gets_per_second: rate,
                warm_seconds: 8e6 / rate,
                seconds: 60.0,
                seed: 3,
            };
            let recorded = 8000;
            let factors = [0.5, 0.625, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0];
            let sizes: Vec<u64> = factors.iter().map(|f| (f * recorded as f64) as u64).collect();
            let tape = plan.record(recorded, Source::Events);
            let question =
                Question { sizes: sizes.iter().map(|s| s * PAGE).collect(), ..Question::default() };
            let answer = answer_tapes(&[&tape as &dyn Tape], &question).unwrap();
            let floor = 0.05 * answer.calibration.unwrap().measured_disk_reads as f64;
            println!(
                "{kind:?} {rate} events {} calibration {:?}",
                answer.captured.events, answer.calibration
            );
            for row in &answer.curve {
                let near = (0.5..=2.0).contains(&row.size_factor);
                let truth = plan.truth(row.pool_size_bytes / PAGE) as f64;
                let seconds = answer.captured.duration_seconds;
                let told = |v: Option<f64>| v.unwrap() * seconds;
                let point = told(row.disk_reads_per_second);
                let (low, high) =
                    (told(row.disk_reads_low_per_second), told(row.disk_reads_high_per_second));
                println!(
                    "  {:6.3} truth {:8.0} point {:8.0} error {:+.3} band {:8.0}-{:8.0} ratio {:.2} {}",
                    row.size_factor,
                    truth,
                    point,
                    (point - truth) / truth.max(floor),
                    low,
                    high,
                    high / low.max(1.0),
                    if low <= truth && truth <= high { "" } else { "OUTSIDE" },
                );
                // Four turnovers a second are more than what is read within a second of another read can show.
                let most = if rate > 10_000.0 { f64::INFINITY } else { 0.20 };
                assert!(!near || (point - truth).abs() / truth.max(floor) < most);
            }
        }
    }
}
