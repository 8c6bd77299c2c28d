//! `sateen report`: one page of pictures, sentences and tables for one or several runs.
//!
//! The page holds all it needs, asks for nothing from a network, and is readable without scripts. A
//! script of its own sorts and searches the tables, and switches between light and dark.
//!
//! * `runs`: the results files, under names of their own.
//! * `shell`: the frame that all pages share: head, style sheet, script.
//! * `machines`: where the figures come from, and how fit the host was.
//! * `standing`: where ours stands beside the peers.
//! * `section`, `table`: an experiment, and its figures.
//!
//! Invariant: whatever comes from a results file, or is its name, goes through [`escaped`].

mod machines;
mod runs;
mod section;
pub(crate) mod shell;
mod standing;
mod table;
#[cfg(test)]
mod tests;

use crate::error::{Error, input};
use crate::plot::choose::by_experiment;
use crate::plot::figures::{Entry, entries};
use crate::plot::{escaped, files};
use crate::report::{Destination, PageDestination, note};
use clap::Args;
use runs::Run;
use std::path::Path;
use std::path::PathBuf;

/// What goes on the page, and where it goes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sateen run forkjoin --json run.json && sateen report run.json
  sateen report laptop.json server.json -o both.html      # side by side; the first is the base")]
pub(crate) struct ReportArgs {
    /// What `run --json` wrote; several files stand side by side
    #[arg(value_name = "RUN.json", required = true)]
    runs: Vec<PathBuf>,
    /// The page; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Also draw one SVG for each question of the first run into this directory
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// A file cannot be used, or the page cannot be written.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Error> {
    let output = PageDestination::check(&args.output)?;
    if let Some(directory) = &args.plot {
        Destination::check_directory(directory)?;
    }
    let runs = runs::read(&args.runs)?;
    output.write(&page(&runs)?)?;
    if let (Some(directory), [first, ..]) = (&args.plot, &runs[..]) {
        let drawn = files::write(directory, &first.document)?;
        note(&format!("{} pictures are in `{}`", drawn.len(), directory.display()));
    }
    let count: usize = runs.iter().map(|r| r.document.metrics().count()).sum();
    note(&format!("{count} figures are on {output}"));
    Ok(())
}

/// Returns the page for the run in `file`.
///
/// # Errors
/// The file cannot be read, or the plotting library refuses a drawing.
pub(crate) fn of_file(file: &Path) -> Result<String, Error> {
    page(&runs::read(&[file.to_owned()])?)
}

/// Returns the page for `runs`.
///
/// # Errors
/// The plotting library refuses a drawing.
fn page(runs: &[Run]) -> Result<String, Error> {
    let all: Vec<Vec<Entry<'_>>> = runs.iter().map(|r| entries(&r.document)).collect();
    let mut names: Vec<&str> = Vec::new();
    for group in all.iter().flat_map(|entries| by_experiment(entries)) {
        if !names.contains(&group[0].experiment) {
            names.push(group[0].experiment);
        }
    }
    let mut body = String::new();
    body += &machines::table(runs);
    body += &standing::summary(&all[0], runs);
    for (index, name) in names.iter().enumerate() {
        let of: Vec<Vec<Entry<'_>>> = all
            .iter()
            .map(|entries| entries.iter().copied().filter(|e| e.experiment == *name).collect())
            .collect();
        body += &section::section(index, name, runs, &of)
            .map_err(|e| input(format!("cannot draw `{name}`: {e}")))?;
    }
    let title = match runs {
        [run] => format!("Sateen: {}", run.label),
        _ => format!("Sateen: {} runs", runs.len()),
    };
    let links: Vec<(String, String)> =
        names.iter().enumerate().map(|(i, name)| (format!("x{i}"), (*name).to_owned())).collect();
    Ok(shell::page(&title, &links, &body))
}

/// Returns `text` in a paragraph, or nothing for nothing.
fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p>{}</p>\n", escaped(text)) }
}
