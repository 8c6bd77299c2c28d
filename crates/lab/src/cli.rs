//! The command line: subcommands, their options, and what is refused before anything is measured.

use crate::advise::AdviseArgs;
use crate::apart::TurnArgs;
use crate::error::{Error, STATUSES, input};
use crate::flow::FlowArgs;
use crate::history::HistoryArgs;
use crate::page::ReportArgs;
use crate::pages::{CompletionsArgs, ManArgs};
use crate::report::ViewArgs;
use crate::rounds::RoundArgs;
use crate::soak::SoakArgs;
use crate::values::{seconds, threshold, worker_count};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  sateen                                  # the tour
  sateen list lock                        # which figures of locks there are
  sateen run forkjoin/fib --json new.json # measure some, and keep the results
  sateen advise lock --threads 8          # which lock is best for 8 threads here";

/// Measures Sateen on this machine, and what you would use instead
#[derive(Debug, Parser)]
#[command(
    name = "sateen",
    version,
    max_term_width = 100,
    after_help = format!("{EXAMPLES}\n\n{STATUSES}")
)]
pub(crate) struct Cli {
    /// What to do. Without a command: the tour
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure figures, and print tables
    Run(RunArgs),
    /// List the identities of all figures
    List(ListArgs),
    /// Run the experiments with surprising answers, in about a minute, with verdicts in words
    Tour(TourArgs),
    /// Ask how you use a lock, counter or pool, measure that here, and say which kind is best
    Advise(AdviseArgs),
    /// Send numbers at a rate, or the lines of standard input, through queues to workers
    Flow(Box<FlowArgs>),
    /// Run everything at once for a long time, with planned faults if asked, and check the ledgers
    Soak(SoakArgs),
    /// Measure figures at 1, 2 and more workers, and fit the universal scalability law to them
    #[command(after_help = "\
Examples:
  sateen scale
  sateen scale forkjoin/fib --workers 1,2,4,8 --budget 3")]
    Scale(MeasureArgs),
    /// Say what this machine offers, what its steps cost, and what is lost on it
    #[command(after_help = "Examples:\n  sateen doctor")]
    Doctor,
    /// Compare two files that `run --json` wrote
    Diff(DiffArgs),
    /// Write a page of pictures and tables of what `run --json` wrote
    Report(ReportArgs),
    /// Write a page of what changed over many commits
    History(HistoryArgs),
    /// Print a script that completes this program's command line in a shell
    Completions(CompletionsArgs),
    /// Print the manual's page
    Man(ManArgs),
    /// Take one turn of one figure, for a parent process that prints it
    #[command(hide = true)]
    Turn(TurnArgs),
    /// Take a round of one experiment, for a parent process
    #[command(hide = true, name = "measure-round")]
    Round(RoundArgs),
}

/// Which figures to measure.
#[derive(Debug, Default, Args)]
pub(crate) struct PickArgs {
    /// Only figures whose identity matches any of these regular expressions
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Only figures whose identity also matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<String>,
    /// Use these numbers of workers (1 to 65,535, separated by commas), not the usual ones
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = worker_count,
        allow_negative_numbers = true)]
    pub(crate) workers: Vec<usize>,
    /// Measure the other libraries too, interleaved in the same run
    #[arg(long)]
    pub(crate) peers: bool,
    /// Measure Bikeshed too, with your copy of `bikeshed.h` (needs a C compiler: `cc` or $CC)
    #[arg(long, value_name = "PATH")]
    pub(crate) bikeshed_header: Option<PathBuf>,
}

/// Where results go besides the terminal.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// Use the smallest sizes and single runs: this shows that all works, and measures nothing
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Write the results to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draw one SVG for each experiment into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
}

/// What is measured, and where results go.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) pick: PickArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Time for each configuration of each implementation
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds,
        allow_negative_numbers = true)]
    pub(crate) budget: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sateen run forkjoin/fib skynet/join                   # the figures that match a word
  sateen run '^lock/t8-' --budget 3                     # three seconds for each lock
  sateen run forkjoin --workers 1,2,4 --json new.json   # other workers; keep the results
  sateen run --peers --diff base.json                   # beside other libraries, against before
  sateen run channel --format csv > channel.csv

Words and --filter are regular expressions over identities, which `sateen list` prints.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// Also print `new unit = ratio x base unit` against this file
    #[arg(long, value_name = "BASE.json")]
    pub(crate) diff: Option<PathBuf>,
    /// Print one line for each figure instead of tables
    #[arg(long)]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sateen list
  sateen list lock/t8 --filter mutex")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) pick: PickArgs,
}

#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  sateen tour
  sateen tour --json tour.json --columns 80
  sateen tour --format markdown > tour.md")]
pub(crate) struct TourArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sateen diff base.json new.json
  sateen diff base.json new.json --threshold 1.1   # status 1 if a figure is 10 % worse
  sateen diff base.json new.json --format csv")]
pub(crate) struct DiffArgs {
    /// The older results
    #[arg(value_name = "BASE.json")]
    pub(crate) base: PathBuf,
    /// The newer results
    #[arg(value_name = "NEW.json")]
    pub(crate) new: PathBuf,
    /// Exit with status 1 if a figure is worse by more than this factor, such as 1.10
    #[arg(long, value_name = "RATIO", value_parser = threshold, allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Reads the command line. Returns `None` after it has printed help or the version.
///
/// # Errors
/// The command line makes no sense; one line says why.
pub(crate) fn parse() -> Result<Option<Cli>, Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    match Cli::try_parse() {
        Ok(cli) => Ok(Some(cli)),
        Err(e) if matches!(e.kind(), DisplayHelp | DisplayVersion) => {
            crate::report::print(&e.to_string())?;
            Ok(None)
        }
        Err(e) => {
            // The first paragraph is the reason; usage and hints follow it.
            let text = e.to_string();
            let reason = text.split("\n\n").next().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            Err(input(format!("{reason}{}", meant(&e))))
        }
    }
}

/// Returns what a misspelt word may have meant, as the end of a sentence.
fn meant(e: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    let unknown = e.get(ContextKind::InvalidSubcommand);
    if matches!(unknown, Some(ContextValue::String(name)) if name == "top") {
        return "; the view of a running program is `sateen-top`".to_owned();
    }
    let kinds =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let name = match kinds.into_iter().find_map(|kind| e.get(kind)) {
        Some(ContextValue::String(name)) => name,
        Some(ContextValue::Strings(names)) if !names.is_empty() => &names[0],
        _ => return String::new(),
    };
    format!("; did you mean '{name}'?")
}

/// Refuses a `SATEEN_WORKERS` that no runtime would accept.
///
/// # Errors
/// The value is not a number from 1 to 65,535.
pub(crate) fn check_environment() -> Result<(), Error> {
    let Some(value) = std::env::var_os("SATEEN_WORKERS") else { return Ok(()) };
    let text = value.to_string_lossy();
    worker_count(&text).map(drop).map_err(|e| input(format!("SATEEN_WORKERS=`{text}`: {e}")))
}

/// Refuses `--peers` if the other libraries were not compiled in.
///
/// # Errors
/// The Cargo feature `peers` is off.
pub(crate) fn check_peers(asked: bool) -> Result<(), Error> {
    if asked && !cfg!(feature = "peers") {
        return Err(input(
            "--peers needs the Cargo feature `peers` of sateen-lab: \
             cargo run --release -p sateen-lab --features peers -- run --peers",
        ));
    }
    Ok(())
}
