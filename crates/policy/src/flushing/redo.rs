//! How full the redo log may get: its capacity, and the ages at which writing pages becomes urgent.
//!
//! The age of a page's oldest modification is how much log has been written since. The log can be
//! reused only up to the oldest of them, so an age near the capacity means that soon nobody can write.
//! A server derives a ladder of ages from the size of its log files, with room left for the threads
//! that are in the middle of a change.

use super::cut;

/// The ladder of ages, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedoLimits {
    /// What `innodb_adaptive_flushing_lwm` is a percentage of.
    pub capacity_bytes: u64,
    /// The flushing formula's 100 %; from here on it counts age even with adaptive flushing off.
    pub dirty_age_limit_bytes: u64,
    /// From here on age is urgent.
    pub async_age_bytes: u64,
    /// From here on the page cleaner flushes without regard to rates.
    pub sync_age_bytes: u64,
    /// From here on checkpoints are written more often.
    pub checkpoint_age_bytes: u64,
    /// From here on threads wait before they begin a change.
    pub free_check_age_bytes: u64,
}

/// How urgent the log's age makes flushing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Urgency {
    /// Adaptive flushing alone decides.
    Adaptive,
    /// Age counts, adaptive flushing being on or off.
    Asynchronous,
    /// The page cleaner flushes up to the limit at once.
    Synchronous,
    /// Threads that change pages wait.
    Blocked,
}

impl RedoLimits {
    /// How urgent an oldest modification of this age is.
    pub fn urgency(&self, age_bytes: u64) -> Urgency {
        if age_bytes >= self.free_check_age_bytes {
            Urgency::Blocked
        } else if age_bytes >= self.sync_age_bytes {
            Urgency::Synchronous
        } else if age_bytes >= self.async_age_bytes {
            Urgency::Asynchronous
        } else {
            Urgency::Adaptive
        }
    }

    /// MySQL 5.7: `files` files of `file_bytes` each, `page_bytes` the page size, `threads` of
    /// `innodb_thread_concurrency`.
    pub fn mysql57(files: u64, file_bytes: u64, page_bytes: u64, threads: u64) -> RedoLimits {
        let all = file_bytes.saturating_sub(FILE_HEADER_BYTES).saturating_mul(files);
        let capacity_bytes = all - all / 10;
        let free = page_bytes.saturating_mul(thread_pages(threads) + EXTRA_FREE_PAGES);
        let margin = less_tenth(capacity_bytes.saturating_sub(free));
        RedoLimits {
            capacity_bytes,
            dirty_age_limit_bytes: margin - margin / 8,
            async_age_bytes: margin - margin / 8,
            sync_age_bytes: margin - margin / 16,
            checkpoint_age_bytes: margin - margin / 32,
            free_check_age_bytes: margin,
        }
    }

    /// MySQL 8.0.30 on: `innodb_redo_log_capacity` in bytes, in 32 files.
    pub fn mysql80(redo_log_capacity_bytes: u64, page_bytes: u64, threads: u64) -> RedoLimits {
        let file = redo_log_capacity_bytes / FILES;
        let usable = (file * (FILES - 2))
            .saturating_sub((FILES - 1) * FILE_HEADER_BYTES)
            .saturating_sub(WRITE_AHEAD_BYTES)
            .saturating_sub(file / 10);
        let hard = usable - usable % BLOCK_BYTES;
        let soft = cut(hard as f64 * 0.95);
        let margin = page_bytes.saturating_mul(thread_pages(threads)).saturating_add(soft / 20);
        let free_check_age_bytes = soft.saturating_sub(margin);
        RedoLimits {
            capacity_bytes: free_check_age_bytes,
            dirty_age_limit_bytes: (soft - soft / 8).saturating_sub(margin),
            async_age_bytes: soft - soft / 8,
            sync_age_bytes: soft - soft / 16,
            checkpoint_age_bytes: soft - soft / 32,
            free_check_age_bytes,
        }
    }

    /// MariaDB: one file of `file_bytes`.
    pub fn mariadb(file_bytes: u64, page_bytes: u64) -> RedoLimits {
        let capacity_bytes =
            less_tenth(file_bytes).saturating_sub(page_bytes.saturating_mul(MARIADB_FREE_PAGES));
        let margin = less_tenth(capacity_bytes);
        RedoLimits {
            capacity_bytes,
            dirty_age_limit_bytes: margin - margin / 8,
            async_age_bytes: margin - margin / 8,
            sync_age_bytes: margin,
            checkpoint_age_bytes: margin,
            free_check_age_bytes: margin,
        }
    }
}

const FILES: u64 = 32;
const FILE_HEADER_BYTES: u64 = 2048;
const BLOCK_BYTES: u64 = 512;
const WRITE_AHEAD_BYTES: u64 = 128 * 1024;
const EXTRA_FREE_PAGES: u64 = 8;
const MARIADB_FREE_PAGES: u64 = 48;

/// Room for each thread to end the change it is in the middle of.
fn thread_pages(threads: u64) -> u64 {
    threads.saturating_add(10).saturating_mul(4)
}

fn less_tenth(bytes: u64) -> u64 {
    bytes - bytes / 10
}
