//! Saved evidence: a directory that `collect` wrote, or whatever a person has pasted into files.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use innopool_target::collect::{self, CollectError};
use innopool_target::read::{self, Unrecognised};
use innopool_target::variables::normalise_name;
use innopool_target::{Content, Document, NotRead, Server, Version};

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
    /// What says which server it is of, by the path given or found.
    identities: Vec<(String, Identity)>,
}

/// What files of one server have in common.
#[derive(Default)]
struct Identity {
    uuid: Option<String>,
    version: Option<Version>,
}

impl Identity {
    /// What the variables among these documents say.
    fn of(documents: &[Document]) -> Self {
        let mut identity = Self::default();
        for document in documents {
            let Content::Variables(table) = &document.content else {
                continue;
            };
            for row in &table.rows {
                let [Some(name), Some(value), ..] = row.cells.as_slice() else {
                    continue;
                };
                match normalise_name(name.trim()).as_str() {
                    "server_uuid" => identity.uuid = Some(value.trim().to_owned()),
                    "version" => identity.version = Server::detect(value, "").version,
                    _ => {}
                }
            }
        }
        identity
    }

    /// How two servers differ; `None` where nothing says that they are two.
    fn difference(&self, other: &Self) -> Option<String> {
        if let (Some(ours), Some(others)) = (&self.version, &other.version)
            && ours != others
        {
            return Some(format!("versions {ours} and {others}"));
        }
        match (&self.uuid, &other.uuid) {
            (Some(ours), Some(others)) if !ours.eq_ignore_ascii_case(others) => {
                Some("their server_uuid differs".to_owned())
            }
            _ => None,
        }
    }
}

impl Saved {
    fn take(&mut self, path: &Path) -> Result<(), Failure> {
        if path == Path::new("-") {
            self.names.push("stdin".to_owned());
            if io::stdin().is_terminal() {
                terminal::complain("reading pasted output from this terminal; Ctrl-D ends it");
            }
            return self.take_stream(io::stdin().lock(), "stdin");
        }
        if !path.is_dir() {
            self.names.push(name_of(path));
            return self.take_file(path);
        }
        match collect::read(path) {
            Ok((name, documents, not_read)) => {
                self.names.push(name);
                self.add(documents, &path.display().to_string());
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
        let metadata = path.metadata().map_err(|error| cannot_read(&place, &error))?;
        // A pipe would be waited for without end, unless it is one the shell has opened for us.
        if !metadata.is_file() && !path.starts_with("/dev/fd") {
            return Err(Failure::could_not(format!(
                "{place} is not a plain file; what comes through a pipe is read with --from -"
            )));
        }
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
            Ok(documents) => self.add(documents, place),
            Err(unrecognised) => self.unrecognised.push(unrecognised),
        }
        Ok(())
    }

    fn add(&mut self, documents: Vec<Document>, place: &str) {
        self.identities.push((place.to_owned(), Identity::of(&documents)));
        self.documents.extend(documents);
    }

    /// A diagnosis of two servers mixed is none.
    fn check_same_server(&self) -> Result<(), Failure> {
        for (at, (later, identity)) in self.identities.iter().enumerate() {
            for (earlier, other) in self.identities.iter().take(at) {
                if let Some(difference) = other.difference(identity) {
                    return Err(Failure::could_not(format!(
                        "{earlier} and {later} are of two servers ({difference}): give the files \
                         of one"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Nothing at all is an error; a file among others that says nothing is worth a word.
    fn check(&mut self) -> Result<(), Failure> {
        if self.documents.is_empty() {
            if self.unrecognised.is_empty() {
                return Err(Failure::could_not(format!(
                    "{} holds no files",
                    self.names.join(", ")
                )));
            }
            let files: Vec<String> = self.unrecognised.iter().map(ToString::to_string).collect();
            return Err(Failure::could_not(format!("{}\n{}", files.join("\n"), read::READABLE)));
        }
        self.check_same_server()?;
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
