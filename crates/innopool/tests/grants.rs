//! `innopool grants`: what it prints can be run as it is, and is enough.

mod common;

use common::{innopool, not_read};
use innopool_testkit::{Kind, Own};

#[test]
fn the_printed_grants_are_enough_for_check() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind).option("performance_schema=ON").start() else {
            continue;
        };
        server.sql("CREATE USER 'o''hara'@'127.0.0.1' IDENTIFIED BY 'tulip'");
        let account = "'o''hara'@'127.0.0.1'";
        let printed = innopool(["grants", "check", "--flavor", kind.name(), "--account", account]);
        assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""));
        let statements: Vec<&str> = printed
            .stdout
            .lines()
            .filter(|line| !line.starts_with("--") && !line.is_empty())
            .collect();
        assert!(statements.len() > 1, "{}", printed.stdout);
        for statement in statements {
            assert!(statement.starts_with("GRANT ") && statement.ends_with(';'), "{statement}");
            server.sql(statement.trim_end_matches(';'));
        }
        let url = format!("mysql://o%27hara:tulip@127.0.0.1:{}", server.port());
        let run = innopool(["check", &url, "--interval", "1", "--format", "json"]);
        let missing = not_read(&run.json());
        for word in ["GRANT", "privilege", "denie", "error"] {
            assert!(!missing.contains(word), "{kind}: {missing}");
        }
    }
}

#[test]
fn without_a_flavor_both_are_printed() {
    let run = innopool(["grants", "collect"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains("-- MySQL and Percona Server\n"), "{}", run.stdout);
    assert!(run.stdout.contains("-- MariaDB\n"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("GRANT PROCESS ON *.* TO 'innopool'@'%';").count(), 2);
}

#[test]
fn wrong_arguments_are_64() {
    for args in [
        &["grants"][..],
        &["grants", "restart"],
        &["grants", "check", "--flavor", "oracle"],
        &["grants", "check", "--account", "'a'@'h'; DROP TABLE t"],
    ] {
        assert_eq!(innopool(args).code, Some(64), "{args:?}");
    }
}
