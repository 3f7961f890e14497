//! The client's option files, read as the `mysql` client reads them: which files, in which order,
//! and which of their groups.

use super::{Layer, LoginError};
use crate::option_file::Problem;
use crate::read::option_file::{DEFAULT_FILES, Disk, IncludeError, Includes, walk};

/// The groups read: those of MySQL's and MariaDB's clients, and our own.
const GROUPS: &[&str] =
    &["client", "mysql", "client-server", "client-mariadb", "mariadb-client", "innopool"];

/// Which option files to read. Later files win over earlier ones, and later lines over earlier
/// lines, whatever their groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFiles {
    /// The files read for every account, first to last; those that do not exist are passed over.
    pub global_files: Vec<String>,
    /// The home directory, for `.my.cnf` in it.
    pub home: Option<String>,
    /// `--defaults-file`: only this file, which must exist.
    pub defaults_file: Option<String>,
    /// `--defaults-extra-file`: this file too, after the global ones; it must exist.
    pub defaults_extra_file: Option<String>,
    /// `--defaults-group-suffix`: for each group also the one with this suffix.
    pub group_suffix: Option<String>,
    /// `--no-defaults`: no option file.
    pub no_defaults: bool,
}

impl Default for OptionFiles {
    fn default() -> Self {
        Self {
            global_files: DEFAULT_FILES.iter().map(|&path| path.to_owned()).collect(),
            home: None,
            defaults_file: None,
            defaults_extra_file: None,
            group_suffix: None,
            no_defaults: false,
        }
    }
}

/// What the option files say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FromFiles {
    /// Their options.
    pub layer: Layer,
    /// The files read, in order.
    pub files: Vec<String>,
    /// What was passed over and why, each with its file and line.
    pub notes: Vec<String>,
}

impl OptionFiles {
    /// Reads the files from this machine's disk.
    ///
    /// # Errors
    /// When options contradict each other, a file that was named cannot be read, or a file has a
    /// line that the `mysql` client refuses or an option with a wrong value.
    pub fn read(&self) -> Result<FromFiles, LoginError> {
        self.read_from(&mut Disk)
    }

    /// Reads the files from anywhere.
    ///
    /// # Errors
    /// As [`OptionFiles::read`].
    pub fn read_from(&self, source: &mut dyn Includes) -> Result<FromFiles, LoginError> {
        self.check()?;
        let mut from_files = FromFiles::default();
        for (path, must_exist) in self.paths() {
            match source.file(&path) {
                Ok(text) => self.take(&text, &path, source, &mut from_files)?,
                Err(IncludeError::Missing | IncludeError::NotLookedFor) if !must_exist => {}
                Err(IncludeError::WorldWritable) => {
                    let note = format!("{path}: {}", IncludeError::WorldWritable);
                    from_files.notes.push(note);
                }
                Err(error) if must_exist => {
                    return Err(LoginError::OptionFile {
                        path,
                        line: 0,
                        message: format!("cannot be read: {error}"),
                    });
                }
                Err(error) => from_files.notes.push(format!("{path}: not read: {error}")),
            }
        }
        Ok(from_files)
    }

