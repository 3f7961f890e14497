//! Guards: a page's bytes, for as long as they are held.
//!
//! | guard | latch | may read | may write | others that may hold the page |
//! |---|---|---|---|---|
//! | [`Pinned`] | none | | | everybody |
//! | [`SharedGuard`] | S | yes | | `SharedGuard`s, one `UpdateGuard` |
//! | [`UpdateGuard`] | SX | yes | after [`UpdateGuard::upgrade`] | `SharedGuard`s |
//! | [`ExclusiveGuard`] | X | yes | yes | nobody |
//!
//! Every guard also pins its page, so the page stays in its frame. Dropping a guard gives up both. Who holds several takes
//! them in one order, the same in all threads (rule 7 in `docs/buffer-pool.md`): nobody looks for deadlocks here.

#![allow(unsafe_code, reason = "a guard is what makes access to a frame's bytes sound")]

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use innopool_policy::{Lsn, PageId};

use crate::error::PoolError;
use crate::frame::latch::{Latched, Want};
use crate::frame::word::{EXCLUSIVE, PIN, SHARED, UPDATE};
use crate::inner::Inner;

/// A page that is kept in its frame, not latched. For a cursor that will come back: latching it again looks nothing up.
pub struct Pinned<'pool> {
    pool: &'pool Inner,
    frame: u32,
}

/// A page that is read. Holders must not get the same page again before they drop it: a writer that waits in between
/// would block both (rule 5).
pub struct SharedGuard<'pool> {
    pool: &'pool Inner,
    frame: u32,
}

/// A page that is read and may be written by [`UpdateGuard::upgrade`], without letting another writer in between.
pub struct UpdateGuard<'pool> {
    pool: &'pool Inner,
    frame: u32,
}

/// A page that is written. After changing it call [`ExclusiveGuard::mark_dirty`] before dropping it, or the change is lost
/// when the page is evicted.
pub struct ExclusiveGuard<'pool> {
    pool: &'pool Inner,
    frame: u32,
}

macro_rules! guard {
    ($guard:ident, $bits:expr) => {
        impl<'pool> $guard<'pool> {
            #[inline]
            pub(crate) fn new(pool: &'pool Inner, frame: u32) -> $guard<'pool> {
                $guard { pool, frame }
            }

            /// The page.
            pub fn page(&self) -> PageId {
                self.pool.frame(self.frame).page()
            }
        }

        impl Drop for $guard<'_> {
            #[inline]
            fn drop(&mut self) {
                // A guard's page has been read, so this is not the end of a failed read, which `Inner::release` would see to.
                self.pool.rooms.release(self.pool.frame(self.frame), $bits);
            }
        }

        impl std::fmt::Debug for $guard<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($guard)).field("page", &self.page()).finish()
            }
        }
    };
}

guard!(Pinned, PIN);
guard!(SharedGuard, PIN + SHARED);
guard!(UpdateGuard, PIN + UPDATE);
guard!(ExclusiveGuard, PIN + EXCLUSIVE);

macro_rules! readable {
    ($guard:ident) => {
        impl $guard<'_> {
            /// LSN up to which the log must be durable before the page may be written; 0 when it was not changed since it
            /// was read.
            pub fn newest_lsn(&self) -> Lsn {
                let newest = &self.pool.frame(self.frame).newest_lsn;
                Lsn(newest.load(crate::sync::Ordering::Relaxed))
            }
        }

        impl Deref for $guard<'_> {
            type Target = [u8];

            #[inline]
            fn deref(&self) -> &[u8] {
                // SAFETY: this guard holds a latch under which nobody else writes the bytes, and its pin keeps the
                // page in the frame, for as long as the guard is borrowed.
                unsafe { self.pool.bytes_to_read(self.frame).as_ref() }
            }
        }
    };
}

readable!(SharedGuard);
readable!(UpdateGuard);
readable!(ExclusiveGuard);

