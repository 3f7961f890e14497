//! `innopool grants`: the least privileges for a command, as SQL that can be piped to a client.

use innopool_target::live::privileges::{self, Account};
use innopool_target::live::statements::Setup;
use innopool_target::{Flavor, version::Server};

use crate::args::{GrantFlavor, GrantedCommand, GrantsArgs, parse_account};
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Prints the statements.
///
/// # Errors
/// When the account is none.
pub(crate) fn run(args: &GrantsArgs) -> Result<Exit, Failure> {
    let (user, host) = parse_account(&args.account)
        .map_err(|message| Failure::usage(format!("--account: {message}")))?;
    let account = Account::new(user, host);
    let flavors = match args.flavor {
        None => &[Flavor::Mysql, Flavor::Mariadb][..],
        Some(GrantFlavor::Mysql) => &[Flavor::Mysql],
        Some(GrantFlavor::Mariadb) => &[Flavor::Mariadb],
    };
    let mut text = match args.command {
        GrantedCommand::Check => {
            "-- What innopool check may read with these privileges: everything.\n"
        }
        GrantedCommand::Collect => "-- innopool collect reads what check reads.\n",
    }
    .to_owned();
    text.push_str(&format!(
        "-- If the account is not there yet:\n--   CREATE USER {account} IDENTIFIED BY '...';\n"
    ));
    for flavor in flavors {
        text.push_str(&statements(*flavor, &account));
    }
    terminal::print(&text)?;
    Ok(Exit::Done)
}

fn statements(flavor: Flavor, account: &Account) -> String {
    let setup = Setup {
        server: Server {
            flavor,
            ..Server::default()
        },
        ..Setup::default()
    };
    let kind = match flavor {
        Flavor::Mariadb => "MariaDB",
        _ => "MySQL and Percona Server",
    };
    let mut text = format!("\n-- {kind}\n");
    for grant in privileges::grants_for_check(&setup, account) {
        text.push_str(&format!(
            "{};\n--   {}; without it, not read: {}\n",
            grant.statement,
            grant.why,
            grant.without.join(", ")
        ));
    }
    text
}
