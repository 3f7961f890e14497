//! The frame of the file: its header, and the header that every block begins with.
//!
//! A recording is a header of 16 bytes and then blocks, each with two checksums, of which each can be
//! decoded without the others. That is what makes a file that was cut off, or damaged in one place,
//! readable in all others. `docs/recording.md` has the whole format; what is said there and what is
//! done here is one thing, and a test holds the page's example against this code.

/// What a recording begins with. The first byte is no text, and the line ends are spoilt by whatever
/// takes the file for text.
pub(crate) const MAGIC: [u8; 8] = *b"\x89ipr\r\n\x1a\n";

/// Raised when older readers cannot read the new files.
pub(crate) const VERSION_MAJOR: u16 = 1;
/// Raised when older readers can, leaving out what they do not know.
pub(crate) const VERSION_MINOR: u16 = 0;

/// Bytes of the file's header.
pub(crate) const FILE_HEADER_BYTES: usize = 16;
/// Bytes of a block's header.
pub(crate) const BLOCK_HEADER_BYTES: usize = 32;
/// What a block begins with, so that the next one is found behind damage.
pub(crate) const MARKER: [u8; 4] = *b"IPRb";

/// Most bytes in a block of events or pages.
pub(crate) const PACKED_BYTES_MAX: usize = 64 << 10;
/// Most bytes in a block of any other kind: a provenance names every tablespace.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 64 << 20;

/// What is in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Provenance,
    WindowStart,
    Residents,
    Events,
    Sample,
    WindowEnd,
    /// The last block of a file that was finished.
    End,
}

const KINDS: [(u8, BlockKind); 7] = [
    (1, BlockKind::Provenance),
    (2, BlockKind::WindowStart),
    (3, BlockKind::Residents),
    (4, BlockKind::Events),
    (5, BlockKind::Sample),
    (6, BlockKind::WindowEnd),
    (7, BlockKind::End),
];

impl BlockKind {
    pub(crate) fn from_code(code: u8) -> Option<BlockKind> {
        KINDS.iter().find(|(known, _)| *known == code).map(|&(_, kind)| kind)
    }

    pub(crate) fn code(self) -> u8 {
        KINDS.iter().find(|(_, known)| *known == self).map_or(0, |&(code, _)| code)
    }
}

/// The head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    /// A [`BlockKind`]'s code, or one that only newer readers know.
    pub(crate) kind: u8,
    /// The number of its window, from 1, modulo 2^16; 0 before the first.
    pub(crate) window: u16,
    /// Bytes that follow the header.
    pub(crate) payload_bytes: u32,
    /// How many events or pages are in it.
    pub(crate) items: u32,
    /// How many events the file has before it.
    pub(crate) events_before: u64,
    /// CRC-32C of the payload.
    pub(crate) payload_checksum: u32,
}

impl BlockHeader {
    pub(crate) fn encode(&self) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&MARKER);
        bytes[4] = self.kind;
        bytes[6..8].copy_from_slice(&self.window.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.items.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.events_before.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..28]);
        bytes[28..32].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// `None` where the marker or the checksum is not right.
    pub(crate) fn decode(bytes: &[u8; BLOCK_HEADER_BYTES]) -> Option<BlockHeader> {
        if bytes[0..4] != MARKER || crc32c::crc32c(&bytes[..28]) != u32_at(bytes, 28) {
            return None;
        }
        Some(BlockHeader {
            kind: bytes[4],
            window: u16::from_le_bytes([bytes[6], bytes[7]]),
            payload_bytes: u32_at(bytes, 8),
            items: u32_at(bytes, 12),
            events_before: u64::from(u32_at(bytes, 16)) | u64::from(u32_at(bytes, 20)) << 32,
            payload_checksum: u32_at(bytes, 24),
        })
    }
}

/// The header of a file that this version writes.
pub(crate) fn file_header() -> [u8; FILE_HEADER_BYTES] {
    let mut bytes = [0; FILE_HEADER_BYTES];
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION_MAJOR.to_le_bytes());
    bytes[10..12].copy_from_slice(&VERSION_MINOR.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..12]);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Returns the little-endian number at `at`; 0 beyond the end, which callers with arrays never reach.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// What the header of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileHeader {
    Version { major: u16, minor: u16 },
    NotARecording,
    Damaged,
}

/// Reads the header of a file.
pub(crate) fn read_file_header(bytes: &[u8; FILE_HEADER_BYTES]) -> FileHeader {
    if bytes[0..8] != MAGIC {
        // One flipped bit in the magic is damage, not another kind of file.
        let rest_is_right = crc32c::crc32c(&file_header()[..12]) == u32_at(bytes, 12);
        return if rest_is_right { FileHeader::Damaged } else { FileHeader::NotARecording };
    }
    if crc32c::crc32c(&bytes[..12]) != u32_at(bytes, 12) {
        return FileHeader::Damaged;
    }
    let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    FileHeader::Version { major: number(8), minor: number(10) }
}
