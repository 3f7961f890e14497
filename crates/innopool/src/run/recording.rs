//! Recordings as `size` uses them: the curve they give, and what they say of their server.

use std::path::{Path, PathBuf};

use innopool_advice::size::{Curve, CurvePoint, EvidenceLevel};
use innopool_advice::words;
use innopool_recording::{Flavor, PoolSettings, Provenance, Source};
use innopool_target::{Content, Document, Table};
use innopool_whatif::{Answer, Captured, Question, Row};

use crate::exit::Failure;
use crate::interrupt;
use crate::progress::ProgressLine;

/// What the recordings say.
pub(crate) struct Recorded {
    /// The curve of all of them.
    pub(crate) whole: Curve,
    /// A curve for each window, where there are several.
    pub(crate) windows: Vec<Curve>,
    /// The server, for people: the names of the files.
    pub(crate) name: String,
    provenance: Provenance,
}

/// Replays recordings at the usual sizes.
///
/// # Errors
/// When one cannot be read, or they do not belong together.
pub(crate) fn replay(paths: &[PathBuf]) -> Result<Recorded, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::could_not(error.to_string());
    let first = paths.first().ok_or_else(|| Failure::usage("--recording needs a file"))?;
    let provenance =
        innopool_recording::open(first).map_err(|error| failed(&error))?.provenance().clone();
    interrupt::leaves("the recording was only read");
    let line = ProgressLine::new(&name_of(first));
    let answer = innopool_whatif::answer(paths, &Question::default(), &|progress| {
        line.replaying(progress.sizes_done, progress.sizes);
    })
    .map_err(|error| failed(&error))?;
    drop(line);
    Ok(Recorded {
        windows: windows(&answer),
        whole: whole(answer),
        name: paths.iter().map(|path| name_of(path)).collect::<Vec<_>>().join(", "),
        provenance,
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
}

impl Recorded {
    /// What the recording says of its server, as a look would have: version and pool settings.
    pub(crate) fn documents(&self) -> Vec<Document> {
        let provenance = &self.provenance;
        let PoolSettings { size_bytes, chunk_bytes, instances, page_size_bytes, .. } =
            provenance.pool;
        let comment = match provenance.flavor {
            Flavor::Percona => "Percona Server",
            Flavor::Mariadb => "MariaDB",
            Flavor::Mysql | Flavor::Embedded => "MySQL",
        };
        let mut table = Table::new(["Variable_name", "Value"]);
        let mut row = |name: &str, value: String| table.push([Some(name.to_owned()), Some(value)]);
        row("version", provenance.server_version.clone());
        row("version_comment", comment.to_owned());
        row("innodb_buffer_pool_size", size_bytes.to_string());
        row("innodb_page_size", page_size_bytes.to_string());
        // MariaDB without instances has no such variable.
        if provenance.flavor != Flavor::Mariadb || instances > 1 {
            row("innodb_buffer_pool_instances", instances.to_string());
        }
        if let Some(chunk) = chunk_bytes {
            row("innodb_buffer_pool_chunk_size", chunk.to_string());
        }
        vec![Document {
            content: Content::Variables(table),
            place: self.name.clone(),
            moment: 0,
            taken_unix_seconds: None,
        }]
    }

    /// Refuses evidence of another server.
    ///
    /// # Errors
    /// When both say which server they are of, and these are two.
    pub(crate) fn belongs_to(&self, documents: &[Document]) -> Result<(), Failure> {
        let of_look = documents.iter().find_map(|document| {
            let Content::Variables(table) = &document.content else {
                return None;
            };
            table.rows.iter().find_map(|row| match row.cells.as_slice() {
                [Some(name), Some(value), ..] if name.eq_ignore_ascii_case("server_uuid") => {
                    Some(value.trim())
                }
                _ => None,
            })
        });
        match (of_look, &self.provenance.server_uuid) {
            (Some(looked), Some(recorded)) if !looked.eq_ignore_ascii_case(recorded.trim()) => {
                Err(Failure::could_not(format!(
                    "{} was recorded on another server than the one looked at: their server_uuid \
                     differs",
                    self.name
                )))
            }
            _ => Ok(()),
        }
    }
}

/// The curve of everything that was recorded.
fn whole(answer: Answer) -> Curve {
    let Answer { captured, calibration, curve, refused_because, mut remarks, .. } = answer;
    // Where the two differ much, the answer has said so already.
    let is_told = remarks.iter().any(|remark| remark.starts_with("Replayed at the recorded size"));
    if let Some(calibration) = calibration.filter(|_| !is_told) {
        remarks.push(format!(
            "Replayed at the recorded size it comes to {} disk reads where the server counted {}.",
            words::count(calibration.replayed_disk_reads),
            words::count(calibration.measured_disk_reads)
        ));
    }
    Curve {
        level: level(captured.source),
        made_from: made_from(&captured, captured.duration_seconds),
        recorded_size_bytes: captured.pool_size_bytes,
        read_latency_seconds: captured.read_latency_seconds,
        statement_seconds_per_second: captured
            .statement_seconds
            .map(|seconds| seconds / captured.duration_seconds.max(f64::MIN_POSITIVE)),
        points: curve.iter().map(point).collect(),
        refused_because,
        remarks,
    }
}

/// A curve for each window, where there are several; what time statements took is known of all
/// together only.
fn windows(answer: &Answer) -> Vec<Curve> {
    if answer.windows.len() < 2 {
        return Vec::new();
    }
    let all = whole(answer.clone());
    let number = words::count(answer.windows.len() as u64);
    answer
        .windows
        .iter()
        .enumerate()
        .map(|(position, window)| Curve {
            made_from: format!(
                "{} (window {} of {number}, the one that needs most)",
                made_from(&answer.captured, window.duration_seconds),
                words::count(position as u64 + 1)
            ),
            points: window.curve.iter().map(point).collect(),
            ..all.clone()
        })
        .collect()
}

fn level(source: Source) -> EvidenceLevel {
    match source {
        Source::Events | Source::EveryGet | Source::Reads => EvidenceLevel::Capture,
        Source::Dumps | Source::Lru => EvidenceLevel::Snapshots,
    }
}

fn made_from(captured: &Captured, seconds: f64) -> String {
    let what = match captured.source {
        Source::Events | Source::EveryGet => "this server's page accesses",
        Source::Reads => "this server's reads from disk",
        Source::Dumps => "dumps of this server's list of pages",
        Source::Lru => "looks at this server's list of pages",
    };
    format!("{} of {what}", words::duration(seconds))
}

fn point(row: &Row) -> CurvePoint {
    CurvePoint {
        pool_size_bytes: row.pool_size_bytes,
        size_factor: row.size_factor,
        disk_reads_per_second: row.disk_reads_per_second,
        disk_reads_low_per_second: row.disk_reads_low_per_second,
        disk_reads_high_per_second: row.disk_reads_high_per_second,
        disk_reads_per_transaction: row.disk_reads_per_transaction,
        miss_per_mille: row.miss_per_mille,
        read_time_ratio: row.read_time_ratio,
        reads_saved_per_second_per_gb: row.reads_saved_per_second_per_gb,
        bound_only: row.bound_only,
    }
}
