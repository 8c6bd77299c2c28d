//! The subcommands: first the checks, then the measurements, then the reports.

use crate::cli::{
    self, Cli, Command, DiffArgs, ListArgs, MeasureArgs, OutputArgs, PickArgs, RunArgs, TourArgs,
};
use crate::error::{Error, input};
use crate::experiment::{Experiment, Group, Plan};
use crate::peers::bikeshed;
use crate::report::json::Document;
use crate::report::{Destination, Progress, diff, lines, plot, print, ratios, table};
use crate::runner::{Runner, identities};
use crate::select::Selection;
use crate::store::{Record, Shared};
use crate::{advise, apart, doctor, experiments, flow, host, interrupt, scale, soak};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Time that the tour gives each configuration of each implementation.
const TOUR_BUDGET: Duration = Duration::from_millis(120);

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
        Command::Tour(args) => tour(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Scale(args) => scale_up(args),
        Command::Doctor => {
            doctor::run();
            Ok(())
        }
        Command::Diff(args) => compare(&args),
        Command::Turn(args) => apart::turn(&args),
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
    Ok(Plan { smoke, short: false, peers: pick.peers, workers, budget, bikeshed })
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
    print(&wanted.join("\n"));
    Ok(())
}

fn run(args: &RunArgs) -> Result<(), Error> {
    let MeasureArgs { pick, output, budget } = &args.measure;
    let plan = plan_of(pick, output.smoke, *budget)?;
    let (selection, wanted) = selection_of(pick, &plan)?;
    let base = args.diff.as_deref().map(Document::read).transpose()?;
    if let Some((base, path)) = base.as_ref().zip(args.diff.as_ref())
        && !base.metrics().any(|m| wanted.contains(&m.id))
    {
        return Err(input(format!(
            "--diff `{}`: it has none of the selected figures",
            path.display()
        )));
    }
    let show = if args.brief { Show::Lines } else { Show::Tables };
    let show = if base.is_some() && args.brief { Show::Nothing } else { show };
    let outputs = Outputs::check(output)?;
    plan.bikeshed.as_deref().map_or(Ok(()), bikeshed::compile)?;
    let (document, _) = measure(&plan, &selection, show, &outputs)?;
    if let Some(base) = base {
        print(&diff::text(&base, &document)?);
    }
    Ok(())
}

fn tour(args: &TourArgs) -> Result<(), Error> {
    let smoke = args.output.smoke;
    let plan = Plan { smoke, short: true, budget: TOUR_BUDGET, ..Plan::default() };
    let outputs = Outputs::check(&args.output)?;
    measure(&plan, &Selection::default(), Show::Tour, &outputs).map(drop)
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
    print(&[vec![host::summary()], host::complaints()].concat().join("\n"));
    let (_, records) = measure(&plan, &selection, Show::Nothing, &outputs)?;
    if scale::report(&records) {
        Ok(())
    } else {
        Err(input("none of the selected figures has several numbers of workers"))
    }
}

fn compare(args: &DiffArgs) -> Result<(), Error> {
    let (base, new) = (Document::read(&args.base)?, Document::read(&args.new)?);
    print(&diff::text(&base, &new)?);
    args.threshold.map_or(Ok(()), |threshold| diff::judge(&base, &new, threshold))
}

/// How results are printed during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Nothing,
    Lines,
    Tables,
    /// Tables, each under the sentence of its experiment.
    Tour,
}

impl Show {
    fn records(self, records: &[Record]) {
        let Some(first) = records.first() else { return };
        match self {
            Self::Nothing => {}
            Self::Lines => print(&lines::text(records)),
            Self::Tables | Self::Tour => {
                let all = experiments::all();
                let experiment = all.iter().find(|e| e.name() == first.experiment);
                let title = match experiment {
                    Some(e) if self == Self::Tour => format!("\n{}: {}", e.name(), e.about()),
                    _ => format!("\n{}", first.experiment),
                };
                print(&format!("{title}\n{}", table::text(records)));
                if let Some(ratios) = ratios::text(records) {
                    print(&ratios);
                }
                if let Some(verdict) = experiment.and_then(|e| e.verdict(records)) {
                    print(&verdict);
                }
            }
        }
    }
}

/// Where results go besides the terminal, checked before anything is measured.
struct Outputs {
    json: Option<Destination>,
    plot: Option<PathBuf>,
}

impl Outputs {
    fn check(args: &OutputArgs) -> Result<Self, Error> {
        let json = args.json.as_deref().map(Destination::check).transpose()?;
        if let Some(dir) = &args.plot {
            Destination::check_directory(dir)?;
        }
        Ok(Self { json, plot: args.plot.clone() })
    }

    fn write(&self, document: &Document, records: &[Record]) -> Result<(), Error> {
        if let Some(json) = &self.json {
            json.write(&document.text())?;
        }
        if let Some(dir) = &self.plot {
            for path in plot::write(dir, records)? {
                eprintln!("sateen: drew {path}");
            }
        }
        Ok(())
    }
}

/// Measures what is wanted, prints results during the run, and writes the files at the end.
fn measure(
    plan: &Plan,
    selection: &Selection,
    show: Show,
    outputs: &Outputs,
) -> Result<(Document, Vec<Record>), Error> {
    let store = Shared::default();
    let mut machine = host::provenance();
    machine.insert("sizes".to_owned(), if plan.smoke { "smoke" } else { "full" }.into());
    machine.insert("budget_s".to_owned(), plan.budget.as_secs_f64().into());
    if matches!(show, Show::Tables | Show::Tour) {
        let complaints = host::complaints();
        print(&[vec![host::summary()], complaints].concat().join("\n"));
    }
    interrupt::install(store.clone(), move |records| by_experiment(records, |r| show.records(r)))?;

    let idle = Progress::new(0);
    let runner =
        Runner { plan, selection, store: &store, progress: &idle, said: RefCell::default() };
    let all = experiments::all();
    let work: Vec<(&dyn Experiment, Vec<Group>)> =
        all.iter().map(|e| (e.as_ref(), runner.wanted(e.as_ref()))).collect();
    let progress = Progress::new(work.iter().map(|(_, groups)| runner.length(groups)).sum());
    let runner = Runner { progress: &progress, ..runner };
    for (experiment, groups) in &work {
        runner.run(*experiment, groups)?;
        progress.suspend(|| show.records(&store.lock().take_unshown()));
    }
    progress.finish();

    // An interruption waits until the files are whole.
    let store = store.lock();
    let document = Document::of(machine, &store.records);
    outputs.write(&document, &store.records)?;
    if document.metrics().next().is_none() {
        return Err(input("none of the selected figures could be measured here"));
    }
    Ok((document, store.records.clone()))
}

/// Calls `f` with the records of each experiment in turn.
fn by_experiment(records: &[Record], f: impl Fn(&[Record])) {
    records.chunk_by(|a, b| a.experiment == b.experiment).for_each(f);
}
