//! The file of one tablespace: how it is opened, made, grown and synced.
//!
//! A file is opened in one mode for as long as the store lives, since the page cache and direct I/O on the same
//! file do not see each other's bytes reliably, and stays open, since an error of writing back is reported only
//! to descriptors that were open when it happened.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, FallocateFlags, OFlags, StatxFlags};
use rustix::io::Errno;

use super::super::Fault;
use super::super::lock::lock;
use super::error::FileError;
use super::options::{Direct, OpenMode};
use super::positioned;
use crate::page_size::PageSize;

/// Alignment assumed where the kernel does not tell: the largest logical sector in use.
const ASSUMED_ALIGNMENT_BYTES: u32 = 4096;

/// An open tablespace.
#[derive(Debug)]
pub(super) struct SpaceFile {
    path: PathBuf,
    /// Device and inode: the file itself, whatever path leads to it.
    identity: (u64, u64),
    file: File,
    page_size: PageSize,
    mode: OpenMode,
    /// Pages that exist for sure: set after the file has grown and the growth is durable.
    pages: AtomicU32,
    growth: Mutex<()>,
    /// The first sync that failed. The kernel reports an error of writing back once and then calls the pages clean,
    /// so syncs are taken one at a time and none succeeds after one has failed.
    failed_sync: Mutex<Option<Fault>>,
}

impl SpaceFile {
    /// Makes the file, `pages` pages of zeroes, durably. It must not exist.
    pub(super) fn create(
        path: &Path,
        pages: u32,
        page_size: PageSize,
        direct: Direct,
    ) -> Result<SpaceFile, FileError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(FileError::io("creating", path))?;
        let created = SpaceFile::from_file(file, path, page_size, direct).and_then(|space| {
            space.extend(pages)?;
            space.sync_all("creating")?;
            sync_parent(path)?;
            Ok(space)
        });
        if created.is_err() {
            // The error at hand matters more than one of cleaning up, and the file holds nothing.
            let _ = std::fs::remove_file(path);
        }
        created
    }

    /// Opens an existing file.
    pub(super) fn open(
        path: &Path,
        page_size: PageSize,
        direct: Direct,
    ) -> Result<SpaceFile, FileError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(FileError::io("opening", path))?;
        SpaceFile::from_file(file, path, page_size, direct)
    }

    fn from_file(
        file: File,
        path: &Path,
        page_size: PageSize,
        direct: Direct,
    ) -> Result<SpaceFile, FileError> {
        let metadata = file.metadata().map_err(FileError::io("measuring", path))?;
        if !metadata.is_file() {
            return Err(FileError::NotAFile { path: path.to_owned() });
        }
        let bytes = metadata.len();
        let pages = bytes >> page_size.log2();
        if page_size.bytes() as u64 * pages != bytes {
            let page_bytes = page_size.bytes();
            return Err(FileError::OddSize { path: path.to_owned(), bytes, page_bytes });
        }
        let pages = whole_pages(path, pages)?;
        let mode = set_mode(&file, path, page_size, direct)?;
        Ok(SpaceFile {
            path: path.to_owned(),
            identity: (metadata.dev(), metadata.ino()),
            file,
            page_size,
            mode,
            pages: AtomicU32::new(pages),
            growth: Mutex::new(()),
            failed_sync: Mutex::new(None),
        })
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Whether both are one file, by whatever paths.
    pub(super) fn is_same_file(&self, other: &SpaceFile) -> bool {
        self.identity == other.identity
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How it is open.
    pub(super) fn mode(&self) -> &OpenMode {
        &self.mode
    }

    /// The size of its pages.
    pub(super) fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Pages it has.
    pub(super) fn pages(&self) -> u32 {
        self.pages.load(Ordering::Acquire)
    }

    /// Checks that page `page_no` exists and that `frame` can be transferred to or from it.
    pub(super) fn check(&self, page_no: u32, frame: &[u8]) -> Result<(), Fault> {
        let pages = self.pages();
        if page_no >= pages {
            return Err(Fault::BeyondEnd { pages });
        }
        let page_bytes = self.page_size.bytes();
        if frame.len() != page_bytes {
            return Err(unusable(format!(
                "the frame has {} bytes, and a page has {page_bytes}",
                frame.len()
            )));
        }
        let alignment = self.mode.memory_alignment_bytes;
        if !frame.as_ptr().addr().is_multiple_of(alignment) {
            return Err(unusable(format!(
                "the frame at {:p} is not aligned to the {alignment} bytes that direct I/O needs",
                frame.as_ptr()
            )));
        }
        Ok(())
    }

    /// Adds `pages` pages of zeroes, durably, and returns how many there are then. When that fails the file keeps
    /// its old size.
    pub(super) fn extend(&self, pages: u32) -> Result<u32, FileError> {
        let _one_at_a_time = lock(&self.growth);
        let old = self.pages();
        let new = whole_pages(&self.path, u64::from(old) + u64::from(pages))?;
        if pages == 0 {
            return Ok(new);
        }
        let from = self.page_size.offset_bytes(old);
        let bytes = self.page_size.offset_bytes(pages);
        if let Err(error) = self.allocate(from, bytes) {
            // A file of an odd size would be refused at the next start. Nothing beyond `from` is in use yet.
            let _ = self.file.set_len(from);
            return Err(FileError::io("extending", &self.path)(error));
        }
        self.sync_all("extending")?;
        self.pages.store(new, Ordering::Release);
        Ok(new)
    }

    fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, bytes) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP) => return positioned::write_zeroes(&self.file, from, bytes),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes completed writes durable.
    pub(super) fn sync(&self) -> Result<(), Fault> {
        self.sync_once(|file| rustix::fs::fdatasync(file))
    }

    fn sync_all(&self, doing: &'static str) -> Result<(), FileError> {
        self.sync_once(|file| rustix::fs::fsync(file)).map_err(|fault| {
            FileError::io(doing, &self.path)(match fault {
                Fault::Device { kind, what } => io::Error::new(kind, what),
                other => io::Error::other(other),
            })
        })
    }

    fn sync_once(&self, sync: impl Fn(&File) -> rustix::io::Result<()>) -> Result<(), Fault> {
        let mut failed = lock(&self.failed_sync);
        if let Some(fault) = &*failed {
            return Err(fault.clone());
        }
        loop {
            match sync(&self.file) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => {
                    let fault = Fault::from(io::Error::from(error));
                    *failed = Some(fault.clone());
                    return Err(fault);
                }
            }
        }
    }
}

