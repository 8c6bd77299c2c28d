//! An experiment measured in several rounds, each in a process of its own, at times that lie apart.
//!
//! A process that lays out its memory in another way, or whose threads come to other cores, has
//! other figures, and a machine has better minutes and worse ones. Runs of one process know nothing
//! of that. Rounds do: how far they lie apart says how far two measurements of the same code may.

use crate::apart;
use crate::error::{Error, input};
use crate::experiment::{Experiment, Group, Others, Plan};
use crate::host::Watch;
use crate::report;
use crate::runner::Runner;
use crate::select::Selection;
use crate::store::{Shared, identity};
use crate::turn;
use clap::Args;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::process::{self, Child, Command, Stdio};
use std::time::Duration;

/// How many rounds each pass of the tour has. The first pass is shown.
pub(crate) const PASSES: [u32; 2] = [3, 2];

/// What the process that takes a round is told.
#[derive(Debug, Args)]
pub(crate) struct RoundArgs {
    pub(crate) experiment: String,
    pub(crate) round: u32,
    pub(crate) rounds: u32,
    pub(crate) budget_us: u64,
    #[arg(long)]
    pub(crate) smoke: bool,
}

/// An experiment's groups and their records: of each subject one for each figure.
pub(crate) struct Opened {
    groups: Vec<Group>,
    records: Vec<Vec<Vec<Option<usize>>>>,
}

/// Returns all rounds of a measurement.
pub(crate) fn all(plan: &Plan) -> u32 {
    if plan.smoke { 1 } else { PASSES.iter().sum() }
}

impl Opened {
    pub(crate) fn new(runner: &Runner<'_>, experiment: &dyn Experiment) -> Self {
        let groups = runner.wanted(experiment);
        let open = |group: &Group| {
            let one = |s| runner.open_records(experiment.name(), group, s);
            group.subjects.iter().map(one).collect()
        };
        let records = groups.iter().map(open).collect();
        Self { groups, records }
    }

    /// Takes these rounds.
    ///
    /// # Errors
    /// A process cannot be started, or an experiment computed something wrong.
    pub(crate) fn take(
        &self,
        runner: &Runner<'_>,
        experiment: &'static str,
        rounds: Range<u32>,
    ) -> Result<(), Error> {
        let watch = Watch::start();
        for round in rounds {
            self.take_one(runner, experiment, round)?;
        }
        let mut store = runner.store.lock();
        for (group, records) in self.groups.iter().zip(&self.records) {
            let notes = watch.notes(group.threads);
            for &index in records.iter().flatten().flatten() {
                let of_record = &mut store.records[index].notes;
                let fresh = notes.iter().filter(|note| !of_record.contains(note));
                let fresh: Vec<String> = fresh.cloned().collect();
                of_record.extend(fresh);
            }
        }
        Ok(())
    }

    fn take_one(
        &self,
        runner: &Runner<'_>,
        experiment: &'static str,
        round: u32,
    ) -> Result<(), Error> {
        let fail = |e| input(format!("cannot start a process for a round: {e}"));
        let mut command = Command::new(std::env::current_exe().map_err(fail)?);
        command.arg("measure-round").arg(experiment);
        command.args([round, all(runner.plan)].map(|n| n.to_string()));
        command.arg(runner.plan.budget.as_micros().to_string());
        command.args(runner.plan.smoke.then_some("--smoke"));
        // The child ends when its input does: it does not outlive this process.
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Whatever happens here, the process does not stay.
        let mut child = Ended(command.spawn().map_err(fail)?);
        let lines = child.0.stdout.take().map(BufReader::new);
        for line in lines.into_iter().flat_map(BufRead::lines) {
            let line = line.map_err(fail)?;
            self.enter(runner, experiment, &line)
                .ok_or_else(|| Error::Wrong(format!("not a line of a round: `{line}`")))?;
        }
        let mut reason = String::new();
        if let Some(mut errors) = child.0.stderr.take() {
            // What is not text tells nothing.
            let _ = errors.read_to_string(&mut reason);
        }
        let status = child.0.wait().map_err(fail)?;
        if status.success() {
            return Ok(());
        }
        apart::wait_for_the_same_signal(status);
        let reason = reason.trim().trim_start_matches("sateen: ");
        Err(Error::Wrong(format!("{experiment}: {status}, {reason}")))
    }

