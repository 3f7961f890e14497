//! One look at a running server: connect, find its machine, watch, and gather the documents.
//!
//! The machine is sampled beside the server's two moments, from within the watching: fully when the
//! first moment has been read, its counters again when the second begins. It counts as the server's
//! machine only when the server's own words lead to a process here that holds our connection.

use std::net::IpAddr;
use std::time::Duration;

use innopool_target::host::{self, LocalServer, Roots, ServerSays};
use innopool_target::live::{
    self, ConnectError, Connection, Limits, Progress, QueryError, WatchOptions,
};
use innopool_target::login::Login;
use innopool_target::table::parse_count;
use innopool_target::variables::Variables;
use innopool_target::{Content, Document, NotRead, Source, Table};

use crate::exit::Failure;
use crate::interrupt;
use crate::progress::ProgressLine;

/// What a look has brought.
pub(crate) struct Look {
    /// The server as it may be shown: host and port, or the socket.
    pub(crate) name: String,
    pub(crate) documents: Vec<Document>,
    pub(crate) not_read: Vec<NotRead>,
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Time between the moments; zero for one moment alone.
    pub(crate) interval: Duration,
    /// Leave out what disturbs other readers.
    pub(crate) skip_status_text: bool,
    /// The machine's memory as the person knows it, bytes.
    pub(crate) host_memory: Option<u64>,
}

/// Looks at a server.
///
/// # Errors
/// When the server cannot be reached, lets nobody in, or answers nothing.
pub(crate) fn look(login: &Login, limits: Limits, options: Options) -> Result<Look, Failure> {
    let name = login.display_name();
    let line = ProgressLine::new(&name);
    line.reading();
    let mut connection =
        Connection::open(login, limits).map_err(|error| unreachable(&error, login))?;
    interrupt::leaves("the server was only read, and nothing was saved");
    let says = introduce(&mut connection, &name)?;
    let mut machine = Machine::locate(&says, login);
    let watching = WatchOptions {
        skip_status_text: options.skip_status_text,
        ..WatchOptions::new(options.interval)
    };
    let mut documents = live::watch(&mut connection, &watching, &mut |progress| match progress {
        Progress::Reading(_) => {
            machine.moment_begins();
            line.reading();
        }
        Progress::Waiting { elapsed, interval } => {
            machine.waits();
            line.waiting(elapsed, interval);
        }
    });
    drop(line);
    if !documents.iter().any(|document| is_answer(&document.content)) {
        return Err(Failure::could_not(format!(
            "{name} answers nothing: {}",
            first_reason(&documents)
        )));
    }
    let (of_machine, not_read) = machine.finish();
    documents.extend(of_machine);
    documents.extend(options.host_memory.map(host_memory));
    Ok(Look { name, documents, not_read })
}

/// A person's word on the machine's memory, as a document.
pub(crate) fn host_memory(bytes: u64) -> Document {
    let mut table = Table::new(["name", "value"]);
    table.push([Some("ram_bytes".to_owned()), Some(bytes.to_string())]);
    Document {
        content: Content::Host(table),
        place: host::HOST_MEMORY_OPTION.to_owned(),
        moment: 0,
        taken_unix_seconds: None,
    }
}

/// Asks the server for what leads to its process. The first statement: when this gets no answer,
/// no other will.
fn introduce(connection: &mut Connection, name: &str) -> Result<ServerSays, Failure> {
    let mut ask = |sql: &str| {
        connection.query(sql).map_err(|error| match error {
            QueryError::Refused { message, code, .. } => {
                Failure::could_not(format!("{name} refuses to answer: {message} (error {code})"))
            }
            other => Failure::could_not(format!("{name}: {other}")),
        })
    };
    let variables = ask(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('datadir', 'innodb_buffer_pool_filename', \
         'innodb_data_home_dir', 'pid_file', 'server_uuid', 'socket')",
    )?;
    let status = ask("SHOW GLOBAL STATUS LIKE 'Uptime'")?;
    let mut known = Variables::default();
    for (variable, value) in pairs(&variables) {
        known.insert(variable, value.to_owned(), Source::new("SHOW GLOBAL VARIABLES", variable));
    }
    let uptime = pairs(&status).next().and_then(|(_, value)| parse_count(value));
    Ok(ServerSays::from_variables(&known, uptime))
}

