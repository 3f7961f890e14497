//! Values that no server can have. They come from damaged or invented listings and from counters
//! that wrapped, and one of them is enough to make a nonsense of every sum it enters: they are left
//! out, and named.

use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use crate::table::{Table, parse_count};
use crate::variables::normalise_name;

/// A hundred years.
const UPTIME_SECONDS_MAX: u64 = 100 * 31_557_600;
/// 256 TB: what processors of today can address.
const POOL_BYTES_MAX: u64 = 1 << 48;
/// A pool of 4 PB with the smallest pages.
const POOL_PAGES_MAX: u64 = 1 << 40;

/// Takes impossible values out of a name and value listing.
pub(super) fn keep_possible(document: &mut Document, not_read: &mut Vec<NotRead>) {
    let place = &document.place;
    match &mut document.content {
        Content::Status(table) | Content::Variables(table) | Content::Persisted(table) => {
            keep_possible_rows(table, place, not_read);
        }
        _ => {}
    }
}

fn keep_possible_rows(table: &mut Table, place: &str, not_read: &mut Vec<NotRead>) {
    table.rows.retain(|row| {
        let [Some(name), Some(value), ..] = row.cells.as_slice() else {
            return true;
        };
        let possible = is_possible(name, value);
        if !possible {
            not_read.push(impossible(name.trim(), value.trim(), place));
        }
        possible
    });
}

/// Names a value that was left out.
pub(super) fn impossible(name: &str, value: &str, place: &str) -> NotRead {
    NotRead::new(format!("{name} of {place}"), format!("{name} {value} is no possible value"))
}

/// False for a number above what a server can have. The pages a server calls "misc" are not judged:
/// it subtracts them from others, and that they wrap is a known fault with a finding of its own.
pub(super) fn is_possible(name: &str, value: &str) -> bool {
    let max = match normalise_name(name.trim()).as_str() {
        "uptime" => UPTIME_SECONDS_MAX,
        "innodb_buffer_pool_size"
        | "innodb_buffer_pool_bytes_data"
        | "innodb_buffer_pool_bytes_dirty" => POOL_BYTES_MAX,
        "innodb_buffer_pool_pages_total"
        | "innodb_buffer_pool_pages_data"
        | "innodb_buffer_pool_pages_dirty"
        | "innodb_buffer_pool_pages_free"
        | "innodb_buffer_pool_pages_old" => POOL_PAGES_MAX,
        _ => return true,
    };
    parse_count(value).is_none_or(|count| count <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_server_can_have_is_told_from_what_one_has() {
        for (name, value, possible) in [
            ("Uptime", "3155760000", true),
            ("Uptime", "3155760001", false),
            ("innodb-buffer-pool-size", "281474976710656", true),
            ("innodb-buffer-pool-size", "281474976710657", false),
            ("Innodb_buffer_pool_pages_free", "18446744073709551615", false),
            ("Innodb_buffer_pool_pages_free", "1.8446744073709551615e19", true),
            ("Innodb_buffer_pool_pages_misc", "18446744073709551615", true),
            ("Innodb_buffer_pool_reads", "18446744073709551615", true),
            ("Uptime", "long", true),
        ] {
            assert_eq!(is_possible(name, value), possible, "{name} {value}");
        }
    }
}