/// The fault of a frame that must not reach the kernel.
fn unusable(what: String) -> Fault {
    Fault::Device { kind: io::ErrorKind::InvalidInput, what }
}

fn whole_pages(path: &Path, pages: u64) -> Result<u32, FileError> {
    u32::try_from(pages).map_err(|_| FileError::TooManyPages { path: path.to_owned(), pages })
}

/// Makes the entry of `path` in its directory durable.
pub(super) fn sync_parent(path: &Path) -> Result<(), FileError> {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let directory = File::open(parent).map_err(FileError::io("opening", parent))?;
    directory.sync_all().map_err(FileError::io("syncing", parent))
}

/// Turns direct I/O on for `file` when it is wanted and the file system does it.
fn set_mode(
    file: &File,
    path: &Path,
    page_size: PageSize,
    direct: Direct,
) -> Result<OpenMode, FileError> {
    if direct == Direct::Never {
        return Ok(OpenMode::buffered(None));
    }
    match set_direct(file, page_size) {
        Ok(mode) => Ok(mode),
        Err(reason) if direct == Direct::WhenPossible => Ok(OpenMode::buffered(Some(reason))),
        Err(reason) => Err(FileError::NoDirect { path: path.to_owned(), reason }),
    }
}

fn set_direct(file: &File, page_size: PageSize) -> Result<OpenMode, String> {
    let (memory, offset) = direct_alignment(file)?;
    for (what, alignment) in [("memory", memory), ("offsets", offset)] {
        if !alignment.is_power_of_two() || alignment as usize > page_size.bytes() {
            return Err(format!(
                "the device wants {what} aligned to {alignment} bytes, and pages are {page_size}"
            ));
        }
    }
    let flags = rustix::fs::fcntl_getfl(file).map_err(|error| error.to_string())?;
    rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT)
        .map_err(|error| format!("the file system refuses O_DIRECT ({error})"))?;
    Ok(OpenMode {
        direct: true,
        memory_alignment_bytes: memory as usize,
        offset_alignment_bytes: offset as usize,
        fallback: None,
    })
}

/// Asks the file system how direct transfers must be aligned, in memory and in the file. Before Linux 6.1, and on
/// file systems that do not tell, a sector of 4096 bytes is assumed; a file system that does no direct I/O at all
/// is then found out when the flag is set.
fn direct_alignment(file: &File) -> Result<(u32, u32), String> {
    let assumed = (ASSUMED_ALIGNMENT_BYTES, ASSUMED_ALIGNMENT_BYTES);
    let Ok(told) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) else {
        return Ok(assumed);
    };
    if !StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN) {
        return Ok(assumed);
    }
    match (told.stx_dio_mem_align, told.stx_dio_offset_align) {
        (0, _) | (_, 0) => Err("the file system does no direct I/O on this file".to_owned()),
        alignments => Ok(alignments),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn no_sync_succeeds_after_one_has_failed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        let space = SpaceFile::create(&path, 1, PageSize::KIB_4, Direct::Never).unwrap();
        space.sync().unwrap();
        let calls = Cell::new(0);
        let failed = space.sync_once(|_| {
            calls.set(calls.get() + 1);
            // An interruption is no failure.
            Err(if calls.get() == 1 { Errno::INTR } else { Errno::IO })
        });
        assert_eq!(calls.get(), 2);
        let first = failed.unwrap_err().to_string();
        assert!(first.contains("os error 5"), "{first}");
        assert_eq!(space.sync().unwrap_err().to_string(), first);
        let error = space.extend(1).unwrap_err();
        assert!(matches!(error, FileError::Io { doing: "extending", .. }), "{error}");
        assert_eq!(space.pages(), 1, "what is not durable does not count");
    }
}
