//! Everything that innopool reads on a server, as data: for each flavour and version the
//! statements, what they give in a person's words, what they need, and what document they make.
//!
//! Two first statements tell the server apart ([`variables`]); the rest follows from what it said
//! ([`plan`]). A thing that this server cannot tell is not asked, and its reason is given at once.

use std::time::Duration;

use crate::allow;
use crate::provenance::NotRead;
use crate::version::{Flavor, Server};

/// One statement to read with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its short name, as a person would type it.
    pub place: &'static str,
    /// What it gives, in a person's words.
    pub gives: &'static str,
    /// The privilege that it needs.
    pub needs: Need,
    /// At which moments it is asked.
    pub when: When,
    /// What becomes of its rows.
    pub kind: Kind,
    /// Its text.
    pub sql: String,
}

/// The privilege that a statement needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// None: an account that may log in.
    Nothing,
    /// The global `PROCESS` privilege.
    Process,
    /// `SELECT` on this table.
    Select(&'static str),
}

/// At which moments of a look a statement is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// What does not change within minutes: at the first moment.
    First,
    /// Counters: at every moment.
    Every,
    /// At the last moment, and so once in a run.
    Last,
    /// As [`When::Last`], and it starts anew the averages that the server prints for everybody, so
    /// that a person can have it left out.
    LastResetsRates,
}

/// What a statement's rows become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the documents")]
pub enum Kind {
    Variables,
    MysqlOrigins,
    MariadbOrigins,
    Status,
    PoolStats,
    Metrics,
    InnodbStatus,
    Persisted,
    SchemaSizes,
    FileIo,
    Statements,
    Digests,
    Memory,
    Transactions,
    Latches,
}

/// What the first statement says on how to go on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    /// Flavour and version.
    pub server: Server,
    /// The variable `performance_schema`; `None` where it is not known.
    pub performance_schema: Option<bool>,
    /// Bytes of the buffer pool.
    pub pool_bytes: Option<u64>,
}

impl Setup {
    fn is_mariadb(&self) -> bool {
        self.server.flavor == Flavor::Mariadb
    }

    /// MySQL and Percona from this version on; a server of unknown version counts as new.
    fn mysql_since(&self, major: u16, minor: u16, patch: u16) -> bool {
        !self.is_mariadb() && !self.server.below(major, minor, patch)
    }
}

/// `SHOW GLOBAL VARIABLES`, the statement that comes first.
pub fn variables() -> Statement {
    Statement {
        place: "SHOW GLOBAL VARIABLES",
        gives: "variables in force",
        needs: Need::Nothing,
        when: When::First,
        kind: Kind::Variables,
        sql: format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", list(allow::VARIABLES)),
    }
}

/// The light statement between two moments.
pub fn gauges() -> String {
    format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", list(allow::GAUGES))
}

/// Everything to ask after [`variables`], in the order in which to ask, and what this server cannot
/// tell.
pub fn plan(setup: &Setup) -> (Vec<Statement>, Vec<NotRead>) {
    let mut plan = Plan::default();
    plan.once(setup);
    plan.counters(setup);
    plan.at_the_end(setup);
    (plan.statements, plan.not_read)
}

/// Bytes of a pool whose latches are too many to be asked for: MySQL walks over the latch of every
/// page (5 ms a GB, measured), while no table can be opened.
const LATCHES_POOL_BYTES_MAX: u64 = 64 << 30;

#[derive(Default)]
struct Plan {
    statements: Vec<Statement>,
    not_read: Vec<NotRead>,
}

impl Plan {
    fn ask(
        &mut self,
        kind: Kind,
        when: When,
        place: &'static str,
        gives: &'static str,
        needs: Need,
        sql: impl Into<String>,
    ) {
        self.statements.push(Statement { place, gives, needs, when, kind, sql: sql.into() });
    }

    fn cannot(&mut self, what: &str, why: &str) {
        self.not_read.push(NotRead::new(what, why));
    }

