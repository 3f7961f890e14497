//! One running server: what it is reached by, and what can be done to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Value};
use rustix::process::Signal;

use crate::launch::{self, Life};
use crate::option_file::OptionFile;
use crate::{Kind, command, install, process};

const START_TIME_MAX: Duration = Duration::from_secs(120);
const STOP_TIME_MAX: Duration = Duration::from_secs(120);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
const READ_TIME_MAX: Duration = Duration::from_secs(300);

/// A real MySQL or MariaDB server on this machine, reached as root without a password.
///
/// An own instance is killed, and its directory removed, when the value is dropped. The shared
/// instance is not touched: its value is never given out mutably.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    life: Life,
    directory: PathBuf,
    port: u16,
    options: OptionFile,
    arguments: Vec<String>,
    /// The copy of the server's program that this instance alone runs, if it has one.
    program: Option<PathBuf>,
    /// `None` for a shared instance that another process started, and while stopped.
    child: Option<Child>,
    pid: u32,
}

impl Server {
    /// Describes a server that does not run yet.
    pub(crate) fn new(kind: Kind, life: Life, directory: PathBuf, port: u16) -> Self {
        let options = OptionFile::new(kind, &directory, port);
        Server {
            kind,
            life,
            directory,
            port,
            options,
            arguments: Vec::new(),
            program: None,
            child: None,
            pid: 0,
        }
    }

    /// Describes the shared server that process `pid` is.
    pub(crate) fn attach(kind: Kind, directory: PathBuf, port: u16, pid: u32) -> Self {
        let mut server = Server::new(kind, Life::Shared, directory, port);
        server.pid = pid;
        server
    }

    /// Makes the server run this copy of its program.
    pub(crate) fn run_copy(&mut self, program: &Path) {
        // The server would look for its messages beside the copy.
        self.options.set("basedir=/usr");
        self.program = Some(program.to_owned());
    }

    /// Returns the copy of the server's program that this instance alone runs, if it has one.
    pub fn own_program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    pub(crate) fn configure(&mut self, options: &[String], arguments: &[String]) {
        for option in options {
            self.options.set(option);
        }
        self.arguments = arguments.to_vec();
    }

