//! The blocks of a file, one after the other: found, checked, and where they are damaged, skipped.

use std::io::Read;

use crate::error::ReadFault;
use crate::input::Input;
use crate::layout::{
    BLOCK_HEADER_BYTES, BlockHeader, BlockKind, MARKER, PACKED_BYTES_MAX, PAYLOAD_BYTES_MAX,
};

/// What to do where the bytes are not as they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// End with an error that names the place.
    #[default]
    Refuse,
    /// Go on with the next block that is whole, and count what is missing.
    Skip,
}

/// What was left out for being damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Bytes left out. Not 0 is damage, even where no event is missing: resident pages and counters may be.
    pub bytes: u64,
    /// Events in them, as far as the blocks behind them tell.
    pub events: u64,
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was finished.
    Complete,
    /// It was not: whoever wrote it died, the disk was full, or a part of the file is missing.
    CutOff {
        /// Where its last whole block ends; nothing behind it was read.
        at_byte: u64,
    },
}

/// The blocks of a file.
pub(crate) struct Blocks<R> {
    input: Input<R>,
    pub(crate) on_damage: OnDamage,
    pub(crate) skipped: Skipped,
    pub(crate) ending: Option<Ending>,
    /// How many events the file has before the next block.
    passed_events: u64,
    /// Where the last whole block ended.
    whole_to: u64,
    /// Where the damage began that is being skipped.
    damaged_from: Option<u64>,
}

/// What is at a place of the file.
enum Look {
    Block(BlockHeader),
    /// The file ends, here or before what is here ends.
    Nothing,
    Damage(&'static str),
}

impl<R: Read> Blocks<R> {
    /// Takes what follows the file's header.
    pub(crate) fn new(input: Input<R>) -> Blocks<R> {
        Blocks {
            whole_to: input.offset(),
            input,
            on_damage: OnDamage::Refuse,
            skipped: Skipped::default(),
            ending: None,
            passed_events: 0,
            damaged_from: None,
        }
    }

    /// Offset in the file of the block that was found last and not yet passed.
    pub(crate) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// How many bytes of the file are known to be there.
    pub(crate) fn length_so_far(&self) -> u64 {
        self.input.offset() + self.input.buffered().len() as u64
    }

    /// Finds the next whole block and leaves it in the buffer; `None` at the end, which `ending` tells of.
    pub(crate) fn find(&mut self) -> Result<Option<BlockHeader>, ReadFault> {
        while self.ending.is_none() {
            match self.look()? {
                Look::Block(header) => {
                    self.end_damage(Some(header.events_before));
                    return Ok(Some(header));
                }
                Look::Damage(what) => {
                    let at_byte = self.input.offset();
                    if self.on_damage == OnDamage::Refuse {
                        return Err(ReadFault::Damaged { at_byte, what });
                    }
                    self.damaged_from.get_or_insert(at_byte);
                    self.go_to_marker()?;
                }
                Look::Nothing => {
                    if self.damaged_from.is_some() {
                        self.input.consume(self.input.buffered().len());
                        self.end_damage(None);
                    }
                    self.ending = Some(Ending::CutOff { at_byte: self.whole_to });
                }
            }
        }
        Ok(None)
    }

    /// The payload of the block that was found, and bytes of no meaning behind it.
    pub(crate) fn payload_with_slack(&self) -> &[u8] {
        self.input.buffered_with_slack().get(BLOCK_HEADER_BYTES..).unwrap_or_default()
    }

    /// Whether the block that was found comes where it says, in the sequence of events.
    pub(crate) fn is_in_sequence(&self, header: &BlockHeader) -> bool {
        header.events_before == self.passed_events
    }

    /// Goes behind the block that was found.
    pub(crate) fn pass(&mut self, header: &BlockHeader) {
        self.passed_events = self.passed_events.saturating_add(events_in(header));
        self.input.consume(block_bytes(header));
        self.whole_to = self.input.offset();
    }