    /// What does not change within minutes. The sizes come first: they alone can take a second, and
    /// must not stand between the counters of a moment.
    fn once(&mut self, setup: &Setup) {
        self.sizes(setup);
        self.origins(setup);
        if setup.mysql_since(8, 0, 0) {
            self.ask(
                Kind::Persisted,
                When::First,
                "performance_schema.persisted_variables",
                "persisted variables",
                Need::Nothing,
                format!(
                    "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM \
                     performance_schema.persisted_variables WHERE VARIABLE_NAME IN ({})",
                    list(allow::VARIABLES)
                ),
            );
        }
        if setup.is_mariadb() {
            self.cannot(
                "the server's own account of its memory",
                "MariaDB does not count the memory of InnoDB; instead: the memory of the process, \
                 where the server runs on this machine",
            );
        } else if self.instrumented(
            setup,
            "the server's own account of its memory",
            "the memory of the process, where the server runs on this machine",
        ) {
            self.ask(
                Kind::Memory,
                When::First,
                "performance_schema.memory_summary_global_by_event_name",
                "the server's own account of its memory",
                Need::Select("performance_schema.memory_summary_global_by_event_name"),
                "SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) AS total_bytes, \
                 SUM(CASE EVENT_NAME WHEN 'memory/innodb/buf_buf_pool' \
                 THEN CURRENT_NUMBER_OF_BYTES_USED ELSE 0 END) AS buffer_pool_bytes \
                 FROM performance_schema.memory_summary_global_by_event_name",
            );
        }
    }

    fn sizes(&mut self, setup: &Setup) {
        const SCHEMA: &str = "CASE WHEN NAME LIKE 'innodb%' AND NAME NOT LIKE '%/%' THEN \
            CASE WHEN LEFT(NAME, 11) = 'innodb_undo' THEN 'innodb_undo' ELSE NAME END \
            ELSE SUBSTRING_INDEX(NAME, '/', 1) END";
        let (place, sql) = if setup.mysql_since(8, 0, 0) {
            // The system tablespace is missing from the first of the two.
            let sql = format!(
                "SELECT schema_name, COUNT(*) AS tablespaces, SUM(file_bytes) AS file_bytes FROM \
                 (SELECT {SCHEMA} AS schema_name, FILE_SIZE AS file_bytes \
                 FROM information_schema.INNODB_TABLESPACES UNION ALL \
                 SELECT 'innodb_system', TOTAL_EXTENTS * EXTENT_SIZE \
                 FROM information_schema.FILES WHERE TABLESPACE_NAME = 'innodb_system') AS files \
                 GROUP BY schema_name"
            );
            ("information_schema.INNODB_TABLESPACES", sql)
        } else {
            let sql = format!(
                "SELECT {SCHEMA} AS schema_name, COUNT(*) AS tablespaces, \
                 SUM(FILE_SIZE) AS file_bytes FROM information_schema.INNODB_SYS_TABLESPACES \
                 GROUP BY schema_name"
            );
            ("information_schema.INNODB_SYS_TABLESPACES", sql)
        };
        let gives = "size of the data per schema";
        self.ask(Kind::SchemaSizes, When::First, place, gives, Need::Process, sql);
    }

    fn origins(&mut self, setup: &Setup) {
        let gives = "where each variable was set";
        let names = list(allow::VARIABLES);
        if setup.is_mariadb() {
            let sql = format!(
                "SELECT VARIABLE_NAME AS variable_name, GLOBAL_VALUE_ORIGIN AS origin, \
                 GLOBAL_VALUE_PATH AS path FROM information_schema.SYSTEM_VARIABLES \
                 WHERE VARIABLE_NAME IN ({names})"
            );
            let place = "information_schema.SYSTEM_VARIABLES";
            self.ask(Kind::MariadbOrigins, When::First, place, gives, Need::Nothing, sql);
        } else if setup.mysql_since(8, 0, 0) {
            // Who set it is told apart on the server, so that no account leaves it. The host is
            // empty where the server does not look up names.
            let sql = format!(
                "SELECT VARIABLE_NAME AS variable_name, VARIABLE_SOURCE AS origin, \
                 VARIABLE_PATH AS path, SET_TIME AS set_at, \
                 CASE WHEN SET_USER IS NULL OR SET_USER = '' THEN NULL \
                 WHEN CONCAT(SET_USER, '@', SET_HOST) = USER() THEN 'this' \
                 WHEN SET_HOST = '' AND LEFT(USER(), CHAR_LENGTH(SET_USER) + 1) \
                 = CONCAT(SET_USER, '@') THEN 'this' ELSE 'another' END AS set_by \
                 FROM performance_schema.variables_info WHERE VARIABLE_NAME IN ({names})"
            );
            let place = "performance_schema.variables_info";
            self.ask(Kind::MysqlOrigins, When::First, place, gives, Need::Nothing, sql);
        } else {
            self.cannot(gives, "MySQL tells since 8.0; instead: the option files");
        }
    }

