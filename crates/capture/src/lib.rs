//! Recording the page accesses of a live MySQL, MariaDB or Percona server.

pub mod snapshots;
