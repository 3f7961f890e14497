//! The page size of a pool: one of five, fixed when the pool is made.

use std::fmt;

/// Size of a page and of the frame that holds it: 4, 8, 16, 32 or 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageSize {
    shift: u8,
}

impl PageSize {
    /// 4 KiB.
    pub const KIB_4: PageSize = PageSize { shift: 12 };
    /// 8 KiB.
    pub const KIB_8: PageSize = PageSize { shift: 13 };
    /// 16 KiB, InnoDB's default.
    pub const KIB_16: PageSize = PageSize { shift: 14 };
    /// 32 KiB.
    pub const KIB_32: PageSize = PageSize { shift: 15 };
    /// 64 KiB.
    pub const KIB_64: PageSize = PageSize { shift: 16 };

    /// All five, smallest first.
    pub const ALL: [PageSize; 5] =
        [Self::KIB_4, Self::KIB_8, Self::KIB_16, Self::KIB_32, Self::KIB_64];

    /// Returns the page size of `bytes` bytes, or `None` when there is no such page size.
    pub fn from_bytes(bytes: usize) -> Option<PageSize> {
        PageSize::ALL.into_iter().find(|size| size.bytes() == bytes)
    }

    /// Bytes in a page.
    #[inline]
    pub const fn bytes(self) -> usize {
        1 << self.shift
    }

    /// Byte offset of page `page_no` in its file.
    pub const fn offset_bytes(self, page_no: u32) -> u64 {
        (page_no as u64) << self.shift
    }

    /// Base-2 logarithm of the bytes in a page, for shifts in place of divisions.
    #[inline]
    pub const fn log2(self) -> u32 {
        self.shift as u32
    }
}

impl Default for PageSize {
    fn default() -> PageSize {
        PageSize::KIB_16
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB", self.bytes() >> 10)
    }
}