    /// Enters a line of a round; `None` if it makes no sense.
    fn enter(&self, runner: &Runner<'_>, experiment: &'static str, line: &str) -> Option<()> {
        let mut words = line.splitn(4, ' ');
        let mut place = || words.next()?.parse::<usize>().ok();
        let (group, subject) = (place()?, place()?);
        let records = self.records.get(group)?.get(subject)?;
        let (what, rest) = (words.next()?, words.next().unwrap_or_default());
        match what {
            "begins" => {
                let (group, name) = (&self.groups[group], rest);
                runner.progress.show(&format!(
                    "{experiment}/{}/{name}/{}",
                    group.figures[0].case, group.figures[0].config
                ));
            }
            "run" => {
                let values: Option<Vec<f64>> = rest.split(' ').map(|v| v.parse().ok()).collect();
                runner.enter(records, &values.filter(|values| values.len() >= records.len())?);
            }
            "absent" => runner.say(rest.to_owned()),
            "ends" => {
                runner.end_round(records);
                runner.progress.step();
            }
            _ => return None,
        }
        Some(())
    }
}

/// A process that is ended with this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes a round in the child process, which prints lines for its parent.
///
/// # Errors
/// A session cannot be set up, or computed something wrong; or there is no such experiment.
pub(crate) fn take(args: &RoundArgs) -> Result<(), Error> {
    apart::end_with_input()?;
    let budget = Duration::from_micros(args.budget_us);
    let plan =
        Plan { smoke: args.smoke, short: true, peers: Others::Std, budget, ..Plan::default() };
    let selection = Selection::new(&[format!("^{}/", args.experiment)], None)?;
    let (store, progress) = (Shared::default(), report::Progress::new(0));
    let said = RefCell::default();
    let (plan, selection) = (&plan, &selection);
    let runner = Runner { plan, selection, store: &store, progress: &progress, said };
    let all = crate::experiments::all();
    let unknown = || input(format!("there is no experiment `{}`", args.experiment));
    let experiment = all.iter().find(|e| e.name() == args.experiment).ok_or_else(unknown)?;
    for (g, group) in runner.wanted(experiment.as_ref()).iter().enumerate() {
        // A limit of a few runs is there for their time, of which rounds are worth some.
        let rounds = if group.max_runs == Some(1) { 1 } else { args.rounds };
        for (s, subject) in group.subjects.iter().enumerate() {
            let tell = |what: &str, rest: &str| {
                if report::print(format!("{g} {s} {what} {rest}").trim_end()).is_err() {
                    // The parent is gone, so no run is wanted any more.
                    process::exit(0);
                }
            };
            tell("begins", subject.implementation);
            let label = identity(experiment.name(), subject.implementation, &group.figures[0]);
            let each = |values: &[f64]| {
                let words: Vec<String> = values.iter().map(f64::to_string).collect();
                tell("run", &words.join(" "));
            };
            let quota = runner.quota(group, args.round, rounds);
            let taken = match (args.round < rounds, subject.apart) {
                (false, _) => Ok(()),
                (true, true) => apart::take_turn(&label, plan, quota, subject, each),
                (true, false) => turn::take(subject, quota, each),
            };
            match taken {
                Ok(()) => {}
                Err(Error::Absent(text)) => tell("absent", &text),
                Err(Error::Wrong(text)) => return Err(Error::Wrong(format!("{label}: {text}"))),
                Err(Error::Input(text)) => return Err(Error::Input(format!("{label}: {text}"))),
                Err(other) => return Err(other),
            }
            tell("ends", "");
        }
    }
    Ok(())
}
