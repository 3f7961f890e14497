//! Which instance holds a page.

use super::{Id, Server};

/// The number that is taken modulo the number of instances. The 64 pages of an extent share it.
pub fn key(server: Server, (space, page_no): Id) -> u64 {
    let group = page_no / 64;
    let wide = u64::from(space) * (1 << 20) + u64::from(space) + u64::from(group);
    match server {
        Server::MySql57 => wide,
        Server::MySql80 => wide % (1 << 32),
        Server::MySql84 => wide ^ 1_653_893_711,
        Server::MariaDb => 0,
    }
}

pub fn instance(server: Server, id: Id, instances: usize) -> usize {
    (key(server, id) % instances as u64) as usize
}
