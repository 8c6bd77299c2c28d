//! Everything that leaves the lab: tables, lines, JSON, diffs, progress.

pub(crate) mod csv;
pub(crate) mod diff;
mod document;
mod file;
mod grid;
pub(crate) mod json;
mod legend;
pub(crate) mod lines;
mod progress;
mod screen;
pub(crate) mod table;
pub(crate) mod verdict;

pub(crate) use file::{Destination, PageDestination};
pub(crate) use grid::Grid;
pub(crate) use legend::{Said, text as legend};
pub(crate) use progress::Progress;
pub(crate) use screen::{Format, Screen, Tint, ViewArgs, tied};

use crate::error::{Error, unwritten};
use sateen_top::foreign;
use std::io::{self, Write};

/// Writes `text` and a line end to standard output.
///
/// # Errors
/// [`Error::Gone`] if the reader has gone away (`sateen list | head`), else [`Error::Output`].
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    written.map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Error::Gone,
        _ => unwritten("to standard output", &e),
    })
}

/// Writes a line to standard error, which may be gone. The text may quote others.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "sateen: {}", foreign::visible_lines(text));
}

/// Writes a figure with as many digits as are worth reading.
pub(crate) fn short(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        m if m >= 1e6 => format!("{value:.3e}"),
        m if m >= 100.0 => format!("{value:.0}"),
        m if m >= 10.0 => format!("{value:.1}"),
        m if m >= 0.1 || m == 0.0 => format!("{value:.2}"),
        m if m >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