    /// The counters of a moment, the status first.
    fn counters(&mut self, setup: &Setup) {
        self.ask(
            Kind::Status,
            When::Every,
            "SHOW GLOBAL STATUS",
            "the server's counters",
            Need::Nothing,
            format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", list(allow::STATUS)),
        );
        self.instrumented_counters(setup);
        self.ask(
            Kind::Transactions,
            When::Every,
            "information_schema.INNODB_TRX",
            "open transactions",
            Need::Process,
            // The start is in the time zone of the system, whatever that of the session.
            "SELECT COUNT(*) AS open, COALESCE(GREATEST(0, MAX(TIMESTAMPDIFF(SECOND, trx_started, \
             CONVERT_TZ(NOW(), @@session.time_zone, 'SYSTEM')))), 0) AS oldest_seconds \
             FROM information_schema.INNODB_TRX",
        );
        self.latches(setup);
    }

    fn instrumented_counters(&mut self, setup: &Setup) {
        let gives = "time of reads and writes of files";
        let instead = "the read time of the device, where the server runs on this machine, and the \
             reads in flight (Innodb_data_pending_reads)";
        if self.instrumented(setup, gives, instead) {
            let table = "performance_schema.file_summary_by_event_name";
            self.ask(Kind::FileIo, When::Every, table, gives, Need::Select(table), FILE_IO);
        }
        let gives = "time that statements take";
        let instead = "the average number of reads in flight (Innodb_data_pending_reads)";
        if self.instrumented(setup, gives, instead) {
            let table = "performance_schema.events_statements_summary_global_by_event_name";
            self.ask(
                Kind::Statements,
                When::Every,
                table,
                gives,
                Need::Select(table),
                // What runs inside a procedure is in the time of its CALL already; a replica's dump
                // of the binary log is a statement that lasts for days.
                "SELECT SUM(COUNT_STAR) AS count, SUM(SUM_TIMER_WAIT) / 1e12 AS seconds FROM \
                 performance_schema.events_statements_summary_global_by_event_name \
                 WHERE EVENT_NAME NOT LIKE 'statement/sp/%' \
                 AND EVENT_NAME NOT LIKE 'statement/com/Binlog Dump%'",
            );
        }
        let gives = "the statements that take most time";
        if self.instrumented(setup, gives, "the slow query log") {
            let table = "performance_schema.events_statements_summary_by_digest";
            self.ask(
                Kind::Digests,
                When::Every,
                table,
                gives,
                Need::Select(table),
                "SELECT DIGEST AS digest, SUM(COUNT_STAR) AS count, \
                 SUM(SUM_TIMER_WAIT) / 1e12 AS seconds \
                 FROM performance_schema.events_statements_summary_by_digest \
                 WHERE DIGEST IS NOT NULL GROUP BY DIGEST \
                 ORDER BY SUM(SUM_TIMER_WAIT) DESC LIMIT 50",
            );
        }
    }

    /// True when the performance schema is on; otherwise says what is missing by it.
    fn instrumented(&mut self, setup: &Setup, what: &str, instead: &str) -> bool {
        if setup.performance_schema == Some(false) {
            let why = format!("performance_schema is OFF; instead: {instead}");
            self.cannot(what, &why);
            return false;
        }
        true
    }

    fn latches(&mut self, setup: &Setup) {
        let gives = "waits for the pool's latches";
        if setup.is_mariadb() && !setup.server.below(10, 6, 0) {
            self.cannot(gives, "MariaDB has not counted them since 10.6");
        } else if setup.pool_bytes > Some(LATCHES_POOL_BYTES_MAX) {
            self.cannot(
                gives,
                "not asked of a pool above 64 GB: the server would look at the latch of every page",
            );
        } else {
            self.ask(
                Kind::Latches,
                When::Every,
                "SHOW ENGINE INNODB MUTEX",
                gives,
                Need::Process,
                "SHOW ENGINE INNODB MUTEX",
            );
        }
    }

