//! One look at a running server: two moments, and light gauges in between.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::live::connect::Connection;
use crate::live::documents::{content, gauge_columns, gauge_row, why_nothing};
use crate::live::error::QueryError;
use crate::live::statements::{self, Need, Setup, Statement, When, limited};
use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use crate::table::Table;
use crate::variables::parse_flag;
use crate::version::Server;

/// How to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// Time from the first moment to the second; zero for one moment alone.
    pub interval: Duration,
    /// Time between gauges; `None` for a sixtieth of the interval, at least a second.
    pub gauge_period: Option<Duration>,
    /// Leave out what starts anew the averages that the server prints for everybody: the InnoDB
    /// status text and `INNODB_BUFFER_POOL_STATS`.
    pub skip_status_text: bool,
}

impl WatchOptions {
    /// A look of this length with everything.
    pub fn new(interval: Duration) -> Self {
        Self { interval, gauge_period: None, skip_status_text: false }
    }

    fn gauge_period(&self) -> Duration {
        let usual = || (self.interval / 60).max(Duration::from_secs(1));
        self.gauge_period.unwrap_or_else(usual).max(Duration::from_millis(1))
    }
}

/// How far a look has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// About to ask a statement, by its place.
    Reading(&'static str),
    /// Between the moments.
    Waiting {
        /// Since the first moment.
        elapsed: Duration,
        /// From the first to the second.
        interval: Duration,
    },
}

/// Looks at a server and returns what it printed. What could not be read is in a document of its
/// own; a look at a server that goes away is shorter, and says so.
///
/// Takes the interval and, for each moment, the time of the statements: at most the connection's
/// statement limit for each, of which at most three can be used up before the look is given up.
pub fn watch(
    connection: &mut Connection,
    options: &WatchOptions,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Document> {
    let mut look = Look {
        connection,
        progress,
        server: Server::default(),
        documents: Vec::new(),
        not_read: Vec::new(),
        reopenings: 0,
    };
    look.run(options);
    look.finish()
}

/// How often a look goes on after a statement that got no answer.
const REOPENINGS_MAX: u32 = 2;

struct Look<'c> {
    connection: &'c mut Connection,
    progress: &'c mut dyn FnMut(Progress),
    server: Server,
    documents: Vec<Document>,
    not_read: Vec<NotRead>,
    reopenings: u32,
}

impl Look<'_> {
    fn run(&mut self, options: &WatchOptions) {
        let setup = self.introduction();
        self.server = setup.server.clone();
        let (mut statements, not_read) = statements::plan(&setup);
        self.not_read.extend(not_read);
        if options.skip_status_text {
            let (skipped, rest) = statements
                .into_iter()
                .partition(|statement| statement.when == When::LastResetsRates);
            statements = rest;
            self.skip(skipped);
        }
        let at = |wanted: &[When]| -> Vec<Statement> {
            let matching = statements.iter().filter(|s| wanted.contains(&s.when));
            matching.cloned().collect()
        };
        let last = [When::Last, When::LastResetsRates];
        self.ask_all(&at(&[When::First]), 0);
        let begin = Instant::now();
        self.ask_all(&at(&[When::Every]), 0);
        let mut moment = 0;
        if !options.interval.is_zero() {
            moment = 1;
            self.wait(options, begin);
            self.ask_all(&at(&[When::Every]), 1);
        }
        self.ask_all(&at(&last), moment);
    }

    /// Reads the variables, and with them which server this is.
    fn introduction(&mut self) -> Setup {
        let statement = statements::variables();
        self.ask(&statement, 0);
        let table = self.documents.iter().find_map(|document| match &document.content {
            Content::Variables(table) => Some(table),
            _ => None,
        });
        match table {
            Some(table) => setup(table),
            None => Setup {
                server: Server::detect(self.connection.greeted_version(), ""),
                ..Setup::default()
            },
        }
    }

    fn ask_all(&mut self, statements: &[Statement], moment: usize) {
        for statement in statements {
            self.ask(statement, moment);
        }
    }

    fn ask(&mut self, statement: &Statement, moment: usize) {
        (self.progress)(Progress::Reading(statement.place));
        let limit = self.connection.limits().statement;
        let sql = limited(&statement.sql, &self.server, limit);
        match self.timed(&sql) {
            Ok((table, taken)) => match content(statement.kind, table) {
                Some(content) => self.documents.push(Document {
                    content,
                    place: statement.place.to_owned(),
                    moment,
                    taken_unix_seconds: taken,
                }),
                None => self.miss(statement, why_nothing(statement.kind).to_owned()),
            },
            Err(error) => {
                self.miss(statement, why_refused(&error, statement, limit));
                self.reopen();
            }
        }
    }

    /// Runs a statement; its time is the middle between asking and answer, in seconds since 1970.
    fn timed(&mut self, sql: &str) -> Result<(Table, Option<f64>), QueryError> {
        let asked = SystemTime::now();
        let begin = Instant::now();
        let table = self.connection.query(sql)?;
        let middle = asked.checked_add(begin.elapsed() / 2).unwrap_or(asked);
        let taken = middle.duration_since(UNIX_EPOCH).ok();
        Ok((table, taken.map(|since| since.as_secs_f64())))
    }

    /// After a statement that got no answer, goes on with a new connection, a few times.
    fn reopen(&mut self) {
        if !self.connection.is_open() && self.reopenings < REOPENINGS_MAX {
            self.reopenings += 1;
            // When it fails, every statement that follows says why the connection was given up.
            let _ = self.connection.reopen();
            if !self.connection.is_open() {
                self.reopenings = REOPENINGS_MAX;
            }
        }
    }

    fn skip(&mut self, statements: Vec<Statement>) {
        for statement in statements {
            let why = "left out as asked, since reading it starts anew the averages that the \
                       server prints for everybody";
            self.miss(&statement, why.to_owned());
        }
    }

    fn miss(&mut self, statement: &Statement, why: String) {
        let entry = NotRead::new(statement.gives, why);
        if !self.not_read.contains(&entry) {
            self.not_read.push(entry);
        }
    }

    /// Takes gauges until the interval is over.
    fn wait(&mut self, options: &WatchOptions, begin: Instant) {
        let sql = statements::gauges();
        let period = options.gauge_period();
        let mut gauges = Table::new(gauge_columns());
        let mut next = period;
        loop {
            let elapsed = begin.elapsed();
            (self.progress)(Progress::Waiting {
                elapsed: elapsed.min(options.interval),
                interval: options.interval,
            });
            if next >= options.interval {
                thread::sleep(options.interval.saturating_sub(elapsed));
                break;
            }
            thread::sleep(next.saturating_sub(elapsed));
            match self.timed(&sql) {
                Ok((status, Some(taken))) => gauges.push(gauge_row(&status, taken)),
                Ok((_, None)) => {}
                Err(_) => self.reopen(),
            }
            // A gauge that came late takes the place of those it missed.
            while next <= begin.elapsed() {
                next += period;
            }
        }
        if !gauges.rows.is_empty() {
            self.documents.push(Document {
                content: Content::Gauges(gauges),
                place: "SHOW GLOBAL STATUS".to_owned(),
                moment: 0,
                taken_unix_seconds: None,
            });
        }
    }

    fn finish(mut self) -> Vec<Document> {
        if !self.not_read.is_empty() {
            let mut table = Table::new(["what", "why"]);
            for entry in self.not_read {
                table.push([Some(entry.what), Some(entry.why)]);
            }
            self.documents.push(Document {
                content: Content::NotRead(table),
                place: "not read".to_owned(),
                moment: 0,
                taken_unix_seconds: None,
            });
        }
        self.documents
    }
}