    /// Returns which server this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns its address over TCP: `mysql://root@127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// Returns its unix socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("server.sock")
    }

    /// Returns its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the directory that holds its option file, its log, its socket and its data.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns its data directory.
    pub fn datadir(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Returns its process number, or that of its last run while it is stopped.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the option file that it is started with.
    pub fn option_file(&self) -> &Path {
        self.options.path()
    }

    /// Returns the file that it logs to.
    pub fn error_log(&self) -> PathBuf {
        self.directory.join("error.log")
    }

    /// Returns what the server says its version is.
    pub fn version(&self) -> String {
        let rows = self.sql("SELECT VERSION()");
        rows[0][0].clone().unwrap_or_default()
    }

    /// Returns whether its process lives.
    pub fn is_running(&self) -> bool {
        process::serves(self.pid, self.options.path())
    }

    /// Opens a connection as root over the unix socket, for what needs a session.
    ///
    /// # Errors
    ///
    /// When the server does not answer.
    pub fn connect(&self) -> Result<Conn> {
        let options = OptsBuilder::new()
            .socket(Some(self.socket().to_string_lossy()))
            .user(Some("root"))
            .tcp_connect_timeout(Some(CONNECT_TIME_MAX))
            .read_timeout(Some(READ_TIME_MAX))
            .write_timeout(Some(READ_TIME_MAX));
        Conn::new(options).with_context(|| format!("cannot connect to {}", self.name()))
    }

    /// Runs statements on a connection of their own, and returns the rows of all their results.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub fn sql(&self, text: &str) -> Vec<Vec<Option<String>>> {
        match self.try_sql(text) {
            Ok(rows) => rows,
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Runs statements as [`Server::sql`] does.
    ///
    /// # Errors
    ///
    /// When the server does not answer or refuses.
    pub fn try_sql(&self, text: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut connection = self.connect()?;
        let failed = || format!("{} refuses {text:?}", self.name());
        let mut results = connection.query_iter(text).with_context(failed)?;
        let mut rows = Vec::new();
        while let Some(result) = results.iter() {
            for row in result {
                let values = row.with_context(failed)?.unwrap();
                rows.push(values.into_iter().map(text_of).collect());
            }
        }
        Ok(rows)
    }

    /// Returns the value of a global variable.
    ///
    /// # Panics
    ///
    /// When there is no such variable.
    pub fn variable(&self, name: &str) -> String {
        let rows = self.sql(&format!("SELECT @@GLOBAL.{name}"));
        rows[0][0].clone().unwrap_or_default()
    }

    /// Returns the value of a global status variable.
    ///
    /// # Panics
    ///
    /// When there is no such status variable.
    pub fn status(&self, name: &str) -> String {
        let rows = self.sql(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        match rows.first() {
            Some(row) => row[1].clone().unwrap_or_default(),
            None => panic!("{} has no status variable {name}", self.name()),
        }
    }

    /// Writes the option file and starts the server, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it ends instead, or does not answer in time; its log is quoted.
    pub fn start(&mut self) -> Result<()> {
        if self.is_running() {
            bail!("{} is running already", self.name());
        }
        self.options.write()?;
        let log = self.error_log();
        let program = match &self.program {
            Some(copy) => copy.to_str().context("the workspace's path is not UTF-8")?,
            None => install::server_program(self.kind),
        };
        let options = self.options.path();
        let child = launch::server(self.kind, self.life, program, options, &self.arguments, &log)?;
        self.pid = child.id();
        self.child = Some(child);
        let answered = process::wait_until("the start", START_TIME_MAX, || {
            if self.connect().is_ok() {
                return Ok(true);
            }
            match self.reap()? {
                Some(status) => bail!("the server ended ({status})"),
                None => Ok(false),
            }
        });
        answered.map_err(|error| {
            let error = self.explain(error).context(format!("cannot start {}", self.name()));
            // A server that came too late must not answer for the next one.
            match self.kill9() {
                Ok(()) => error,
                Err(also) => error.context(also),
            }
        })
    }

    /// Stops the server cleanly.
    ///
    /// # Errors
    ///
    /// When it does not end in time; its log is quoted.
    pub fn stop(&mut self) -> Result<()> {
        self.end(Signal::TERM).with_context(|| format!("cannot stop {}", self.name()))
    }

    /// Kills the server as a crash would.
    ///
    /// # Errors
    ///
    /// When the kernel does not end it in time.
    pub fn kill9(&mut self) -> Result<()> {
        self.end(Signal::KILL).with_context(|| format!("cannot kill {}", self.name()))
    }

    /// Stops the server cleanly and starts it with the options it has.
    ///
    /// # Errors
    ///
    /// As [`Server::stop`] and [`Server::start`].
    pub fn restart(&mut self) -> Result<()> {
        self.stop()?;
        self.start()
    }

    /// Restarts with these options set in the option file, besides those that are there.
    ///
    /// # Errors
    ///
    /// As [`Server::restart`].
    pub fn restart_with(&mut self, options: &[&str]) -> Result<()> {
        for option in options {
            self.options.set(option);
        }
        self.restart()
    }

    /// Restarts without this option in the option file.
    ///
    /// # Errors
    ///
    /// As [`Server::restart`].
    pub fn restart_without(&mut self, option: &str) -> Result<()> {
        self.options.remove(option);
        self.restart()
    }

    fn name(&self) -> String {
        format!("{} on port {}", self.kind, self.port)
    }

    fn end(&mut self, signal: Signal) -> Result<()> {
        if self.reap()?.is_none() && self.is_running_or_starting() {
            process::signal(self.pid, signal)?;
            process::wait_until("the end", STOP_TIME_MAX, || {
                Ok(self.reap()?.is_some() || !self.is_running_or_starting())
            })
            .map_err(|error| self.explain(error))?;
        }
        self.child = None;
        Ok(())
    }

    /// A child that has not replaced its helpers yet is not recognisable, but it is a child.
    fn is_running_or_starting(&self) -> bool {
        self.child.is_some() || self.is_running()
    }

    /// Returns how the child ended, if it has.
    fn reap(&mut self) -> Result<Option<std::process::ExitStatus>> {
        let Some(child) = &mut self.child else {
            return Ok(None);
        };
        let status = child.try_wait().context("cannot ask after the server process")?;
        if status.is_some() {
            self.child = None;
        }
        Ok(status)
    }

    fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        anyhow!("{error:#}; the end of its log:\n{}", command::tail(&self.error_log()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.life == Life::Shared {
            return;
        }
        if let Err(error) = self.kill9() {
            eprintln!("testkit: {error:#}");
        }
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            eprintln!("testkit: cannot remove {}: {error}", self.directory.display());
        }
    }
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        // The text protocol sends everything as bytes; other values would be literals of SQL.
        other => Some(other.as_sql(false)),
    }
}
