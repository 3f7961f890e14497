//! Installing what a fresh machine lacks, from the distribution's own packages.
//!
//! MariaDB comes as `mariadb-server-core`: the program without the service that the full package
//! would start. MySQL is in Debian's unstable suite alone, so it goes into a small Debian of its
//! own (`target/servers/mysql-root`, about half a minute and 500 MB) that the server is started in
//! by chroot.
//!
//! Each step is done once, by one process at a time, and needs root.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{Kind, command, lock, places};

const PACKAGE_TIME_MAX: Duration = Duration::from_secs(600);
const DEBOOTSTRAP_TIME_MAX: Duration = Duration::from_secs(1200);

/// MariaDB's server program.
pub(crate) const MARIADBD: &str = "/usr/sbin/mariadbd";
/// The script that makes a MariaDB data directory.
pub(crate) const MARIADB_INSTALL_DB: &str = "/usr/bin/mariadb-install-db";
/// MySQL's server program, inside [`places::mysql_root`].
pub(crate) const MYSQLD: &str = "/usr/sbin/mysqld";

/// Returns the path of a server's program inside the root that it runs in.
pub(crate) fn server_program(kind: Kind) -> &'static str {
    match kind {
        Kind::Mariadb => MARIADBD,
        Kind::Mysql => MYSQLD,
    }
}

/// Returns the file that a server's program is in, as this process sees it.
pub(crate) fn program_file(kind: Kind) -> PathBuf {
    match kind {
        Kind::Mariadb => PathBuf::from(MARIADBD),
        Kind::Mysql => places::mysql_root().join(MYSQLD.trim_start_matches('/')),
    }
}

/// Installs a server unless it is there.
///
/// # Errors
///
/// When the machine lacks the rights, the network or the packages.
pub fn server(kind: Kind) -> Result<()> {
    let _lock = lock::hold(&places::servers().join("install.lock"))?;
    match kind {
        Kind::Mariadb => {
            let present =
                [MARIADBD, MARIADB_INSTALL_DB].iter().all(|path| Path::new(path).exists());
            if !present {
                packages(&["mariadb-server-core", "mariadb-client-core"])?;
            }
            Ok(())
        }
        Kind::Mysql => mysql(),
    }
}

/// Returns the path of sysbench, installing it unless it is there.
///
/// # Errors
///
/// When the machine lacks the rights, the network or the package.
pub fn sysbench() -> Result<PathBuf> {
    let path = PathBuf::from("/usr/bin/sysbench");
    let _lock = lock::hold(&places::servers().join("install.lock"))?;
    if !path.exists() {
        packages(&["sysbench"])?;
    }
    Ok(path)
}

/// Installs packages of the system's own suite unless their `program` is there.
///
/// # Errors
///
/// When the machine lacks the rights, the network or the packages.
pub fn program(program: &str, package: &str) -> Result<()> {
    let _lock = lock::hold(&places::servers().join("install.lock"))?;
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).exists())
    });
    if on_path { Ok(()) } else { packages(&[package]) }
}

/// Installs packages with apt-get, fetching its lists only if it does without them.
fn packages(names: &[&str]) -> Result<()> {
    needs_root(&format!("to install {}", names.join(" ")))?;
    let start = Instant::now();
    eprintln!("testkit: installing {} ...", names.join(" "));
    let mut arguments =
        vec!["-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--no-install-recommends"];
    arguments.extend(names);
    if command::run("apt-install", PACKAGE_TIME_MAX, "apt-get", &arguments).is_err() {
        eprintln!("testkit: fetching the package lists ...");
        command::run("apt-update", PACKAGE_TIME_MAX, "apt-get", &["update"])
            .context("cannot fetch the package lists")?;
        command::run("apt-install", PACKAGE_TIME_MAX, "apt-get", &arguments)
            .with_context(|| format!("cannot install {}", names.join(" ")))?;
    }
    eprintln!("testkit: installed {} in {} s", names.join(" "), start.elapsed().as_secs());
    Ok(())
}

