//! The subcommands: first the checks, then the measurements, then the reports.

use crate::cli::{
    self, Cli, Command, DiffArgs, ListArgs, MeasureArgs, PickArgs, RunArgs, TourArgs,
};
use crate::error::{Error, input};
use crate::experiment::Plan;
use crate::measure::{Outputs, Reporter, Show, measure};
use crate::peers::bikeshed;
use crate::report::json::Document;
use crate::report::{Format, Screen, ViewArgs, diff, print};
use crate::runner::identities;
use crate::select::Selection;
use crate::{
    advise, apart, doctor, experiments, flow, history, host, page, pages, rounds, scale, soak, tour,
};
use std::rc::Rc;
use std::time::Duration;

/// Runs the command of the command line.
///
/// # Errors
/// Whatever stops the command.
pub(crate) fn execute() -> Result<(), Error> {
    let Some(Cli { command }) = cli::parse()? else { return Ok(()) };
    cli::check_environment()?;
    match command.unwrap_or(Command::Tour(TourArgs::default())) {
        Command::Run(args) => run(&args),
        Command::List(args) => list(&args),
        Command::Tour(args) => tour::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Scale(args) => scale_up(args),
        Command::Doctor => doctor::run(),
        Command::Diff(args) => compare(&args),
        Command::Report(args) => page::run(&args),
        Command::History(args) => history::run(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
        Command::Turn(args) => apart::turn(&args),
        Command::Round(args) => rounds::take(&args),
    }
}

fn plan_of(pick: &PickArgs, smoke: bool, budget: Duration) -> Result<Plan, Error> {
    cli::check_peers(pick.peers)?;
    if let (Some(most), Some(workers)) = (host::most_threads(), pick.workers.iter().max())
        && *workers > most
    {
        return Err(input(format!(
            "--workers {workers}: the system's limit of memory maps allows {most} threads"
        )));
    }
    let bikeshed = pick.bikeshed_header.as_deref().map(bikeshed::read).transpose()?;
    let workers = pick.workers.clone();
    let bikeshed = bikeshed.map(Rc::new);
    let peers = pick.peers.into();
    Ok(Plan { smoke, short: false, peers, workers, budget, bikeshed, in_rounds: false })
}

/// Returns the user's selection. Refuses it if any part of it selects nothing.
fn selection_of(pick: &PickArgs, plan: &Plan) -> Result<(Selection, Vec<String>), Error> {
    let selection = Selection::new(&pick.words, pick.filter.as_deref())?;
    let all = experiments::all();
    let ids: Vec<String> = all.iter().flat_map(|e| identities(e.as_ref(), plan)).collect();
    let wanted: Vec<String> = ids.iter().filter(|id| selection.wants(id)).cloned().collect();
    if wanted.is_empty() || selection.has_idle_word(&ids) {
        let names: Vec<&str> = all.iter().map(|e| e.name()).collect();
        return Err(selection.explain_nothing(&ids, &names));
    }
    Ok((selection, wanted))
}

fn list(args: &ListArgs) -> Result<(), Error> {
    let plan = plan_of(&args.pick, false, Duration::ZERO)?;
    let (_, wanted) = selection_of(&args.pick, &plan)?;
    print(&wanted.join("\n"))
}

fn run(args: &RunArgs) -> Result<(), Error> {
    let MeasureArgs { pick, output, budget } = &args.measure;
    let plan = plan_of(pick, output.smoke, *budget)?;
    let (selection, wanted) = selection_of(pick, &plan)?;
    let base = args.diff.as_deref().map(Document::read).transpose()?;
    if let Some((base, path)) = base.as_ref().zip(args.diff.as_ref())
        && !base.metrics().any(|m| wanted.iter().any(|id| m.id == **id))
    {
        return Err(input(format!(
            "--diff `{}`: it has none of the selected figures",
            path.display()
        )));
    }
    let screen = Screen::of(args.view);
    if base.is_some() && matches!(screen.format, Format::Csv | Format::Json) {
        return Err(input(format!(
            "--diff with --format {0}: write the results with --json, then use `sateen diff \
             --format {0}`",
            screen.format
        )));
    }
    let show = match (args.brief, &base) {
        (true, Some(_)) => Show::Nothing,
        (true, None) => Show::Lines,
        (false, _) => Show::Tables,
    };
    let outputs = Outputs::check(output)?;
    plan.bikeshed.as_deref().map_or(Ok(()), bikeshed::compile)?;
    measure(&plan, &selection, Reporter::new(show, screen, base), outputs).map(drop)
}

fn scale_up(args: MeasureArgs) -> Result<(), Error> {
    let MeasureArgs { mut pick, output, budget } = args;
    if pick.words.is_empty() {
        pick.words = scale::USUAL.map(str::to_owned).into();
    }
    if pick.workers.is_empty() {
        pick.workers = scale::counts(host::cores());
    }
    let plan = plan_of(&pick, output.smoke, budget)?;
    let (selection, _) = selection_of(&pick, &plan)?;
    let outputs = Outputs::check(&output)?;
    let reporter = Reporter::new(Show::Scale, Screen::of(ViewArgs::default()), None);
    measure(&plan, &selection, reporter, outputs).map(drop)
}

fn compare(args: &DiffArgs) -> Result<(), Error> {
    let (base, new) = (Document::read(&args.base)?, Document::read(&args.new)?);
    print(&diff::text(&base, &new, &Screen::of(args.view))?)?;
    args.threshold.map_or(Ok(()), |threshold| diff::judge(&base, &new, threshold))
}
