//! Readers: each takes the text of one kind of document and gives a part of the evidence.

pub mod mysqld_auto;
pub mod option_file;
