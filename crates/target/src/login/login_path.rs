//! `.mylogin.cnf`, where `mysql_config_editor` keeps login paths: an option file whose lines are
//! encrypted with a key that stands in the same file. That hides passwords from a glance, not from
//! whoever can read the file.
//!
//! ```text
//!  0  4 unused bytes
//!  4  20 bytes of key; byte i is XORed into byte i mod 16 of an AES-128 key
//! 24  for each line: its length in bytes (4 bytes, little endian), then the line with its line
//!     break, padded by PKCS #7 and encrypted with AES-128-ECB
//! ```

use std::fmt;
use std::io::Read;

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, KeyInit};

use super::{Layer, LoginError, Secret};
use crate::read::option_file::{Line, take_apart_login};

const UNUSED_BYTES: usize = 4;
const KEY_BYTES: usize = 20;
const BLOCK_BYTES: usize = 16;

/// Bytes of an encrypted line at most: the client's buffer.
const LINE_BYTES_MAX: usize = 4096;

/// Bytes of a file at most; real ones have a few hundred.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The groups the `mysql` client reads from this file even if no login path is named.
const DEFAULT_GROUPS: &[&str] = &["client", "mysql", "innopool"];

/// A decrypted login path file.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginPathFile {
    path: String,
    /// The login paths, in the order of the file.
    names: Vec<String>,
    entries: Vec<Entry>,
}

/// One option of a login path.
#[derive(Clone, PartialEq, Eq)]
struct Entry {
    group: String,
    name: String,
    value: Option<Secret>,
}

impl fmt::Debug for LoginPathFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginPathFile")
            .field("path", &self.path)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl LoginPathFile {
    /// Reads a login path file from disk; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read or decrypted, or others than its owner may use it: the `mysql` client
    /// ignores such a file.
    pub fn read(path: &str) -> Result<Option<Self>, LoginError> {
        let error = |message: String| LoginError::LoginPath { path: path.to_owned(), message };
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(error(format!("cannot be read: {why}"))),
        };
        if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
            return Err(error("not a login path file".to_owned()));
        }
        if others_may_use(&metadata) {
            let message = "others than its owner may read or write it; the mysql client ignores it \
                           for that, and so do we: chmod 600";
            return Err(error(message.to_owned()));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|why| error(format!("cannot be read: {why}")))?;
        Self::parse(&bytes, path).map(Some)
    }

    /// Decrypts the bytes of a login path file, named `path` in what is said of it.
    ///
    /// # Errors
    /// When the bytes are not such a file, or damaged: with the place.
    pub fn parse(bytes: &[u8], path: &str) -> Result<Self, LoginError> {
        let error = |message: String| LoginError::LoginPath { path: path.to_owned(), message };
        let mut file = Self { path: path.to_owned(), names: Vec::new(), entries: Vec::new() };
        for (index, line) in decrypt(bytes).map_err(error)?.iter().enumerate() {
            let text = line.expose_str().ok_or_else(|| {
                error(format!("line {} is not UTF-8 after decryption", index + 1))
            })?;
            file.take(text).map_err(|message| error(format!("line {}: {message}", index + 1)))?;
        }
        Ok(file)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        match take_apart_login(line) {
            Line::Group(name) => self.names.push(name.to_owned()),
            Line::Assignment { name, value } => {
                let group = self.names.last().ok_or("an option before any login path")?;
                self.entries.push(Entry {
                    group: group.clone(),
                    name: name.to_owned(),
                    value: value.map(Secret::new),
                });
            }
            Line::UnclosedGroup => return Err("a login path's name without ']'".to_owned()),
            Line::Nothing
            | Line::Include(_)
            | Line::IncludeDirectory(_)
            | Line::IncludeNothing
            | Line::UnknownDirective => {}
        }
        Ok(())
    }

    /// The login paths in it, in the order of the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What it says of the server: its groups `client`, `mysql` and `innopool`, and over them the
    /// login path `name` (`--login-path`), each also with the suffix (`--defaults-group-suffix`).
    ///
    /// # Errors
    /// When there is no such login path, or an option has a wrong value.
    pub fn layer(&self, name: Option<&str>, suffix: Option<&str>) -> Result<Layer, LoginError> {
        let mut groups: Vec<Vec<String>> = vec![with_suffix(DEFAULT_GROUPS, suffix)];
        if let Some(name) = name {
            if !self.names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                return Err(self.error(format!(
                    "there is no login path '{name}' in it, only: {}",
                    self.names.join(", ")
                )));
            }
            groups.push(with_suffix(&[name], suffix));
        }
        let mut layer = Layer::default();
        for groups in groups {
            let of_groups = |entry: &&Entry| {
                groups.iter().any(|group| group.eq_ignore_ascii_case(&entry.group))
            };
            for entry in self.entries.iter().filter(of_groups) {
                // Taken from text, so it is text.
                let value = entry.value.as_ref().and_then(Secret::expose_str);
                layer.set(&entry.name, value).map_err(|message| {
                    self.error(format!("login path '{}': {message}", entry.group))
                })?;
            }
        }
        Ok(layer)
    }

    fn error(&self, message: String) -> LoginError {
        LoginError::LoginPath { path: self.path.clone(), message }
    }
}

