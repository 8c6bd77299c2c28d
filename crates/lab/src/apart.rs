//! Turns in processes of their own, for libraries whose threads cannot be ended, and for those with
//! runs that may never end.

use crate::error::{ABSENT, Error, input};
use crate::experiment::{Others, Plan, Subject};
use crate::store::identity;
use crate::turn::{self, Quota};
use crate::values::worker_count;
use crate::{experiments, report};
use clap::Args;
use std::io::{self, Write};
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How many characters of a failed child's errors are shown.
const LONGEST_REASON: usize = 500;

/// How much longer than the budget a turn may take that has a time limit.
const OVERTIME: Duration = Duration::from_secs(10);

/// What [`take_turn`] tells the process that takes the turn.
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
    /// The turn ends as absent if it takes longer.
    #[arg(long)]
    pub(crate) limit_us: Option<u64>,
    #[arg(long, value_delimiter = ',', value_parser = worker_count)]
    pub(crate) workers: Vec<usize>,
    /// The turn ends when its input does.
    #[arg(long)]
    pub(crate) end_with_input: bool,
}

/// Takes a turn in a child process, which prints a line for each run. See [`turn::take`].
///
/// # Errors
/// As [`turn::take`]; or the process cannot be started.
pub(crate) fn take_turn(
    id: &str,
    plan: &Plan,
    quota: Quota,
    subject: &Subject,
    mut each: impl FnMut(&[f64]),
) -> Result<(), Error> {
    let fail = |e| input(format!("cannot start a process for the turn: {e}"));
    let mut command = Command::new(std::env::current_exe().map_err(fail)?);
    command.arg("turn").arg(id);
    command.args([quota.warmups, quota.at_least, quota.at_most].map(|n| n.to_string()));
    command.args([quota.share, plan.budget].map(|time| time.as_micros().to_string()));
    command.args(plan.smoke.then_some("--smoke"));
    command.args(plan.short.then_some("--short"));
    if !plan.workers.is_empty() {
        let counts: Vec<String> = plan.workers.iter().map(usize::to_string).collect();
        command.arg("--workers").arg(counts.join(","));
    }
    if subject.may_hang {
        let limit = plan.budget + OVERTIME;
        command.arg("--limit-us").arg(limit.as_micros().to_string());
    }
    command.envs((subject.environment)()?);
    // If many coroutines panic, the first message is enough.
    command.env("RUST_BACKTRACE", "0");
    command.arg("--end-with-input");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(fail)?;
    // If this process is killed, the child does not go on.
    let held = child.stdin.take();
    let done = child.wait_with_output().map_err(fail)?;
    drop(held);
    if !done.status.success() {
        let reason = String::from_utf8_lossy(&done.stderr);
        if done.status.code() == Some(i32::from(ABSENT)) {
            return Err(Error::Absent(reason.trim().trim_start_matches("sateen: ").to_owned()));
        }
        let reason: String = reason.trim().chars().take(LONGEST_REASON).collect();
        return Err(Error::Wrong(format!("{}, {reason}", done.status)));
    }
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let values: Option<Vec<f64>> = line.split(' ').map(|v| v.parse().ok()).collect();
        each(&values.ok_or_else(|| Error::Wrong(format!("not a run's values: `{line}`")))?);
    }
    Ok(())
}

/// A signal that ended a child of this process comes to this process too, as a rule, and what waits
/// for it ends this process. It is given the time for that.
pub(crate) fn wait_for_the_same_signal(status: process::ExitStatus) {
    if status.code().is_none() {
        thread::sleep(Duration::from_secs(2));
    }
}

/// Takes the turn in the child process.
///
/// # Errors
/// As [`turn::take`]; or there is no such figure.
pub(crate) fn turn(args: &TurnArgs) -> Result<(), Error> {
    if args.end_with_input {
        end_with_input()?;
    }
    let TurnArgs { smoke, short, .. } = *args;
    let (workers, budget) = (args.workers.clone(), Duration::from_micros(args.budget_us));
    let plan = Plan { smoke, short, peers: Others::All, workers, budget, ..Plan::default() };
    for experiment in experiments::all() {
        for group in experiment.groups(&plan) {
            let Some(figure) = group.figures.first() else { continue };
            let is_it = |name| identity(experiment.name(), name, figure) == args.id;
            let Some(subject) = group.subjects.iter().find(|s| is_it(s.implementation)) else {
                continue;
            };
            let quota = Quota {
                warmups: args.warmups,
                at_least: args.at_least,
                at_most: args.at_most,
                share: Duration::from_micros(args.share_us),
            };
            let each = |values: &[f64]| {
                let words: Vec<String> = values.iter().map(f64::to_string).collect();
                if report::print(&words.join(" ")).is_err() {
                    // The parent is gone, so no run is wanted any more.
                    process::exit(0);
                }
            };
            if let Some(limit) = args.limit_us {
                end_after(Duration::from_micros(limit), args.id.clone())?;
            }
            return turn::take(subject, quota, each);
        }
    }
    Err(input(format!("there is no figure `{}`", args.id)))
}

/// Starts a thread that ends this process when its input does. The parent holds the other end, so
/// whatever ends the parent ends this process too.
///
/// # Errors
/// No thread can be started.
pub(crate) fn end_with_input() -> Result<(), Error> {
    let end = || {
        // However it ends, nobody is there any more.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        process::exit(0);
    };
    let thread = thread::Builder::new().name("parent".to_owned()).spawn(end);
    thread.map(drop).map_err(|e| input(format!("cannot start a thread: {e}")))
}

/// Starts a thread that ends this process after `limit`: threads that wait for ever cannot be ended
/// in another way.
fn end_after(limit: Duration, id: String) -> Result<(), Error> {
    let end = move || {
        thread::sleep(limit);
        // Standard error may be gone.
        let _ = writeln!(io::stderr(), "sateen: {id}: a turn took longer than {limit:?}");
        process::exit(i32::from(ABSENT));
    };
    let thread = thread::Builder::new().spawn(end);
    thread.map(drop).map_err(|e| input(format!("cannot start a thread: {e}")))
}
