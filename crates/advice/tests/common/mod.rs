//! A look at a server, put together from a few values, through the same documents real ones take.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use innopool_advice::size::{Curve, CurvePoint, EvidenceLevel};
use innopool_advice::{Finding, Report, Severity, SizeReport, check, size};
use innopool_target::observation::{Content, Document};
use innopool_target::{Table, build};

pub const MIB: u64 = 1024 * 1024;
pub const GIB: u64 = 1024 * MIB;

/// Documents of one look, with two moments `seconds` apart.
#[derive(Clone)]
pub struct Look {
    documents: Vec<Document>,
    seconds: f64,
}

impl Look {
    /// A MySQL 8.4 of this pool size, with nothing else known.
    pub fn mysql(pool_bytes: u64) -> Self {
        Self::server("8.4.3", "MySQL Community Server - GPL", pool_bytes)
    }

    /// A MariaDB of this version and pool size.
    pub fn mariadb(version: &str, pool_bytes: u64) -> Self {
        Self::server(&format!("{version}-MariaDB"), "Debian", pool_bytes)
    }

    pub fn server(version: &str, comment: &str, pool_bytes: u64) -> Self {
        Self { documents: Vec::new(), seconds: 10.0 }.variables(&[
            ("version", version),
            ("version_comment", comment),
            ("innodb_buffer_pool_size", &pool_bytes.to_string()),
        ])
    }

    /// A look that knows nothing yet.
    pub fn nothing() -> Self {
        Self { documents: Vec::new(), seconds: 10.0 }
    }

