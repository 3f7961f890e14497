//! Which documents belong to one moment, and in which order the moments were.
//!
//! A collector numbers its moments. A person who pastes two status listings does not: there, a
//! second listing with another uptime is another moment. The person's order of the files holds,
//! unless only the order of the uptimes lets everything grow that must grow.

use std::collections::{BTreeMap, BTreeSet};

use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use crate::table::{Table, parse_count};

/// More moments tell no more than these, and each is as large as all that is known of a server.
const MOMENTS_MAX: usize = 1000;

/// Sorts documents into moments, oldest first. Within a moment they keep their order. What had to
/// be decided or left out is added to `not_read`.
pub(super) fn sort(documents: Vec<Document>, not_read: &mut Vec<NotRead>) -> Vec<Vec<Document>> {
    let given = Given::of(&documents);
    let mut numbered: BTreeMap<usize, Vec<Document>> = BTreeMap::new();
    for document in documents {
        numbered.entry(document.moment).or_default().push(document);
    }
    let mut moments: Vec<Vec<Document>> = Vec::new();
    // Not a moment of their own: lists of what was missed, and samples, which carry their times.
    let mut loose = Vec::new();
    let mut without_listing = Vec::new();
    for documents in numbered.into_values() {
        if documents.iter().all(|d| is_timeless(&d.content)) {
            loose.extend(documents);
        } else {
            let (parts, others) = split(documents);
            moments.extend(parts);
            without_listing.extend(others);
        }
    }
    if given.listings_of_several_files {
        // Several files with listings: their numbers say nothing of one another.
        given.order(&mut moments, not_read);
    }
    for document in without_listing {
        given.place(document, &mut moments);
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

/// Splits the documents of one number where they hold status listings of several uptimes. A
/// document goes with the listing of its own file; those of files without one are given back apart.
fn split(documents: Vec<Document>) -> (Vec<Vec<Document>>, Vec<Document>) {
    let mut uptimes: Vec<u64> = documents.iter().filter_map(pasted_uptime).collect();
    uptimes.sort_unstable();
    uptimes.dedup();
    if uptimes.len() < 2 {
        return (vec![documents], Vec::new());
    }
    let by_place: BTreeMap<String, u64> = documents
        .iter()
        .filter_map(|document| Some((document.place.clone(), pasted_uptime(document)?)))
        .collect();
    let mut moments: Vec<Vec<Document>> = uptimes.iter().map(|_| Vec::new()).collect();
    let mut others = Vec::new();
    for document in documents {
        let moment = pasted_uptime(&document)
            .or_else(|| by_place.get(&document.place).copied())
            .and_then(|uptime| moments.get_mut(uptimes.binary_search(&uptime).ok()?));
        match moment {
            Some(moment) => moment.push(document),
            None => others.push(document),
        }
    }
    (moments, others)
}

/// The order in which the person gave the files.
struct Given {
    order: BTreeMap<String, usize>,
    /// More than one of them holds a status listing without a time.
    listings_of_several_files: bool,
}

impl Given {
    fn of(documents: &[Document]) -> Self {
        let mut order = BTreeMap::new();
        let mut with_listing = BTreeSet::new();
        for document in documents {
            let next = order.len();
            order.entry(document.place.clone()).or_insert(next);
            if pasted_uptime(document).is_some() {
                with_listing.insert(document.place.as_str());
            }
        }
        let listings_of_several_files = with_listing.len() > 1;
        Self { order, listings_of_several_files }
    }

    fn rank(&self, document: &Document) -> usize {
        self.order.get(&document.place).copied().unwrap_or(usize::MAX)
    }

    /// Orders moments by the person's order, or by uptime where only that lets everything grow.
    fn order(&self, moments: &mut [Vec<Document>], not_read: &mut Vec<NotRead>) {
        moments.sort_by_key(|moment| {
            let listing = listing_of(moment)?;
            Some((self.rank(listing), listing.moment))
        });
        let by_uptime = |moment: &Vec<Document>| listing_of(moment).and_then(pasted_uptime);
        let mut sorted: Vec<&Vec<Document>> = moments.iter().collect();
        sorted.sort_by_key(|moment| by_uptime(moment));
        if all_grow(moments.iter()) || !all_grow(sorted.iter().copied()) {
            return;
        }
        let mut places: Vec<&str> =
            sorted.iter().filter_map(|m| Some(listing_of(m)?.place.as_str())).collect();
        places.dedup();
        not_read.push(NotRead::new(
            "the order of the files",
            format!(
                "taken in order of Uptime: {}; if the server restarted in between, give one file \
                 only",
                places.join(" before ")
            ),
        ));
        moments.sort_by_key(by_uptime);
    }

    /// Adds a document without a listing of its own: what hardly changes to the first moment of its
    /// number, from where later ones inherit, and the rest to the last.
    fn place(&self, document: Document, moments: &mut [Vec<Document>]) {
        let mut of_number = moments.iter_mut().filter(|moment| {
            listing_of(moment).is_some_and(|listing| listing.moment == document.moment)
        });
        let moment =
            if is_static(&document.content) { of_number.next() } else { of_number.next_back() };
        if let Some(moment) = moment {
            moment.push(document);
            // Of two files that say the same thing the one given later still wins.
            moment.sort_by_key(|document| self.rank(document));
        }
    }
}

/// The status listing without a time that makes these documents a moment.
fn listing_of(moment: &[Document]) -> Option<&Document> {
    moment.iter().find(|document| pasted_uptime(document).is_some())
}

/// True when neither the uptime nor a counter that only a restart sets back falls from one moment to
/// the next.
fn all_grow<'m>(moments: impl Iterator<Item = &'m Vec<Document>>) -> bool {
    const GROWING: [&str; 3] =
        ["uptime", "innodb_buffer_pool_read_requests", "innodb_buffer_pool_reads"];
    let mut highest = [0; GROWING.len()];
    for moment in moments {
        for (name, highest) in GROWING.iter().zip(&mut highest) {
            match moment.iter().find_map(|document| pasted_count(document, name)) {
                Some(count) if count < *highest => return false,
                Some(count) => *highest = count,
                None => {}
            }
        }
    }
    true
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
    pasted_count(document, "uptime")
}

/// A count in a status listing whose time is unknown.
fn pasted_count(document: &Document, wanted: &str) -> Option<u64> {
    if document.taken_unix_seconds.is_some() {
        return None;
    }
    match &document.content {
        Content::Status(table) => table
            .rows
            .iter()
            .find(|row| name_of(row).is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
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