fn pairs(table: &Table) -> impl Iterator<Item = (&str, &str)> {
    table.rows.iter().filter_map(|row| match row.cells.as_slice() {
        [Some(name), Some(value), ..] => Some((name.as_str(), value.as_str())),
        _ => None,
    })
}

fn is_answer(content: &Content) -> bool {
    matches!(content, Content::Variables(_) | Content::Status(_))
}

fn first_reason(documents: &[Document]) -> String {
    let reason = documents.iter().find_map(|document| match &document.content {
        Content::NotRead(table) => {
            let row = table.rows.first()?;
            table.cell(row, "why").map(str::to_owned)
        }
        _ => None,
    });
    reason.unwrap_or_else(|| "no rows came".to_owned())
}

/// The machine the server runs on, if that is this one.
struct Machine {
    server: Option<LocalServer>,
    documents: Vec<Document>,
    not_read: Vec<NotRead>,
    /// Moments sampled so far.
    sampled: usize,
    waited: bool,
}

impl Machine {
    fn locate(says: &ServerSays, login: &Login) -> Self {
        let found = match way_in(login) {
            Some(way) => host::locate(&Roots::default(), says, &way),
            None => Err(NotRead::new(
                "the machine the server runs on",
                format!(
                    "{} is not this machine; --host-memory tells how much memory it has",
                    login.host
                ),
            )),
        };
        let (server, not_read) = match found {
            Ok(server) => (Some(server), Vec::new()),
            Err(missing) => (None, vec![missing]),
        };
        Self { server, documents: Vec::new(), not_read, sampled: 0, waited: false }
    }

    /// The first moment has been read, and time passes.
    fn waits(&mut self) {
        self.waited = true;
        if self.sampled == 0 {
            self.sample(true);
        }
    }

    /// A statement is asked; the first one after waiting begins the second moment.
    fn moment_begins(&mut self) {
        if self.waited && self.sampled == 1 {
            self.sample(false);
        }
    }

    fn sample(&mut self, full: bool) {
        if let Some(server) = &self.server {
            let (documents, not_read) = host::sample(server, self.sampled, full);
            self.documents.extend(documents);
            self.not_read.extend(not_read);
        }
        self.sampled += 1;
    }

    fn finish(mut self) -> (Vec<Document>, Vec<NotRead>) {
        if self.sampled == 0 {
            self.sample(true);
        }
        (self.documents, self.not_read)
    }
}

/// How we are logged in, where that can be this machine at all.
fn way_in(login: &Login) -> Option<host::Login> {
    if let Some(socket) = &login.socket {
        return Some(host::Login::Socket(socket.clone()));
    }
    let here = login.host.eq_ignore_ascii_case("localhost")
        || login.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    here.then_some(host::Login::Loopback(login.port))
}

/// The error with what to try next.
fn unreachable(error: &ConnectError, login: &Login) -> Failure {
    let hint = match error {
        ConnectError::Unreachable { .. } if login.socket.is_some() => {
            ". Is the server running and is this its socket?"
        }
        ConnectError::Unreachable { .. } => ". Is the server running and is this its port?",
        ConnectError::UnknownHost { .. } => ". Is the name right?",
        ConnectError::Denied { .. } if login.password.is_none() => {
            ". No password was given: --password asks for it."
        }
        ConnectError::NotMysql { .. } => ". Is the port right?",
        _ => "",
    };
    Failure::could_not(format!("{error}{hint}"))
}
