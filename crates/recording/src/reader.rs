//! Reading a recording.

use std::io::Read;

use innopool_policy::page::PageId;
use innopool_policy::time::Time;
use serde::de::DeserializeOwned;

use crate::blocks::{Blocks, Ending, OnDamage, Skipped};
use crate::error::{ReadError, ReadFault};
use crate::event::Event;
use crate::input::Input;
use crate::layout::{
    BlockHeader, BlockKind, FILE_HEADER_BYTES, FileHeader, VERSION_MAJOR, VERSION_MINOR,
    read_file_header,
};
use crate::packed::{EVENT_BYTES_MIN, EVENT_KINDS, Unpacker};
use crate::provenance::Provenance;
use crate::record::{Record, WindowStart};

/// Reads a recording, in bounded memory (a block and its events: about a megabyte).
///
/// [`next`](Self::next) gives record after record; [`next_batch`](Self::next_batch) gives the events of
/// a block at once, which a replay wants. The two may be mixed.
///
/// A recording that was cut off is no error: its whole blocks are read, and [`ending`](Self::ending)
/// tells. A window may therefore have no [`Record::WindowEnd`]. Damage is an error that names the place,
/// unless it is to be [skipped](OnDamage::Skip).
pub struct RecordReader<R: Read> {
    blocks: Blocks<R>,
    file: String,
    minor: u16,
    provenance: Provenance,
    place: Place,
    window: u16,
    unpacker: Unpacker,
    /// Events of the block last read, and how many of them were given out.
    events: Vec<Event>,
    given: usize,
    last_us: u64,
    lost_events: u64,
}

/// What comes next in a recording.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "records other than events come once a second")]
pub enum Batch<'a> {
    /// Events, at least one, all of the same window.
    Events(&'a [Event]),
    /// Another record; never [`Record::Event`].
    Record(Record),
}

/// Where in a recording its reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// A window has begun, and its resident pages may follow.
    Start,
    Inside,
}

impl<R: Read> RecordReader<R> {
    /// Begins to read, up to and including the provenance. `input` needs no buffer of its own.
    ///
    /// # Errors
    ///
    /// When it is no recording, is of a newer major version, or ends before it says where it comes from.
    pub fn new(input: R) -> Result<Self, ReadError> {
        RecordReader::named("the recording", input)
    }

