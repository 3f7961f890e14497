//! The sizes a server can have: those that it does not round to something else, now or at its next
//! start.

use crate::facts::Facts;
use crate::growth::unit_bytes;
use crate::rounding::Rounding;

const MIB: u64 = 1024 * 1024;

/// No pool is larger; keeps sums of sizes far from the end of the numbers.
const POOL_BYTES_MAX: u64 = 1 << 56;

/// So many sizes are tried where units change; more than any server has steps in a unit.
const SEARCH_MAX: u64 = 1 << 18;

/// The sizes of one server.
pub(crate) struct Steps<'o> {
    rounding: Rounding<'o>,
    /// What an online resize rounds up to.
    online_unit_bytes: u64,
}

impl<'o> Steps<'o> {
    pub(crate) fn of(facts: &Facts<'o>) -> Self {
        // A server that cannot resize online rounds at its start alone.
        let online_unit_bytes =
            if facts.dialect.can_resize() { unit_bytes(facts).max(1) } else { 1 };
        Self { rounding: Rounding::of(facts), online_unit_bytes }
    }

    /// What the server makes of a size, by the larger of its two ways: `SET` and a start.
    ///
    /// They differ where the pool was started smaller than a chunk, which made its chunks smaller.
    pub(crate) fn made_of(&self, bytes: u64) -> u64 {
        let start = self.rounding.effective(bytes).size_bytes;
        match bytes.checked_next_multiple_of(self.online_unit_bytes) {
            Some(online) if self.online_unit_bytes <= bytes => start.max(online),
            _ => start,
        }
    }

    /// The largest size not above `bytes` that a start keeps as it is, and that an online resize
    /// makes no larger than `bytes`; `None` when even the smallest is above.
    pub(crate) fn down(&self, bytes: u64) -> Option<u64> {
        let limit = bytes.min(POOL_BYTES_MAX);
        let reachable = match limit / self.online_unit_bytes {
            0 => limit,
            units => units * self.online_unit_bytes,
        };
        let mut size = reachable / MIB * MIB;
        for _ in 0..SEARCH_MAX {
            if size < MIB {
                return None;
            }
            let start = self.rounding.effective(size);
            if start.size_bytes == size {
                return Some(size);
            }
            let below = size / start.unit_bytes * start.unit_bytes;
            let there = self.rounding.effective(below);
            // Where the unit is the same, nothing lies between; where it changes, look closely.
            let same = there.unit_bytes == start.unit_bytes && there.size_bytes == below;
            size = if same { below } else { size - MIB };
        }
        None
    }

    /// A size not below `bytes` that a start keeps as it is: what rounding up leads to.
    pub(crate) fn up(&self, bytes: u64) -> u64 {
        let mut size = bytes.clamp(MIB, POOL_BYTES_MAX).next_multiple_of(MIB);
        // Rounding up can change the unit a few times, and each time only upward.
        for _ in 0..16 {
            let start = self.rounding.effective(size).size_bytes;
            if start <= size {
                break;
            }
            size = start;
        }
        size
    }
}
