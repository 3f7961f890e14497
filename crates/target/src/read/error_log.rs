//! Error logs, in any version's wording and behind any prefix (containers, journald, prompts).
//!
//! A line is taken apart into the time printed at its head, the subsystem and the message; only
//! messages on the buffer pool become events, and only when the message *begins* with the server's
//! words, so that a statement or plug-in name quoted in a log line is not mistaken for one.

mod entry;
mod message;

use crate::log_events::{LogEvent, LogEventKind};
use entry::{Entry, entries};
use message::Message;

pub(crate) use entry::is_log_line;

/// Reads the events of an error log, in the order of the file.
pub fn parse(text: &str, place: &str) -> Vec<LogEvent> {
    let lines: Vec<&str> = text.lines().collect();
    read(&lines)
        .into_iter()
        .map(|(entry, kind)| LogEvent {
            place: place.to_owned(),
            line: entry.line,
            logged_at: entry.logged_at,
            kind,
        })
        .collect()
}

/// The log reduced to the lines innopool reads, each on its own line number; other lines are blank.
///
/// Every kept line is written anew from what was understood, behind the time it was logged at; what
/// stood in front of that (host names, prompts) is gone. Reading the result gives the same events.
/// Empty when there are none.
pub fn keep_events(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    keep(&lines)
}

/// [`keep_events`] of lines; those of other documents may be given as empty ones.
pub(crate) fn keep(lines: &[&str]) -> String {
    let mut kept = String::new();
    let mut written = 0;
    for entry in entries(lines) {
        let Some(message) = message::parse(&entry) else {
            continue;
        };
        let blank = (entry.line as usize).saturating_sub(written + 1);
        kept.extend(std::iter::repeat_n('\n', blank));
        written = entry.line as usize;
        kept.push_str(&entry.head());
        kept.push_str(&message.render());
        kept.push('\n');
    }
    kept
}

/// Events with the entries they began at.
fn read<'t>(lines: &[&'t str]) -> Vec<(Entry<'t>, LogEventKind)> {
    let mut story = Story::default();
    for entry in entries(lines) {
        if let Some(message) = message::parse(&entry) {
            story.tell(entry, message);
        }
    }
    story.events
}

/// Joins messages that belong together: a resize is announced twice and finished twice.
#[derive(Default)]
struct Story<'t> {
    events: Vec<(Entry<'t>, LogEventKind)>,
    /// Pages withdrawn and to withdraw, as last printed.
    withdrawn: Option<(u64, u64)>,
    /// A backup tool is writing, not the server.
    backup_tool: bool,
    resize: Resize,
    loading: bool,
}

#[derive(Default, PartialEq, Clone, Copy)]
enum Resize {
    #[default]
    None,
    Running,
    Completed,
    Failed,
}

impl<'t> Story<'t> {
    fn push(&mut self, entry: Entry<'t>, kind: LogEventKind) {
        self.events.push((entry, kind));
    }

    fn tell(&mut self, entry: Entry<'t>, message: Message) {
        match message {
            Message::ServerStarting => self.backup_tool = false,
            Message::BackupTool => self.backup_tool = true,
            _ if self.backup_tool => {}
            Message::Event(kind) => {
                self.loading = match &kind {
                    LogEventKind::LoadStarted { .. } => true,
                    LogEventKind::DumpStarted { .. } => false,
                    _ => self.loading,
                };
                let repeated = kind == LogEventKind::CrashRecovery
                    && self.events.last().is_some_and(|(_, last)| *last == kind);
                if !repeated {
                    self.push(entry, kind);
                }
            }
            Message::CannotAllocate(message) => {
                let kind = if self.loading {
                    LogEventKind::LoadFailed { message }
                } else {
                    LogEventKind::DumpFailed { message }
                };
                self.push(entry, kind);
            }
            Message::Withdrawn(done, of) => self.withdrawn = Some((done, of)),
            Message::ResizeRetry => {
                let (withdrawn_pages, target_pages) = self.withdrawn.unzip();
                self.push(entry, LogEventKind::ResizeRetry { withdrawn_pages, target_pages });
            }
            Message::ResizeStarted(from, to) => self.resize_started(entry, from, to),
            Message::ResizeCompleted => {
                if self.resize != Resize::Completed {
                    self.resize = Resize::Completed;
                    self.push(entry, LogEventKind::ResizeCompleted);
                }
            }
            Message::ResizeFailed(message) => {
                if self.resize != Resize::Failed {
                    self.resize = Resize::Failed;
                    self.push(entry, LogEventKind::ResizeFailed { message });
                }
            }
        }
    }

    /// "Requested to resize" is followed by "Resizing ... from ... to ...": one event.
    fn resize_started(&mut self, entry: Entry<'t>, from: Option<u64>, to: Option<u64>) {
        let announced = self.resize == Resize::Running;
        self.resize = Resize::Running;
        self.withdrawn = None;
        if let Some((_, LogEventKind::ResizeStarted { from_bytes, to_bytes })) =
            self.events.last_mut()
            && announced
            && from_bytes.is_none()
            && from.is_some()
            && (to_bytes.is_none() || *to_bytes == to)
        {
            *from_bytes = from;
            *to_bytes = to;
            return;
        }
        self.push(entry, LogEventKind::ResizeStarted { from_bytes: from, to_bytes: to });
    }
}

#[cfg(test)]
mod tests;
