//! Which documents belong to one moment, and in which order the moments were.
//!
//! A collector numbers its moments. A person who pastes two status listings does not: there, a
//! second listing with another uptime is another moment, and the uptime gives the order.

use std::collections::BTreeMap;

use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use crate::table::{Table, parse_count};

/// More moments tell no more than these, and each is as large as all that is known of a server.
const MOMENTS_MAX: usize = 1000;

/// Sorts documents into moments, oldest first. Within a moment they keep their order. What had to
/// be decided or left out is added to `not_read`.
pub(super) fn sort(documents: Vec<Document>, not_read: &mut Vec<NotRead>) -> Vec<Vec<Document>> {
    let mut numbered: BTreeMap<usize, Vec<Document>> = BTreeMap::new();
    for document in documents {
        numbered.entry(document.moment).or_default().push(document);
    }
    let mut moments: Vec<Vec<Document>> = Vec::new();
    // Not a moment of their own: lists of what was missed, and samples, which carry their times.
    let mut loose = Vec::new();
    let mut any_split = false;
    for documents in numbered.into_values() {
        if documents.iter().all(|d| is_timeless(&d.content)) {
            loose.extend(documents);
        } else {
            let parts = split(documents);
            any_split |= parts.len() > 1;
            moments.extend(parts);
        }
    }
    if any_split {
        // Several files with several listings each: their numbers say nothing of one another.
        moments.sort_by_key(|moment| moment.iter().find_map(pasted_uptime));
    }
    let times: Option<Vec<f64>> = moments.iter().map(|moment| taken(moment)).collect();
    if times.is_some() {
        moments.sort_by(|a, b| {
            let time = |moment: &[Document]| taken(moment).unwrap_or_default();
            time(a).total_cmp(&time(b))
        });
    }
    if let Some(left_out) = moments.len().checked_sub(MOMENTS_MAX).filter(|count| *count > 0) {
        moments.drain(1..=left_out);
        not_read.push(NotRead::new(
            format!("{left_out} moments between the first and the newest"),
            format!("there are more than {MOMENTS_MAX}"),
        ));
    }
    match moments.last_mut() {
        Some(last) => last.extend(loose),
        None if loose.is_empty() => {}
        None => moments.push(loose),
    }
    moments
}

/// When the counters of a moment were read, in seconds since 1970; else when any of it was.
pub(super) fn taken(documents: &[Document]) -> Option<f64> {
    let time = |document: &Document| document.taken_unix_seconds.filter(|s| s.is_finite());
    let of_status = documents
        .iter()
        .filter(|document| matches!(document.content, Content::Status(_)))
        .find_map(time);
    of_status.or_else(|| {
        documents.iter().filter(|document| !is_timeless(&document.content)).find_map(time)
    })
}

fn is_timeless(content: &Content) -> bool {
    matches!(content, Content::NotRead(_) | Content::Gauges(_))
}

/// Splits the documents of one number where they hold status listings of several uptimes.
fn split(documents: Vec<Document>) -> Vec<Vec<Document>> {
    let mut uptimes: Vec<u64> = documents.iter().filter_map(pasted_uptime).collect();
    uptimes.sort_unstable();
    uptimes.dedup();
    if uptimes.len() < 2 {
        return vec![documents];
    }
    // A document without uptime goes with the listing of its own file; else static ones to the
    // first moment, from where later ones inherit, and the others to the last.
    let last = uptimes.len() - 1;
    let index = |uptime: u64| uptimes.binary_search(&uptime).unwrap_or(last);
    let by_place: BTreeMap<String, usize> = documents
        .iter()
        .filter_map(|document| Some((document.place.clone(), index(pasted_uptime(document)?))))
        .collect();
    let mut moments: Vec<Vec<Document>> = uptimes.iter().map(|_| Vec::new()).collect();
    for document in documents {
        let at = match pasted_uptime(&document) {
            Some(uptime) => index(uptime),
            None => by_place
                .get(&document.place)
                .copied()
                .unwrap_or(if is_static(&document.content) { 0 } else { last }),
        };
        if let Some(moment) = moments.get_mut(at) {
            moment.push(document);
        }
    }
    moments
}

