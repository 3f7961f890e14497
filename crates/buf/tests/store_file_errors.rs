//! What a file store says when something is wrong, and that it goes on or ends as it should.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod store_common;

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use innopool_buf::store::{
    Completion, Direct, Engine, Fault, FileError, FileStore, FileStoreOptions, Kind, Method,
    PageStore, StoreError,
};
use innopool_buf::{PageId, PageSize};
use store_common::{Frames, Outcomes, is_stamped, open, operation, run_batch, stamp, ways};

const SIZE: PageSize = PageSize::KIB_16;

#[test]
fn a_page_beyond_the_end_and_an_unknown_space_fail_alone() {
    for options in ways(SIZE) {
        let store = open(&options);
        let directory = tempfile::tempdir().unwrap();
        store.create_space(1, &directory.path().join("1"), 4).unwrap();
        let mut frames = Frames::new(SIZE, 7);
        let pages: Vec<_> =
            (1..7).map(|no| PageId::new(1, no)).chain([PageId::new(9, 0)]).collect();
        let ended = run_batch(&store, Kind::Read, &pages, &mut frames);
        for frame in 0..3 {
            assert!(ended[&frame].is_ok(), "{ended:?}");
            assert!(frames.get(usize::try_from(frame).unwrap()).iter().all(|&byte| byte == 0));
        }
        for frame in 3..6 {
            let error = ended[&frame].as_ref().unwrap_err();
            assert!(matches!(error.fault, Fault::BeyondEnd { pages: 4 }), "{error}");
        }
        let error = ended[&6].as_ref().unwrap_err();
        assert_eq!(error.to_string(), "reading page 9:0: there is no tablespace 9");
        let error = store.write(PageId::new(1, 4), frames.get(0)).unwrap_err();
        assert_eq!(error.to_string(), "writing page 1:4: the tablespace ends after 4 pages");
        assert!(matches!(store.sync(9).unwrap_err().fault, Fault::NoSuchSpace(9)));
        assert!(matches!(store.space_pages(9).unwrap_err().fault, Fault::NoSuchSpace(9)));
        assert!(matches!(store.extend_space(9, 1), Err(FileError::NoSuchSpace { space: 9 })));
        assert!(matches!(store.drop_space(9), Err(FileError::NoSuchSpace { space: 9 })));
    }
}

#[test]
fn a_file_cut_behind_our_back_is_a_short_read_of_the_pages_behind_the_cut() {
    // Within a page, at a multiple of a sector and not at one.
    for cut in [3 * 16384 + 4096, 3 * 16384 + 700, 3 * 16384] {
        for options in ways(SIZE) {
            let store = open(&options);
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("1");
            store.create_space(1, &path, 8).unwrap();
            let pages: Vec<_> = (0..8).map(|no| PageId::new(1, no)).collect();
            let mut frames = Frames::new(SIZE, 8);
            for (frame, &page) in pages.iter().enumerate() {
                stamp(frames.get_mut(frame), page, 1);
            }
            run_batch(&store, Kind::Write, &pages, &mut frames);
            File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
            let mut frames = Frames::new(SIZE, 8);
            let ended = run_batch(&store, Kind::Read, &pages, &mut frames);
            let left = usize::try_from(cut - 3 * 16384).unwrap();
            for (frame, &page) in pages.iter().enumerate() {
                let outcome = &ended[&(frame as u64)];
                if frame < 3 {
                    assert!(outcome.is_ok() && is_stamped(frames.get(frame), page, 1));
                    continue;
                }
                let expected = if frame == 3 { left } else { 0 };
                let fault = &outcome.as_ref().unwrap_err().fault;
                assert!(
                    matches!(*fault, Fault::ShortRead { read_bytes, page_bytes: 16384 } if read_bytes == expected),
                    "page {page}, cut at {cut}, {options:?}: {fault:?}"
                );
            }
            let error = store.read(pages[3], frames.get_mut(0)).unwrap_err();
            assert!(
                matches!(error.fault, Fault::ShortRead { read_bytes, .. } if read_bytes == left),
                "{error}"
            );
        }
    }
}

