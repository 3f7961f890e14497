//! What can be typed: the raw arguments, as clap reads them.
//!
//! One struct per command, and one for the target that most commands share. They hold what was
//! typed and nothing else; `crate::target` turns it, together with the environment and the option
//! files, into what the program needs.

mod refused;
mod size;
mod target;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit::FailOn;
use crate::render::Format;

pub(crate) use refused::Refusal;
pub(crate) use refused::explain as explain_refusal;
pub(crate) use size::SizeArgs;
pub(crate) use target::TargetArgs;
pub(crate) use values::parse_account;

/// Tell how big an InnoDB buffer pool should be, and what is wrong with it
///
/// For MySQL, MariaDB and Percona Server. innopool only reads: no command here changes a server.
#[derive(Debug, Parser)]
#[command(
    name = "innopool",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Start with:  innopool check mysql://USER@HOST:PORT --password"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArgs),
    Size(SizeArgs),
    Collect(CollectArgs),
    Explain(ExplainArgs),
    Grants(GrantsArgs),
}

/// Say what is wrong with a server's buffer pool now, with evidence and what to type
///
/// Looks at the server twice, ten seconds apart, and judges what happened in between. It only
/// reads: about twenty short statements with a time limit on each. With the least privileges
/// (`innopool grants check`) everything can be read; with fewer the answer says what is missing.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) interval: IntervalArgs,

    /// Exit with 1 when something is found that is at least this serious
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    pub(crate) fail_on: FailOn,

    /// Write the answer in this form
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Show all evidence with its sources, what is fine, and the memory budget
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  innopool check
      the server that the mysql client would connect to: its option files say which
  innopool check mysql://ada@db1.example.org:3306 --password
      another server; asks for the password
  innopool check --socket /run/mysqld/mysqld.sock --interval 2m
      through the unix socket, watched for two minutes
  innopool check --from status.txt variables.txt innodb.txt --host-memory 32G
      output that somebody pasted into files, and the memory of that machine
  innopool check --format json --fail-on critical
      for a script

Exit codes:
  0 nothing at or above --fail-on, 1 something at or above it, 2 could not look,
  4 stopped by Ctrl-C or SIGTERM, 64 wrong usage";

/// Save what check reads, for later or for somebody else
///
/// Writes plain files to a directory. `innopool check --from DIR` gives the same answer as a check
/// at that time would have given. The files hold counters, settings and sizes: no statement texts,
/// accounts, host names or passwords.
#[derive(Debug, Args)]
// Saved evidence is not saved again; who tries is told so.
#[command(after_long_help = COLLECT_EXAMPLES, mut_arg("from", |from| from.hide(true)))]
pub(crate) struct CollectArgs {
    /// The directory to write to; it is made, or replaced where it holds such evidence already
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) interval: IntervalArgs,
}

const COLLECT_EXAMPLES: &str = "\
Examples:
  innopool collect mysql://ada@db1.example.org --password -o db1
  innopool check --from db1
  tar -czf db1.tar.gz db1
      for somebody who has no access to the server";

/// How long to watch.
#[derive(Debug, Args)]
#[command(next_help_heading = "The look and the answer")]
pub(crate) struct IntervalArgs {
    /// Watch the server for so long: 10, 90s or 2m
    ///
    /// 0 does not watch: rates are then averages since the server started, which hide the present.
    /// A minute or more also tells a steady state from a passing one.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = values::parse_interval,
        default_value = "10",
        allow_hyphen_values = true,
        conflicts_with = "from"
    )]
    pub(crate) interval: Duration,
}

/// Explain a finding at length: why it matters, how it is judged, what to do
///
/// Without a CODE, lists all findings there are.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The finding's code, as check prints it: pool-too-small
    pub(crate) code: Option<String>,
}

/// Print the statements that grant the least privileges for a command
///
/// The output is SQL, to be read and then run by whoever may grant.
#[derive(Debug, Args)]
#[command(after_long_help = GRANTS_EXAMPLES)]
pub(crate) struct GrantsArgs {
    /// The command to be run with these privileges
    #[arg(value_enum)]
    pub(crate) command: GrantedCommand,

    /// The kind of server; without it, the statements for both
    #[arg(long, value_name = "FLAVOR")]
    pub(crate) flavor: Option<GrantFlavor>,

    /// The account that innopool uses
    #[arg(long, value_name = "ACCOUNT", default_value = "'innopool'@'%'")]
    pub(crate) account: String,
}

const GRANTS_EXAMPLES: &str = "\
Example:
  innopool grants check --flavor mysql --account \"'monitor'@'10.0.0.%'\"";

/// Commands that need privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantedCommand {
    /// To look at a server
    Check,
    /// To save what check reads: the same privileges
    Collect,
    /// To recommend a size from what check reads: the same privileges
    Size,
}

/// Kinds of server that differ in their privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantFlavor {
    /// MySQL and Percona Server
    #[value(alias = "percona")]
    Mysql,
    /// MariaDB
    Mariadb,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_arguments_never_show_a_password() {
        let words = ["innopool", "check", "mysql://ada:tulip@db1"];
        let arguments = Arguments::try_parse_from(words).unwrap();
        let shown = format!("{arguments:?}");
        assert!(!shown.contains("tulip"), "{shown}");
    }

    #[test]
    fn help_begins_with_a_verb_and_has_no_full_stop() {
        for command in Arguments::command().get_subcommands() {
            let about = command.get_about().unwrap().to_string();
            assert!(about.starts_with(|first: char| first.is_ascii_uppercase()), "{about}");
            assert!(!about.ends_with('.'), "{about}");
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty() && !help.ends_with('.'), "{}: {help}", argument.get_id());
            }
        }
    }
}
