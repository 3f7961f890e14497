//! Bytes of a file, as many ahead as a block needs.

use std::io::{self, Read};

use crate::packed::SLACK_BYTES;

/// How large the buffer is at first, and by how much it grows at most.
const BUFFER_BYTES_MIN: usize = 4 << 10;
const GROWTH_BYTES_MAX: usize = 256 << 10;

/// A source of bytes with a buffer that grows to what was asked for, as the bytes come: a length that a
/// damaged file claims costs no memory.
pub(crate) struct Input<R> {
    source: R,
    /// What is buffered is at `start..end`; [`SLACK_BYTES`] more are always there.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the file of `start`.
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R) -> Input<R> {
        Input { source, buffer: Vec::new(), start: 0, end: 0, offset: 0 }
    }

    /// Offset in the file of what comes next.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// What is buffered.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// What is buffered, and behind it [`SLACK_BYTES`] bytes of no meaning.
    pub(crate) fn buffered_with_slack(&self) -> &[u8] {
        self.buffer.get(self.start..self.end + SLACK_BYTES).unwrap_or_default()
    }

    /// Goes on by `count` bytes, all of which must be buffered.
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Sees to it that `wanted` bytes are buffered; false where the file has fewer, and then all of them
    /// are buffered.
    pub(crate) fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        while self.end - self.start < wanted {
            self.make_room();
            let room = self.buffer.len() - SLACK_BYTES;
            match self.source.read(&mut self.buffer[self.end..room]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.end += count.min(room - self.end),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes room for at least a byte behind what is buffered.
    fn make_room(&mut self) {
        if self.end + SLACK_BYTES < self.buffer.len() {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        // Half of it must be free, or there would be more moving than reading.
        let size = self.buffer.len();
        if self.end > size / 2 || size == 0 {
            self.buffer.resize(size + size.clamp(BUFFER_BYTES_MIN, GROWTH_BYTES_MAX), 0);
        }
    }
}
