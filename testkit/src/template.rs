//! Data directories: initialised once for each kind, then copied for each instance.
//!
//! Initialising MySQL takes seconds, copying takes a tenth of one. The template has root without a
//! password over the socket and over 127.0.0.1, also when the server does not look names up.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::{Kind, command, install, launch, lock, places};

const INITIALISE_TIME_MAX: Duration = Duration::from_secs(180);
const COPY_TIME_MAX: Duration = Duration::from_secs(120);

/// Accounts for 127.0.0.1 by number, which `--initialize-insecure` leaves out.
const MYSQL_ACCOUNTS: &str = "\
CREATE USER root@'127.0.0.1' IDENTIFIED BY '';
GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
";

/// Makes the template unless there is one that this version of the server made.
pub(crate) fn prepare(kind: Kind) -> Result<()> {
    install::server(kind)?;
    let template = places::template(kind);
    let _lock = lock::hold(&places::kind(kind).join("template.lock"))?;
    let stamp = stamp(kind)?;
    let stamp_file = places::kind(kind).join("template.stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|made_by| made_by == stamp) && template.exists() {
        return Ok(());
    }
    eprintln!("testkit: initialising a data directory for {kind} ...");
    if template.exists() {
        fs::remove_dir_all(&template)
            .with_context(|| format!("cannot remove {}", template.display()))?;
    }
    match kind {
        Kind::Mysql => initialise_mysql(&template)?,
        Kind::Mariadb => initialise_mariadb(&template)?,
    }
    // Written last: a template without a stamp is unfinished.
    fs::write(&stamp_file, stamp).with_context(|| format!("cannot write {}", stamp_file.display()))
}

/// Copies the template to become the data directory of the instance in `directory`.
pub(crate) fn copy(kind: Kind, directory: &Path) -> Result<()> {
    prepare(kind)?;
    let from = path_str(&places::template(kind))?.to_owned();
    let data = directory.join("data");
    let to = path_str(&data)?;
    let instance = directory.file_name().unwrap_or_default().display();
    let name = format!("copy-{kind}-{instance}");
    command::run(&name, COPY_TIME_MAX, "cp", &["-a", "--reflink=auto", &from, to])
        .context("cannot copy the data directory")
}

fn initialise_mysql(template: &Path) -> Result<()> {
    let accounts = places::kind(Kind::Mysql).join("accounts.sql");
    fs::write(&accounts, MYSQL_ACCOUNTS)
        .with_context(|| format!("cannot write {}", accounts.display()))?;
    let mut words = launch::in_mysql_root(install::MYSQLD)?;
    words.extend([
        "--no-defaults".to_owned(),
        "--initialize-insecure".to_owned(),
        "--user=root".to_owned(),
        "--secure-file-priv=NULL".to_owned(),
        format!("--datadir={}", path_str(template)?),
        format!("--init-file={}", path_str(&accounts)?),
    ]);
    run_words("initialise-mysql", &words)?;
    // The server's identity is in this file; each instance makes its own.
    let identity = template.join("auto.cnf");
    fs::remove_file(&identity).with_context(|| format!("cannot remove {}", identity.display()))
}

fn initialise_mariadb(template: &Path) -> Result<()> {
    let words = [
        install::MARIADB_INSTALL_DB.to_owned(),
        "--no-defaults".to_owned(),
        "--user=root".to_owned(),
        "--auth-root-authentication-method=normal".to_owned(),
        "--skip-test-db".to_owned(),
        format!("--datadir={}", path_str(template)?),
    ];
    run_words("initialise-mariadb", &words)
}

fn run_words(name: &str, words: &[String]) -> Result<()> {
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    command::run(name, INITIALISE_TIME_MAX, &words[0], &arguments)
        .context("cannot initialise a data directory")
}

/// Identifies the installed server program: a new version may not start on an old template.
fn stamp(kind: Kind) -> Result<String> {
    let program = install::program_file(kind);
    let metadata =
        fs::metadata(&program).with_context(|| format!("cannot see {}", program.display()))?;
    let modified = metadata.modified().context("no modification time")?;
    let seconds = modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(format!("{} bytes, modified at {seconds}\n", metadata.len()))
}

fn path_str(path: &Path) -> Result<&str> {
    path.to_str().context("the workspace's path is not UTF-8")
}
