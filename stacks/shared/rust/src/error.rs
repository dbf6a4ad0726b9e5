//! The ways in which the endpoint can end early, each with its exit status.

use std::fmt;
use std::process::ExitCode;

/// Why the endpoint stops; the text is for people and goes to standard error.
#[derive(Debug)]
pub enum Error {
    /// Bad arguments (exit status 2).
    Usage(String),
    /// Something that this stack cannot do (exit status 127).
    Unsupported(String),
    /// Anything that goes wrong at run time (exit status 1).
    Failed(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure of `what`, with its cause.
    pub fn failed(what: &str, cause: impl fmt::Display) -> Self {
        Self::Failed(format!("{what}: {cause}"))
    }

    /// The status that the endpoint contract gives to this error.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Unsupported(_) => 127,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text) | Self::Unsupported(text) | Self::Failed(text)) = self;
        f.write_str(text)
    }
}
