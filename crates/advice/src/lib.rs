//! (crate advice)