impl DerefMut for ExclusiveGuard<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: this guard holds X: no other reference to the bytes exists, and the borrow of the guard is unique.
        unsafe { self.pool.bytes_to_write(self.frame).as_mut() }
    }
}

impl<'pool> Pinned<'pool> {
    fn latch(&self, want: Want) -> Result<u32, PoolError> {
        let frame = self.pool.frame(self.frame);
        // The guard to come has a pin of its own. Ours keeps the page here, so no check is needed.
        self.pool.rooms.add_pin(frame);
        match self.pool.rooms.latch(frame, want) {
            Latched::Yes => Ok(self.frame),
            Latched::ReadFailed => Err(self.pool.take_failure(self.page(), self.frame)),
        }
    }

    /// Latches the page to read it.
    ///
    /// # Errors
    ///
    /// If the page was pinned while it was being read and the read failed.
    pub fn shared(&self) -> Result<SharedGuard<'pool>, PoolError> {
        Ok(SharedGuard::new(self.pool, self.latch(Want::Shared)?))
    }

    /// Latches the page to read it now and perhaps write it later.
    ///
    /// # Errors
    ///
    /// As for [`Pinned::shared`].
    pub fn update(&self) -> Result<UpdateGuard<'pool>, PoolError> {
        Ok(UpdateGuard::new(self.pool, self.latch(Want::Update)?))
    }

    /// Latches the page to write it.
    ///
    /// # Errors
    ///
    /// As for [`Pinned::shared`].
    pub fn exclusive(&self) -> Result<ExclusiveGuard<'pool>, PoolError> {
        Ok(ExclusiveGuard::new(self.pool, self.latch(Want::Exclusive)?))
    }
}

impl<'pool> SharedGuard<'pool> {
    /// Gives the latch up and keeps the pin.
    pub fn unlatch(self) -> Pinned<'pool> {
        let this = ManuallyDrop::new(self);
        this.pool.release(this.frame, SHARED);
        Pinned::new(this.pool, this.frame)
    }
}

impl<'pool> UpdateGuard<'pool> {
    /// Turns the latch into X once the readers have left. Waits for them, so the caller must not be one.
    pub fn upgrade(self) -> ExclusiveGuard<'pool> {
        let this = ManuallyDrop::new(self);
        // A page that is latched has been read, so this cannot fail.
        let _ = this.pool.rooms.latch(this.pool.frame(this.frame), Want::Upgrade);
        ExclusiveGuard::new(this.pool, this.frame)
    }

    /// Gives the latch up and keeps the pin.
    pub fn unlatch(self) -> Pinned<'pool> {
        let this = ManuallyDrop::new(self);
        this.pool.release(this.frame, UPDATE);
        Pinned::new(this.pool, this.frame)
    }
}

impl<'pool> ExclusiveGuard<'pool> {
    /// Notes that the page was changed by the log records from `start` to `end`: it goes on the flush list, and is written
    /// no sooner than the log is durable up to `end`.
    ///
    /// To be called for every change, after the records have their place in the log and before the guard is dropped (rule 8),
    /// with LSNs from 1.
    ///
    /// # Errors
    ///
    /// [`PoolError::Poisoned`] after a failed sync: the change is not, and never will be, written.
    pub fn mark_dirty(&mut self, start: Lsn, end: Lsn) -> Result<(), PoolError> {
        self.pool.check_poison()?;
        self.pool.mark_dirty(self.frame, start.max(Lsn(1)), end.max(start));
        Ok(())
    }

    /// Lets readers in again, and keeps other writers out.
    pub fn downgrade(self) -> UpdateGuard<'pool> {
        let this = ManuallyDrop::new(self);
        this.pool.rooms.downgrade(this.pool.frame(this.frame));
        UpdateGuard::new(this.pool, this.frame)
    }

    /// Gives the latch up and keeps the pin.
    pub fn unlatch(self) -> Pinned<'pool> {
        let this = ManuallyDrop::new(self);
        this.pool.release(this.frame, EXCLUSIVE);
        Pinned::new(this.pool, this.frame)
    }
}
