//! The least privileges that reading a server takes, as statements for whoever grants them.
//!
//! Found by trying on MySQL 9.7 and MariaDB 10.11: `SHOW GLOBAL STATUS`, `SHOW GLOBAL VARIABLES`
//! and the origins of variables take none at all.

use std::fmt;

use crate::live::statements::{self, Need, Setup};

/// One privilege to grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The statement, without a semicolon.
    pub statement: String,
    /// What it is for.
    pub why: String,
    /// What is missing without it.
    pub without: Vec<&'static str>,
}

/// An account as `GRANT` wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    user: String,
    host: String,
}

impl Account {
    /// The account `user`@`host`.
    pub fn new(user: impl Into<String>, host: impl Into<String>) -> Self {
        Self { user: user.into(), host: host.into() }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", quoted(&self.user), quoted(&self.host))
    }
}

/// A string of SQL that reads the same whether or not a backslash escapes.
fn quoted(text: &str) -> String {
    let mut result = String::from("'");
    for character in text.chars() {
        match character {
            '\'' => result.push_str("''"),
            // No account has one that was meant, and in a string it would mean different things.
            '\\' => {}
            other => result.push(other),
        }
    }
    result.push('\'');
    result
}

/// What an account needs so that nothing is missing from a look at a server like this one. Without
/// any of it, a look gives variables, their origins and the status.
///
/// `setup` may be that of a live server, or just a flavour; what is not known counts as on.
pub fn grants_for_check(setup: &Setup, account: &Account) -> Vec<Grant> {
    let mut grants: Vec<(Need, Vec<&'static str>)> = Vec::new();
    for statement in statements::plan(setup).0 {
        match grants.iter_mut().find(|(need, _)| *need == statement.needs) {
            Some((_, gives)) => gives.push(statement.gives),
            None => grants.push((statement.needs, vec![statement.gives])),
        }
    }
    grants
        .into_iter()
        .filter_map(|(need, without)| {
            let (statement, why) = match need {
                Need::Nothing => return None,
                Need::Process => (
                    format!("GRANT PROCESS ON *.* TO {account}"),
                    "to read what InnoDB tells of itself".to_owned(),
                ),
                Need::Select(table) => (
                    format!("GRANT SELECT ON {table} TO {account}"),
                    format!("to read {}", without.join(", ")),
                ),
            };
            Some(Grant { statement, why, without })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Server;

    fn statements_for(version: &str, performance_schema: bool) -> Vec<String> {
        let setup = Setup {
            server: Server::detect(version, ""),
            performance_schema: Some(performance_schema),
            pool_bytes: None,
        };
        grants_for_check(&setup, &Account::new("o'neil", "%"))
            .into_iter()
            .map(|grant| grant.statement)
            .collect()
    }

    #[test]
    fn mysql_takes_process_and_four_tables() {
        let statements = statements_for("9.7.4", true);
        assert_eq!(statements[0], "GRANT PROCESS ON *.* TO 'o''neil'@'%'");
        assert_eq!(statements.len(), 5);
        assert!(
            statements.iter().skip(1).all(|s| s.starts_with("GRANT SELECT ON performance_schema."))
        );
    }

    #[test]
    fn mariadb_without_instruments_takes_process_alone() {
        assert_eq!(statements_for("10.11.19-MariaDB", false).len(), 1);
        assert_eq!(statements_for("10.11.19-MariaDB", true).len(), 4);
    }

    #[test]
    fn every_grant_says_what_is_missing_without_it() {
        let grants = grants_for_check(&Setup::default(), &Account::new("a", "b"));
        assert!(grants.iter().all(|grant| !grant.without.is_empty()));
    }
}
