//! Everything that leaves the lab: tables, lines, JSON, diffs, plots, progress.

pub(crate) mod diff;
mod document;
mod file;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod plot;
mod progress;
pub(crate) mod ratios;
pub(crate) mod table;

pub(crate) use file::Destination;
pub(crate) use progress::Progress;

use comfy_table::{LineStyle, TableStyle};
use std::io::{self, Write};

/// Rules above, below and under the head; only the alignment separates columns.
pub(crate) const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// Writes `text` and a line end to standard output. If the reader has gone away (`sateen list |
/// head`), ends the process quietly.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(0);
    }
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
