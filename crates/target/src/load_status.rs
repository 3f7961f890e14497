//! The texts of `Innodb_buffer_pool_{dump,load,resize}_status`, told apart by meaning. The texts
//! are InnoDB's own interface strings; servers and versions differ in details.

/// State of the warm-up load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadState {
    /// No load since start-up.
    NotStarted,
    /// Under way; pages done and pages to do where printed.
    Running {
        /// Pages done and pages in the dump.
        progress: Option<(u64, u64)>,
    },
    /// Done.
    Completed,
    /// Done with nothing in the file.
    CompletedEmpty,
    /// Stopped by a person, a resize or a shutdown.
    Aborted,
    /// Failed, with the server's words.
    Failed(String),
}

impl LoadState {
    /// Reads `Innodb_buffer_pool_load_status`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty() || lower.contains("not started") {
            Self::NotStarted
        } else if lower.contains("load completed") {
            if lower.contains("was empty") { Self::CompletedEmpty } else { Self::Completed }
        } else if lower.contains("load aborted") {
            Self::Aborted
        } else if lower.starts_with("loaded ") || lower.starts_with("loading ") {
            Self::Running { progress: progress(text) }
        } else {
            Self::Failed(text.to_owned())
        }
    }
}

/// `Loaded 403457/419487 pages`.
fn progress(text: &str) -> Option<(u64, u64)> {
    let numbers = text.strip_prefix("Loaded ")?.split(' ').next()?;
    let (done, of) = numbers.split_once('/')?;
    Some((done.parse().ok()?, of.parse().ok()?))
}

/// State of a dump of the pool's page numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DumpState {
    /// No dump since start-up.
    NotStarted,
    /// Under way.
    Running,
    /// Done.
    Completed,
    /// Failed, with the server's words: the next start will not be warm.
    Failed(String),
}

impl DumpState {
    /// Reads `Innodb_buffer_pool_dump_status`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty() || lower.contains("not started") {
            Self::NotStarted
        } else if lower.contains("dump completed") {
            Self::Completed
        } else if lower.starts_with("dumping ") {
            // "Dumping buffer pool(s) to ...", "Dumping of buffer pool ... page 5/20".
            Self::Running
        } else {
            // "Cannot open ...", "Cannot write to ...", "Cannot rename ...".
            Self::Failed(text.to_owned())
        }
    }
}

/// State of an online resize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResizeState {
    /// None since start-up.
    None,
    /// Under way, with the server's words.
    Running(String),
    /// Done.
    Completed,
    /// Failed or refused, with the server's words.
    Failed(String),
}

impl ResizeState {
    /// Reads `Innodb_buffer_pool_resize_status`.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.is_empty() {
            Self::None
        } else if lower.starts_with("completed") || lower.starts_with("size did not change") {
            Self::Completed
        } else if lower.contains("failed") || lower.contains("cannot") || lower.contains("aborted")
        {
            Self::Failed(text.to_owned())
        } else {
            Self::Running(text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_told_by_its_status() {
        let full = "Cannot open '/data/ib_buffer_pool.incomplete' for writing: No space left on \
                    device";
        let unlinked = "Cannot delete '/data/ib_buffer_pool': Permission denied";
        for (text, state) in [
            ("", DumpState::NotStarted),
            ("Dumping of buffer pool not started", DumpState::NotStarted),
            ("not started", DumpState::NotStarted),
            ("Dumping buffer pool(s) to /data/ib_buffer_pool", DumpState::Running),
            ("Dumping buffer pool 1/8, page 5/20", DumpState::Running),
            ("Buffer pool(s) dump completed at 250101 10:00:00 ", DumpState::Completed),
            (full, DumpState::Failed(full.to_owned())),
            (unlinked, DumpState::Failed(unlinked.to_owned())),
        ] {
            assert_eq!(DumpState::parse(text), state, "{text}");
        }
    }
}
