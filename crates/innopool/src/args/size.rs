//! What can be typed after `innopool size`.

use std::path::PathBuf;

use clap::Args;

use super::{IntervalArgs, TargetArgs};
use crate::render::Format;

/// Say how big the buffer pool should be, and how sure that is
///
/// Looks at the server as check does, and recommends one size: never above the memory budget, as the
/// server will really have it, and with what being wrong on either side costs. It changes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) interval: IntervalArgs,

    /// Recommend from recordings of this server's page accesses, which capture wrote
    ///
    /// All of one server at one pool size. Without a TARGET the server is not asked: what the
    /// recordings say of it is all that is known, and --host-memory gives the memory budget.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) recording: Vec<PathBuf>,

    /// Write the answer in this form
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Also write the answer to this file: JSON where its name ends in .json, else Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Show the memory budget term by term, and the evidence of every value
    #[arg(long, visible_alias = "verbose", short_alias = 'v')]
    pub(crate) explain: bool,
}

const EXAMPLES: &str = "\
Examples:
  innopool size
      the server that the mysql client would connect to
  innopool size mysql://ada@db1.example.org --password --host-memory 32G
      a server on another machine, whose memory innopool cannot see
  innopool size --from db1 --explain
      what collect saved, with the memory budget term by term
  innopool size --socket /run/mysqld/mysqld.sock --recording today.ipr
      the smallest size that does, under the load that was recorded
  innopool size --recording today.ipr --host-memory 32G
      the same from the recording alone
  innopool size --report size.md
      for a ticket

Exit codes:
  0 a size was recommended, 2 could not look or the evidence allows no size,
  4 stopped by Ctrl-C or SIGTERM, 64 wrong usage";
