//! What ends the program early, and its exit status.

use sateen_top::foreign::visible;
use std::fmt;

/// Prints as one line that names what is at fault.
#[derive(Debug)]
pub(super) enum Error {
    /// The user asks for what is not possible.
    Input(String),
    /// Standard output cannot be written.
    Output(String),
    /// The program that is looked at has ended, or makes no sense.
    Lost(String),
}

impl Error {
    pub(super) fn status(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Output(_) => 4,
            Self::Lost(_) => 5,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(text) | Self::Output(text) | Self::Lost(text)) = self;
        // It may quote others.
        f.write_str(&visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}

/// Shorthand for [`Error::Input`].
pub(super) fn input(text: impl Into<String>) -> Error {
    Error::Input(text.into())
}
