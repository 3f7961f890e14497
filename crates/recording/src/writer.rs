//! Writing a recording.

use std::io::Write;
use std::time::{Duration, Instant};

use innopool_policy::page::PageId;
use serde::Serialize;

use crate::counters::CounterSample;
use crate::error::WriteError;
use crate::event::Event;
use crate::layout::{BLOCK_HEADER_BYTES, BlockHeader, BlockKind, PAYLOAD_BYTES_MAX, file_header};
use crate::packed::{PREFIX_BYTES_MAX, Packer, kind_code};
use crate::provenance::Provenance;
use crate::record::{Record, WindowEnd, WindowStart};

/// What is not yet written is written by [`RecordWriter::tick`] after this time.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);

/// How far an event's time may be below that of the event before it. Clocks of two processors differ by
/// microseconds; a second is another window's time, or a mistake.
const BACKWARDS_US_MAX: u64 = 1_000_000;

/// Writes a recording, record by record, in bounded memory (a block of 64 KiB).
///
/// Blocks are written whole, each with one call of [`Write::write_all`], so `output` needs no buffer of
/// its own. Whatever was written stays readable when the process dies; what was not yet is at most a
/// block, and at most about a second when [`tick`](Self::tick) is called. Dropping the writer without
/// [`finish`](Self::finish) is like dying.
///
/// After an error of the output nothing more can be written, since it may have taken half a block;
/// what is before that block is whole.
#[must_use = "a recording that is not finished reads as one that was cut off"]
pub struct RecordWriter<W: Write> {
    output: W,
    file: String,
    place: Place,
    window: u16,
    packer: Packer,
    /// Time of the first event of the block in progress, and of the last event.
    base_us: u64,
    last_us: u64,
    lost_events: u64,
    clamped_times: u64,
    block: Vec<u8>,
    written_bytes: u64,
    written_events: u64,
    flushed_at: Option<Instant>,
    has_failed: bool,
}

/// Where in a recording its writer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// A window has begun, and its resident pages may follow.
    Start,
    Inside,
}

impl<W: Write> RecordWriter<W> {
    /// Begins a recording on `output`, which errors call "the recording".
    ///
    /// # Errors
    ///
    /// When the provenance has values that no reader takes, or the output takes nothing.
    pub fn new(output: W, provenance: &Provenance) -> Result<Self, WriteError> {
        RecordWriter::named("the recording", output, provenance)
    }

