//! (bin)
fn main() {}
