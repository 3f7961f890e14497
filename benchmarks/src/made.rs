//! A page store without a device: a page is made when it is read, and says which it is.
//!
//! For benchmarks of the pool itself. Writes go nowhere.

use innopool_buf::store::{Operation, PageStore, StoreError};
use innopool_buf::{PageId, PageSize};

/// Pages made on demand, in tablespaces of any number.
#[derive(Debug)]
pub(crate) struct MadeStore;

/// The bytes at the start of every page: its number in its tablespace.
pub(crate) fn header(page: PageId) -> [u8; 8] {
    u64::from(page.page_no).to_le_bytes()
}

/// The number that a page says it has.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(u64::MAX, |header| u64::from_le_bytes(*header))
}

impl PageStore for MadeStore {
    fn page_size(&self) -> PageSize {
        PageSize::KIB_16
    }

    fn space_pages(&self, _space: u32) -> Result<u32, StoreError> {
        Ok(u32::MAX)
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        frame[..8].copy_from_slice(&header(page));
        Ok(())
    }

    fn write(&self, _page: PageId, _frame: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        for mut operation in batch.drain(..) {
            let page = operation.page();
            // A write has no buffer to fill.
            if let Some(frame) = operation.buffer_mut() {
                frame[..8].copy_from_slice(&header(page));
            }
            operation.complete(Ok(()));
        }
    }

    fn sync(&self, _space: u32) -> Result<(), StoreError> {
        Ok(())
    }
}