    fn at_the_end(&mut self, _: &Setup) {
        self.ask(
            Kind::Metrics,
            When::Last,
            "information_schema.INNODB_METRICS",
            "InnoDB metrics",
            Need::Process,
            // The column that tells what is on is named differently; these two are the same.
            format!(
                "SELECT NAME AS name, COUNT AS count FROM information_schema.INNODB_METRICS \
                 WHERE NAME IN ({}) AND TIME_ENABLED IS NOT NULL AND TIME_DISABLED IS NULL",
                list(allow::METRICS)
            ),
        );
        self.ask(
            Kind::PoolStats,
            When::LastResetsRates,
            "information_schema.INNODB_BUFFER_POOL_STATS",
            "figures per buffer pool instance",
            Need::Process,
            POOL_STATS,
        );
        self.ask(
            Kind::InnodbStatus,
            When::LastResetsRates,
            "SHOW ENGINE INNODB STATUS",
            "the InnoDB status text",
            Need::Process,
            "SHOW ENGINE INNODB STATUS",
        );
    }
}

const FILE_IO: &str = "SELECT CASE EVENT_NAME \
    WHEN 'wait/io/file/innodb/innodb_data_file' THEN 'data' \
    WHEN 'wait/io/file/innodb/innodb_log_file' THEN 'redo_log' \
    WHEN 'wait/io/file/innodb/innodb_dblwr_file' THEN 'doublewrite' \
    ELSE 'binary_log' END AS kind, \
    COUNT_READ AS `reads`, SUM_TIMER_READ / 1e12 AS read_seconds, \
    SUM_NUMBER_OF_BYTES_READ AS read_bytes, \
    COUNT_WRITE AS writes, SUM_TIMER_WRITE / 1e12 AS write_seconds, \
    COUNT_MISC AS syncs, SUM_TIMER_MISC / 1e12 AS sync_seconds \
    FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME IN \
    ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file', \
    'wait/io/file/innodb/innodb_dblwr_file', 'wait/io/file/sql/binlog')";

const POOL_STATS: &str = "SELECT POOL_ID, POOL_SIZE, FREE_BUFFERS, DATABASE_PAGES, \
    OLD_DATABASE_PAGES, MODIFIED_DATABASE_PAGES, PENDING_DECOMPRESS, PENDING_READS, \
    PENDING_FLUSH_LRU, PENDING_FLUSH_LIST, PAGES_MADE_YOUNG, PAGES_NOT_MADE_YOUNG, \
    PAGES_MADE_YOUNG_RATE, PAGES_MADE_NOT_YOUNG_RATE, NUMBER_PAGES_READ, NUMBER_PAGES_CREATED, \
    NUMBER_PAGES_WRITTEN, PAGES_READ_RATE, PAGES_CREATE_RATE, PAGES_WRITTEN_RATE, \
    NUMBER_PAGES_GET, HIT_RATE, YOUNG_MAKE_PER_THOUSAND_GETS, NOT_YOUNG_MAKE_PER_THOUSAND_GETS, \
    NUMBER_PAGES_READ_AHEAD, NUMBER_READ_AHEAD_EVICTED, READ_AHEAD_RATE, READ_AHEAD_EVICTED_RATE, \
    LRU_IO_TOTAL, LRU_IO_CURRENT, UNCOMPRESS_TOTAL, UNCOMPRESS_CURRENT \
    FROM information_schema.INNODB_BUFFER_POOL_STATS";

/// Names as a list of SQL strings. They are constants of ours, without quotes.
fn list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

