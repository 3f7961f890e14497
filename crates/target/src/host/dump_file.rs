//! The buffer pool's dump file: how many pages a restart would load.

use std::io::Read;
use std::path::Path;

use super::Host;
use super::roots::open_regular;
use crate::provenance::{Fact, NotRead, Source};

/// As much of the file as is read: about four million pages' lines.
const READ_BYTES_MAX: u64 = 64 << 20;

/// Adds the path (as the server knows it) and the number of pages in it. `path` is where it can be
/// opened from here.
pub(super) fn read(host: &mut Host, shown: &str, path: &Path) -> Result<(), NotRead> {
    let count = count_lines(path, READ_BYTES_MAX).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        NotRead::new(format!("buffer pool dump {shown}"), why)
    })?;
    host.dump_file = Some(Fact::new(shown.to_owned(), Source::new(shown, "")));
    let name = match count.of_bytes {
        None => "lines",
        Some(_) => "lines, estimated from the first 64 MiB and the size",
    };
    host.dump_file_pages = Some(Fact::new(count.total(), Source::new(shown, name)));
    Ok(())
}

struct LineCount {
    lines: u64,
    read_bytes: u64,
    /// Size of the file when it was not read to the end.
    of_bytes: Option<u64>,
}

impl LineCount {
    fn total(&self) -> u64 {
        match self.of_bytes {
            None => self.lines,
            Some(of) => {
                let estimate =
                    u128::from(self.lines) * u128::from(of) / u128::from(self.read_bytes.max(1));
                u64::try_from(estimate).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Counts lines that are not blank, in at most `limit_bytes` of the file.
fn count_lines(path: &Path, limit_bytes: u64) -> std::io::Result<LineCount> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    let mut reader = file.take(limit_bytes);
    let mut buffer = vec![0; 1 << 16];
    let (mut lines, mut read_bytes, mut blank) = (0, 0, true);
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        read_bytes += count as u64;
        for byte in buffer.iter().take(count) {
            if *byte == b'\n' {
                lines += u64::from(!blank);
                blank = true;
            } else if !byte.is_ascii_whitespace() {
                blank = false;
            }
        }
    }
    let of_bytes = (read_bytes == limit_bytes && size > limit_bytes).then_some(size);
    lines += u64::from(!blank && of_bytes.is_none());
    Ok(LineCount { lines, read_bytes, of_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, limit: u64) -> LineCount {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ib_buffer_pool");
        std::fs::write(&path, text).unwrap();
        count_lines(&path, limit).unwrap()
    }

    #[test]
    fn counts_lines_and_not_blank_ones() {
        assert_eq!(count("", 100).total(), 0);
        assert_eq!(count("0,1\n0,2\n", 100).total(), 2);
        assert_eq!(count("0,1\r\n\r\n0,2", 100).total(), 2);
    }

    #[test]
    fn a_long_file_is_estimated_from_its_size() {
        let text = "12,3456\n".repeat(1000);
        let counted = count(&text, 800);
        assert_eq!(counted.lines, 100);
        assert_eq!(counted.of_bytes, Some(8000));
        assert_eq!(counted.total(), 1000);
        assert_eq!(count(&text, 8000).of_bytes, None, "read to the end");
    }

    #[test]
    fn a_directory_is_not_a_dump() {
        let directory = tempfile::tempdir().unwrap();
        let mut host = Host::default();
        assert!(read(&mut host, "x", directory.path()).is_err());
        assert_eq!(host, Host::default());
    }
}
