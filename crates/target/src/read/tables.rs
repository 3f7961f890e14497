//! Result sets in every form a client, a script or a web page prints them: tab-separated, boxed,
//! `\G`, markdown, SQL tuples, quoted pairs, telegraf lines.
//!
//! [`layout`] turns lines into a grid (cells with line numbers), [`pairs`] reads forms that
//! have one name and value after another, [`kinds`] tells by the column names what a grid is, and
//! [`listing`] gathers names and values into one table per moment. Only allow-listed names pass.

mod differences;
mod kinds;
mod layout;
mod listing;
mod pairs;

pub(crate) use kinds::{Kind, kind_of};
pub(crate) use layout::grid_at;
pub(crate) use listing::{Listing, ListingKind, MOMENTS_MAX, Pair};
pub(crate) use pairs::pairs_in;

use differences::to_absolute;