    /// The same, with a name for errors.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn named(
        file: impl Into<String>,
        output: W,
        provenance: &Provenance,
    ) -> Result<Self, WriteError> {
        if let Some((field, value)) = provenance.impossible() {
            return Err(WriteError::Provenance { field, value });
        }
        let mut writer = RecordWriter {
            output,
            file: file.into(),
            place: Place::Outside,
            window: 0,
            packer: Packer::new(),
            base_us: 0,
            last_us: 0,
            lost_events: 0,
            clamped_times: 0,
            block: Vec::new(),
            written_bytes: 0,
            written_events: 0,
            flushed_at: None,
            has_failed: false,
        };
        writer.write_out(&file_header())?;
        writer.json("the provenance", BlockKind::Provenance, provenance)?;
        Ok(writer)
    }

    /// Writes any record.
    ///
    /// # Errors
    ///
    /// As the method for its kind.
    pub fn record(&mut self, record: &Record) -> Result<(), WriteError> {
        match record {
            Record::WindowStart(start) => self.window_start(start),
            Record::Resident { instance, pages } => self.resident(*instance, pages),
            Record::Event(event) => self.event(event),
            Record::Sample(sample) => self.sample(sample),
            Record::WindowEnd(end) => self.window_end(end),
        }
    }

    /// Begins a window.
    ///
    /// # Errors
    ///
    /// When the one before it has not ended, or the output takes no more.
    pub fn window_start(&mut self, start: &WindowStart) -> Result<(), WriteError> {
        if self.place != Place::Outside {
            return Err(WriteError::OutOfPlace { what: "a window within a window" });
        }
        self.window = self.window.wrapping_add(1);
        (self.last_us, self.lost_events) = (0, 0);
        self.json("a window's start", BlockKind::WindowStart, start)?;
        self.place = Place::Start;
        Ok(())
    }

    /// Writes pages of an instance's list when the window began, hottest first; a second call goes on
    /// where the first ended. Any number of pages; readers get them in pieces.
    ///
    /// # Errors
    ///
    /// When no window has just begun, or the output takes no more.
    pub fn resident(&mut self, instance: u32, pages: &[PageId]) -> Result<(), WriteError> {
        if self.place != Place::Start {
            let what = "resident pages anywhere but at the start of a window";
            return Err(WriteError::OutOfPlace { what });
        }
        let mut rest = pages.iter();
        loop {
            self.packer.clear();
            while self.packer.has_room() {
                let Some(&page) = rest.next() else { break };
                self.packer.push(0, page, 0);
            }
            self.packed_block(BlockKind::Residents, &instance.to_le_bytes())?;
            if rest.len() == 0 {
                return Ok(());
            }
        }
    }

    /// Writes an event. Costs some ten nanoseconds; the output is only asked once a block is full.
    ///
    /// Events come in the order in which they happened. A time up to a second below that of the event
    /// before it is taken as that one's ([`clamped_times`](Self::clamped_times) counts): clocks of two
    /// processors may differ, and it is the order that counts.
    ///
    /// # Errors
    ///
    /// When it is in no window, its time is more than a second below that of the event before it, or
    /// the output takes no more.
    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        if self.place != Place::Inside {
            self.enter("an event outside a window")?;
        }
        let mut time_us = event.time.micros();
        if time_us < self.last_us {
            time_us = self.clamp(time_us)?;
        }
        let delta = u32::try_from(time_us - self.last_us).ok();
        let delta_us = match delta {
            Some(delta_us) if self.packer.items > 0 && self.packer.has_room() => delta_us,
            _ => {
                self.events_block()?;
                self.base_us = time_us;
                0
            }
        };
        self.packer.push(kind_code(event.kind), event.page, delta_us);
        self.last_us = time_us;
        Ok(())
    }

    /// Says that `events` were lost here, since nobody fetched them in time. They are said in the next
    /// block of events, so that a recording that is cut off tells of them too;
    /// [`WindowEnd::lost_events`] has the sum.
    ///
    /// # Errors
    ///
    /// Outside a window.
    pub fn lost(&mut self, events: u64) -> Result<(), WriteError> {
        self.enter("lost events outside a window")?;
        self.lost_events = self.lost_events.saturating_add(events);
        Ok(())
    }

    /// Writes a sample of the counters.
    ///
    /// # Errors
    ///
    /// Outside a window, or when the output takes no more.
    pub fn sample(&mut self, sample: &CounterSample) -> Result<(), WriteError> {
        self.enter("counters outside a window")?;
        self.json("counters", BlockKind::Sample, sample)
    }

    /// Ends the window.
    ///
    /// # Errors
    ///
    /// Outside a window, or when the output takes no more.
    pub fn window_end(&mut self, end: &WindowEnd) -> Result<(), WriteError> {
        self.enter("the end of a window that did not begin")?;
        self.json("a window's end", BlockKind::WindowEnd, end)?;
        self.place = Place::Outside;
        Ok(())
    }

    /// To be called now and then, a few times a second: writes what is waiting if that was last done a
    /// second before `now`.
    ///
    /// # Errors
    ///
    /// When the output takes no more.
    pub fn tick(&mut self, now: Instant) -> Result<(), WriteError> {
        let flushed_at = *self.flushed_at.get_or_insert(now);
        if now.saturating_duration_since(flushed_at) < FLUSH_PERIOD {
            return Ok(());
        }
        self.flushed_at = Some(now);
        self.flush()
    }

    /// Writes what is waiting, and flushes the output. Whether it is on the disk then is for the owner
    /// of the output to see to.
    ///
    /// # Errors
    ///
    /// When the output takes no more.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.events_block()?;
        self.output.flush().map_err(|source| self.failure(source))
    }

    /// Ends the recording and returns the output.
    ///
    /// # Errors
    ///
    /// When a window has not ended, or the output takes no more.
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.place != Place::Outside {
            return Err(WriteError::OutOfPlace { what: "an end within a window" });
        }
        self.block(BlockKind::End, 0, &[], &[])?;
        self.flush()?;
        Ok(self.output)
    }

    /// Bytes written so far, in whole blocks.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Events taken so far, also those that wait to be written.
    pub fn events(&self) -> u64 {
        self.written_events + u64::from(self.packer.items)
    }

    /// How many events had a time below that of the event before them, and got that one's.
    pub fn clamped_times(&self) -> u64 {
        self.clamped_times
    }

    /// Goes into the window, behind its resident pages.
    fn enter(&mut self, what: &'static str) -> Result<(), WriteError> {
        if self.place == Place::Outside {
            return Err(WriteError::OutOfPlace { what });
        }
        if self.place == Place::Start {
            self.place = Place::Inside;
        }
        Ok(())
    }

    #[cold]
    fn clamp(&mut self, time_us: u64) -> Result<u64, WriteError> {
        if self.last_us - time_us > BACKWARDS_US_MAX {
            return Err(WriteError::Backwards { time_us, last_us: self.last_us });
        }
        self.clamped_times += 1;
        Ok(self.last_us)
    }

    /// Writes the events that wait.
    fn events_block(&mut self) -> Result<(), WriteError> {
        if self.place != Place::Inside || self.packer.items == 0 {
            return Ok(());
        }
        let mut prefix = [0; PREFIX_BYTES_MAX];
        prefix[..8].copy_from_slice(&self.base_us.to_le_bytes());
        prefix[8..].copy_from_slice(&self.lost_events.to_le_bytes());
        self.packed_block(BlockKind::Events, &prefix)
    }

    /// Writes what is packed, and begins anew.
    fn packed_block(&mut self, kind: BlockKind, prefix: &[u8]) -> Result<(), WriteError> {
        let packed = std::mem::take(&mut self.packer.bytes);
        let items = self.packer.items;
        let written = self.block(kind, items, prefix, &packed);
        self.packer.bytes = packed;
        self.packer.clear();
        written
    }

    /// Writes what waits, then a block of its own.
    fn json(
        &mut self,
        what: &'static str,
        kind: BlockKind,
        value: &impl Serialize,
    ) -> Result<(), WriteError> {
        self.events_block()?;
        // Numbers, strings, lists and options of them: there is nothing that JSON cannot have.
        let text = serde_json::to_vec(value)
            .map_err(|_| WriteError::OutOfPlace { what: "what JSON cannot have" })?;
        if text.len() > PAYLOAD_BYTES_MAX {
            return Err(WriteError::TooLarge { what, bytes: text.len() });
        }
        self.block(kind, 0, &[], &text)?;
        self.output.flush().map_err(|source| self.failure(source))
    }

    fn block(
        &mut self,
        kind: BlockKind,
        items: u32,
        prefix: &[u8],
        content: &[u8],
    ) -> Result<(), WriteError> {
        let length = prefix.len() + content.len();
        let payload_bytes = u32::try_from(length)
            .map_err(|_| WriteError::TooLarge { what: "a block", bytes: length })?;
        let header = BlockHeader {
            kind: kind.code(),
            window: self.window,
            payload_bytes,
            items,
            events_before: self.written_events,
            payload_checksum: crc32c::crc32c_append(crc32c::crc32c(prefix), content),
        };
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        block.reserve(BLOCK_HEADER_BYTES + length);
        block.extend_from_slice(&header.encode());
        block.extend_from_slice(prefix);
        block.extend_from_slice(content);
        let written = self.write_out(&block);
        self.block = block;
        written?;
        if kind == BlockKind::Events {
            self.written_events += u64::from(items);
        }
        Ok(())
    }

    fn write_out(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.has_failed {
            let (file, at_byte) = (self.file.clone(), self.written_bytes);
            return Err(WriteError::Failed { file, at_byte });
        }
        self.output.write_all(bytes).map_err(|source| self.failure(source))?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }

    fn failure(&mut self, source: std::io::Error) -> WriteError {
        self.has_failed = true;
        WriteError::Io {
            file: self.file.clone(),
            at_byte: self.written_bytes,
            events: self.written_events,
            source,
        }
    }
}
