//! The file of pages that the benchmarks with a device read.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use innopool_buf::store::{Direct, FileStore, FileStoreOptions};
use innopool_buf::{PageId, PageSize};

use crate::made::header;
use crate::random::Random;
use crate::settings::{Failure, Settings};

/// Bytes of a page in all benchmarks.
pub(crate) const PAGE_BYTES: usize = 16_384;

/// The tablespace that the file is.
pub(crate) const SPACE: u32 = 1;

/// MiB of so many pages.
pub(crate) fn mib(pages: u64) -> u64 {
    (pages * PAGE_BYTES as u64) >> 20
}

/// A file of pages that say which they are and are random otherwise, so that nothing on the way can store them smaller.
/// Removed when this is dropped.
#[derive(Debug)]
pub(crate) struct DataFile {
    path: PathBuf,
    pages: u32,
}

impl DataFile {
    /// Writes the file, and sees to it that none of it is in the page cache.
    pub(crate) fn create(settings: &Settings) -> Result<DataFile, Failure> {
        const CHUNK_PAGES: u32 = 64;
        fs::create_dir_all(&settings.directory)?;
        let path = settings.directory.join("pages.data");
        let pages = settings.file_pages;
        // Made before it is filled, so that a half-written file is removed too.
        let data = DataFile { path, pages };
        let mut file = File::create(&data.path)?;
        let mut random = Random::new(1);
        let mut chunk = vec![0; CHUNK_PAGES as usize * PAGE_BYTES];
        chunk
            .chunks_exact_mut(8)
            .for_each(|word| word.copy_from_slice(&random.next().to_le_bytes()));
        for first in (0..pages).step_by(CHUNK_PAGES as usize) {
            for (page_no, page) in (first..).zip(chunk.chunks_exact_mut(PAGE_BYTES)) {
                page[..8].copy_from_slice(&header(PageId::new(SPACE, page_no)));
                page[8..16].copy_from_slice(&random.next().to_le_bytes());
            }
            file.write_all(&chunk)?;
        }
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        Ok(data)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// The file as a page store, past the page cache, with at most `depth` requests at the device.
    pub(crate) fn store(&self, depth: u32) -> Result<Arc<FileStore>, Failure> {
        let options =
            FileStoreOptions::new(PageSize::KIB_16).direct(Direct::Always).queue_depth(depth);
        let store = FileStore::open(options)?;
        store.open_space(SPACE, &self.path)?;
        Ok(Arc::new(store))
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        // It is in the build directory; what cannot be removed now goes with `cargo clean`.
        let _ = fs::remove_file(&self.path);
    }
}