    /// The same, with a name for errors.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn named(file: impl Into<String>, input: R) -> Result<Self, ReadError> {
        let file = file.into();
        match begin(input) {
            Err(fault) => Err(ReadError { file, fault }),
            Ok((blocks, minor, provenance)) => Ok(RecordReader {
                blocks,
                file,
                minor,
                provenance,
                place: Place::Outside,
                window: 0,
                unpacker: Unpacker::new(),
                events: Vec::new(),
                given: 0,
                last_us: 0,
                lost_events: 0,
            }),
        }
    }

    /// Says what to do at damage; refusing is the default.
    #[must_use]
    pub fn on_damage(mut self, on_damage: OnDamage) -> Self {
        self.blocks.on_damage = on_damage;
        self
    }

    /// Where the recording comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// How the recording ends; `None` until everything is read.
    pub fn ending(&self) -> Option<Ending> {
        self.blocks.ending
    }

    /// What was left out so far.
    pub fn skipped(&self) -> Skipped {
        self.blocks.skipped
    }

    /// How many events of the current window were lost up to here, as far as it was written down: of
    /// use where the window has no end.
    pub fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// Returns the next record; `None` when all are read. A list of resident pages comes in pieces of
    /// some ten thousand.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is damaged and damage is refused. The next call says the same.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would go on after one"
    )]
    pub fn next(&mut self) -> Result<Option<Record>, ReadError> {
        if let Some(record) = self.advance()? {
            return Ok(Some(record));
        }
        let event = self.events.get(self.given).copied();
        self.given += usize::from(event.is_some());
        Ok(event.map(Record::Event))
    }

    /// Returns what comes next, events as many as lie together; `None` when all is read.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>, ReadError> {
        if let Some(record) = self.advance()? {
            return Ok(Some(Batch::Record(record)));
        }
        let events = self.events.get(self.given..).unwrap_or_default();
        self.given = self.events.len();
        Ok((!events.is_empty()).then_some(Batch::Events(events)))
    }

    /// Where all events were given out, reads on to a record or to events; when all is read, there are
    /// neither.
    fn advance(&mut self) -> Result<Option<Record>, ReadError> {
        if self.given < self.events.len() {
            return Ok(None);
        }
        self.read_on().map_err(|fault| ReadError { file: self.file.clone(), fault })
    }

    fn read_on(&mut self) -> Result<Option<Record>, ReadFault> {
        (self.given, self.events) = (0, std::mem::take(&mut self.events));
        self.events.clear();
        while let Some(header) = self.blocks.find()? {
            match self.take(&header) {
                Ok(record) => {
                    self.blocks.pass(&header);
                    if header.kind == BlockKind::End.code() {
                        self.blocks.end()?;
                    }
                    if record.is_some() || !self.events.is_empty() {
                        return Ok(record);
                    }
                }
                Err(what) => {
                    self.events.clear();
                    self.blocks.leave_out(&header, what)?;
                }
            }
        }
        Ok(None)
    }

    /// Takes what is in a block, or says why it cannot be.
    fn take(&mut self, header: &BlockHeader) -> Result<Option<Record>, String> {
        if !self.blocks.is_in_sequence(header) {
            return Err("events are missing before it".to_owned());
        }
        let Some(kind) = BlockKind::from_code(header.kind) else {
            let is_newer = self.minor > VERSION_MINOR;
            return if is_newer {
                Ok(None)
            } else {
                Err(format!("a block of kind {}", header.kind))
            };
        };
        self.check_place(kind, header)?;
        Ok(match kind {
            BlockKind::Provenance | BlockKind::End => None,
            BlockKind::WindowStart => Some(Record::WindowStart(self.window_start(header)?)),
            BlockKind::Residents => Some(self.residents(header)?),
            BlockKind::Events => {
                self.read_events(header)?;
                None
            }
            BlockKind::Sample => {
                let sample = json(&self.blocks, header)?;
                self.place = Place::Inside;
                Some(Record::Sample(sample))
            }
            BlockKind::WindowEnd => {
                let end = json(&self.blocks, header)?;
                self.place = Place::Outside;
                Some(Record::WindowEnd(end))
            }
        })
    }

    /// Says when a block of this kind cannot come here. Where damage was skipped, a window may have lost
    /// its end, and what follows a lost start belongs to no window that can be used.
    fn check_place(&self, kind: BlockKind, header: &BlockHeader) -> Result<(), String> {
        let is_next = header.window == self.window.wrapping_add(1);
        let is_mended = self.blocks.skipped != Skipped::default();
        let is_right = match kind {
            BlockKind::Provenance => false,
            BlockKind::WindowStart => is_mended || is_next && self.place == Place::Outside,
            BlockKind::Residents => header.window == self.window && self.place == Place::Start,
            BlockKind::Events | BlockKind::Sample | BlockKind::WindowEnd => {
                header.window == self.window && self.place != Place::Outside
            }
            BlockKind::End => is_mended || header.window == self.window,
        };
        if is_right {
            Ok(())
        } else {
            Err(format!("{kind:?} of window {} out of place", header.window))
        }
    }

    fn window_start(&mut self, header: &BlockHeader) -> Result<WindowStart, String> {
        let start = json(&self.blocks, header)?;
        self.window = header.window;
        self.place = Place::Start;
        (self.last_us, self.lost_events) = (0, 0);
        Ok(start)
    }

    fn residents(&mut self, header: &BlockHeader) -> Result<Record, String> {
        let bytes = self.blocks.payload_with_slack();
        let (prefix, packed) = bytes.split_first_chunk::<4>().ok_or("no instance")?;
        let packed_bytes = packed_bytes(header, prefix.len())?;
        let mut pages: Vec<PageId> = Vec::with_capacity(header.items as usize);
        self.unpacker.unpack(packed, packed_bytes, header.items, |unpacked| {
            if unpacked.kind_code != 0 || unpacked.delta_us != 0 {
                return Err("a resident page with a kind or a time");
            }
            pages.push(unpacked.page);
            Ok(())
        })?;
        Ok(Record::Resident { instance: u32::from_le_bytes(*prefix), pages })
    }

    fn read_events(&mut self, header: &BlockHeader) -> Result<(), String> {
        let bytes = self.blocks.payload_with_slack();
        let (base, rest) = bytes.split_first_chunk::<8>().ok_or("no time")?;
        let (lost, packed) = rest.split_first_chunk::<8>().ok_or("no lost events")?;
        let packed_bytes = packed_bytes(header, base.len() + lost.len())?;
        let base_us = u64::from_le_bytes(*base);
        if base_us < self.last_us {
            return Err("time runs backwards".to_owned());
        }
        // What all distances together can be at most: no sum below can overflow.
        if base_us.checked_add(u64::from(header.items) << 32).is_none() {
            return Err("a time beyond the end of time".to_owned());
        }
        let (mut time_us, events) = (base_us, &mut self.events);
        events.reserve(header.items as usize);
        self.unpacker.unpack(packed, packed_bytes, header.items, |unpacked| {
            let kind = EVENT_KINDS[usize::from(unpacked.kind_code & 15)];
            let kind = kind.ok_or("an event of no known kind")?;
            time_us += u64::from(unpacked.delta_us);
            events.push(Event { time: Time::from_micros(time_us), page: unpacked.page, kind });
            Ok(())
        })?;
        self.last_us = time_us;
        self.lost_events = u64::from_le_bytes(*lost);
        self.place = Place::Inside;
        Ok(())
    }
}

