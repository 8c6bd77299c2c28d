//! The tour: the experiments whose answers surprise, in about a minute, each with a question and a
//! verdict in words. It begins with what a newcomer knows.

use crate::cli::TourArgs;
use crate::error::{Error, unwritten};
use crate::experiment::{Experiment, Others, Plan};
use crate::measure::{Outputs, Reporter, Show, measure};
use crate::page;
use crate::report::{Format, Screen, print};
use crate::select::Selection;
use sateen_top::foreign::visible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for each configuration of each implementation.
const BUDGET: Duration = Duration::from_millis(100);

/// What is said after the first pass.
pub(crate) const AGAIN: &str = "\
\nOnce more, for the report: figures of the same code differ from process to process and from \
minute to minute, and how far they do is worth knowing.";

/// An experiment of the tour.
struct Stop {
    name: &'static str,
    question: &'static str,
    /// About how long it takes on two cores.
    seconds: u32,
}

const fn stop(name: &'static str, seconds: u32, question: &'static str) -> Stop {
    Stop { name, question, seconds }
}

/// The stops, in the order of [`experiments::all`].
const STOPS: [Stop; 8] = [
    stop("forkjoin", 5, "What does dividing work cost, and what do two workers bring?"),
    stop("skynet", 5, "What does a task cost if there are a million of them?"),
    stop("channel", 3, "Is sending slower than with the standard library?"),
    stop("lock", 13, "Which lock, if there are more threads than cores?"),
    stop("counter", 2, "What is the best way for threads to count together?"),
    stop("pool", 21, "When is a pool of blocks faster than the allocator?"),
    stop("switch", 4, "What does it save if tasks take turns, and not threads?"),
    stop("shed", 12, "What does each step bring, from making tasks to an end?"),
];

/// Returns what comes, and how long it takes.
pub(crate) fn plan() -> String {
    let all: u32 = STOPS.iter().map(|stop| stop.seconds).sum();
    let width = STOPS.iter().map(|stop| stop.name.len()).max().unwrap_or(0);
    let mut out = format!(
        "\nThe tour takes about {all} s on two cores. Ctrl-C ends it and shows what there is. It \
         stops at:"
    );
    for (i, Stop { name, question, seconds }) in STOPS.iter().enumerate() {
        out += &format!("\n  {} {name:width$} {seconds:>3} s  {question}", i + 1);
    }
    out
}

/// Returns the title of an experiment's table.
pub(crate) fn title(experiment: &dyn Experiment) -> String {
    let at = STOPS.iter().position(|stop| stop.name == experiment.name()).unwrap_or(0);
    let Stop { name, question, .. } = &STOPS[at];
    format!("{}/{} {name}: {question}\n{}", at + 1, STOPS.len(), experiment.about())
}

/// Takes the tour.
///
/// # Errors
/// A measurement fails, or something cannot be written.
pub(crate) fn run(args: &TourArgs) -> Result<(), Error> {
    let smoke = args.output.smoke;
    let (peers, budget) = (Others::Std, BUDGET);
    let plan = Plan { smoke, short: true, peers, budget, in_rounds: true, ..Plan::default() };
    let names: Vec<&str> = STOPS.iter().map(|stop| stop.name).collect();
    let selection = Selection::new(&[format!("^({})/", names.join("|"))], None)?;
    let screen = Screen::of(args.view);
    let outputs = Outputs::check(&args.output)?;
    let document = measure(&plan, &selection, Reporter::new(Show::Tour, screen, None), outputs)?;
    if screen.format != Format::Text {
        return Ok(());
    }
    let file = match &args.output.json {
        Some(path) => path.clone(),
        None => keep(".json", &document.text())?,
    };
    let page = keep(".html", &page::of_file(&file)?)?;
    print(&next(&file, &page, std::env::var_os("CARGO").is_some()))
}

/// Says where the figures are, and names commands to try.
fn next(file: &Path, page: &Path, by_cargo: bool) -> String {
    let [file, page] = [file, page].map(|path| path.display().to_string());
    let (file, page) = (visible(&file), visible(&page));
    let program = if by_cargo { "cargo run --release --" } else { "sateen" };
    format!(
        "\nThe figures are in {file}\nThe report is {page}\nWorth trying next:\n  \
         {program} run forkjoin --diff {file}\n  \
         {program} advise lock --threads 8\n  \
         {program} flow 8 100k 125k 8"
    )
}

/// Writes `text` to a fresh file among the temporary ones, and returns its path.
///
/// # Errors
/// The file cannot be written.
fn keep(suffix: &str, text: &str) -> Result<PathBuf, Error> {
    let folder = std::env::temp_dir();
    let written = || {
        let builder = &mut tempfile::Builder::new();
        let mut file = builder.prefix("sateen-tour-").suffix(suffix).tempfile_in(&folder)?;
        file.write_all(text.as_bytes())?;
        file.keep().map(|(_, path)| path).map_err(|e| e.error)
    };
    written().map_err(|e| unwritten(&format!("into `{}`", folder.display()), &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    #[test]
    fn the_stops_are_experiments_in_their_order() {
        let names: Vec<&str> = experiments::all().iter().map(|e| e.name()).collect();
        let at = |stop: &Stop| names.iter().position(|name| *name == stop.name);
        let places: Vec<usize> = STOPS.iter().map(|stop| at(stop).expect(stop.name)).collect();
        assert!(places.is_sorted(), "{places:?}");
        assert!(
            plan().lines().all(|line| line.chars().count() <= 80 || line.contains("Ctrl-C")),
            "{}",
            plan()
        );
        assert!(STOPS.iter().map(|stop| stop.seconds).sum::<u32>() <= 75);
    }
}
