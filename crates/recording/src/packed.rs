//! Events and pages in few bytes, and back.
//!
//! An event is a control byte (its kind, how many bytes the page takes, how many the time), the index of
//! its tablespace in a dictionary, the page number (itself, or one signed byte: the distance from the
//! page before it in that tablespace), and the microseconds since the event before it. The dictionary
//! grows as tablespaces turn up and begins anew in each block, so that a block needs no other. Pages of a
//! list are events without kind and time.
//!
//! Decoding is the hot path of every replay: one load of eight bytes has page and time together.

use innopool_policy::fetch::Fetch;
use innopool_policy::page::PageId;

use crate::event::EventKind;
use crate::layout::PACKED_BYTES_MAX;

/// Tablespaces that a block knows at a time; the index after the last one says that a new one follows.
const SPACES_MAX: u8 = u8::MAX;

/// Bytes that an event takes at most: control, index, tablespace, page, time.
pub(crate) const EVENT_BYTES_MAX: usize = 2 + 5 + 4 + 4;
/// Bytes that an event takes at least.
pub(crate) const EVENT_BYTES_MIN: usize = 3;
/// Bytes before the events of a block: a time, and how many were lost.
pub(crate) const PREFIX_BYTES_MAX: usize = 16;
/// Readable bytes that the decoder wants behind a payload. What they hold changes nothing.
pub(crate) const SLACK_BYTES: usize = 16;

/// The kinds of event, by their code.
pub(crate) const EVENT_KINDS: [Option<EventKind>; 16] = [
    Some(EventKind::DemandRead),
    Some(EventKind::AheadRead),
    Some(EventKind::Created),
    Some(EventKind::MadeYoung),
    Some(EventKind::Get(Fetch::Normal)),
    Some(EventKind::Get(Fetch::Scan)),
    Some(EventKind::Get(Fetch::NoLatch)),
    Some(EventKind::Get(Fetch::IfInPool)),
    Some(EventKind::Get(Fetch::IfInPoolOrWatch)),
    Some(EventKind::Get(Fetch::PeekIfInPool)),
    Some(EventKind::Get(Fetch::PossiblyFreed)),
    Some(EventKind::Get(Fetch::PossiblyFreedNoReadAhead)),
    None,
    None,
    None,
    None,
];

/// The code of a kind: its place in [`EVENT_KINDS`].
pub(crate) fn kind_code(kind: EventKind) -> u8 {
    match kind {
        EventKind::DemandRead => 0,
        EventKind::AheadRead => 1,
        EventKind::Created => 2,
        EventKind::MadeYoung => 3,
        EventKind::Get(Fetch::Normal) => 4,
        EventKind::Get(Fetch::Scan) => 5,
        EventKind::Get(Fetch::NoLatch) => 6,
        EventKind::Get(Fetch::IfInPool) => 7,
        EventKind::Get(Fetch::IfInPoolOrWatch) => 8,
        EventKind::Get(Fetch::PeekIfInPool) => 9,
        EventKind::Get(Fetch::PossiblyFreed) => 10,
        EventKind::Get(Fetch::PossiblyFreedNoReadAhead) => 11,
    }
}

/// The tablespaces of a block, and the last page of each.
struct Dictionary {
    spaces: [u32; SPACES_MAX as usize],
    last_page: [u32; SPACES_MAX as usize],
    /// How many entries have been given, at most all.
    known: u8,
    /// Which entry the next new tablespace gets: the oldest one when all are given.
    next: u8,
}

impl Dictionary {
    const fn new() -> Dictionary {
        const NONE: [u32; SPACES_MAX as usize] = [0; SPACES_MAX as usize];
        Dictionary { spaces: NONE, last_page: NONE, known: 0, next: 0 }
    }

    fn clear(&mut self) {
        (self.known, self.next) = (0, 0);
    }

    fn add(&mut self, space: u32) -> u8 {
        let index = self.next;
        self.spaces[usize::from(index)] = space;
        self.last_page[usize::from(index)] = 0;
        self.known = self.known.max(index + 1);
        self.next = if index + 1 == SPACES_MAX { 0 } else { index + 1 };
        index
    }
}

/// Where the encoder looks for a tablespace's index: by the low bits of its number, since a server
/// counts them up. Two with the same bits evict each other here and cost some bytes, nothing else.
const HINTS: usize = 1024;

