//! Text documents, and the one table with a parser of its own, folded into the evidence of their
//! moment.

use std::collections::BTreeSet;
use std::path::Path;

use super::plausible;
use crate::evidence::Evidence;
use crate::observation::{Content, Document};
use crate::option_file::Configuration;
use crate::provenance::NotRead;
use crate::read;
use crate::read::option_file::{IncludeError, Includes};
use crate::table::Table;

/// Takes the pages of an exporter apart into the documents the server itself would have given.
pub(crate) fn expand_exporter(document: Document) -> Vec<Document> {
    let Content::Exporter(text) = &document.content else {
        return vec![document];
    };
    let mut parts = read::read_text(text, &document.place);
    for part in &mut parts {
        part.moment = part.moment.saturating_add(document.moment);
        part.taken_unix_seconds = document.taken_unix_seconds.or(part.taken_unix_seconds);
    }
    parts
}

/// `INNODB_BUFFER_POOL_STATS`.
pub(super) fn pool_stats(evidence: &mut Evidence, table: &Table, place: &str) {
    match read::pool_stats::parse(table, place) {
        Some(stats) => evidence.pool_stats = Some(stats),
        None => evidence.not_read.push(NotRead::new(
            "buffer pool statistics",
            format!("{place} has no row with a size"),
        )),
    }
}

/// The InnoDB status text.
pub(super) fn innodb_status(evidence: &mut Evidence, text: &str, place: &str) {
    match read::innodb_status::parse(text, place) {
        Some(status) => evidence.innodb_status = Some(status),
        None => evidence
            .not_read
            .push(NotRead::new("InnoDB status", format!("{place} holds no status text"))),
    }
}

/// The machine's memory; what is known already gives way.
pub(super) fn meminfo(evidence: &mut Evidence, text: &str, place: &str) {
    let mut read = read::meminfo::parse(text, place);
    if let Some(known) = &evidence.host {
        crate::host::inherit(&mut read, known);
    }
    evidence.host = Some(read);
}

/// Events of an error log, after those of other logs.
pub(super) fn error_log(evidence: &mut Evidence, text: &str, place: &str) {
    evidence.log_events.extend(read::error_log::parse(text, place));
}

/// What a file persisted; the server's own table, where there is one, is folded after it.
pub(super) fn mysqld_auto(evidence: &mut Evidence, text: &str, place: &str) {
    match read::mysqld_auto::parse(text, place) {
        Ok(variables) => {
            let persisted = evidence.persisted.get_or_insert_default();
            for (name, variable) in variables.iter() {
                persisted.insert_whole(name, variable.clone());
            }
        }
        Err(error) => {
            let missing = NotRead::new("persisted variables", error.to_string());
            evidence.not_read.push(missing);
        }
    }
}

/// An option file among the documents.
pub(super) struct OptionFile {
    pub(super) place: String,
    pub(super) text: String,
}

/// Reads all option files of a moment, in their order, once the server is known. A file that
/// another of them includes is read there and not again.
pub(super) fn option_files(evidence: &mut Evidence, files: &[OptionFile]) {
    let mut configuration = Configuration::default();
    for file in outermost(files, evidence) {
        let mut others = Others::of(files, file);
        configuration.append(read::option_file::parse(
            &file.text,
            &file.place,
            &evidence.server,
            &mut others,
        ));
    }
    // A file may come in parts, between the files it includes.
    let mut seen = BTreeSet::new();
    configuration.files.retain(|path| seen.insert(path.clone()));
    configuration.keep_allowed();
    keep_possible_settings(&mut configuration, &mut evidence.not_read);
    evidence.configuration = configuration;
}

/// Takes sizes no server can have out of the option files' settings.
fn keep_possible_settings(configuration: &mut Configuration, not_read: &mut Vec<NotRead>) {
    configuration.settings.retain(|setting| {
        let value = setting.value.as_deref().unwrap_or_default();
        let bytes = crate::option_file::parse_size(value);
        let possible =
            !bytes.is_ok_and(|bytes| !plausible::is_possible(&setting.name, &bytes.to_string()));
        if !possible {
            let place = format!("{}:{}", setting.path, setting.line);
            not_read.push(plausible::impossible(&setting.name, value, &place));
        }
        possible
    });
}

/// The files no other one includes; of files that only include each other, the first.
fn outermost<'f>(files: &'f [OptionFile], evidence: &Evidence) -> Vec<&'f OptionFile> {
    let reach = |file: &'f OptionFile| {
        let mut others = Others::of(files, file);
        read::option_file::parse(&file.text, &file.place, &evidence.server, &mut others);
        others.taken
    };
    let reached: Vec<BTreeSet<&str>> = files.iter().map(reach).collect();
    let included: BTreeSet<&str> = reached.iter().flatten().copied().collect();
    let is_free = |file: &OptionFile| !included.contains(file.place.as_str());
    let mut covered: BTreeSet<&str> = files
        .iter()
        .zip(&reached)
        .filter(|(file, _)| is_free(file))
        .flat_map(|(_, reach)| reach.iter().copied())
        .collect();
    let mut outermost = Vec::new();
    for (file, reach) in files.iter().zip(&reached) {
        if is_free(file) {
            outermost.push(file);
        } else if !covered.contains(file.place.as_str()) {
            outermost.push(file);
            covered.insert(&file.place);
            covered.extend(reach);
        }
    }
    outermost
}

/// Follows includes to the other documents.
struct Others<'f> {
    files: &'f [OptionFile],
    own_place: &'f str,
    taken: BTreeSet<&'f str>,
}

impl<'f> Others<'f> {
    fn of(files: &'f [OptionFile], own: &'f OptionFile) -> Self {
        Self { files, own_place: &own.place, taken: BTreeSet::new() }
    }
}

impl Includes for Others<'_> {
    fn file(&mut self, path: &str) -> Result<String, IncludeError> {
        let wanted = Path::new(path);
        let found = self
            .files
            .iter()
            .find(|file| Path::new(&file.place) == wanted && file.place != self.own_place)
            .ok_or(IncludeError::NotLookedFor)?;
        self.taken.insert(&found.place);
        Ok(found.text.clone())
    }

    fn directory(&mut self, path: &str) -> Result<Vec<String>, IncludeError> {
        let wanted = Path::new(path);
        let names: Vec<String> = self
            .files
            .iter()
            .map(|file| Path::new(&file.place))
            .filter(|place| place.parent() == Some(wanted))
            .filter_map(|place| Some(place.file_name()?.to_str()?.to_owned()))
            .collect();
        if names.is_empty() { Err(IncludeError::NotLookedFor) } else { Ok(names) }
    }
}
