//! Option files of a server, with includes that lead back to the same text. What is read must come
//! back when it is written down and read again.

#![no_main]

use innopool_target::Server;
use innopool_target::read::option_file::{IncludeError, Includes, NotFollowed, parse, render};
use libfuzzer_sys::fuzz_target;

/// Every file is the text itself, and every directory holds two files.
struct Itself<'t> {
    text: &'t str,
    left: u32,
}

impl Includes for Itself<'_> {
    fn file(&mut self, _: &str) -> Result<String, IncludeError> {
        // The reader has a limit of its own, which would only make this slow.
        self.left = self.left.checked_sub(1).ok_or(IncludeError::Missing)?;
        Ok(self.text.to_owned())
    }

    fn directory(&mut self, _: &str) -> Result<Vec<String>, IncludeError> {
        Ok(vec!["a.cnf".to_owned(), "b.ini".to_owned()])
    }
}

fuzz_target!(|text: &str| {
    let servers = [
        Server::default(),
        Server::detect("8.0.36", "MySQL"),
        Server::detect("10.11.6-MariaDB", ""),
    ];
    for server in &servers {
        parse(text, "my.cnf", server, &mut Itself { text, left: 40 });
        let read = parse(text, "my.cnf", server, &mut NotFollowed);
        let written = render(&read.settings);
        // Longer lines are split, by servers too.
        if written.lines().all(|line| line.len() < 4000) {
            let again = parse(&written, "my.cnf", server, &mut NotFollowed);
            assert_eq!(render(&again.settings), written);
        }
    }
});