    /// Goes behind the block that was found, which cannot be used, if damage may be skipped.
    pub(crate) fn leave_out(
        &mut self,
        header: &BlockHeader,
        what: String,
    ) -> Result<(), ReadFault> {
        if self.on_damage == OnDamage::Refuse {
            return Err(ReadFault::Malformed { at_byte: self.offset(), what });
        }
        self.skipped.bytes += block_bytes(header) as u64;
        self.skipped.events = self.skipped.events.saturating_add(events_in(header));
        self.pass(header);
        Ok(())
    }

    /// The last block was passed: nothing may follow.
    pub(crate) fn end(&mut self) -> Result<(), ReadFault> {
        let at_byte = self.offset();
        let more = self.input.fill(1).map_err(|source| ReadFault::Io { at_byte, source })?;
        if more && self.on_damage == OnDamage::Refuse {
            let what = "there are bytes behind its end".to_owned();
            return Err(ReadFault::Malformed { at_byte, what });
        }
        self.ending = Some(Ending::Complete);
        Ok(())
    }

    fn look(&mut self) -> Result<Look, ReadFault> {
        if !self.fill(BLOCK_HEADER_BYTES)? {
            return Ok(Look::Nothing);
        }
        let header = self.input.buffered().first_chunk().and_then(BlockHeader::decode);
        let Some(header) = header else {
            return Ok(Look::Damage("the head of a block is not as it was written"));
        };
        if header.payload_bytes as usize > payload_bytes_max(&header) {
            return Ok(Look::Damage("a block is longer than a block can be"));
        }
        if !self.fill(block_bytes(&header))? {
            return Ok(Look::Nothing);
        }
        let block = self.input.buffered().get(BLOCK_HEADER_BYTES..block_bytes(&header));
        if crc32c::crc32c(block.unwrap_or_default()) != header.payload_checksum {
            return Ok(Look::Damage("the content of a block is not as it was written"));
        }
        Ok(Look::Block(header))
    }

    fn fill(&mut self, wanted: usize) -> Result<bool, ReadFault> {
        let at_byte = self.input.offset();
        self.input.fill(wanted).map_err(|source| ReadFault::Io { at_byte, source })
    }

    /// Goes on to the next bytes that look like the beginning of a block, or to the end.
    fn go_to_marker(&mut self) -> Result<(), ReadFault> {
        self.input.consume(1);
        loop {
            let buffered = self.input.buffered();
            if let Some(at) = buffered.windows(MARKER.len()).position(|bytes| bytes == MARKER) {
                self.input.consume(at);
                return Ok(());
            }
            // A marker may lie across the end of what is buffered.
            self.input.consume(buffered.len().saturating_sub(MARKER.len() - 1));
            if !self.fill(BLOCK_HEADER_BYTES)? {
                return Ok(());
            }
        }
    }

    /// Counts what was skipped, up to here.
    fn end_damage(&mut self, events_before: Option<u64>) {
        let Some(from) = self.damaged_from.take() else { return };
        self.skipped.bytes += self.input.offset() - from;
        let events = events_before.unwrap_or_default().saturating_sub(self.passed_events);
        self.skipped.events = self.skipped.events.saturating_add(events);
        self.passed_events = self.passed_events.saturating_add(events);
    }
}

fn block_bytes(header: &BlockHeader) -> usize {
    BLOCK_HEADER_BYTES + header.payload_bytes as usize
}

fn events_in(header: &BlockHeader) -> u64 {
    if header.kind == BlockKind::Events.code() { u64::from(header.items) } else { 0 }
}

fn payload_bytes_max(header: &BlockHeader) -> usize {
    match BlockKind::from_code(header.kind) {
        Some(BlockKind::Residents | BlockKind::Events) => PACKED_BYTES_MAX,
        _ => PAYLOAD_BYTES_MAX,
    }
}