/// What the variables say on how to go on.
fn setup(variables: &Table) -> Setup {
    let value = |name: &str| {
        let row = variables.rows.iter().find(|row| {
            let found = row.cells.first().and_then(Option::as_deref);
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
        })?;
        row.cells.get(1)?.as_deref()
    };
    Setup {
        server: Server::detect(
            value("version").unwrap_or_default(),
            value("version_comment").unwrap_or_default(),
        ),
        performance_schema: value("performance_schema").and_then(parse_flag),
        pool_bytes: value("innodb_buffer_pool_size").and_then(crate::table::parse_count),
    }
}

/// Why a statement has no result. The server's own words are left out, since they can name the
/// account, and this is saved.
fn why_refused(error: &QueryError, statement: &Statement, limit: Duration) -> String {
    let seconds = limit.as_secs_f32();
    let QueryError::Refused { code, .. } = error else {
        return match error {
            QueryError::Stalled { .. } => format!("no answer within {seconds} s"),
            QueryError::GivenUp { reason } | QueryError::Lost { reason, .. } => {
                format!("the connection was lost: {reason}")
            }
            QueryError::Refused { .. } => String::new(),
        };
    };
    match code {
        1044 | 1045 | 1142 | 1143 | 1227 => match statement.needs {
            Need::Process => {
                "needs the PROCESS privilege: GRANT PROCESS ON *.* TO this account".to_owned()
            }
            Need::Select(table) => {
                format!("needs SELECT on a table: GRANT SELECT ON {table} TO this account")
            }
            Need::Nothing => format!("the server denies it to this account (error {code})"),
        },
        1109 | 1146 | 1054 => format!("this server has no {} as expected", statement.place),
        1969 | 3024 | 1317 => format!("took longer than {seconds} s and was stopped"),
        code => format!("the server refuses it (error {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16) -> QueryError {
        QueryError::Refused {
            statement: "SELECT".to_owned(),
            code,
            message: "denied to user 'ada'@'db1'".to_owned(),
        }
    }

    #[test]
    fn reasons_name_the_grant_and_no_account() {
        let (statements, _) = statements::plan(&Setup::default());
        let limit = Duration::from_secs(5);
        for statement in &statements {
            for code in [1142, 1227, 1146, 3024, 1234] {
                let why = why_refused(&refused(code), statement, limit);
                assert!(!why.contains("ada") && !why.is_empty(), "{why}");
            }
        }
        let trx = statements.iter().find(|s| s.place.ends_with("INNODB_TRX"));
        let why = why_refused(&refused(1227), trx.unwrap(), limit);
        assert!(why.contains("GRANT PROCESS ON *.*"), "{why}");
    }

    #[test]
    fn gauges_come_every_second_or_less_often() {
        let period = |seconds| WatchOptions::new(Duration::from_secs(seconds)).gauge_period();
        assert_eq!(period(10), Duration::from_secs(1));
        assert_eq!(period(600), Duration::from_secs(10));
    }
}