/// What hardly changes between two moments, and is inherited by the later one.
fn is_static(content: &Content) -> bool {
    matches!(
        content,
        Content::Variables(_)
            | Content::VariableOrigins(_)
            | Content::Persisted(_)
            | Content::SchemaSizes(_)
            | Content::Memory(_)
            | Content::OptionFile(_)
            | Content::MysqldAuto(_)
            | Content::ErrorLog(_)
            | Content::Meminfo(_)
            | Content::Host(_)
    )
}

/// The uptime of a status listing whose time is unknown.
fn pasted_uptime(document: &Document) -> Option<u64> {
    if document.taken_unix_seconds.is_some() {
        return None;
    }
    match &document.content {
        Content::Status(table) => table
            .rows
            .iter()
            .find(|row| name_of(row).is_some_and(|name| name.eq_ignore_ascii_case("uptime")))
            .and_then(|row| parse_count(row.cells.get(1)?.as_deref()?)),
        _ => None,
    }
}

fn name_of(row: &crate::table::Row) -> Option<&str> {
    Some(row.cells.first()?.as_deref()?.trim())
}

/// Says where pasted documents of one kind and moment contradict each other, or replace each
/// other as a whole.
pub(super) fn contradictions(documents: &[Document]) -> Vec<NotRead> {
    let mut notices = Vec::new();
    for (at, later) in documents.iter().enumerate() {
        for earlier in documents.get(..at).unwrap_or_default() {
            if later.taken_unix_seconds.is_none() && later.place != earlier.place {
                notices.extend(contradiction(earlier, later));
            }
        }
    }
    notices
}

fn contradiction(earlier: &Document, later: &Document) -> Option<NotRead> {
    let (kind, differing) = match (&earlier.content, &later.content) {
        (Content::Variables(a), Content::Variables(b)) => ("variables", differing(a, b)),
        (Content::Status(a), Content::Status(b)) => ("status values", differing(a, b)),
        (Content::Persisted(a), Content::Persisted(b)) => ("persisted variables", differing(a, b)),
        (Content::PoolStats(a), Content::PoolStats(b)) if a != b => {
            return Some(replaced("buffer pool statistics", earlier, later));
        }
        (Content::InnodbStatus(a), Content::InnodbStatus(b)) if a != b => {
            return Some(replaced("InnoDB status text", earlier, later));
        }
        (Content::Meminfo(a), Content::Meminfo(b)) if a != b => {
            return Some(replaced("meminfo", earlier, later));
        }
        _ => return None,
    };
    let first = differing.first()?;
    let others = match differing.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(NotRead::new(
        format!("{kind} of {}", earlier.place),
        format!(
            "{first}{others} differ in {}, which was taken as the later one; \
             nothing tells which is newer",
            later.place
        ),
    ))
}

fn replaced(what: &str, earlier: &Document, later: &Document) -> NotRead {
    NotRead::new(
        format!("{what} of {}", earlier.place),
        format!(
            "{} has another one, which was taken as the later; nothing tells which is newer",
            later.place
        ),
    )
}

/// Names both tables give different values.
fn differing(earlier: &Table, later: &Table) -> Vec<String> {
    let normal = |row| name_of(row).map(crate::variables::normalise_name);
    let value = |row: &crate::table::Row| row.cells.get(1).cloned().flatten();
    let before: BTreeMap<_, _> =
        earlier.rows.iter().filter_map(|row| Some((normal(row)?, value(row)))).collect();
    later
        .rows
        .iter()
        .filter_map(|row| Some((normal(row)?, value(row))))
        .filter(|(name, value)| {
            (crate::allow::is_variable(name) || crate::allow::is_status(name))
                && before.get(name).is_some_and(|old| old != value)
        })
        .map(|(name, _)| name)
        .collect()
}
