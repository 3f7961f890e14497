//! What is asked of a recording.

use std::time::Duration;

use innopool_policy::Variant;

/// A question. The default asks for the usual sizes under the server's own rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// Pool sizes, in bytes. Empty: a grid from a quarter of the recorded size to four times it. The
    /// recorded size is answered in any case.
    pub sizes: Vec<u64>,
    /// Another replacement policy than the server's.
    pub policy: Option<Variant>,
    /// Another `innodb_old_blocks_time` than the server's.
    pub old_blocks_time: Option<Duration>,
    /// Transactions done while it was recorded, where the recording does not tell.
    pub transactions: Option<u64>,
    /// Share of the pages to look at, above 0 and below 1; `None` looks at all as long as they fit into
    /// memory.
    pub sampling: Option<f64>,
    /// Threads to replay with; 0 is as many as the machine has processors.
    pub threads: usize,
}
