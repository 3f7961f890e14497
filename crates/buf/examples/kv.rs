//! A storage engine to read in one sitting: a persistent key-value store over the buffer pool. A put that was acknowledged
//! survives a kill and a power cut, for its log record is on disk by then. Usage is at the end; DIR must exist.
#![allow(clippy::print_stdout, reason = "a program, not a library")]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use innopool_buf::store::{FileStore, FileStoreOptions};
use innopool_buf::{Hint, Log, Lsn, PageFormat, PageId, PageSize, Pool, PoolOptions};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
const PAGES: u32 = 1024;
const PAGE_BYTES: usize = PageSize::KIB_16.bytes();
const LOG_BYTES_MAX: u64 = 16 << 20;

/// A page: 4 bytes of checksum, 4 of page number, a line `KEY VALUE` for each key that hashes to it, and zeroes.
struct Buckets;
impl PageFormat for Buckets {
    fn verify(&self, page: PageId, bytes: &[u8]) -> Result<(), String> {
        let right = hash(&bytes[4..]).to_le_bytes() == bytes[..4]
            && page.page_no.to_le_bytes() == bytes[4..8];
        let never_written = bytes.iter().all(|&byte| byte == 0);
        (right || never_written).then_some(()).ok_or("wrong checksum or page number".to_owned())
    }
    fn seal(&self, page: PageId, _newest: Lsn, copy: &mut [u8]) {
        copy[4..8].copy_from_slice(&page.page_no.to_le_bytes());
        let sum = hash(&copy[4..]).to_le_bytes();
        copy[..4].copy_from_slice(&sum);
    }
}
/// FNV-1a, for it is short. A real engine takes CRC32C.
fn hash(bytes: &[u8]) -> u32 {
    let step = |sum: u32, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, step)
}
fn page_of(key: &str) -> PageId {
    PageId::new(1, hash(key.as_bytes()) % PAGES)
}
fn text(page: &[u8]) -> &str {
    std::str::from_utf8(&page[8..]).unwrap_or_default().trim_end_matches('\0')
}

/// The log: the whole new image of a page for each change, so that recovery needs nothing of the old page, which may
/// be torn. (A real engine logs the image once after a checkpoint, and from then on what changes.)
struct PageLog {
    file: File,
    end: AtomicU64, // an LSN: it goes on rising when the file is emptied
}
impl Log for PageLog {
    fn current_lsn(&self) -> Lsn {
        Lsn(self.end.load(SeqCst))
    }
    fn durable_lsn(&self) -> Lsn {
        Lsn(0) // not remembered: to sync again what is synced costs little
    }
    fn make_durable(&self, _lsn: Lsn) -> Result<(), String> {
        self.file.sync_data().unwrap_or_else(|_| std::process::abort());
        Ok(())
    }
}

struct Store {
    pool: Pool,
    log: Arc<PageLog>,
}
impl Store {
    fn open(dir: &str) -> Result<Store> {
        let file = File::options().append(true).create(true).open(format!("{dir}/log"))?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        let images = std::fs::read(format!("{dir}/log"))?;
        file.sync_data()?; // rule 6: what a killed process did not sync is about to reach the pages
        let files = FileStore::open(FileStoreOptions::new(PageSize::KIB_16))?;
        files.open_or_create_space(1, format!("{dir}/data").as_ref(), PAGES)?;
        let log = Arc::new(PageLog { file, end: 1.into() });
        let options = PoolOptions { size_bytes: 2 << 20, ..PoolOptions::default() }; // to see it evict
        let pool = Pool::new(options, Arc::new(files), log.clone(), Arc::new(Buckets))?;
        // Recovery: every page gets its last image. The log ends where one is not whole.
        let whole = |image: &&[u8]| hash(&image[4..]).to_le_bytes() == image[..4];
        for image in images.chunks_exact(PAGE_BYTES).take_while(whole) {
            let number = u32::from_le_bytes(image[4..8].try_into()?);
            let mut guard = pool.create(PageId::new(1, number))?; // made, not read
            guard.copy_from_slice(image);
            guard.mark_dirty(Lsn(1), Lsn(1))?;
        }
        let store = Store { pool, log };
        store.checkpoint()?;
        Ok(store)
    }
    /// Writes the changed pages, and empties the log if they then have all that is in it.
    fn checkpoint(&self) -> Result<()> {
        let end = self.log.current_lsn();
        self.pool.flush_to(end)?;
        if self.pool.checkpoint_lsn()? >= end {
            self.log.file.set_len(0)?;
            self.log.file.sync_all()?;
        }
        Ok(())
    }
    /// `&mut`: one writer, so that nobody appends during a checkpoint.
    fn put(&mut self, key: &str, value: &str) -> Result<()> {
        let (start, line) = (format!("{key} "), format!("{key} {value}"));
        let mut guard = self.pool.get_exclusive(page_of(key), Hint::Normal)?;
        let others = text(&guard).lines().filter(|line| !line.starts_with(&start));
        let lines: String = others.chain([&*line]).flat_map(|line| [line, "\n"]).collect();
        let mut image = [&[0; 8], lines.as_bytes()].concat();
        if key.contains(' ') || line.contains(['\0', '\n', '\r']) || image.len() > PAGE_BYTES {
            return Err("a blank in the key, a line end in either, or no room in the page".into());
        }
        image.resize(PAGE_BYTES, 0);
        Buckets.seal(page_of(key), Lsn(0), &mut image);
        // The log first, latched: in the order of changes. What a failure left there, the next start finds out.
        (&self.log.file).write_all(&image).unwrap_or_else(|_| std::process::abort());
        let start = Lsn(self.log.end.fetch_add(PAGE_BYTES as u64, SeqCst));
        guard.copy_from_slice(&image);
        guard.mark_dirty(start, self.log.current_lsn())?;
        drop(guard); // nobody shall wait for our sync but ourselves
        self.log.make_durable(self.log.current_lsn())?;
        if self.log.file.metadata()?.len() > LOG_BYTES_MAX { self.checkpoint() } else { Ok(()) }
    }
    fn get(&self, key: &str) -> Result<Option<String>> {
        let (guard, start) = (self.pool.get_shared(page_of(key), Hint::Normal)?, format!("{key} "));
        Ok(text(&guard).lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned))
    }
    fn scan(&self) -> Result<()> {
        for page in (0..PAGES).map(|number| PageId::new(1, number)) {
            // A scan comes once: its pages shall not push out those that gets come back to.
            print!("{}", text(&self.pool.get_shared(page, Hint::Scan)?));
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        [dir, "get", key] => println!("{}", Store::open(dir)?.get(key)?.ok_or("no such key")?),
        [dir, "scan"] => Store::open(dir)?.scan()?,
        [dir, "put", pairs @ ..] => {
            let mut store = Store::open(dir)?;
            for pair in pairs.chunks_exact(2) {
                store.put(pair[0], pair[1])?;
                println!("{}", pair[0]); // acknowledged
            }
        } // Pages that only the log has stay dirty here: the next start brings them back.
        _ => return Err("kv DIR put KEY VALUE [KEY VALUE]... | get KEY | scan".into()),
    }
    Ok(())
}
