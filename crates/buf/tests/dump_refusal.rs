//! When a dump may replace the one that is there.

mod dump_common;

use std::time::Duration;

use dump_common::{PAGE_SIZE, Place, SPACES, get, load, page, pages_of, pool, store, text_of};
use innopool_buf::dump::{DumpOptions, LoadControl, LoadOptions};
use innopool_buf::{PoolError, ResizeControl};

const KEEP: DumpOptions = DumpOptions { percent: 100, replace_fuller: false };
const REPLACE: DumpOptions = DumpOptions { percent: 100, replace_fuller: true };

#[test]
fn a_half_warm_pool_does_not_replace_a_fuller_dump_unless_told() {
    let place = Place::new();
    let store = store(1000);
    let path = place.write(text_of((0..500).map(page)));
    let before = std::fs::read(&path).unwrap();
    let (pool, _) = pool(&store, 900);
    (0..499).for_each(|number| get(&pool, page(number)));
    match pool.dump(&path, &KEEP).unwrap_err() {
        PoolError::FullerDump { kept_pages, pages, path: named } => {
            assert_eq!((kept_pages, pages), (500, 499));
            assert_eq!(named, path.display().to_string());
        }
        other => panic!("{other}"),
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(
        std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "nothing else is left"
    );
    pool.dump(&path, &REPLACE).unwrap();
    assert_eq!(pages_of(&path).len(), 499);
}

#[test]
fn a_dump_with_as_many_pages_replaces() {
    let place = Place::new();
    let store = store(1000);
    let path = place.write(text_of((0..500).map(page)));
    let (pool, _) = pool(&store, 900);
    (400..900).for_each(|number| get(&pool, page(number)));
    pool.dump(&path, &KEEP).unwrap();
}

#[test]
fn pages_that_are_gone_listed_twice_or_garbled_do_not_count() {
    let place = Place::new();
    let store = store(1000);
    let mut text = text_of((0..500).map(page));
    text += &text_of((0..300).map(page));
    text += "7,1\n7,2\nwhat is this?\n3,1000\n3,4294967295\n";
    let path = place.write(text);
    let (pool, _) = pool(&store, 900);
    (0..499).for_each(|number| get(&pool, page(number)));
    assert!(matches!(
        pool.dump(&path, &KEEP),
        Err(PoolError::FullerDump { kept_pages: 500, pages: 499, .. })
    ));
    get(&pool, page(999));
    pool.dump(&path, &KEEP).unwrap();
}

#[test]
fn after_a_whole_load_a_smaller_dump_replaces_and_after_a_cancelled_one_it_does_not() {
    let place = Place::new();
    let store = store(1000);
    let path = place.write(text_of((0..500).map(page)));
    let (pool, _) = pool(&store, 900);
    let control = LoadControl::new();
    control.cancel();
    let report = pool.load(&path, &LoadOptions::default(), &control).unwrap();
    assert_eq!((report.loaded_pages, report.cancelled_pages), (0, 500));
    assert!(matches!(pool.dump(&path, &KEEP), Err(PoolError::FullerDump { .. })));
    load(&pool, &path).unwrap();
    (0..100).for_each(|number| pool.discard(page(number)).unwrap());
    let quarter = DumpOptions { percent: 25, ..KEEP };
    assert_eq!(pool.dump(&path, &quarter).unwrap().pages, 100);
}

#[test]
fn a_load_of_a_small_file_says_nothing_about_a_fuller_one() {
    let place = Place::new();
    let store = store(1000);
    let small = place.path("small");
    std::fs::write(&small, text_of((0..10).map(page))).unwrap();
    let path = place.write(text_of((0..500).map(page)));
    let (pool, _) = pool(&store, 900);
    load(&pool, &small).unwrap();
    assert!(matches!(pool.dump(&path, &KEEP), Err(PoolError::FullerDump { .. })));
}

#[test]
fn a_pool_that_was_full_is_believed_however_small() {
    let place = Place::new();
    let store = store(1000);
    let path = place.write(text_of((0..500).map(page)));
    let (smaller, _) = pool(&store, 64);
    (0..64).for_each(|number| get(&smaller, page(number)));
    smaller.dump(&path, &KEEP).unwrap();
    assert_eq!(smaller.stats().evicted, 0, "full, and no more");

    let path = place.write(text_of((0..500).map(page)));
    let (shrunk, _) = pool(&store, 900);
    (0..400).for_each(|number| get(&shrunk, page(number)));
    assert!(matches!(shrunk.dump(&path, &KEEP), Err(PoolError::FullerDump { .. })));
    let to = 100 * PAGE_SIZE.bytes() as u64;
    shrunk.resize(to, Duration::from_secs(10), &ResizeControl::default()).unwrap();
    shrunk.dump(&path, &KEEP).unwrap();
    assert!(pages_of(&path).len() <= 100);
}

#[test]
fn a_dropped_tablespace_frees_the_dump_from_its_pages() {
    let place = Place::new();
    let store = store(1000);
    let other = |number| innopool_buf::PageId::new(SPACES[1], number);
    let path = place.write(text_of((0..500).map(page).chain((0..500).map(other))));
    let (pool, _) = pool(&store, 1500);
    (0..500).for_each(|number| get(&pool, page(number)));
    assert!(matches!(pool.dump(&path, &KEEP), Err(PoolError::FullerDump { .. })));
    store.drop_space(SPACES[1]).unwrap();
    pool.dump(&path, &KEEP).unwrap();
}

#[test]
fn what_cannot_be_compared_is_not_replaced() {
    let place = Place::new();
    let (pool, _) = pool(&store(100), 64);
    get(&pool, page(1));
    let directory = place.path("directory");
    std::fs::create_dir(&directory).unwrap();
    let error = pool.dump(&directory, &KEEP).unwrap_err();
    assert!(matches!(error, PoolError::File { .. }), "{error}");
    assert!(directory.is_dir());
}