/// Reads the file's header and the provenance.
fn begin<R: Read>(input: R) -> Result<(Blocks<R>, u16, Provenance), ReadFault> {
    let mut input = Input::new(input);
    let filled = input.fill(FILE_HEADER_BYTES);
    filled.map_err(|source| ReadFault::Io { at_byte: 0, source })?;
    let minor = check_header(input.buffered())?;
    input.consume(FILE_HEADER_BYTES);
    let mut blocks = Blocks::new(input);
    let Some(header) = blocks.find()? else {
        return Err(ReadFault::Empty { bytes: blocks.length_so_far() });
    };
    let malformed = |what| ReadFault::Malformed { at_byte: FILE_HEADER_BYTES as u64, what };
    if header.kind != BlockKind::Provenance.code() || header.window != 0 {
        return Err(malformed("it does not begin with its provenance".to_owned()));
    }
    let provenance: Provenance = json(&blocks, &header).map_err(malformed)?;
    if let Some((field, value)) = provenance.impossible() {
        return Err(malformed(format!("{field} cannot be {value}")));
    }
    blocks.pass(&header);
    Ok((blocks, minor, provenance))
}

/// Returns the minor version.
fn check_header(bytes: &[u8]) -> Result<u16, ReadFault> {
    let Some(header) = bytes.first_chunk::<FILE_HEADER_BYTES>() else {
        let is_begun = !bytes.is_empty() && crate::layout::MAGIC.starts_with(bytes);
        let is_begun = is_begun || bytes.starts_with(&crate::layout::MAGIC);
        let bytes = bytes.len() as u64;
        return Err(if is_begun { ReadFault::Empty { bytes } } else { ReadFault::NotARecording });
    };
    match read_file_header(header) {
        FileHeader::NotARecording => Err(ReadFault::NotARecording),
        FileHeader::Damaged => Err(ReadFault::HeaderDamaged),
        FileHeader::Version { major, minor } if major != VERSION_MAJOR => {
            Err(ReadFault::Newer { major, minor })
        }
        FileHeader::Version { minor, .. } => Ok(minor),
    }
}

/// How many bytes of a payload are packed items, when a prefix was taken off; checks that so many items
/// can be in them.
fn packed_bytes(header: &BlockHeader, prefix_bytes: usize) -> Result<usize, String> {
    let packed = (header.payload_bytes as usize).checked_sub(prefix_bytes).ok_or("too short")?;
    if header.items as usize > packed / EVENT_BYTES_MIN {
        return Err("more events than its bytes can hold".to_owned());
    }
    Ok(packed)
}

fn json<T: DeserializeOwned, R: Read>(
    blocks: &Blocks<R>,
    header: &BlockHeader,
) -> Result<T, String> {
    let bytes = blocks.payload_with_slack().get(..header.payload_bytes as usize);
    serde_json::from_slice(bytes.unwrap_or_default()).map_err(|error| error.to_string())
}
