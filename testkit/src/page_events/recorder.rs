//! A recorder: probes on a server's program, and a thread that reads what they say.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::event::Recording;
use super::probes::PROBES;
use super::trace_text::{self, Hit};
use super::tracefs::{Trace, Uprobe};
use super::{assemble, elf};
use crate::Server;

/// What a reader is told: to go on; to read to the end, since nothing more is to come; or that what
/// it reads is not wanted any more.
const GO_ON: u8 = 0;
const READ_TO_THE_END: u8 = 1;
const ABANDONED: u8 = 2;

const READ_INTERVAL: Duration = Duration::from_millis(5);

/// Records a server's page events until it is stopped or dropped.
#[derive(Debug)]
pub struct PageRecorder {
    // The reader is told to end first: the kernel keeps a trace that is being read.
    reader: Reader,
    trace: Trace,
}

impl PageRecorder {
    /// Starts to record a server that has a program of its own
    /// ([`Own::own_program`](crate::Own::own_program)).
    ///
    /// The probes are on the program's file: a server that is stopped can be recorded from the
    /// first page of its next start on.
    ///
    /// # Errors
    ///
    /// When the server shares its program, its program lacks the functions that are known, or the
    /// machine does not allow probes.
    pub fn start(server: &Server) -> Result<Self> {
        let Some(program) = server.own_program() else {
            bail!("only a server started with Own::own_program can be recorded");
        };
        let functions: Vec<&str> = PROBES.iter().map(|probe| probe.function).collect();
        let offsets = elf::function_offsets(program, &functions)?;
        let mut uprobes = Vec::new();
        for (probe, offset) in PROBES.iter().zip(offsets) {
            let event = probe.name.to_owned();
            uprobes.push(Uprobe { event, offset, is_return: false, fetch: probe.fetch });
            if let Some(fetch) = probe.fetch_return {
                let event = format!("{}r", probe.name);
                uprobes.push(Uprobe { event, offset, is_return: true, fetch });
            }
        }
        let trace = Trace::start(program, &uprobes)?;
        let reader = Reader::start(trace.open()?);
        Ok(PageRecorder { reader, trace })
    }

    /// Stops, and returns what was recorded.
    ///
    /// # Errors
    ///
    /// When the trace cannot be read, or does not fit together ([`Recording::check`]).
    pub fn stop(self) -> Result<Recording> {
        let PageRecorder { mut reader, trace } = self;
        trace.disable()?;
        let heard = reader.end(READ_TO_THE_END)?;
        let lost = trace.hits()?.saturating_sub(heard.hits.len() as u64);
        assemble::recording(heard.hits, lost, heard.threads)
    }
}

/// What a reader has read.
#[derive(Default)]
struct Heard {
    hits: Vec<Hit>,
    threads: BTreeMap<u32, String>,
}

/// A thread that reads a trace.
#[derive(Debug)]
struct Reader {
    told: Arc<AtomicU8>,
    thread: Option<JoinHandle<Result<Heard>>>,
}

impl Reader {
    fn start(pipe: File) -> Self {
        let told = Arc::new(AtomicU8::new(GO_ON));
        let thread = thread::spawn({
            let told = Arc::clone(&told);
            move || listen(pipe, &told)
        });
        Reader { told, thread: Some(thread) }
    }

    /// Ends the thread, and returns what it has read.
    fn end(&mut self, how: u8) -> Result<Heard> {
        self.told.store(how, Ordering::Release);
        let Some(thread) = self.thread.take() else { return Ok(Heard::default()) };
        thread.join().map_err(|_panic| anyhow!("the thread that reads the trace panicked"))?
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // What went wrong with a recording that nobody wants is of no interest either.
        let _ = self.end(ABANDONED);
    }
}

fn listen(mut pipe: File, told: &AtomicU8) -> Result<Heard> {
    let mut heard = Heard::default();
    let mut buffer = vec![0; 64 * 1024];
    let mut rest = Vec::new();
    loop {
        // Looked at before the read: what was recorded before the stop is read after it.
        let told = told.load(Ordering::Acquire);
        if told == ABANDONED {
            return Ok(heard);
        }
        match pipe.read(&mut buffer) {
            Ok(length) if length > 0 => {
                rest.extend_from_slice(&buffer[..length]);
                take_lines(&mut rest, &mut heard)?;
                continue;
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("cannot read the trace"),
        }
        if told == READ_TO_THE_END {
            return Ok(heard);
        }
        thread::sleep(READ_INTERVAL);
    }
}

/// Takes the whole lines out of what was read.
fn take_lines(rest: &mut Vec<u8>, heard: &mut Heard) -> Result<()> {
    let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') else { return Ok(()) };
    let text = std::str::from_utf8(&rest[..end]).context("a trace that is not UTF-8")?;
    for line in text.lines() {
        if let Some((hit, name)) = trace_text::hit(line)? {
            heard.hits.push(hit);
            heard.threads.entry(hit.thread).or_insert_with(|| name.to_owned());
        }
    }
    rest.drain(..=end);
    Ok(())
}
