//! What can stop the lab, and the exit status.

use std::fmt;
use std::process::ExitCode;

/// Why the lab stops early. Each error prints as one line that names the value at fault.
#[derive(Debug)]
pub(crate) enum Error {
    /// The user asked for something that is not possible: exit 2.
    Input(String),
    /// An experiment's own check failed, or a comparison found a regression: exit 1.
    Wrong(String),
    /// An implementation is not available on this machine: a note, and the others are measured.
    Absent(String),
}

/// Exit status of a turn whose implementation is not available. Only the parent process sees it.
pub(crate) const ABSENT: u8 = 3;

impl Error {
    /// Returns the process's exit status for this error.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Wrong(_) => ExitCode::from(1),
            Self::Input(_) => ExitCode::from(2),
            Self::Absent(_) => ExitCode::from(ABSENT),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(text) | Self::Wrong(text) | Self::Absent(text)) = self;
        // One line, even if a library's message has several.
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl std::error::Error for Error {}

/// Shorthand for [`Error::Input`].
pub(crate) fn input(text: impl Into<String>) -> Error {
    Error::Input(text.into())
}

/// Returns `Ok` if `got` is what the experiment must have computed, else [`Error::Wrong`].
pub(crate) fn expect<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Result<(), Error> {
    if got == want {
        return Ok(());
    }
    Err(Error::Wrong(format!("wrong result: {what} is {got:?} and must be {want:?}")))
}
