//! A password that does not leak: [`Secret`] prints as `***`, and its bytes are overwritten when it
//! is dropped.

use std::fmt;
use std::sync::atomic::{Ordering, compiler_fence};

/// A password. It may hold any bytes, shows none of them in `Debug`, and has no `Display`.
///
/// Overwriting on drop is best effort: it shortens the time a password stays in memory, but copies
/// the program made before (a line of an option file, the buffer of the connection) are out of its
/// reach.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes a password over.
    pub fn new(password: impl Into<Vec<u8>>) -> Self {
        Self(password.into())
    }

    /// The password's bytes, for the one place that sends them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The password as text; `None` if it is not UTF-8.
    pub fn expose_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// True for the empty password.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Keeps the compiler from leaving out stores to memory that is about to be freed.
        std::hint::black_box(&self.0);
        compiler_fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_prints() {
        let secret = Secret::new("tulip");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(format!("{:#?}", Some(&secret)), "Some(\n    ***,\n)");
        assert_eq!(secret.expose(), b"tulip");
        assert_eq!(secret.expose_str(), Some("tulip"));
        assert_eq!(Secret::new(vec![0xff]).expose_str(), None);
    }
}