    fn check(&self) -> Result<(), LoginError> {
        let named = self.defaults_file.is_some() || self.defaults_extra_file.is_some();
        if self.no_defaults && named {
            return Err(LoginError::Conflict(
                "--no-defaults says to read no option file, and another option names one; \
                 leave one of them out"
                    .to_owned(),
            ));
        }
        if self.defaults_file.is_some() && self.defaults_extra_file.is_some() {
            return Err(LoginError::Conflict(
                "--defaults-file says to read no other option file, so --defaults-extra-file \
                 would not be read; leave one of them out"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The files in reading order, and whether each must exist.
    fn paths(&self) -> Vec<(String, bool)> {
        if self.no_defaults {
            return Vec::new();
        }
        if let Some(path) = &self.defaults_file {
            return vec![(path.clone(), true)];
        }
        let global = self.global_files.iter().map(|path| (path.clone(), false));
        let extra = self.defaults_extra_file.iter().map(|path| (path.clone(), true));
        let home = self.home.iter().map(|home| {
            let path = format!("{}/.my.cnf", home.trim_end_matches('/'));
            (path, false)
        });
        global.chain(extra).chain(home).collect()
    }

    fn take(
        &self,
        text: &str,
        path: &str,
        source: &mut dyn Includes,
        from_files: &mut FromFiles,
    ) -> Result<(), LoginError> {
        let contents = walk(text, path, source);
        for problem in contents.problems {
            from_files.notes.push(note(problem)?);
        }
        for entry in contents.entries {
            if !reads_group(&entry.group, self.group_suffix.as_deref()) {
                continue;
            }
            let set = from_files.layer.set(&entry.name, entry.value.as_deref());
            set.map_err(|message| LoginError::OptionFile {
                path: entry.path,
                line: entry.line,
                message,
            })?;
        }
        from_files.files.extend(contents.files);
        Ok(())
    }
}

/// A problem in words, or as an error where the `mysql` client would stop.
fn note(problem: Problem) -> Result<String, LoginError> {
    let Problem { path, line, message, fatal } = problem;
    if fatal {
        return Err(LoginError::OptionFile { path, line, message });
    }
    Ok(format!("{path}:{line}: {message}"))
}

/// True for the groups read, with or without the suffix; case does not count.
fn reads_group(group: &str, suffix: Option<&str>) -> bool {
    let is_known = |name: &str| GROUPS.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_known(group) {
        return true;
    }
    let Some(suffix) = suffix.filter(|suffix| !suffix.is_empty()) else {
        return false;
    };
    GROUPS.iter().any(|known| format!("{known}{suffix}").eq_ignore_ascii_case(group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::{Password, Secret};

    /// A home directory with some option files.
    struct Home {
        dir: tempfile::TempDir,
    }

    impl Home {
        fn new(files: &[(&str, &str)]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                std::fs::write(dir.path().join(name), text).unwrap();
            }
            Self { dir }
        }

        fn path(&self, name: &str) -> String {
            self.dir.path().join(name).display().to_string()
        }

        fn files(&self) -> OptionFiles {
            OptionFiles {
                global_files: vec![self.path("etc.cnf"), self.path("etc2.cnf")],
                home: Some(self.dir.path().display().to_string()),
                ..OptionFiles::default()
            }
        }
    }

    #[test]
    fn reads_the_files_and_groups_of_the_mysql_client() {
        let home = Home::new(&[
            ("etc.cnf", "[client]\nuser=global\nport=3301\nsocket=/run/a\n[mysqld]\nport=9\n"),
            ("extra.cnf", "[client-server]\nport=3302\n[mysqldump]\nuser=no\n"),
            (".my.cnf", "[client]\npassword=\"tu#lip\"\n[innopool]\nuser=ada\nquick\n"),
        ]);
        let mut files = home.files();
        files.defaults_extra_file = Some(home.path("extra.cnf"));
        let read = files.read().unwrap();
        assert_eq!(read.layer.user.as_deref(), Some("ada"));
        assert_eq!(read.layer.port, Some(3302));
        assert_eq!(read.layer.socket.as_deref(), Some("/run/a"));
        assert_eq!(read.layer.password, Some(Password::Given(Secret::new("tu#lip"))));
        assert!(!read.layer.typed);
        assert_eq!(read.notes, [] as [&str; 0]);
        let expected = ["etc.cnf", "extra.cnf", ".my.cnf"].map(|name| home.path(name));
        assert_eq!(read.files, expected);
    }

    #[test]
    fn every_group_counts_and_the_last_line_wins() {
        let groups = ["mysql", "Client", "client-mariadb", "mariadb-client", "innopool"];
        let mut text = String::from("[client-server]\nport=1\n");
        for (index, group) in groups.iter().enumerate() {
            text.push_str(&format!("[{group}]\nport={}\n", index + 2));
            let home = Home::new(&[(".my.cnf", &text)]);
            let port = usize::from(home.files().read().unwrap().layer.port.unwrap());
            assert_eq!(port, index + 2, "[{group}]");
        }
    }

    #[test]
    fn a_group_suffix_adds_groups() {
        let home = Home::new(&[(".my.cnf", "[client]\nport=1\n[client-east]\nport=2\n")]);
        let mut files = home.files();
        assert_eq!(files.read().unwrap().layer.port, Some(1));
        files.group_suffix = Some("-east".to_owned());
        assert_eq!(files.read().unwrap().layer.port, Some(2));
        files.group_suffix = Some(String::new());
        assert_eq!(files.read().unwrap().layer.port, Some(1));
    }

    #[test]
    fn defaults_file_and_no_defaults_leave_the_others_out() {
        let home = Home::new(&[(".my.cnf", "[client]\nuser=home\n"), ("a", "[client]\nport=7\n")]);
        let mut files = home.files();
        files.defaults_file = Some(home.path("a"));
        let layer = files.read().unwrap().layer;
        assert_eq!((layer.user, layer.port), (None, Some(7)));
        files.no_defaults = true;
        assert!(matches!(files.read(), Err(LoginError::Conflict(_))));
        files.defaults_file = None;
        assert_eq!(files.read().unwrap(), FromFiles::default());
        files.no_defaults = false;
        files.defaults_file = Some(home.path("a"));
        files.defaults_extra_file = Some(home.path("a"));
        assert!(matches!(files.read(), Err(LoginError::Conflict(_))));
    }

    #[test]
    fn errors_name_the_file_the_line_and_no_password() {
        for (text, line, said) in [
            ("[client]\nport = tulip\n", 2, "1 to 65535"),
            ("[client]\n\nhost\n", 3, "host needs a value"),
            ("password=tulip\n", 1, "before any [group]"),
            ("[client]\npassword=tulip\n[mysqld\n", 3, "']'"),
        ] {
            let home = Home::new(&[(".my.cnf", text)]);
            let message = home.files().read().unwrap_err().to_string();
            let place = format!("{}:{line}: ", home.path(".my.cnf"));
            assert!(message.starts_with(&place) && message.contains(said), "{message}");
            assert!(!message.contains("tulip"), "{message}");
        }
        let home = Home::new(&[]);
        let mut files = home.files();
        files.defaults_file = Some(home.path("none.cnf"));
        let message = files.read().unwrap_err().to_string();
        assert_eq!(
            message,
            format!("{}: cannot be read: it does not exist", home.path("none.cnf"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn ignores_what_everybody_may_write_and_says_so() {
        use std::os::unix::fs::PermissionsExt;
        let home = Home::new(&[(".my.cnf", "[client]\nuser=mallory\n")]);
        let mode = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(home.path(".my.cnf"), mode).unwrap();
        let read = home.files().read().unwrap();
        assert_eq!(read.layer, Layer::default());
        let [note] = &read.notes[..] else {
            panic!("{:?}", read.notes);
        };
        assert!(note.starts_with(&home.path(".my.cnf")) && note.contains("chmod o-w"), "{note}");
    }

    #[test]
    fn follows_includes() {
        let home = Home::new(&[("b", "[client]\nuser=ada\n")]);
        let text =
            format!("[client]\nport=3\n!include {}\nhost=x\n!include /none\n", home.path("b"));
        std::fs::write(home.path(".my.cnf"), text).unwrap();
        let read = home.files().read().unwrap();
        assert_eq!(read.layer.user.as_deref(), Some("ada"));
        assert_eq!(read.layer.host.as_deref(), Some("x"));
        assert!(read.notes[0].contains("/none was not read"), "{:?}", read.notes);
    }
}
