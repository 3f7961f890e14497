//! The state word of a frame: everything that a lookup, a latch and an eviction must agree on, in 64 bits.
//!
//! # Life of a frame
//!
//! 1. `Free`: holds no page. On its instance's free list, or in the hands of the thread that took it.
//! 2. `Loading`: has a page number and is in the page table and the LRU list; X-latched and pinned by its loader, so
//!    that whoever wants the page waits on the latch for the read.
//! 3. `Resident`: holds a page.
//! 4. Then `Free` again by eviction, which a single compare-and-swap decides: it succeeds only while nobody pins the
//!    page and it is clean. Or, when its read fails, `Failed` until the last waiter has taken the error, then `Free`.
//! 5. `Withdrawn`: given up by a shrink that is under way. `Free` again when that ends, but beyond the end of the pool nobody
//!    is given it until the pool grows.
//!
//! # Why one word
//!
//! A hit is one addition: it raises the pin count and the shared-latch count together and looks at what was there
//! before. If that was a resident page and no writer, the thread holds pin and latch; all it must still check
//! is that the frame holds the page it wants, which cannot change under a pin. If not, it takes the addition back.
//! So threads that have no business with a frame may raise its counts for an instant: for that reason a published
//! word is never stored to, only added to, subtracted from, and compared and swapped (rule 2 in
//! `docs/buffer-pool.md`).

/// A value of the state word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

/// One pin.
pub(crate) const PIN: u64 = 1;
const PIN_MASK: u64 = (1 << 20) - 1;
/// Set when half of the pin counter is used: no further pin is given, so it never overflows.
pub(crate) const PIN_LIMIT: u64 = 1 << 19;
/// One shared latch.
pub(crate) const SHARED: u64 = 1 << 20;
const SHARED_MASK: u64 = ((1 << 20) - 1) << 20;
/// The shared-exclusive latch: excludes itself and X, not S.
pub(crate) const UPDATE: u64 = 1 << 40;
/// The exclusive latch.
pub(crate) const EXCLUSIVE: u64 = 1 << 41;
/// Somebody sleeps until a latch here is released.
pub(crate) const WAITERS: u64 = 1 << 42;
/// A sleeper wants X: no new S is given, so that it gets its turn.
pub(crate) const WRITER_WAITING: u64 = 1 << 43;
/// The page differs from the store and is on the flush list.
pub(crate) const DIRTY: u64 = 1 << 44;
/// A write of the page is under way.
pub(crate) const WRITING: u64 = 1 << 45;
/// The page is in the promotion queue.
pub(crate) const QUEUED: u64 = 1 << 46;

const PHASE_SHIFT: u32 = 48;
const PHASE_MASK: u64 = 0b111 << PHASE_SHIFT;

/// What a frame is doing (see the life of a frame above). Zeroed memory is `Free`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Free = 0,
    Loading = 1,
    Resident = 2,
    Failed = 3,
    Withdrawn = 4,
}

impl Phase {
    pub(crate) const fn bits(self) -> u64 {
        (self as u64) << PHASE_SHIFT
    }

    /// What to add to a word in phase `self` to bring it to phase `to`, leaving all else.
    pub(crate) const fn step(self, to: Phase) -> u64 {
        to.bits().wrapping_sub(self.bits())
    }
}

/// What a shared hit must find: a resident page, no writer in or waiting, and room for a pin.
const HIT_MASK: u64 = PHASE_MASK | EXCLUSIVE | WRITER_WAITING | PIN_LIMIT;

impl Word {
    #[inline]
    pub(crate) fn phase(self) -> Phase {
        match (self.0 & PHASE_MASK) >> PHASE_SHIFT {
            1 => Phase::Loading,
            2 => Phase::Resident,
            3 => Phase::Failed,
            4 => Phase::Withdrawn,
            // Only the five phases are ever added up to; the rest of the field stays 0.
            _ => Phase::Free,
        }
    }

    #[inline]
    pub(crate) fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    pub(crate) fn pins(self) -> u64 {
        self.0 & PIN_MASK
    }

    pub(crate) fn shared(self) -> u64 {
        (self.0 & SHARED_MASK) / SHARED
    }

    /// Whether an addition of `PIN + SHARED` to this word took pin and latch.
    #[inline]
    pub(crate) fn gives_shared_hit(self) -> bool {
        self.0 & HIT_MASK == Phase::Resident.bits()
    }

    /// Whether a pin added to this word holds: the frame has a page, now or soon.
    pub(crate) fn gives_pin(self) -> bool {
        matches!(self.phase(), Phase::Loading | Phase::Resident | Phase::Failed)
            && !self.has(PIN_LIMIT)
    }

    pub(crate) fn allows_shared(self) -> bool {
        !self.has(EXCLUSIVE | WRITER_WAITING)
    }

    pub(crate) fn allows_update(self) -> bool {
        !self.has(EXCLUSIVE | UPDATE)
    }

    pub(crate) fn allows_exclusive(self) -> bool {
        !self.has(EXCLUSIVE | UPDATE) && self.shared() == 0
    }

    /// Whether the holder of the update latch may take X.
    pub(crate) fn allows_upgrade(self) -> bool {
        self.shared() == 0
    }

    /// Whether a failed read has told its last waiter, so that the frame can be used again.
    pub(crate) fn is_abandoned(self) -> bool {
        self.phase() == Phase::Failed && self.pins() == 0
    }

    /// Whether the page may be evicted: resident, clean, no I/O, nobody near it. Marks that only say that somebody
    /// was here (`QUEUED`, a wake-up bit left behind) do not matter.
    pub(crate) fn is_replaceable(self) -> bool {
        self.0 & !(QUEUED | WAITERS | WRITER_WAITING) == Phase::Resident.bits()
    }
}

impl std::fmt::Debug for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Word")
            .field("phase", &self.phase())
            .field("pins", &self.pins())
            .field("shared", &self.shared())
            .field("update", &self.has(UPDATE))
            .field("exclusive", &self.has(EXCLUSIVE))
            .field("dirty", &self.has(DIRTY))
            .field("writing", &self.has(WRITING))
            .finish_non_exhaustive()
    }
}