    pub fn seconds(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    fn add(mut self, moment: usize, place: &str, content: Content) -> Self {
        let taken = 1_700_000_000.0 + if moment == 0 { 0.0 } else { self.seconds };
        self.documents.push(Document {
            content,
            place: place.to_owned(),
            moment,
            taken_unix_seconds: Some(taken),
        });
        self
    }

    pub fn document(self, place: &str, content: Content) -> Self {
        self.add(0, place, content)
    }

    pub fn document_then(self, place: &str, content: Content) -> Self {
        self.add(1, place, content)
    }

    pub fn variables(self, pairs: &[(&str, &str)]) -> Self {
        self.add(0, "SHOW GLOBAL VARIABLES", Content::Variables(name_value(pairs)))
    }

    /// `(variable, origin, path)`.
    pub fn origins(self, rows: &[(&str, &str, &str)]) -> Self {
        let mut table = Table::new(["variable_name", "origin", "path", "set_at", "set_by"]);
        for (name, origin, path) in rows {
            table.push([
                Some((*name).to_owned()),
                Some((*origin).to_owned()),
                Some((*path).to_owned()),
            ]);
        }
        self.add(0, "performance_schema.variables_info", Content::VariableOrigins(table))
    }

    pub fn persisted(self, pairs: &[(&str, &str)]) -> Self {
        let content = Content::Persisted(name_value(pairs));
        self.add(0, "performance_schema.persisted_variables", content)
    }

    /// Values of both moments.
    pub fn always(self, pairs: &[(&str, &str)]) -> Self {
        self.status(pairs).then(pairs)
    }

    /// Values of the first moment only.
    pub fn status(self, pairs: &[(&str, &str)]) -> Self {
        self.add(0, "SHOW GLOBAL STATUS", Content::Status(name_value(pairs)))
    }

    /// Values of the second moment.
    pub fn then(self, pairs: &[(&str, &str)]) -> Self {
        self.add(1, "SHOW GLOBAL STATUS", Content::Status(name_value(pairs)))
    }

    /// `(name, first value, growth per second)`; the interval is `self.seconds`.
    pub fn counters(self, counters: &[(&str, u64, f64)]) -> Self {
        let seconds = self.seconds;
        let first: Vec<_> =
            counters.iter().map(|(n, v, _)| ((*n).to_owned(), v.to_string())).collect();
        let last: Vec<_> = counters
            .iter()
            .map(|(name, value, rate)| {
                ((*name).to_owned(), (*value as f64 + rate * seconds).round().to_string())
            })
            .collect();
        let borrow = |pairs: &[(String, String)]| -> Table {
            name_value(&pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>())
        };
        let (first, last) = (borrow(&first), borrow(&last));
        self.add(0, "SHOW GLOBAL STATUS", Content::Status(first)).add(
            1,
            "SHOW GLOBAL STATUS",
            Content::Status(last),
        )
    }

    /// The page counts of a pool, as gauges of both moments.
    pub fn pages(self, total: u64, free: u64, dirty: u64) -> Self {
        let texts = [total, free, total.saturating_sub(free), dirty].map(|n| n.to_string());
        let pairs = [
            ("Innodb_buffer_pool_pages_total", texts[0].as_str()),
            ("Innodb_buffer_pool_pages_free", &texts[1]),
            ("Innodb_buffer_pool_pages_data", &texts[2]),
            ("Innodb_buffer_pool_pages_dirty", &texts[3]),
        ];
        self.always(&pairs)
    }

    /// A full 128 MB pool that reads this often, with uptime and requests.
    pub fn full_default_pool(self, reads_per_second: f64) -> Self {
        self.pages(8192, 1000, 100).counters(&[
            ("Uptime", 864_000, 1.0),
            ("Innodb_buffer_pool_reads", 1_000_000, reads_per_second),
            ("Innodb_buffer_pool_read_requests", 500_000_000, 20_000.0),
            ("Innodb_pages_read", 1_000_000, reads_per_second),
        ])
    }

    /// Reads of data files that take this long, and statement time per second.
    pub fn cost(self, reads_per_second: f64, latency_seconds: f64, statement_seconds: f64) -> Self {
        let seconds = self.seconds;
        let io = |reads: f64| {
            let mut table = Table::new([
                "kind",
                "reads",
                "read_seconds",
                "read_bytes",
                "writes",
                "write_seconds",
                "syncs",
                "sync_seconds",
            ]);
            let cells =
                ["data".to_owned(), reads.to_string(), (reads * latency_seconds).to_string()];
            let zeros = ["0", "0", "0", "0", "0"].map(str::to_owned);
            table.push(cells.into_iter().chain(zeros).map(Some));
            Content::FileIo(table)
        };
        let statements = |time: f64| {
            let mut table = Table::new(["count", "seconds"]);
            table.push([Some("1000".to_owned()), Some(time.to_string())]);
            Content::Statements(table)
        };
        let place = "performance_schema";
        self.add(0, place, io(1_000_000.0))
            .add(1, place, io(1_000_000.0 + reads_per_second * seconds))
            .add(0, place, statements(50_000.0))
            .add(1, place, statements(50_000.0 + statement_seconds * seconds))
    }

    pub fn data(self, bytes: u64) -> Self {
        let mut table = Table::new(["schema_name", "tablespaces", "file_bytes"]);
        table.push(["shop".to_owned(), "12".to_owned(), bytes.to_string()].map(Some));
        self.add(0, "information_schema.INNODB_TABLESPACES", Content::SchemaSizes(table))
    }

    /// Fields of the host, the same at both moments.
    pub fn host(self, fields: &[(&str, &str)]) -> Self {
        let table = host_table(fields, "/proc");
        self.add(0, "host", Content::Host(table.clone())).add(1, "host", Content::Host(table))
    }

    /// Fields of the host at the second moment.
    pub fn host_then(self, fields: &[(&str, &str)]) -> Self {
        self.add(1, "host", Content::Host(host_table(fields, "/proc")))
    }

    /// What a person says of the host's memory.
    pub fn host_memory(self, bytes: u64) -> Self {
        let table = host_table(&[("ram_bytes", &bytes.to_string())], "--host-memory");
        self.add(0, "--host-memory", Content::Host(table))
    }

    /// Light samples: `(seconds after the start, dirty pages)` of a pool of 1000 pages.
    pub fn dirty_samples(self, samples: &[(f64, u64)]) -> Self {
        let mut table = Table::new([
            "taken_unix_seconds",
            "innodb_buffer_pool_pages_dirty",
            "innodb_buffer_pool_pages_data",
            "innodb_buffer_pool_pages_free",
        ]);
        for (after, dirty) in samples {
            let taken = 1_700_000_000.0 + after;
            table.push([taken.to_string(), dirty.to_string(), "1000".into(), "0".into()].map(Some));
        }
        self.add(0, "SHOW GLOBAL STATUS", Content::Gauges(table))
    }

    pub fn report(&self) -> Report {
        check(&build::observe("test", self.documents.clone(), Vec::new()))
    }

    pub fn size(&self, curve: Option<&Curve>) -> SizeReport {
        size(&build::observe("test", self.documents.clone(), Vec::new()), curve)
    }

    /// The finding of a code, if raised.
    pub fn finding(&self, code: &str) -> Option<Finding> {
        self.report().findings.into_iter().find(|finding| finding.code == code)
    }

    /// The severity of a code.
    pub fn severity(&self, code: &str) -> Option<Severity> {
        self.finding(code).map(|finding| finding.severity)
    }

    #[track_caller]
    pub fn found(&self, code: &str) -> Finding {
        let report = self.report();
        match report.findings.iter().find(|finding| finding.code == code) {
            Some(finding) => finding.clone(),
            None => panic!("no {code} in {report:#?}"),
        }
    }

    #[track_caller]
    pub fn not_found(&self, code: &str) {
        if let Some(finding) = self.finding(code) {
            panic!("unexpected {finding:#?}");
        }
    }
}

fn host_table(fields: &[(&str, &str)], source: &str) -> Table {
    let mut table = Table::new(["name", "value", "source"]);
    for (name, value) in fields {
        table.push([*name, *value, source].map(|cell| Some(cell.to_owned())));
    }
    table
}

pub fn name_value(pairs: &[(&str, &str)]) -> Table {
    let mut table = Table::new(["Variable_name", "Value"]);
    for (name, value) in pairs {
        table.push([Some((*name).to_owned()), Some((*value).to_owned())]);
    }
    table
}

/// A curve of `(size, low, estimate, high)`, recorded at the first size.
pub fn curve(rows: &[(u64, f64, f64, f64)]) -> Curve {
    let point = |(bytes, low, estimate, high): &(u64, f64, f64, f64)| CurvePoint {
        pool_size_bytes: *bytes,
        disk_reads_per_second: Some(*estimate),
        disk_reads_low_per_second: Some(*low),
        disk_reads_high_per_second: Some(*high),
        ..CurvePoint::default()
    };
    Curve {
        level: EvidenceLevel::Capture,
        made_from: "60 s of page accesses".to_owned(),
        recorded_size_bytes: rows.first().map_or(0, |row| row.0),
        read_latency_seconds: Some(0.0001),
        statement_seconds_per_second: Some(1.5),
        points: rows.iter().map(point).collect(),
        refused_because: None,
        remarks: Vec::new(),
    }
}
