//! A file store that is gone leaves no thread and no descriptor behind. Alone in its program, since it counts those of
//! the process.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod store_common;

use innopool_buf::store::Kind;
use innopool_buf::{PageId, PageSize};
use store_common::{Frames, open, run_batch, ways};

fn entries(directory: &str) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn nothing_is_left_of_a_store_that_was_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let mut frames = Frames::new(PageSize::KIB_16, 16);
    let pages: Vec<_> = (0..16).map(|no| PageId::new(1, no)).collect();
    let ways = ways(PageSize::KIB_16);
    let before = (entries("/proc/self/task"), entries("/proc/self/fd"));
    for _ in 0..20 {
        for options in &ways {
            let store = open(&options.clone().threads(4));
            store.create_space(1, &directory.path().join("t"), 16).unwrap();
            run_batch(&store, Kind::Read, &pages, &mut frames);
            store.drop_space(1).unwrap();
            drop(store);
            // The kernel takes a joined thread off the list, and a ring's workers, a moment later.
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while (entries("/proc/self/task"), entries("/proc/self/fd")) != before {
                assert!(std::time::Instant::now() < deadline, "{options:?} left something");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}
