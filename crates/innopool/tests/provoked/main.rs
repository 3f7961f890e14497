//! Each finding that can be provoked on a live server is provoked on one, and clears after its own
//! action is typed. docs/findings.md lists which are driven from saved evidence instead, and why.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod cgroup;
mod healthy;
mod load;
mod look;
mod memory;
mod resize;
mod settings;
mod size;
mod warmup;
mod writes;
