//! Looks in a recording: a window from each to the next.

use std::io::Write;

use innopool_recording::{Counters, RecordWriter, WindowEnd, WindowStart, WriteError};

use super::Look;

/// Writes looks into a recording. A look ends the window that the one before it began, and begins the
/// next.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// When the open window began.
    begun_unix_us: Option<u64>,
}

impl Looks {
    /// None yet.
    pub fn new() -> Looks {
        Looks::default()
    }

    /// Writes a look, with the server's counters at that time.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn look<W: Write>(
        &mut self,
        writer: &mut RecordWriter<W>,
        look: &Look,
        counters: &Counters,
    ) -> Result<(), WriteError> {
        self.end(writer, look.asked_unix_us, counters, None)?;
        writer.window_start(&WindowStart {
            unix_us: look.asked_unix_us,
            counters: counters.clone(),
            has_residents: true,
        })?;
        self.begun_unix_us = Some(look.asked_unix_us);
        look.lists.iter().try_for_each(|(instance, pages)| writer.resident(*instance, pages))
    }

    /// Ends the window that the last look began, if there was one. `stopped_because` is why no look
    /// follows, if one should.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn end<W: Write>(
        &mut self,
        writer: &mut RecordWriter<W>,
        unix_us: u64,
        counters: &Counters,
        stopped_because: Option<String>,
    ) -> Result<(), WriteError> {
        let Some(begun) = self.begun_unix_us.take() else { return Ok(()) };
        writer.window_end(&WindowEnd {
            // The wall clock may have been set back.
            time_us: unix_us.saturating_sub(begun),
            counters: counters.clone(),
            lost_events: 0,
            stopped_because,
        })
    }
}