fn with_suffix(groups: &[&str], suffix: Option<&str>) -> Vec<String> {
    let plain = groups.iter().map(|&group| group.to_owned());
    match suffix {
        None => plain.collect(),
        Some(suffix) => {
            plain.chain(groups.iter().map(|group| format!("{group}{suffix}"))).collect()
        }
    }
}

#[cfg(unix)]
fn others_may_use(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn others_may_use(_: &std::fs::Metadata) -> bool {
    false
}

/// The lines of a login path file.
fn decrypt(bytes: &[u8]) -> Result<Vec<Secret>, String> {
    let key: &[u8; KEY_BYTES] = bytes
        .get(UNUSED_BYTES..)
        .and_then(|after| after.first_chunk())
        .ok_or("not a login path file: it is too short to hold a key")?;
    let cipher = Aes128::new(&fold(key).into());
    let mut rest = bytes.get(UNUSED_BYTES + KEY_BYTES..).unwrap_or_default();
    let mut lines = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let at = bytes.len() - rest.len();
        let damaged = || {
            format!(
                "damaged at byte {at}, or not a login path file; make it anew with \
                 mysql_config_editor"
            )
        };
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| damaged())?;
        if length == 0 || length > LINE_BYTES_MAX || !length.is_multiple_of(BLOCK_BYTES) {
            return Err(damaged());
        }
        let (encrypted, next) = after.split_at_checked(length).ok_or_else(damaged)?;
        lines.push(decrypt_line(&cipher, encrypted).ok_or_else(damaged)?);
        rest = next;
    }
    if rest.is_empty() {
        Ok(lines)
    } else {
        Err(format!("cut off after byte {}", bytes.len() - rest.len()))
    }
}

/// Makes the AES key of the 20 bytes in the file.
fn fold(bytes: &[u8; KEY_BYTES]) -> [u8; BLOCK_BYTES] {
    let mut key = [0; BLOCK_BYTES];
    for (index, byte) in bytes.iter().enumerate() {
        // In bounds by the remainder.
        key[index % BLOCK_BYTES] ^= byte;
    }
    key
}

