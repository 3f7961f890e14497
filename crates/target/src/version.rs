//! Which server this is. The flavour is told by what the server says of itself, never by its major
//! number: MariaDB 10 and 11 came before MySQL's calendar versions (26.x), and the numbers overlap.

use std::fmt;

/// The family a server belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Flavor {
    /// Oracle's MySQL.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// Percona Server for MySQL or Percona XtraDB Cluster.
    Percona,
    /// Not told by the evidence.
    #[default]
    Unknown,
}

impl Flavor {
    /// The name used in JSON: `mysql`, `mariadb`, `percona` or `unknown`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
            Self::Percona => "percona",
            Self::Unknown => "unknown",
        }
    }

    /// True for servers built from MySQL's code: MySQL itself and Percona.
    pub fn is_mysql_like(self) -> bool {
        matches!(self, Self::Mysql | Self::Percona)
    }

    /// Tells the flavour from `version` and `version_comment`; either may be empty.
    pub fn detect(version: &str, version_comment: &str) -> Self {
        let text = format!("{version} {version_comment}").to_ascii_lowercase();
        if text.contains("mariadb") {
            Self::Mariadb
        } else if text.contains("percona") {
            Self::Percona
        } else if text.contains("mysql")
            || text.contains("source distribution")
            || Version::parse(version).is_some()
        {
            Self::Mysql
        } else {
            Self::Unknown
        }
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
            Self::Percona => "Percona Server",
            Self::Unknown => "unknown server",
        })
    }
}

/// A server version, `major.minor.patch`, ordered as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
    /// Third number; 0 when not printed.
    pub patch: u16,
}

impl Version {
    /// The version `major.minor.patch`.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// Reads the leading numbers of a version string such as `10.11.6-MariaDB-1`.
    ///
    /// MariaDB's replication prefix `5.5.5-` before a two-digit major is skipped. Returns `None`
    /// when the text does not start with `number.number`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = match text.strip_prefix("5.5.5-") {
            Some(rest) if rest.contains("MariaDB") => rest,
            _ => text,
        };
        let mut numbers = text.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?.split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        let patch = numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        Some(Self { major, minor, patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Flavour and version of one server, as far as the evidence tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Server {
    /// The family.
    pub flavor: Flavor,
    /// The parsed version.
    pub version: Option<Version>,
    /// The version as the server prints it.
    pub version_text: Option<String>,
}

impl Server {
    /// Identifies a server from `version` and `version_comment`.
    pub fn detect(version: &str, version_comment: &str) -> Self {
        Self {
            flavor: Flavor::detect(version, version_comment),
            version: Version::parse(version),
            version_text: Some(version.to_owned()),
        }
    }

    /// True when the version is known and at least `major.minor.patch`.
    pub fn at_least(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.version.is_some_and(|v| v >= Version::new(major, minor, patch))
    }

    /// True when the version is known and below `major.minor.patch`.
    pub fn below(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.version.is_some_and(|v| v < Version::new(major, minor, patch))
    }

    /// True for a MariaDB of one of the release series at or after the given patch level:
    /// each entry is the first release of its `major.minor` series with the change. A series newer
    /// than all listed counts as having it, an older or unlisted one between as not.
    pub fn mariadb_has(&self, first_releases: &[Version]) -> bool {
        let (Flavor::Mariadb, Some(version)) = (self.flavor, self.version) else {
            return false;
        };
        let series = |v: &Version| (v.major, v.minor);
        match first_releases.iter().find(|first| series(first) == series(&version)) {
            Some(first) => version >= *first,
            None => first_releases.iter().all(|first| version > *first),
        }
    }
}