/// Installs MySQL into a Debian of its own.
fn mysql() -> Result<()> {
    let root = places::mysql_root();
    if root.join(MYSQLD.trim_start_matches('/')).exists() {
        return Ok(());
    }
    needs_root("to install MySQL and to start it by chroot")?;
    if !Path::new("/usr/sbin/debootstrap").exists() {
        packages(&["debootstrap"])?;
    }
    let mirror = mirror(Path::new("/etc/apt"))?;
    // Only a finished installation gets the name that the check above looks at.
    let unfinished = root.with_extension("part");
    remove(&unfinished)?;
    let start = Instant::now();
    eprintln!("testkit: installing MySQL into {} ...", root.display());
    let directory = unfinished.to_str().context("the workspace's path is not UTF-8")?;
    // The mount namespace takes debootstrap's mount of /proc along even if it is killed, so that
    // the removal above never walks into it.
    command::run(
        "debootstrap",
        DEBOOTSTRAP_TIME_MAX,
        "unshare",
        &[
            "--mount",
            "--propagation",
            "private",
            "debootstrap",
            "--variant=minbase",
            "--include=mysql-server-core",
            "sid",
            directory,
            &mirror,
        ],
    )
    .context("cannot install MySQL from Debian's unstable suite")?;
    remove(&unfinished.join("var/cache/apt/archives"))?;
    fs::rename(&unfinished, &root)
        .with_context(|| format!("cannot name the finished {}", root.display()))?;
    eprintln!("testkit: installed MySQL in {} s", start.elapsed().as_secs());
    Ok(())
}

fn needs_root(why: &str) -> Result<()> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { bail!("root is needed {why}") }
}

fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        _ => Ok(()),
    }
}

/// Returns the package mirror that this system itself uses.
fn mirror(apt: &Path) -> Result<String> {
    let mut files = vec![apt.join("sources.list")];
    if let Ok(entries) = fs::read_dir(apt.join("sources.list.d")) {
        let mut more: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        more.sort();
        files.extend(more);
    }
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let found = match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => mirror_in_list(&text),
            Some("sources") => mirror_in_stanzas(&text),
            _ => None,
        };
        if let Some(mirror) = found {
            return Ok(mirror);
        }
    }
    bail!("no Debian mirror in {}/sources.list or sources.list.d", apt.display())
}

/// Finds the mirror in one-line entries: `deb [options] URI SUITE COMPONENT...`.
fn mirror_in_list(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb ")?.trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(options) => options.split_once(']')?.1,
            None => rest,
        };
        let mut words = rest.split_whitespace();
        let uri = words.next()?;
        words.next()?;
        debian(uri, words.any(|component| component == "main"))
    })
}

/// Finds the mirror in deb822 stanzas, which blank lines divide.
fn mirror_in_stanzas(text: &str) -> Option<String> {
    text.split("\n\n").find_map(|stanza| {
        let field = |name: &str| {
            stanza.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim())
            })
        };
        if field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no")) {
            return None;
        }
        let uri = field("URIs")?.split_whitespace().next()?;
        debian(uri, field("Components")?.split_whitespace().any(|component| component == "main"))
    })
}

/// Accepts the address of an archive that holds Debian's suites, unlike the one of its updates.
fn debian(uri: &str, has_main: bool) -> Option<String> {
    let fetched = uri.starts_with("http://") || uri.starts_with("https://");
    let archive = uri.contains("debian") && !uri.contains("security");
    (has_main && fetched && archive).then(|| uri.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_found_in_either_format() {
        let stanzas = "Types: deb\nURIs: http://a.example/debian-security\nSuites: x\nComponents: main\n\n\
                       Types: deb\n# why\nURIs: http://a.example/debian/\nSuites: bookworm\n\
                       Components: main contrib\n";
        assert_eq!(mirror_in_stanzas(stanzas).as_deref(), Some("http://a.example/debian"));
        let list = "# deb http://no.example/debian x main\n\
                    deb [arch=amd64 signed-by=/k] http://b.example/cloud x main\n\
                    deb [arch=amd64] http://b.example/debian bookworm main\n";
        assert_eq!(mirror_in_list(list).as_deref(), Some("http://b.example/debian"));
        assert_eq!(mirror_in_list("deb http://b.example/debian bookworm contrib"), None);
        let disabled = "Enabled: no\nURIs: http://a.example/debian\nComponents: main\n";
        assert_eq!(mirror_in_stanzas(disabled), None);
    }
}