/// The statement with a limit that the server itself keeps, so that nothing runs on there when we
/// gave up. A `SHOW` has none on MySQL.
pub fn limited(sql: &str, server: &Server, limit: Duration) -> String {
    let Some(rest) = sql.strip_prefix("SELECT ") else {
        return sql.to_owned();
    };
    // Somewhat less than our own, so that the server's answer comes in time.
    let milliseconds = (limit.as_millis() * 4 / 5).clamp(1, 1 << 30);
    if server.flavor == Flavor::Mariadb {
        let seconds = milliseconds as f64 / 1000.0;
        return format!("SET STATEMENT max_statement_time = {seconds} FOR SELECT {rest}");
    }
    // Older servers take it for a comment.
    format!("SELECT /*+ MAX_EXECUTION_TIME({milliseconds}) */ {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(version: &str, comment: &str, performance_schema: bool) -> Setup {
        Setup {
            server: Server::detect(version, comment),
            performance_schema: Some(performance_schema),
            pool_bytes: Some(128 << 20),
        }
    }

    fn places(setup: &Setup) -> Vec<&'static str> {
        plan(setup).0.iter().map(|s| s.place).collect()
    }

    #[test]
    fn a_look_takes_at_most_twenty_statements() {
        for setup in [
            setup("9.7.4-2", "(Debian)", true),
            setup("8.0.36-28", "Percona Server (GPL)", true),
            setup("5.7.44-log", "MySQL Community Server (GPL)", true),
            setup("10.11.19-MariaDB", "Debian 12", true),
            setup("10.4.34-MariaDB", "", true),
            Setup::default(),
        ] {
            let (statements, _) = plan(&setup);
            let asked = |s: &Statement| 1 + usize::from(s.when == When::Every);
            let total: usize = 1 + statements.iter().map(asked).sum::<usize>();
            assert!(total <= 20, "{setup:?}: {total}");
        }
    }

    /// Everything that is ever asked of either server.
    fn everything() -> Vec<Statement> {
        [setup("9.7.4", "MySQL", true), setup("10.11.19-MariaDB", "", true)]
            .iter()
            .flat_map(|setup| plan(setup).0)
            .chain([variables()])
            .collect()
    }

    #[test]
    fn pain_36_no_page_level_view_is_asked() {
        for statement in everything() {
            let sql = statement.sql.to_ascii_uppercase();
            assert!(!sql.contains("INNODB_BUFFER_PAGE") && !sql.contains("SYS."), "{sql}");
            assert!(!sql.contains("INFORMATION_SCHEMA.TABLES"), "{sql}");
        }
    }

    #[test]
    fn pain_37_only_reads() {
        for statement in everything() {
            let first = statement.sql.split(' ').next();
            assert!(matches!(first, Some("SELECT" | "SHOW")), "{}", statement.sql);
        }
    }

    #[test]
    fn a_version_is_asked_only_what_it_has() {
        let old = places(&setup("5.7.44-log", "MySQL Community Server (GPL)", true));
        assert!(old.contains(&"information_schema.INNODB_SYS_TABLESPACES"));
        assert!(!old.iter().any(|place| place.ends_with("variables_info")));
        let calendar = places(&setup("26.1.0", "MySQL Community Server - GPL", true));
        assert!(calendar.contains(&"information_schema.INNODB_TABLESPACES"));
        let mariadb = places(&setup("11.8.2-MariaDB", "", true));
        assert!(mariadb.contains(&"information_schema.SYSTEM_VARIABLES"));
        assert!(!mariadb.contains(&"SHOW ENGINE INNODB MUTEX"));
    }

    #[test]
    fn names_what_is_missing_without_the_performance_schema() {
        let (statements, not_read) = plan(&setup("10.11.19-MariaDB", "Debian 12", false));
        assert!(statements.iter().all(|s| !s.place.starts_with("performance_schema")));
        let latency = not_read.iter().find(|n| n.what.starts_with("time of reads"));
        let why = &latency.unwrap().why;
        assert!(why.contains("OFF") && why.contains("Innodb_data_pending_reads"), "{why}");
    }

    #[test]
    fn a_huge_pool_is_not_walked() {
        let mut setup = setup("8.4.2", "MySQL", true);
        setup.pool_bytes = Some(65 << 30);
        assert!(!places(&setup).contains(&"SHOW ENGINE INNODB MUTEX"));
    }

    #[test]
    fn the_server_keeps_a_limit_too() {
        let mysql = Server::detect("9.7.4", "MySQL");
        let mariadb = Server::detect("10.11.19-MariaDB", "");
        let five = Duration::from_secs(5);
        assert_eq!(limited("SELECT 1", &mysql, five), "SELECT /*+ MAX_EXECUTION_TIME(4000) */ 1");
        assert_eq!(
            limited("SELECT 1", &mariadb, five),
            "SET STATEMENT max_statement_time = 4 FOR SELECT 1"
        );
        assert_eq!(limited("SHOW X", &mariadb, five), "SHOW X");
    }
}
