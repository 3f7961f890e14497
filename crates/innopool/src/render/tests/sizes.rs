//! Pages of recommended sizes: on a curve, from counters, refused, without any.

use innopool_advice::size::{Curve, CurvePoint, EvidenceLevel, SizeReport};
use innopool_target::{Content, Document, Table, build};

use super::super::{Format, Page, size};
use super::PIPE;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn pairs(names: &[(&str, String)]) -> Table {
    let mut table = Table::new(["Variable_name", "Value"]);
    for (name, value) in names {
        table.push([Some((*name).to_owned()), Some(value.clone())]);
    }
    table
}

fn document(content: Content, place: &str, moment: usize) -> Document {
    let taken_unix_seconds = Some(1_700_000_000.0 + 10.0 * moment as f64);
    Document { content, place: place.to_owned(), moment, taken_unix_seconds }
}

/// A full pool of this size on 32 GB, read into 9,420 times a second.
fn small(pool_bytes: u64) -> Vec<Document> {
    let status = |after: u64| {
        Content::Status(pairs(&[
            ("Uptime", (3_542_400 + 10 * after).to_string()),
            ("Innodb_buffer_pool_pages_total", (pool_bytes / 16_384).to_string()),
            ("Innodb_buffer_pool_pages_free", "100".to_owned()),
            ("Innodb_buffer_pool_pages_data", (pool_bytes / 16_384 - 200).to_string()),
            ("Innodb_buffer_pool_reads", (1_000_000 + 94_200 * after).to_string()),
            ("Innodb_buffer_pool_read_requests", (2_000_000 + 188_800 * after).to_string()),
        ]))
    };
    let mut memory = Table::new(["name", "value"]);
    memory.push([Some("ram_bytes".to_owned()), Some((32 * GIB).to_string())]);
    let variables = [
        ("version", "8.0.36".to_owned()),
        ("innodb_buffer_pool_size", pool_bytes.to_string()),
        ("innodb_io_capacity", "100".to_owned()),
        ("innodb_io_capacity_max", "200".to_owned()),
    ];
    vec![
        document(Content::Variables(pairs(&variables)), "SHOW GLOBAL VARIABLES", 0),
        document(status(0), "SHOW GLOBAL STATUS", 0),
        document(status(1), "SHOW GLOBAL STATUS", 1),
        document(Content::Host(memory), "--host-memory", 0),
    ]
}

fn curve() -> Curve {
    let rows = [
        (128 * MIB, 9420.0, 9420.0, 9420.0, 0.61, None),
        (8 * GIB, 2870.0, 2650.0, 3110.0, 0.19, Some(830.0)),
        (16 * GIB, 640.0, 560.0, 730.0, 0.04, Some(278.0)),
        (20 * GIB, 310.0, 250.0, 390.0, 0.02, Some(82.0)),
        (22 * GIB, 290.0, 230.0, 370.0, 0.019, Some(10.0)),
        (28 * GIB, 280.0, 220.0, 360.0, 0.018, Some(2.0)),
    ];
    let point = |row: &(u64, f64, f64, f64, f64, Option<f64>)| CurvePoint {
        pool_size_bytes: row.0,
        size_factor: row.0 as f64 / (128 * MIB) as f64,
        disk_reads_per_second: Some(row.1),
        disk_reads_low_per_second: Some(row.2),
        disk_reads_high_per_second: Some(row.3),
        read_time_ratio: Some(row.4),
        reads_saved_per_second_per_gb: row.5,
        ..CurvePoint::default()
    };
    Curve {
        level: EvidenceLevel::Capture,
        made_from: "60 s of this server's page accesses".to_owned(),
        recorded_size_bytes: 128 * MIB,
        read_latency_seconds: Some(0.0009),
        statement_seconds_per_second: Some(13.9),
        points: rows.iter().map(point).collect(),
        refused_because: None,
        remarks: vec![
            "Replayed at today's size it comes to 9,310 reads/s where the server counted 9,420."
                .to_owned(),
        ],
    }
}

fn answer(documents: Vec<Document>, curve: Option<&Curve>) -> SizeReport {
    innopool_advice::size(&build::observe("shop-db", documents, Vec::new()), curve)
}

