//! How far to grow a pool that is too small: to what the data needs, never past the budget.
//!
//! Counters cannot tell the working set, only that the pool is smaller than it; so the target is
//! all data with some room where that fits, else what the memory allows.

use crate::facts::Facts;
use crate::words;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// A step in growth.
pub(crate) enum Growth {
    /// Grow to this many bytes.
    To {
        /// The new size.
        bytes: u64,
        /// Why this size, in a sentence.
        reason: String,
    },
    /// There is no memory to grow into.
    NoRoom {
        /// What to do instead.
        reason: String,
    },
}

/// The next size for a pool of `size_bytes`.
pub(crate) fn grow(facts: &Facts<'_>, size_bytes: u64) -> Growth {
    let wanted = facts.data_bytes().map(|data| data.saturating_add(data / 10));
    let Some(budget) = &facts.budget else {
        let bytes = round_to_unit(facts, size_bytes.saturating_mul(2));
        let reason =
            "the host's memory is not known (give --host-memory): double the pool if that \
                      much is free, and look again"
                .to_owned();
        return Growth::To { bytes, reason };
    };
    // Where terms are assumed, people's rule of 75 % caps the sum.
    let ceiling = if budget.measured {
        budget.pool_bytes
    } else {
        budget.pool_bytes.min(budget.limit.value / 4 * 3)
    };
    let target = wanted.unwrap_or(ceiling).min(ceiling);
    // Up to a whole unit where that still fits, so that what is wanted is really covered.
    let up = target.div_ceil(unit_bytes(facts)).saturating_mul(unit_bytes(facts));
    let bytes = if up <= ceiling { up } else { round_to_unit(facts, target) };
    if bytes <= size_bytes.saturating_add(size_bytes / 20) {
        return Growth::NoRoom {
            reason: format!(
                "the pool already has what its memory budget allows ({}): more memory, or fewer \
                 reads (indexes, archived rows), is what helps",
                words::bytes(budget.pool_bytes)
            ),
        };
    }
    let reason = match wanted {
        Some(wanted) if wanted <= ceiling => {
            format!("grow to {}: all data and a tenth more", words::bytes(bytes))
        }
        _ if ceiling < budget.pool_bytes => format!(
            "grow towards {}: three quarters of memory, for parts of its budget of {} are assumed",
            words::bytes(bytes),
            words::bytes(budget.pool_bytes)
        ),
        _ => format!(
            "grow towards {}: its memory budget allows {}",
            words::bytes(bytes),
            words::bytes(budget.pool_bytes)
        ),
    };
    Growth::To { bytes, reason }
}

/// The nearest size this server can have: down to a whole number of its units, but at least one.
pub(crate) fn round_to_unit(facts: &Facts<'_>, bytes: u64) -> u64 {
    let unit = unit_bytes(facts);
    let down = bytes / unit * unit;
    let down = if down == 0 { bytes.div_ceil(unit).saturating_mul(unit) } else { down };
    // MySQL refuses to go below 1 GB with several instances.
    let several = facts.pool.instances.as_ref().is_some_and(|fact| fact.value > 1);
    if several && down < GIB && facts.dialect.has_chunks() { GIB } else { down }
}

/// Sizes are multiples of chunk times instances where chunks exist, of 1 MB elsewhere.
pub(crate) fn unit_bytes(facts: &Facts<'_>) -> u64 {
    let chunk = facts
        .now
        .setting_bytes("innodb_buffer_pool_chunk_size")
        .map(|fact| fact.value)
        .filter(|bytes| *bytes >= MIB)
        .unwrap_or_else(|| {
            // A pool smaller than a chunk is one chunk.
            let size = facts.pool.size_bytes.as_ref().map_or(u64::MAX, |fact| fact.value);
            (size / MIB * MIB).clamp(MIB, 128 * MIB)
        });
    if !facts.dialect.has_chunks() {
        return if facts.dialect.has_size_max() { MIB } else { 128 * MIB };
    }
    let instances = if facts.dialect.has_instances() {
        facts.pool.instances.as_ref().map_or(1, |fact| fact.value.clamp(1, 64))
    } else {
        1
    };
    chunk.saturating_mul(instances)
}
