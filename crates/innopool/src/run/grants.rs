//! `innopool grants`: the least privileges for a command, as SQL that can be piped to a client.

use innopool_target::live::privileges::{self, Account};
use innopool_target::live::statements::Setup;
use innopool_target::{Flavor, version::Server};

use crate::args::{GrantFlavor, GrantedCommand, GrantsArgs, parse_account};
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::render::Paper;
use crate::terminal;

/// Prints the statements.
///
/// # Errors
/// When the account is none.
pub(crate) fn run(args: &GrantsArgs, environment: &Environment) -> Result<Exit, Failure> {
    let (user, host) = parse_account(&args.account)
        .map_err(|message| Failure::usage(format!("--account: {message}")))?;
    let account = Account::new(user, host);
    let flavors = match args.flavor {
        None => &[Flavor::Mysql, Flavor::Mariadb][..],
        Some(GrantFlavor::Mysql) => &[Flavor::Mysql],
        Some(GrantFlavor::Mariadb) => &[Flavor::Mariadb],
    };
    let purpose = match args.command {
        GrantedCommand::Check => {
            "The least privileges with which innopool check can read all it wants."
        }
        GrantedCommand::Collect => {
            "innopool collect reads what check reads, with the same privileges."
        }
        GrantedCommand::Size => "innopool size reads what check reads, with the same privileges.",
    };
    let mut sql = Paper::new(terminal::page(environment, false, true));
    sql.commented("-- ", purpose);
    sql.commented("-- ", "If the account is not there yet:");
    sql.verbatim(0, &format!("--   CREATE USER {account} IDENTIFIED BY '...';"));
    for flavor in flavors {
        statements(&mut sql, *flavor, &account);
    }
    let text = sql.finish();
    terminal::print(&text)?;
    Ok(Exit::Done)
}

fn statements(sql: &mut Paper, flavor: Flavor, account: &Account) {
    let setup = Setup { server: Server { flavor, ..Server::default() }, ..Setup::default() };
    let kind = match flavor {
        Flavor::Mariadb => "MariaDB",
        _ => "MySQL and Percona Server",
    };
    sql.gap();
    sql.commented("-- ", kind);
    for grant in privileges::grants_for_check(&setup, account) {
        sql.commented("--   ", &format!("for {}", grant.without.join(", ")));
        sql.verbatim(0, &format!("{};", grant.statement));
    }
}
