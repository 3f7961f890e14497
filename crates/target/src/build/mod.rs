//! The one way from documents to an [`Observation`].
//!
//! Whoever reads a server (a live connection, the kernel, a person's clipboard, a saved directory)
//! only produces [`Document`]s. Here they are sorted into moments (`moments`), folded into one
//! [`Evidence`] each (`tables`, `texts`), the server is identified (`identity`), and each moment is completed
//! with what does not change from the one before (`inherit`). Nothing here fails: what cannot be
//! used is named in `not_read`.

mod identity;
mod inherit;
mod moments;
mod plausible;
mod tables;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use texts::expand_exporter;

use std::sync::Arc;

use crate::evidence::Evidence;
use crate::observation::{Content, Document, GaugeSample, Observation};
use crate::provenance::NotRead;
use crate::table::Table;

/// Reads `documents` into an observation called `name`. `not_read` is what the collector could not
/// get; what cannot be understood here is added to it.
///
/// Documents of one moment may come in any order. Later documents win over earlier ones where both
/// give a value; where pasted files contradict each other, a `not_read` entry says so.
pub fn observe(name: &str, documents: Vec<Document>, not_read: Vec<NotRead>) -> Observation {
    let mut observation = Observation { name: name.to_owned(), not_read, ..Observation::default() };
    let mut documents: Vec<Document> = documents.into_iter().flat_map(expand_exporter).collect();
    for document in &mut documents {
        plausible::keep_possible(document, &mut observation.not_read);
    }
    let moments = moments::sort(documents, &mut observation.not_read);
    for documents in moments {
        let mut moment = Moment::default();
        moment.fold(documents);
        let mut evidence = moment.evidence;
        observation.gauges.append(&mut moment.gauges);
        inherit::complete(&mut evidence, observation.moments.last());
        if !moment.option_files.is_empty() {
            texts::option_files(&mut evidence, &moment.option_files);
        }
        tables::apply_origins(&mut evidence.variables, &moment.origins);
        observation.moments.push(evidence);
    }
    if observation.moments.is_empty() {
        observation.moments.push(Evidence::default());
    }
    finish(&mut observation);
    observation
}

/// Orders the samples and gathers everything not read.
fn finish(observation: &mut Observation) {
    for moment in &observation.moments {
        add_sample_at(moment, &mut observation.gauges);
    }
    observation.gauges.sort_by(|a, b| a.taken_unix_seconds.total_cmp(&b.taken_unix_seconds));
    let all = observation.moments.iter().flat_map(|moment| moment.not_read.iter().cloned());
    let mut gathered: Vec<NotRead> = Vec::new();
    for entry in std::mem::take(&mut observation.not_read).into_iter().chain(all) {
        if !gathered.contains(&entry) {
            gathered.push(entry);
        }
    }
    observation.not_read = gathered;
}

/// A moment's full status is a sample too, unless a light one was taken with it.
fn add_sample_at(moment: &Evidence, gauges: &mut Vec<GaugeSample>) {
    const SAME_SECONDS: f64 = 0.1;
    let Some(taken) = moment.taken_unix_seconds else {
        return;
    };
    let mut status = crate::status::GlobalStatus::default();
    for name in crate::allow::GAUGES {
        if let Some(fact) = moment.status.text(name) {
            status.insert(name, fact.value.clone(), fact.source.clone());
        }
    }
    let near = |sample: &GaugeSample| (sample.taken_unix_seconds - taken).abs() < SAME_SECONDS;
    if !status.is_empty() && !gauges.iter().any(near) {
        gauges.push(GaugeSample { taken_unix_seconds: taken, status });
    }
}

/// One moment in the making.
#[derive(Default)]
struct Moment {
    evidence: Evidence,
    /// `VariableOrigins` documents, kept until all variables are known.
    origins: Vec<(Table, Arc<str>)>,
    gauges: Vec<GaugeSample>,
    /// Option files, kept until the server is known.
    option_files: Vec<texts::OptionFile>,
}

impl Moment {
    /// Folds the documents in an order of trust: what a later document says replaces what an
    /// earlier one said, so the roundabout sources come first and the person's own word last.
    fn fold(&mut self, mut documents: Vec<Document>) {
        documents.sort_by_key(|document| trust(&document.content, &document.place));
        self.evidence.taken_unix_seconds = moments::taken(&documents);
        self.evidence.not_read = moments::contradictions(&documents);
        identity::identify(&mut self.evidence.server, &documents);
        let is_mariadb_text = documents.iter().any(|document| {
            matches!(&document.content, Content::InnodbStatus(text)
                if identity::is_mariadb_text(text))
        });
        for document in documents {
            self.add(document);
        }
        identity::from_signs(&mut self.evidence, is_mariadb_text);
    }

    fn add(&mut self, document: Document) {
        let place: Arc<str> = document.place.as_str().into();
        let evidence = &mut self.evidence;
        match document.content {
            Content::Variables(table) => tables::variables(&mut evidence.variables, &table, &place),
            Content::VariableOrigins(table) => self.origins.push((table, place)),
            Content::Status(table) => {
                tables::status(&mut evidence.status, &table, &place, crate::allow::is_status);
            }
            Content::Metrics(table) => {
                tables::status(&mut evidence.metrics, &table, &place, crate::allow::is_metric);
            }
            Content::Persisted(table) => {
                let persisted = evidence.persisted.get_or_insert_default();
                tables::variables(persisted, &table, &place);
            }
            Content::SchemaSizes(table) => tables::schema_sizes(evidence, &table, &place),
            Content::FileIo(table) => tables::file_io(evidence, &table, &place),
            Content::Statements(table) => tables::statements(evidence, &table, &place),
            Content::Digests(table) => tables::digests(evidence, &table),
            Content::Memory(table) => tables::memory(evidence, &table, &place),
            Content::Transactions(table) => tables::transactions(evidence, &table, &place),
            Content::Latches(table) => tables::latches(evidence, &table, &place),
            Content::Host(table) => tables::host(evidence, &table, &place),
            Content::Gauges(table) => self.gauges.extend(tables::gauges(&table, &place)),
            Content::NotRead(table) => tables::not_read(&mut evidence.not_read, &table),
            Content::MysqldAuto(text) => texts::mysqld_auto(evidence, &text, &document.place),
            Content::OptionFile(text) => {
                self.option_files.push(texts::OptionFile { place: document.place, text })
            }
            Content::PoolStats(table) => texts::pool_stats(evidence, &table, &document.place),
            Content::InnodbStatus(text) => texts::innodb_status(evidence, &text, &document.place),
            Content::Meminfo(text) => texts::meminfo(evidence, &text, &document.place),
            Content::ErrorLog(text) => texts::error_log(evidence, &text, &document.place),
            // Was taken apart before the documents were sorted into moments.
            Content::Exporter(_) => {}
        }
    }
}

/// Sort key: lower is folded first and so gives way.
fn trust(content: &Content, place: &str) -> u8 {
    match content {
        Content::Meminfo(_) | Content::MysqldAuto(_) => 0,
        Content::Host(_) if place == crate::host::HOST_MEMORY_OPTION => 2,
        _ => 1,
    }
}
