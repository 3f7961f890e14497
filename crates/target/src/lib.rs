//! (crate target)
