//! What the pool must know of a page's inside: nothing, except what its user tells it here.

use innopool_policy::{Lsn, PageId};

/// Knowledge of the bytes of a page. The pool never looks at them itself.
pub trait PageFormat: Send + Sync + 'static {
    /// Checks a page that was just read: checksum, and that it is the page it should be.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for [`PoolError::Damaged`](crate::PoolError::Damaged).
    fn verify(&self, page: PageId, frame: &[u8]) -> Result<(), String>;

    /// Makes a copy of a page ready to be written: its LSN, its checksum.
    fn seal(&self, page: PageId, newest: Lsn, copy: &mut [u8]);

    /// The pages before and after this one in key order, where pages are chained; linear read-ahead follows the
    /// chain. The default says that pages follow each other as they lie on disk.
    fn neighbours(&self, page: PageId, frame: &[u8]) -> (Option<u32>, Option<u32>) {
        let _ = frame;
        (page.page_no.checked_sub(1), page.page_no.checked_add(1))
    }
}

/// Pages without a format: every page is as it should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainPages;

impl PageFormat for PlainPages {
    fn verify(&self, _page: PageId, _frame: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn seal(&self, _page: PageId, _newest: Lsn, _copy: &mut [u8]) {}
}
