//! `sateen history`: results of many commits as one page, a line a figure, with the places where it
//! changed for good.
//!
//! * `change`: finds change points in a series.
//! * `lines`: from files to series.
//! * `page`: the page.

mod change;
mod lines;
mod page;

use crate::error::{Error, input};
use crate::report::{PageDestination, note};
use clap::Args;
use std::path::PathBuf;

/// Where the results are, and where the page goes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  scripts/history -n 20 results && sateen history results   # the last 20 commits")]
pub(crate) struct HistoryArgs {
    /// A directory of files that `run --json` wrote, one a commit; the names give the order
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The page; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "history.html")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// The directory has fewer than two results files, one of its JSON files is something else, or the
/// page cannot be written.
pub(crate) fn run(args: &HistoryArgs) -> Result<(), Error> {
    let output = PageDestination::check(&args.output)?;
    let history = lines::read(&args.directory)?;
    let text = page::page(&history).map_err(|e| input(format!("cannot draw the history: {e}")))?;
    output.write(&text)?;
    note(&format!(
        "{} figures of {} commits are on {output}",
        history.lines.len(),
        history.commits.len()
    ));
    Ok(())
}
