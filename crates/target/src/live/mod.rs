//! Reading a running server.
//!
//! [`Connection`] talks to it and never waits beyond a limit; [`statements`] is everything that
//! innopool reads there, as data; [`watch`] asks the statements at two moments, with a few light
//! gauges in between, and gives [`Document`](crate::Document)s as any saved evidence does. What may
//! not be read becomes a line of `not_read`, never an error. [`privileges`] is what an account
//! needs for it.
//!
//! Nothing here changes a server: the statements are `SELECT` and `SHOW`, and the session sets
//! nothing. Other commands use the same [`Connection`] for the little that they write.

mod auth;
mod connect;
mod documents;
mod error;
mod greeting;
mod opening;
pub mod privileges;
mod sample;
mod server_error;
pub mod statements;
mod tls;
mod wire;

pub use connect::{Connection, DEFAULT_STATEMENT_LIMIT, Limits};
pub use error::{ConnectError, QueryError};
pub use sample::{Progress, WatchOptions, watch};