#[test]
fn a_file_of_an_odd_size_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("odd");
    File::create(&path).unwrap().set_len(3 * 16384 + 512).unwrap();
    let store = FileStore::open(FileStoreOptions::new(SIZE)).unwrap();
    let error = store.open_space(1, &path).unwrap_err();
    assert!(matches!(error, FileError::OddSize { bytes: 49664, page_bytes: 16384, .. }), "{error}");
    // A file of pages of another size is found out where the sizes differ so.
    File::options().write(true).open(&path).unwrap().set_len(3 * 4096).unwrap();
    assert!(matches!(store.open_space(1, &path), Err(FileError::OddSize { .. })));
    assert!(matches!(store.space_pages(1).unwrap_err().fault, Fault::NoSuchSpace(1)));
}

#[test]
fn a_file_that_exists_is_not_made_anew_and_a_missing_one_is_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t");
    std::fs::write(&path, [5; 16384]).unwrap();
    let store = FileStore::open(FileStoreOptions::new(SIZE)).unwrap();
    let error = store.create_space(1, &path, 1).unwrap_err();
    assert!(
        matches!(&error, FileError::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), [5; 16384]);
    let error = store.open_space(1, &directory.path().join("absent")).unwrap_err();
    assert!(
        matches!(&error, FileError::Io { source, .. } if source.kind() == ErrorKind::NotFound),
        "{error}"
    );
    assert!(error.to_string().contains("absent"));
    assert_eq!(store.open_space(1, &path).unwrap(), 1);
    let error = store.open_space(1, &path).unwrap_err();
    assert!(matches!(error, FileError::AlreadyOpen { space: 1, .. }), "{error}");
    assert!(matches!(store.create_space(1, &path, 1), Err(FileError::AlreadyOpen { .. })));
    store.drop_space(1).unwrap();
    assert!(!path.exists());
    store.create_space(1, &path, 1).unwrap();
}

#[test]
fn a_tablespace_holds_less_than_two_to_the_32_pages() {
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(FileStoreOptions::new(PageSize::KIB_4)).unwrap();
    store.create_space(1, &directory.path().join("1"), 2).unwrap();
    let error = store.extend_space(1, u32::MAX - 1).unwrap_err();
    assert!(matches!(error, FileError::TooManyPages { pages: 4_294_967_296, .. }), "{error}");
    assert_eq!(store.space_pages(1).unwrap(), 2);
}