fn on_a_curve() -> SizeReport {
    answer(small(128 * MIB), Some(&curve()))
}

fn refused() -> SizeReport {
    let mut curve = curve();
    curve.refused_because = Some("the replay is off by 40 %.".to_owned());
    curve.points.truncate(4);
    curve.points[3] = CurvePoint {
        pool_size_bytes: 20 * GIB,
        disk_reads_low_per_second: Some(0.0),
        disk_reads_high_per_second: Some(640.0),
        bound_only: true,
        ..CurvePoint::default()
    };
    curve.points.push(CurvePoint {
        pool_size_bytes: 24 * GIB,
        bound_only: true,
        ..CurvePoint::default()
    });
    answer(small(128 * MIB), Some(&curve))
}

fn left_alone() -> SizeReport {
    answer(small(20 * GIB), Some(&curve()))
}

/// The largest numbers and the longest names.
fn extreme() -> SizeReport {
    let mut curve = curve();
    for point in &mut curve.points {
        point.pool_size_bytes = point.pool_size_bytes.saturating_mul(100_000) + 1;
        point.disk_reads_per_second = point.disk_reads_per_second.map(|reads| reads * 1e9);
        point.disk_reads_high_per_second = Some(1e15);
    }
    curve.recorded_size_bytes = 1;
    let name = "a-host-name-that-goes-on-and-on.example.org".repeat(3);
    innopool_advice::size(&build::observe(&name, small(1 << 45), Vec::new()), Some(&curve))
}

fn all() -> Vec<SizeReport> {
    let counted = answer(small(128 * MIB), None);
    vec![on_a_curve(), refused(), left_alone(), extreme(), counted, answer(Vec::new(), None)]
}

#[test]
fn a_size_on_a_curve() {
    insta::assert_snapshot!(size(&on_a_curve(), Format::Text, PIPE));
}

#[test]
fn a_size_on_a_curve_explained() {
    let page = Page { verbose: true, ..PIPE };
    insta::assert_snapshot!(size(&on_a_curve(), Format::Text, page));
}

#[test]
fn a_size_on_a_curve_at_40_columns() {
    let page = Page { width: 40, ..PIPE };
    insta::assert_snapshot!(size(&on_a_curve(), Format::Text, page));
}

#[test]
fn a_size_left_alone() {
    insta::assert_snapshot!(size(&left_alone(), Format::Text, PIPE));
}

#[test]
fn a_size_where_the_curve_is_refused() {
    insta::assert_snapshot!(size(&refused(), Format::Text, PIPE));
}

#[test]
fn a_size_from_counters() {
    insta::assert_snapshot!(size(&answer(small(128 * MIB), None), Format::Text, PIPE));
}

#[test]
fn no_size_without_evidence() {
    let page = Page { live: false, ..PIPE };
    insta::assert_snapshot!(size(&answer(Vec::new(), None), Format::Text, page));
}

#[test]
fn a_size_for_a_ticket() {
    insta::assert_snapshot!(size(&on_a_curve(), Format::Markdown, PIPE));
}

#[test]
fn the_json_of_a_size_keeps_its_keys() {
    insta::assert_snapshot!(size(&on_a_curve(), Format::Json, PIPE));
}

#[test]
fn no_line_of_a_size_is_wider_than_the_page_unless_it_is_typed() {
    for of in all() {
        let actions = of.settings.iter().map(|setting| &setting.action).chain([&of.action]);
        let typed: Vec<&str> = actions.flat_map(|action| action.lines()).map(str::trim).collect();
        for width in [0, 24, 40, 60, 79, 80, 100, 120, 200, usize::MAX] {
            for verbose in [false, true] {
                let page = Page { width, verbose, ..PIPE };
                for line in size(&of, Format::Text, page).lines() {
                    let command = line.trim().trim_start_matches("Next:").trim();
                    let allowed = typed.contains(&line.trim())
                        || command.starts_with("innopool ")
                        || command.starts_with("add -");
                    let columns = unicode_width::UnicodeWidthStr::width(line);
                    assert!(columns <= page.columns() || allowed, "{width}: {line:?}");
                    assert_eq!(line.trim_end(), line, "spaces at the end");
                }
            }
        }
    }
}
