//! The command line: what may be asked, and what is refused before anything is measured.

use crate::advise::AdviseArgs;
use crate::error::{Error, input};
use crate::flow::FlowArgs;
use crate::soak::SoakArgs;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Most workers a runtime can have.
const MAX_WORKERS: usize = 65_535;

/// Measures Sateen on this machine, beside what you would use instead.
#[derive(Debug, Parser)]
#[command(name = "sateen", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do; the tour if nothing is given.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure, and print tables
    Run(RunArgs),
    /// List the identities of the figures
    List(ListArgs),
    /// The experiments in short, with a sentence each and the published figures beside
    Tour(TourArgs),
    /// Which lock, counter or pool is best in your own context, here: asks, measures, says how sure it is
    Advise(AdviseArgs),
    /// The throttled worker queue at work: items at a rate through queues to workers, or the lines of standard input
    Flow(Box<FlowArgs>),
    /// Everything at once for a long time, with books that must balance; faults on purpose if wanted
    Soak(SoakArgs),
    /// Compare two files written by `run --json`
    Diff(DiffArgs),
    /// One turn of one figure, for a parent process that prints it
    #[command(hide = true)]
    Turn(TurnArgs),
}

/// What `apart` hands to the process that takes a turn.
#[derive(Debug, Args)]
pub(crate) struct TurnArgs {
    pub(crate) id: String,
    pub(crate) warmups: u32,
    pub(crate) at_least: u32,
    pub(crate) at_most: u32,
    pub(crate) share_us: u64,
    pub(crate) budget_us: u64,
    #[arg(long)]
    pub(crate) smoke: bool,
    #[arg(long)]
    pub(crate) short: bool,
    #[arg(long, value_delimiter = ',', value_parser = worker_count)]
    pub(crate) workers: Vec<usize>,
}

/// Which figures.
#[derive(Debug, Default, Args)]
pub(crate) struct PickArgs {
    /// Measure only figures whose identity matches any of these
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Measure only figures whose identity matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<String>,
    /// Measure with these numbers of workers (1 to 65,535, separated by commas) instead of the usual
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = worker_count)]
    pub(crate) workers: Vec<usize>,
    /// Measure the other libraries too, interleaved in the same run
    #[arg(long)]
    pub(crate) peers: bool,
    /// Measure Bikeshed too, with this copy of its header `bikeshed.h` (needs a C compiler: `cc`, or what CC names)
    #[arg(long, value_name = "PATH")]
    pub(crate) bikeshed_header: Option<PathBuf>,
}

/// Where results go.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// Smallest sizes and single runs: shows that everything works, measures nothing
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draw one SVG an experiment into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) pick: PickArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Seconds for each configuration of each implementation
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) budget: Duration,
    /// Print `new unit = ratio x base unit` against this file
    #[arg(long, value_name = "BASE.json")]
    pub(crate) diff: Option<PathBuf>,
    /// Print one line a figure instead of tables
    #[arg(long)]
    pub(crate) brief: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) pick: PickArgs,
}

#[derive(Debug, Default, Args)]
pub(crate) struct TourArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The results to compare with
    #[arg(value_name = "BASE.json")]
    pub(crate) base: PathBuf,
    /// The results to judge
    #[arg(value_name = "NEW.json")]
    pub(crate) new: PathBuf,
    /// Exit with status 1 if a figure is worse by more than this factor (such as 1.10)
    #[arg(long, value_name = "RATIO", value_parser = threshold)]
    pub(crate) threshold: Option<f64>,
}

/// Reads the command line. `Ok(None)` after help or version was printed.
///
/// # Errors
/// Anything that cannot be understood, as one line.
pub(crate) fn parse() -> Result<Option<Cli>, Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    match Cli::try_parse() {
        Ok(cli) => Ok(Some(cli)),
        Err(e) if matches!(e.kind(), DisplayHelp | DisplayVersion) => {
            crate::report::print(&e.to_string());
            Ok(None)
        }
        Err(e) => {
            // The first paragraph is the reason; usage and hints follow.
            let text = e.to_string();
            let reason = text.split("\n\n").next().unwrap_or_default();
            Err(input(reason.trim_start_matches("error: ")))
        }
    }
}

/// Refuses a `SATEEN_WORKERS` that no runtime would accept.
///
/// # Errors
/// A value that is no number from 1 to 65,535.
pub(crate) fn check_environment() -> Result<(), Error> {
    let Some(value) = std::env::var_os("SATEEN_WORKERS") else { return Ok(()) };
    let text = value.to_string_lossy();
    worker_count(&text).map(drop).map_err(|e| input(format!("SATEEN_WORKERS=`{text}`: {e}")))
}

/// Refuses `--peers` where the other libraries were not compiled in.
///
/// # Errors
/// The Cargo feature is missing.
pub(crate) fn check_peers(asked: bool) -> Result<(), Error> {
    if asked && !cfg!(feature = "peers") {
        return Err(input(
            "--peers needs the Cargo feature `peers` of sateen-lab: \
             cargo run --release -p sateen-lab --features peers -- run --peers",
        ));
    }
    Ok(())
}

fn worker_count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(0) => Err("at least 1 worker is needed".to_owned()),
        Ok(n) if n <= MAX_WORKERS => Ok(n),
        Ok(_) => Err("at most 65,535 workers are possible".to_owned()),
        Err(_) => Err("not a number of workers from 1 to 65,535".to_owned()),
    }
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let range = "not a number of seconds from 0.001 to 86,400";
    let value: f64 = text.parse().map_err(|_| range.to_owned())?;
    if (0.001..=86_400.0).contains(&value) {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(range.to_owned())
    }
}

fn threshold(text: &str) -> Result<f64, String> {
    let reason = "not a ratio of at least 1";
    let value: f64 = text.parse().map_err(|_| reason.to_owned())?;
    if value.is_finite() && value >= 1.0 { Ok(value) } else { Err(reason.to_owned()) }
}