#[test]
fn options_out_of_range_are_named() {
    let options = FileStoreOptions::new(SIZE);
    for (options, name) in [
        (options.clone().queue_depth(0), "queue_depth is 0"),
        (options.clone().queue_depth(4097), "queue_depth is 4097"),
        (options.clone().threads(0), "threads is 0"),
        (options.clone().threads(1025), "threads is 1025"),
    ] {
        let error = FileStore::open(options).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[test]
fn a_frame_that_direct_io_cannot_use_is_refused_before_the_kernel_sees_it() {
    let directory = tempfile::tempdir().unwrap();
    for options in ways(SIZE) {
        let store = open(&options);
        let path = directory.path().join("t");
        store.create_space(1, &path, 1).unwrap();
        let mut frames = Frames::new(SIZE, 2);
        let page = PageId::new(1, 0);
        let error = store.read(page, &mut frames.get_mut(0)[..4096]).unwrap_err();
        assert!(matches!(error.fault, Fault::Device { kind: ErrorKind::InvalidInput, .. }));
        let mut memory = vec![0; 16384 * 2];
        let odd = 1 + memory.as_ptr().addr() % 2;
        let result = store.read(page, &mut memory[odd..odd + 16384]);
        if store.direct(1).unwrap().direct {
            let error = result.unwrap_err();
            assert!(error.to_string().contains("not aligned"), "{error}");
        } else {
            result.unwrap();
        }
        store.drop_space(1).unwrap();
    }
}

#[test]
fn the_store_says_what_it_uses() {
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(FileStoreOptions::new(SIZE)).unwrap();
    match store.method() {
        Engine::Uring { .. } | Engine::Threads { fallback: Some(_) } => {}
        other => panic!("a probe ends in io_uring or in a reason, not in {other:?}"),
    }
    store.create_space(1, &directory.path().join("1"), 1).unwrap();
    let mode = store.direct(1).unwrap();
    assert_eq!(mode.direct, mode.fallback.is_none());
    assert!(mode.memory_alignment_bytes.is_power_of_two());
}

/// A file system of 1 MiB in memory, gone when dropped. `None`, loudly, where it cannot be mounted.
struct Tiny(PathBuf, #[allow(dead_code, reason = "removed when dropped")] tempfile::TempDir);

impl Tiny {
    fn mount() -> Option<Tiny> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let mount = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        if mount(Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&path)) {
            return Some(Tiny(path, directory));
        }
        eprintln!("SKIPPED: no tmpfs can be mounted here");
        None
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_and_undone() {
    let Some(tiny) = Tiny::mount() else { return };
    for options in ways(SIZE) {
        let store = open(&options.clone().direct(match options.direct {
            Direct::Always => Direct::WhenPossible,
            other => other,
        }));
        let path = tiny.0.join("big");
        let full = |error: &FileError| matches!(error, FileError::Io { source, .. } if source.kind() == ErrorKind::StorageFull);
        let error = store.create_space(1, &path, 100).unwrap_err();
        assert!(full(&error), "{error}");
        assert!(!path.exists(), "a file that could not be made must not stay");
        store.create_space(1, &path, 32).unwrap();
        let error = store.extend_space(1, 64).unwrap_err();
        assert!(full(&error), "{error}");
        assert_eq!(store.space_pages(1).unwrap(), 32);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 32 * 16384);
        assert_eq!(store.extend_space(1, 8).unwrap(), 40);
        // A sparse file: its pages exist, and the disk has no room for all of them.
        let sparse = tiny.0.join("sparse");
        File::create(&sparse).unwrap().set_len(64 * 16384).unwrap();
        store.open_space(2, &sparse).unwrap();
        let pages: Vec<_> = (0..64).map(|no| PageId::new(2, no)).collect();
        let mut frames = Frames::new(SIZE, 64);
        for (frame, &page) in pages.iter().enumerate() {
            stamp(frames.get_mut(frame), page, 1);
        }
        let ended = run_batch(&store, Kind::Write, &pages, &mut frames);
        let failed = ended.values().filter_map(|outcome| outcome.as_ref().err());
        for error in failed.clone() {
            assert!(
                matches!(error.fault, Fault::Device { kind: ErrorKind::StorageFull, .. }),
                "{error}"
            );
        }
        assert!((30..64).contains(&failed.count()), "{options:?}: {ended:?}");
        // Those that are said to be written are.
        let mut back = Frames::new(SIZE, 1);
        for &page in pages.iter().filter(|page| ended[&u64::from(page.page_no)].is_ok()) {
            store.read(page, back.get_mut(0)).unwrap();
            assert!(is_stamped(back.get(0), page, 1));
        }
        store.drop_space(1).unwrap();
        store.drop_space(2).unwrap();
    }
}

#[test]
fn a_file_system_that_is_read_only_refuses_at_opening() {
    let Some(tiny) = Tiny::mount() else { return };
    let path = tiny.0.join("t");
    File::create(&path).unwrap().set_len(16384).unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&tiny.0).status().unwrap();
    assert!(remounted.success());
    let store = FileStore::open(FileStoreOptions::new(SIZE)).unwrap();
    let error = store.open_space(1, &path).unwrap_err();
    assert!(
        matches!(&error, FileError::Io { doing: "opening", source, .. } if source.kind() == ErrorKind::ReadOnlyFilesystem),
        "{error}"
    );
}

#[test]
fn dropping_the_store_ends_every_operation_and_every_thread() {
    for options in ways(PageSize::KIB_4) {
        let store = open(&options.queue_depth(2).threads(2));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1");
        store.create_space(1, &path, 4000).unwrap();
        let mut frames = Frames::new(PageSize::KIB_4, 4000);
        let outcomes = Outcomes::new();
        let mut batch = Vec::new();
        for frame in 0..4000_u32 {
            let page = PageId::new(1, frame);
            stamp(frames.get_mut(frame as usize), page, 4);
            batch.push(operation(Kind::Write, page, &mut frames, frame as usize, &outcomes));
        }
        store.start(&mut batch);
        drop(store);
        assert_eq!(outcomes.count(), 4000, "dropping waits");
        assert!(outcomes.wait(4000).values().all(Result::is_ok));
        assert_eq!(Arc::strong_count(&outcomes), 1, "nobody holds an operation any more");
        let file = File::open(&path).unwrap();
        let mut page = vec![0; 4096];
        for no in [0, 1999, 3999] {
            file.read_exact_at(&mut page, u64::from(no) * 4096).unwrap();
            assert!(is_stamped(&page, PageId::new(1, no), 4));
        }
    }
}

/// Holds the store, as a pool would, and lets go of it within a completion.
struct LastHolder {
    store: Mutex<Option<Arc<FileStore>>>,
    told: Mutex<Sender<()>>,
}

impl Completion for LastHolder {
    fn completed(&self, _token: u64, result: Result<(), StoreError>) {
        result.unwrap();
        let store = self.store.lock().unwrap().take();
        drop(store);
        self.told.lock().unwrap().send(()).unwrap();
    }
}

#[test]
#[allow(unsafe_code, reason = "operations lend frames")]
fn a_completion_may_drop_the_last_handle_of_the_store() {
    for options in ways(SIZE) {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(open(&options));
        store.create_space(1, &directory.path().join("1"), 1).unwrap();
        let mut frames = Frames::new(SIZE, 1);
        let (told, wait) = channel();
        let holder = Arc::new(LastHolder {
            store: Mutex::new(Some(Arc::clone(&store))),
            told: Mutex::new(told),
        });
        let buffer = std::ptr::NonNull::from(frames.get_mut(0));
        // SAFETY: the frame is left alone until the completion has told.
        let read = unsafe {
            innopool_buf::store::Operation::new(Kind::Read, PageId::new(1, 0), buffer, 0, holder)
        };
        let mut batch = vec![read];
        let weak = Arc::downgrade(&store);
        store.start(&mut batch);
        drop(store);
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(weak.upgrade().is_none());
    }
}

/// Panics for every token but the last.
struct Panicking(Mutex<Sender<()>>);

impl Completion for Panicking {
    fn completed(&self, token: u64, _result: Result<(), StoreError>) {
        assert!(token == 9, "this panic is part of the test");
        self.0.lock().unwrap().send(()).unwrap();
    }
}

#[test]
#[allow(unsafe_code, reason = "operations lend frames")]
fn a_completion_that_panics_stops_nobody_else() {
    for options in ways(SIZE) {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&options.threads(1));
        store.create_space(1, &directory.path().join("1"), 10).unwrap();
        let mut frames = Frames::new(SIZE, 10);
        let (told, wait) = channel();
        let completion: Arc<dyn Completion> = Arc::new(Panicking(Mutex::new(told)));
        for token in 0..10_u32 {
            let buffer = std::ptr::NonNull::from(frames.get_mut(token as usize));
            // SAFETY: the frames are left alone until the store is gone.
            let read = unsafe {
                innopool_buf::store::Operation::new(
                    Kind::Read,
                    PageId::new(1, token),
                    buffer,
                    u64::from(token),
                    Arc::clone(&completion),
                )
            };
            store.start(&mut vec![read]);
        }
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
        drop(store);
    }
}

#[test]
fn io_uring_that_is_required_and_missing_is_an_error_with_its_reason() {
    let asked = FileStore::open(FileStoreOptions::new(SIZE).method(Method::Uring));
    match (asked, FileStore::open(FileStoreOptions::new(SIZE)).unwrap().method()) {
        (Ok(_), Engine::Uring { .. }) => {}
        (Err(FileError::NoUring { reason }), Engine::Threads { fallback: Some(same) }) => {
            assert_eq!(&reason, same);
        }
        (asked, probed) => panic!("{asked:?} when required, {probed:?} when probed"),
    }
}

#[test]
fn a_file_is_one_tablespace_and_an_ordinary_file() {
    let store = FileStore::open(FileStoreOptions::new(SIZE)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("1"), directory.path().join("link"));
    store.create_space(1, &path, 4).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let error = store.open_space(2, &link).unwrap_err();
    assert!(matches!(error, FileError::SameFile { other: 1, .. }), "{error}");
    assert!(matches!(store.space_pages(2).unwrap_err().fault, Fault::NoSuchSpace(2)));
    let error = store.open_space(3, "/dev/null".as_ref()).unwrap_err();
    assert!(matches!(error, FileError::NotAFile { .. }), "{error}");
}