/// Packs events or pages of one block.
pub(crate) struct Packer {
    dictionary: Dictionary,
    hints: Box<[u8; HINTS]>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) items: u32,
}

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer {
            dictionary: Dictionary::new(),
            hints: Box::new([0; HINTS]),
            bytes: Vec::with_capacity(PACKED_BYTES_MAX),
            items: 0,
        }
    }

    /// Begins a block.
    pub(crate) fn clear(&mut self) {
        self.dictionary.clear();
        self.bytes.clear();
        self.items = 0;
    }

    /// Whether another event fits surely.
    pub(crate) fn has_room(&self) -> bool {
        PREFIX_BYTES_MAX + self.bytes.len() + EVENT_BYTES_MAX <= PACKED_BYTES_MAX
    }

    /// Adds an event, `delta_us` after the one before it. There must be [room](Self::has_room).
    pub(crate) fn push(&mut self, kind_code: u8, page: PageId, delta_us: u32) {
        let (index, is_new) = self.index_of(page.space);
        let last = &mut self.dictionary.last_page[usize::from(index)];
        let (page_code, page_bytes, page_value) = packed_page(page.page_no, *last);
        *last = page.page_no;
        let (time_code, time_bytes) = packed_time(delta_us);
        self.bytes.push(kind_code | page_code << 4 | time_code << 6);
        if is_new {
            self.bytes.push(SPACES_MAX);
            push_varint(&mut self.bytes, page.space);
        } else {
            self.bytes.push(index);
        }
        let word = u64::from(page_value) | u64::from(delta_us) << (8 * page_bytes);
        self.bytes.extend_from_slice(&word.to_le_bytes()[..page_bytes + time_bytes]);
        self.items += 1;
    }

    fn index_of(&mut self, space: u32) -> (u8, bool) {
        let hint = &mut self.hints[space as usize % HINTS];
        let known = *hint < self.dictionary.known;
        if known && self.dictionary.spaces[usize::from(*hint)] == space {
            return (*hint, false);
        }
        *hint = self.dictionary.add(space);
        (*hint, true)
    }
}

/// Returns the code, the number of bytes and the bytes of a page number behind another of its tablespace.
fn packed_page(page_no: u32, last: u32) -> (u8, usize, u32) {
    let distance = page_no.wrapping_sub(last).cast_signed();
    if let Ok(distance) = i8::try_from(distance) {
        return (0, 1, u32::from(distance.cast_unsigned()));
    }
    match page_no {
        0..=0xffff => (1, 2, page_no),
        0x1_0000..=0xff_ffff => (2, 3, page_no),
        _ => (3, 4, page_no),
    }
}

/// Returns the code and the number of bytes of a time.
fn packed_time(delta_us: u32) -> (u8, usize) {
    match delta_us {
        0 => (0, 0),
        1..=0xff => (1, 1),
        0x100..=0xffff => (2, 2),
        _ => (3, 4),
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// An event as it lies in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unpacked {
    pub(crate) kind_code: u8,
    pub(crate) page: PageId,
    pub(crate) delta_us: u32,
}

/// Unpacks events or pages of one block.
pub(crate) struct Unpacker {
    dictionary: Dictionary,
}

const MASK_BY_BYTES: [u64; 5] = [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff];
const TIME_BYTES: [u8; 4] = [0, 1, 2, 4];

impl Unpacker {
    pub(crate) fn new() -> Unpacker {
        Unpacker { dictionary: Dictionary::new() }
    }

    /// Unpacks `items` events, which must take `payload_bytes` bytes exactly; behind these `bytes` must
    /// have [`SLACK_BYTES`] more. Says what is wrong otherwise.
    pub(crate) fn unpack(
        &mut self,
        bytes: &[u8],
        payload_bytes: usize,
        items: u32,
        mut each: impl FnMut(Unpacked) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        self.dictionary.clear();
        let mut rest = bytes;
        for _ in 0..items {
            let (unpacked, length) = self.one(rest).ok_or("an event beyond the end")??;
            rest = rest.get(length..).ok_or("an event beyond the end")?;
            each(unpacked)?;
        }
        if bytes.len() - rest.len() != payload_bytes {
            return Err("not as many events as its header says");
        }
        Ok(())
    }

    /// Unpacks one event; also returns its length. `None` beyond the end of `bytes`.
    #[inline(always)]
    fn one(&mut self, bytes: &[u8]) -> Option<Result<(Unpacked, usize), &'static str>> {
        let &[control, mut index] = bytes.first_chunk::<2>()?;
        let mut length = 2;
        if index == SPACES_MAX {
            let Some((space, space_bytes)) = varint(bytes.get(2..)?) else {
                return Some(Err("a tablespace beyond 32 bits"));
            };
            length += space_bytes;
            index = self.dictionary.add(space);
        } else if index >= self.dictionary.known {
            return Some(Err("a tablespace that was not named before"));
        }
        let word = u64::from_le_bytes(*bytes.get(length..)?.first_chunk::<8>()?);
        let page_code = usize::from(control >> 4 & 3);
        let page_bytes = page_code + 1;
        let time_bytes = usize::from(TIME_BYTES[usize::from(control >> 6)]);
        let entry = usize::from(index);
        let value = low_bytes(word, page_bytes);
        let page_no = if page_code == 0 {
            let distance = i32::from(value.to_le_bytes()[0].cast_signed());
            self.dictionary.last_page[entry].wrapping_add_signed(distance)
        } else {
            value
        };
        self.dictionary.last_page[entry] = page_no;
        let unpacked = Unpacked {
            kind_code: control & 15,
            page: PageId::new(self.dictionary.spaces[entry], page_no),
            delta_us: low_bytes(word >> (8 * page_bytes), time_bytes),
        };
        Some(Ok((unpacked, length + page_bytes + time_bytes)))
    }
}

/// Returns the lowest `count` bytes, of which there are at most four.
#[allow(clippy::cast_possible_truncation, reason = "no mask has more than 32 bits")]
#[inline(always)]
fn low_bytes(word: u64, count: usize) -> u32 {
    (word & MASK_BY_BYTES[count]) as u32
}

/// Reads a number of seven bits a byte, lowest first; also returns how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((u32::try_from(value).ok()?, index + 1));
        }
    }
    None
}
