//! The parser against the real thing: `my_print_defaults` prints what servers and clients read from
//! an option file. Skipped, with a word on stderr, where that program is not installed.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Disk;
use super::walk::walk;

/// What the program prints for the groups `mysqld` and `server` of a file.
fn printed(path: &str) -> Option<String> {
    let output = Command::new("my_print_defaults")
        .args([&format!("--defaults-file={path}"), "mysqld", "server"])
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same in our words.
fn ours(text: &str, path: &str) -> String {
    let contents = walk(text, path, &mut Disk);
    let mut lines = String::new();
    for entry in contents.entries {
        let group = entry.group.to_ascii_lowercase();
        if group == "mysqld" || group == "server" {
            let value = entry.value.map_or(String::new(), |value| format!("={value}"));
            lines.push_str(&format!("--{}{value}\n", entry.name));
        }
    }
    lines
}

fn any_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        prop::sample::select(vec![
            "[mysqld]",
            " [server ] #x",
            "[client]",
            "[ mysqld]",
            "[MYSQLD]"
        ])
        .prop_map(str::to_owned),
        "[a-c_-]{1,3}[ \t]{0,2}=[ \t]{0,2}[ab#;='\"\\\\ntsq\t ]{0,14}[ \t\r]{0,2}",
        // No line begins with `=`: there the real reader runs past the start of its buffer.
        "[ \t]{0,2}[ab'\"#;][ab'\"#; =]{0,8}[a-z\\\\'\"#= ]{0,8}",
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| format!("[mysqld]\n{}\n", lines.join("\n")))
}

#[test]
fn reads_what_the_servers_own_reader_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf").display().to_string();
    std::fs::write(&path, "[mysqld]\nkey = value\n").unwrap();
    if printed(&path).is_none() {
        eprintln!("SKIPPED: my_print_defaults is not installed");
        return;
    }
    assert_eq!(printed(&path).as_deref(), Some("--key=value\n"));
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&any_file(), |text| {
        std::fs::write(&path, &text).unwrap();
        prop_assert_eq!(printed(&path).unwrap(), ours(&text, &path));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn follows_includes_as_the_servers_own_reader_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
    std::fs::create_dir(path("d")).unwrap();
    write("d/b.local.cnf", "[mysqld]\nx=2\n");
    write("d/a.cnf", "x=0\n[mysqld]\nx=1\n");
    write("d/.cnf", "[mysqld]\nx=3\n[bad\nx=4\n");
    write("d/c.ini", "[mysqld]\nx=5\n");
    let text = format!(
        "[mysqld]\ny=0\n!includedir {d}\n! include {d}/b.local.cnf # no comment\n\
         !include {d}/b.local.cnf\ny=1\n!include {loop_}\n",
        d = path("d"),
        loop_ = path("loop.cnf"),
    );
    write("my.cnf", &text);
    write("loop.cnf", &format!("[mysqld]\nz=1\n!include {}\n", path("loop.cnf")));
    match printed(&path("my.cnf")) {
        Some(printed) => assert_eq!(printed, ours(&text, &path("my.cnf"))),
        None => eprintln!("SKIPPED: my_print_defaults is not installed"),
    }
}
