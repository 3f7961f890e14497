//! One read or write that a store does in the background.
//!
//! An operation carries its buffer, so a store can be written without `unsafe`: it asks for
//! [`buffer_mut`](Operation::buffer_mut) or [`buffer`](Operation::buffer), does its work, and hands the operation
//! back by [`complete`](Operation::complete). An operation that is dropped instead completes with
//! [`Fault::Dropped`], so no waiter waits for ever.

#![allow(unsafe_code, reason = "an operation lends a frame of the pool across threads")]

use std::ptr::NonNull;
use std::sync::Arc;

use innopool_policy::PageId;

use super::{Fault, StoreError};

/// Who is told that an operation has ended.
pub trait Completion: Send + Sync {
    /// Takes the outcome of the operation that was given `token`. Called once per operation, from a thread of
    /// the store; must not wait for other operations.
    fn completed(&self, token: u64, result: Result<(), StoreError>);
}

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The store fills the buffer.
    Read,
    /// The store writes the buffer out.
    Write,
}

impl Kind {
    /// The word for it in an error message.
    pub fn doing(self) -> &'static str {
        match self {
            Kind::Read => "reading",
            Kind::Write => "writing",
        }
    }
}

/// A read or write of one page.
pub struct Operation {
    kind: Kind,
    page: PageId,
    buffer: NonNull<[u8]>,
    token: u64,
    completion: Option<Arc<dyn Completion>>,
}

// SAFETY: the buffer is lent exclusively (reads) or read-only (writes) to this operation by the contract of
// `Operation::new`, wherever the operation is; the other fields are Send.
unsafe impl Send for Operation {}

impl Operation {
    /// Returns an operation on `page` that will tell `completion` with `token` when it ends.
    ///
    /// # Safety
    ///
    /// Until `completion` is told, `buffer` must stay valid, and nobody else may write it (a write) or touch it at
    /// all (a read).
    pub unsafe fn new(
        kind: Kind,
        page: PageId,
        buffer: NonNull<[u8]>,
        token: u64,
        completion: Arc<dyn Completion>,
    ) -> Operation {
        Operation { kind, page, buffer, token, completion: Some(completion) }
    }

    /// Reading or writing.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The page.
    pub fn page(&self) -> PageId {
        self.page
    }

    /// The bytes to write. For a read: whatever is there, once the store has filled it.
    pub fn buffer(&self) -> &[u8] {
        // SAFETY: valid until completion, and not written by anybody else, by the contract of `new`.
        unsafe { self.buffer.as_ref() }
    }

    /// The bytes to fill; `None` for a write.
    pub fn buffer_mut(&mut self) -> Option<&mut [u8]> {
        match self.kind {
            // SAFETY: for a read the buffer is ours alone until completion, by the contract of `new`.
            Kind::Read => Some(unsafe { self.buffer.as_mut() }),
            Kind::Write => None,
        }
    }

    /// Ends the operation.
    pub fn complete(mut self, result: Result<(), Fault>) {
        self.finish(result);
    }

    fn finish(&mut self, result: Result<(), Fault>) {
        if let Some(completion) = self.completion.take() {
            let result =
                result.map_err(|fault| StoreError::new(self.kind.doing(), self.page, fault));
            completion.completed(self.token, result);
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.finish(Err(Fault::Dropped));
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation").field("kind", &self.kind).field("page", &self.page).finish()
    }
}