/// Decrypts one line and takes its padding off; `None` if the padding is wrong.
fn decrypt_line(cipher: &Aes128, encrypted: &[u8]) -> Option<Secret> {
    let mut line = Vec::with_capacity(encrypted.len());
    let (blocks, _) = encrypted.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        let mut block = (*block).into();
        cipher.decrypt_block(&mut block);
        line.extend_from_slice(&block);
    }
    let padding = *line.last()?;
    let kept = line.len().checked_sub(usize::from(padding))?;
    let valid = (1..=BLOCK_BYTES).contains(&usize::from(padding))
        && line.get(kept..)?.iter().all(|byte| *byte == padding);
    if valid {
        line.truncate(kept);
    }
    // Made before the check, so that what was decrypted is overwritten either way.
    let line = Secret::new(line);
    valid.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::Password;
    use aes::cipher::BlockCipherEncrypt;
    use proptest::prelude::*;

    const KEY: [u8; KEY_BYTES] = [
        0x11, 0x92, 0x03, 0x74, 0xa5, 0x56, 0x07, 0x38, 0xe9, 0x1a, 0x0b, 0xcc, 0x0d, 0x4e, 0x8f,
        0x20, 0x31, 0x42, 0x53, 0x64,
    ];

    /// Writes a login path file of some lines.
    fn encrypt(text: &str) -> Vec<u8> {
        let mut key = KEY[..16].to_vec();
        for (byte, late) in key.iter_mut().zip(&KEY[16..]) {
            *byte ^= late;
        }
        let cipher = Aes128::new_from_slice(&key).unwrap();
        let mut file = vec![0; 4];
        file.extend(KEY);
        for line in text.split_inclusive('\n') {
            let padding = 16 - line.len() % 16;
            let mut padded = line.as_bytes().to_vec();
            padded.extend(vec![u8::try_from(padding).unwrap(); padding]);
            file.extend(u32::try_from(padded.len()).unwrap().to_le_bytes());
            for block in padded.chunks(16) {
                let mut block: [u8; 16] = block.try_into().unwrap();
                cipher.encrypt_block((&mut block).into());
                file.extend(block);
            }
        }
        file
    }

    const TEXT: &str = "[client]\nuser = \"ada\"\npassword = \"tu#l\\\"ip\"\nhost = \"db1\"\n\
                        [night]\nhost = \"db2\"\nport = 3307\n[night_b]\nuser = bob\n";

    fn file() -> LoginPathFile {
        LoginPathFile::parse(&encrypt(TEXT), "/home/ada/.mylogin.cnf").unwrap()
    }

    /// The AES-128 example of FIPS 197, so that both directions cannot be wrong alike.
    #[test]
    fn the_cipher_is_aes() {
        let key: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).unwrap());
        let plain: [u8; 16] = std::array::from_fn(|i| u8::try_from(i * 0x11).unwrap());
        let mut block = plain;
        Aes128::new(&key.into()).encrypt_block((&mut block).into());
        assert_eq!(
            block,
            [
                0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4,
                0xc5, 0x5a
            ]
        );
    }

    #[test]
    fn reads_a_login_path_over_the_clients_group() {
        let file = file();
        assert_eq!(file.names(), ["client", "night", "night_b"]);
        let layer = file.layer(None, None).unwrap();
        assert_eq!(layer.host.as_deref(), Some("db1"));
        let layer = file.layer(Some("night"), None).unwrap();
        assert_eq!((layer.host.as_deref(), layer.port), (Some("db2"), Some(3307)));
        assert_eq!(layer.user.as_deref(), Some("ada"));
        assert_eq!(layer.password, Some(Password::Given(Secret::new("tu#l\"ip"))));
        let layer = file.layer(Some("night"), Some("_b")).unwrap();
        assert_eq!(layer.user.as_deref(), Some("bob"));
        // Wherever it stands in the file.
        let text = "[night]\nhost=db2\n[client]\nhost=db1\n";
        let file = LoginPathFile::parse(&encrypt(text), "f").unwrap();
        assert_eq!(file.layer(Some("night"), None).unwrap().host.as_deref(), Some("db2"));
    }

    #[test]
    fn shows_no_password() {
        assert!(!format!("{:?}", file()).contains("tu#l"));
        let message = file().layer(Some("day"), None).unwrap_err().to_string();
        assert_eq!(
            message,
            "/home/ada/.mylogin.cnf: there is no login path 'day' in it, only: client, night, night_b"
        );
        let text = "[client]\npassword=tulip\nport=tulip\n";
        let file = LoginPathFile::parse(&encrypt(text), "f").unwrap();
        let message = file.layer(None, None).unwrap_err().to_string();
        assert!(message.starts_with("f: login path 'client': the port"), "{message}");
        assert!(!message.contains("tulip"), "{message}");
    }

    #[test]
    fn tells_damage_with_its_place() {
        let whole = encrypt(TEXT);
        let error = |bytes: &[u8]| LoginPathFile::parse(bytes, "f").unwrap_err().to_string();
        assert!(error(b"[client]").contains("too short"));
        let text = "an option file that is not encrypted at all";
        assert!(error(text.as_bytes()).contains("damaged at byte 24"));
        let mut flipped = whole.clone();
        flipped[24 + 4 + 3] ^= 1;
        assert!(error(&flipped).contains("damaged at byte 24"));
        assert!(error(&whole[..whole.len() - 1]).contains("damaged"));
        assert!(error(&whole[..26]).contains("cut off after byte 24"));
        assert!(error(&encrypt("user=ada\n")).contains("line 1: an option before"));
        let empty = LoginPathFile::parse(&whole[..24], "f").unwrap();
        assert_eq!(empty.names(), [] as [&str; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn reads_only_a_file_that_nobody_else_may_use() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".mylogin.cnf");
        let text = path.to_str().unwrap();
        assert_eq!(LoginPathFile::read(text), Ok(None));
        std::fs::write(&path, encrypt(TEXT)).unwrap();
        let chmod = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap();
        };
        chmod(0o640);
        let message = LoginPathFile::read(text).unwrap_err().to_string();
        assert!(message.contains("chmod 600"), "{message}");
        chmod(0o600);
        let read = LoginPathFile::read(text).unwrap().unwrap();
        assert_eq!(read.names().len(), 3);
    }

    proptest! {
        #[test]
        fn lines_of_any_length_come_back(password in "[a-z#]{0,200}") {
            let text = format!("[x]\npassword = \"{password}\"\n");
            let file = LoginPathFile::parse(&encrypt(&text), "f").unwrap();
            let layer = file.layer(Some("x"), None).unwrap();
            prop_assert_eq!(layer.password, Some(Password::Given(Secret::new(password))));
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = LoginPathFile::parse(&bytes, "f");
        }
    }
}
