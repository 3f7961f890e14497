//! The printed grants are enough, each of them is needed, and without any a look is still of use.

use std::time::Duration;

use innopool_target::live::privileges::{Account, Grant, grants_for_check};
use innopool_target::live::statements::Setup;
use innopool_target::live::{Connection, Limits, WatchOptions, watch};
use innopool_target::{Content, Server as Identity};
use innopool_testkit::{Kind, Server, own};

use crate::as_user;

/// What a look by this account does not read, and why.
fn missing(server: &Server, user: &str) -> Vec<(String, String)> {
    let login = as_user(server, user, "tulip");
    let mut connection = Connection::open(&login, Limits::default()).unwrap();
    let options = WatchOptions::new(Duration::ZERO);
    let documents = watch(&mut connection, &options, &mut |_| {});
    let has = |kind: fn(&Content) -> bool| documents.iter().any(|d| kind(&d.content));
    assert!(has(|content| matches!(content, Content::Variables(_))));
    assert!(has(|content| matches!(content, Content::VariableOrigins(_))));
    assert!(has(|content| matches!(content, Content::Status(_))));
    let Some(Content::NotRead(table)) = documents.last().map(|d| &d.content) else {
        return Vec::new();
    };
    let text = |row, column| table.cell(row, column).unwrap_or_default().to_owned();
    let rows = table.rows.iter();
    rows.map(|row| (text(row, "what"), text(row, "why"))).collect()
}

fn setup_of(server: &Server) -> Setup {
    Setup {
        server: Identity::detect(&server.version(), ""),
        performance_schema: Some(server.variable("performance_schema") == "1"),
        pool_bytes: None,
    }
}

fn grants(server: &Server, user: &str) -> Vec<Grant> {
    grants_for_check(&setup_of(server), &Account::new(user, "%"))
}

fn servers() -> impl Iterator<Item = Server> {
    let options = |kind| match kind {
        Kind::Mysql => &[][..],
        Kind::Mariadb => &["performance_schema=ON"][..],
    };
    Kind::ALL.into_iter().filter_map(move |kind| own(kind, options(kind)))
}

#[test]
fn the_grants_are_enough_and_each_is_needed() {
    for server in servers() {
        server.sql("CREATE USER full@'%' IDENTIFIED BY 'tulip'");
        let all = grants(&server, "full");
        for grant in &all {
            server.sql(&grant.statement);
        }
        let denied: Vec<_> =
            missing(&server, "full").into_iter().filter(|(_, why)| why.contains("needs")).collect();
        assert!(denied.is_empty(), "{denied:?}");
        for (left_out, grant) in all.iter().enumerate() {
            let user = format!("without{left_out}");
            server.sql(&format!("CREATE USER {user}@'%' IDENTIFIED BY 'tulip'"));
            for (number, other) in grants(&server, &user).iter().enumerate() {
                if number != left_out {
                    server.sql(&other.statement);
                }
            }
            let lacking = missing(&server, &user);
            for what in &grant.without {
                let entry = lacking.iter().find(|(found, _)| found == what);
                let why = &entry.unwrap_or_else(|| panic!("{what} in {lacking:?}")).1;
                assert!(why.contains("GRANT "), "{why}");
                assert!(!why.contains(&user), "an account in {why}");
            }
        }
    }
}

#[test]
fn an_account_without_privileges_still_sees_something() {
    for server in servers() {
        server.sql("CREATE USER bare@'%' IDENTIFIED BY 'tulip'");
        let lacking = missing(&server, "bare");
        for grant in grants(&server, "bare") {
            for what in grant.without {
                assert!(lacking.iter().any(|(found, _)| found == what), "{what}");
            }
        }
    }
}
