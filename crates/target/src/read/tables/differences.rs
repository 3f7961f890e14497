//! `mysqladmin extended-status -r` prints the status once and from then on what changed. Those later
//! blocks are turned back into the status they stand for.

use std::collections::HashMap;

use crate::table::Table;

/// Turns every difference in a row of status tables into the moment it leads to.
pub(crate) fn to_absolute(tables: &mut [&mut Table]) {
    let mut before: Option<HashMap<String, String>> = None;
    for table in tables {
        if let Some(before) = &before
            && is_difference(before, table)
        {
            add(before, table);
        }
        before = Some(values(table));
    }
}

fn values(table: &Table) -> HashMap<String, String> {
    table
        .rows
        .iter()
        .filter_map(|row| match row.cells.as_slice() {
            [Some(name), Some(value)] => Some((name.to_ascii_lowercase(), value.clone())),
            _ => None,
        })
        .collect()
}

/// A pool and its pages cannot vanish, and no status value is negative.
fn is_difference(before: &HashMap<String, String>, table: &Table) -> bool {
    let now = values(table);
    let vanished = ["innodb_page_size", "innodb_buffer_pool_pages_total"].iter().any(|name| {
        now.get(*name).is_some_and(|value| value == "0")
            && before.get(*name).is_some_and(|value| value != "0")
    });
    let negative = now.values().any(|value| value.parse::<i64>().is_ok_and(|value| value < 0));
    vanished || negative
}

/// Adds the moment before. Texts were printed as 0 and stay what they were; a name the moment
/// before lacks has no value.
fn add(before: &HashMap<String, String>, table: &mut Table) {
    table.rows.retain_mut(|row| {
        let [Some(name), Some(value)] = row.cells.as_mut_slice() else {
            return false;
        };
        let Some(earlier) = before.get(&name.to_ascii_lowercase()) else {
            return false;
        };
        let sum = match (earlier.parse::<u64>(), value.parse::<i128>()) {
            (Ok(earlier), Ok(change)) => i128::from(earlier).saturating_add(change),
            _ => {
                value.clone_from(earlier);
                return true;
            }
        };
        *value = u64::try_from(sum.max(0)).unwrap_or(u64::MAX).to_string();
        true
    });
}
