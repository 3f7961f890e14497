//! What can be wrong with what a person said of the server. No message repeats a password, or text
//! that might be part of one.

/// Why a login cannot be made of what was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// A `mysql://` URL that cannot be understood.
    #[error("the server's URL: {0}")]
    Url(String),
    /// An option file that the `mysql` client would refuse.
    #[error("{}: {message}", place(path, *line))]
    OptionFile {
        /// The file.
        path: String,
        /// Line in it, from 1; 0 for the file as a whole.
        line: u32,
        /// What is wrong and what to do.
        message: String,
    },
    /// A login path file that cannot be used.
    #[error("{path}: {message}")]
    LoginPath {
        /// The file.
        path: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// A value of an environment variable or of the command line.
    #[error("{name}: {message}")]
    Value {
        /// The variable or option.
        name: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// Options that cannot be given together.
    #[error("{0}")]
    Conflict(String),
}

fn place(path: &str, line: u32) -> String {
    if line == 0 { path.to_owned() } else { format!("{path}:{line}") }
}
