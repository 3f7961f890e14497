//! Saved evidence: a directory that `collect` wrote, or whatever a person has pasted into files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use innopool_target::collect::{self, CollectError};
use innopool_target::read::{self, Unrecognised};
use innopool_target::{Document, NotRead};

use super::look::{Look, host_memory};
use crate::exit::Failure;
use crate::terminal;

/// Larger files are not evidence, and would fill this machine's memory.
const FILE_BYTES_MAX: u64 = 128 << 20;

/// Reads files and directories; `-` is stdin.
///
/// # Errors
/// When a file cannot be read, or nothing in any of them is evidence.
pub(crate) fn read(paths: &[PathBuf], memory: Option<u64>) -> Result<Look, Failure> {
    let mut saved = Saved::default();
    for path in paths {
        saved.take(path)?;
    }
    saved.check()?;
    let mut documents = saved.documents;
    documents.extend(memory.map(host_memory));
    Ok(Look { name: saved.names.join(", "), documents, not_read: saved.not_read })
}

#[derive(Default)]
struct Saved {
    /// What the evidence is called, one name per path.
    names: Vec<String>,
    documents: Vec<Document>,
    not_read: Vec<NotRead>,
    unrecognised: Vec<Unrecognised>,
}

impl Saved {
    fn take(&mut self, path: &Path) -> Result<(), Failure> {
        if path == Path::new("-") {
            self.names.push("stdin".to_owned());
            return self.take_stream(io::stdin().lock(), "stdin");
        }
        if !path.is_dir() {
            self.names.push(name_of(path));
            return self.take_file(path);
        }
        match collect::read(path) {
            Ok((name, documents, not_read)) => {
                self.names.push(name);
                self.documents.extend(documents);
                self.not_read.extend(not_read);
                Ok(())
            }
            Err(CollectError::NoManifest(_)) => {
                self.names.push(name_of(path));
                files_in(path)?.iter().try_for_each(|file| self.take_file(file))
            }
            Err(error) => Err(Failure::could_not(error.to_string())),
        }
    }

    fn take_file(&mut self, path: &Path) -> Result<(), Failure> {
        let place = path.display().to_string();
        let file = File::open(path).map_err(|error| cannot_read(&place, &error))?;
        self.take_stream(file, &place)
    }

    fn take_stream(&mut self, stream: impl Read, place: &str) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        stream
            .take(FILE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| cannot_read(place, &error))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Failure::could_not(format!(
                "{place} is larger than 128 MB: cut out the part that matters (the newest of a log: \
                 tail -c 100M)"
            )));
        }
        match read::read_file(&bytes, place) {
            Ok(documents) => self.documents.extend(documents),
            Err(unrecognised) => self.unrecognised.push(unrecognised),
        }
        Ok(())
    }

    /// Nothing at all is an error; a file among others that says nothing is worth a word.
    fn check(&mut self) -> Result<(), Failure> {
        if self.documents.is_empty() {
            let message = match self.unrecognised.first() {
                Some(unrecognised) => unrecognised.to_string(),
                None => format!("{} holds no files", self.names.join(", ")),
            };
            return Err(Failure::could_not(message));
        }
        for Unrecognised { place } in &self.unrecognised {
            let why = "nothing in it is output that innopool reads";
            terminal::complain(&format!("{place}: {why}; it is passed over"));
            self.not_read.push(NotRead::new(place.as_str(), why));
        }
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The plain files of a directory by name, without hidden ones.
fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let place = directory.display().to_string();
    let entries = directory.read_dir().map_err(|error| cannot_read(&place, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| cannot_read(&place, &error))?.path();
        if path.is_file() && !name_of(&path).starts_with('.') {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn cannot_read(place: &str, error: &io::Error) -> Failure {
    Failure::could_not(format!("cannot read {place}: {error}"))
}
