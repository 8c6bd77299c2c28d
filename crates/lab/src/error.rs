//! What can stop the lab, and the exit status.

use sateen_top::foreign;
use std::fmt;

/// Why the lab stops early. Each error prints as one line that names the value at fault.
#[derive(Debug)]
pub(crate) enum Error {
    /// The user asked for something that is not possible: exit 2.
    Input(String),
    /// An experiment's own check failed, or a comparison found a regression: exit 1.
    Wrong(String),
    /// An implementation is not available on this machine: a note, and the others are measured.
    Absent(String),
    /// Results cannot be written: the disk is full, or the terminal is gone: exit 4.
    Output(String),
    /// The reader of standard output has gone away, as in `sateen list | head`. That is no error,
    /// so nothing is said: exit 0.
    Gone,
    /// A signal of this number ended the command: exit 128 and that number.
    Ended(u8),
}

/// Exit status of a turn whose implementation is not available. Only the parent process sees it.
pub(crate) const ABSENT: u8 = 3;

/// The exit statuses, as `sateen --help` and the manual page print them.
pub(crate) const STATUSES: &str = "\
Exit status:
    0  success, also if the reader of the output went away (`| head`)
    1  a result was wrong, or `diff --threshold` found a regression
    2  input that makes no sense; one line names the value
    4  results could not be written: the disk is full, or the terminal is gone
  129  SIGHUP ended it, 130 SIGINT (Ctrl-C), 143 SIGTERM: what was measured until
       then is printed, and files are written and marked as partial";

impl Error {
    /// Returns the process's exit status for this error.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Gone => 0,
            Self::Wrong(_) => 1,
            Self::Input(_) => 2,
            Self::Absent(_) => ABSENT,
            Self::Output(_) => 4,
            Self::Ended(signal) => 128 + signal,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Input(text) | Self::Wrong(text) | Self::Absent(text) | Self::Output(text) => text,
            Self::Gone => "the reader of standard output is gone",
            Self::Ended(signal) => {
                return write!(f, "{} ended it early", crate::interrupt::name(*signal));
            }
        };
        // One line, even if a library's message has several. It may quote others.
        f.write_str(&foreign::visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}

impl std::error::Error for Error {}

/// Shorthand for [`Error::Input`].
pub(crate) fn input(text: impl Into<String>) -> Error {
    Error::Input(text.into())
}

/// Shorthand for [`Error::Output`]: `what` cannot be written, for that reason.
pub(crate) fn unwritten(what: &str, reason: &std::io::Error) -> Error {
    Error::Output(format!("cannot write {what}: {reason}"))
}

/// Returns `Ok` if `got` is what the experiment must have computed, else [`Error::Wrong`].
pub(crate) fn expect<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Result<(), Error> {
    if got == want {
        return Ok(());
    }
    Err(Error::Wrong(format!("wrong result: {what} is {got:?} and must be {want:?}")))
}
