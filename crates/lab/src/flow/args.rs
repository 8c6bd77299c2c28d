//! The command line of `sateen flow`, and the run that it asks for.

use super::units;
use crate::error::{Error, input};
use crate::values::{one_of, seconds, whole};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Most threads at each end.
const MOST_THREADS: u64 = 1024;
const MOST_QUEUES: u64 = 4096;
/// Most items in a queue.
const MOST_CAPACITY: u64 = 1 << 24;
/// Room in a queue if the user does not say.
const CAPACITY: usize = 1 << 16;
/// Items a second that the profile run sends and receives.
const PROFILE_RATE: f64 = 2_200_000.0;
const PROFILE_TIME: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
THREADS threads send numbers in turn into QUEUES queues, each at most SEND_RATE a second. As
many workers take them out, each at most RECEIVE_RATE a second. A rate is a number, such as
2200000, 2200k or 2.2M, or `unlimited`. If not given, rates are unlimited, and there is 1 thread
and 1 queue.

With SECONDS, `flow` prints one line a second and a summary. Without it, on a terminal, it shows
a view to play with. The exit status is 0 if every item that was sent was received, is in a
queue or was dropped. Otherwise it is 1.

With --stdin, one sender sends the lines of standard input instead, and `flow` prints the
workers' results.

Examples:
  sateen flow 8 100k 125k 8            # 8 threads, 8 queues; a view to play with
  sateen flow 8 100k 125k 8 10         # the same for ten seconds, in lines
  sateen flow profile
  tail -f log | sateen flow --stdin --exec 'jq -c .time' --threads 4 --ordered"
)]
pub(crate) struct FlowArgs {
    #[command(subcommand)]
    what: Option<What>,
    /// Same as --threads
    #[arg(value_name = "THREADS", value_parser = threads, allow_negative_numbers = true)]
    first: Option<usize>,
    /// Same as --send-rate
    #[arg(value_name = "SEND_RATE", value_parser = units::rate, allow_negative_numbers = true)]
    second: Option<f64>,
    /// Same as --receive-rate
    #[arg(value_name = "RECEIVE_RATE", value_parser = units::rate, allow_negative_numbers = true)]
    third: Option<f64>,
    /// Same as --queues
    #[arg(value_name = "QUEUES", value_parser = queues, allow_negative_numbers = true)]
    fourth: Option<usize>,
    /// Same as --duration
    #[arg(value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    fifth: Option<Duration>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A run to profile: 1 thread, 1 queue, 2,200,000 items a second, 10 seconds
    Profile(Options),
}

#[derive(Clone, Debug, Default, Args)]
struct Options {
    /// Number of threads that send, and of workers
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Most items a second that each thread sends
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_negative_numbers = true)]
    send_rate: Option<f64>,
    /// Most items a second that each worker takes
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_negative_numbers = true)]
    receive_rate: Option<f64>,
    /// Number of queues between the senders and the workers
    #[arg(long, value_name = "N", value_parser = queues, allow_negative_numbers = true)]
    queues: Option<usize>,
    /// Room in each queue, in items (if not given, 65536); 0 hands items over
    #[arg(long, value_name = "N", value_parser = capacity, allow_negative_numbers = true)]
    capacity: Option<usize>,
    /// Clock of the rates: exact, sampled:K (reads the time at every Kth look) or tsc
    #[arg(long, value_name = "CLOCK", value_parser = clock)]
    clock: Option<ClockKind>,
    /// What happens to an item for a full queue: block, error, drop-oldest or drop-newest
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    policy: Option<Policy>,
    /// Whether an idle worker takes from other queues: on or off
    #[arg(long, value_name = "ON", value_parser = switch)]
    steal: Option<bool>,
    /// End after this many seconds, and print one line for each second
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    duration: Option<Duration>,
    /// Write the figures of the lines to this file too, separated by commas
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Send the lines of standard input, and print the workers' results
    #[arg(long)]
    stdin: bool,
    /// With --stdin: run this command for each line, and pass the line as its standard input
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// With --stdin: count (lines, words and bytes, as wc) or hash (SHA-256 of each line)
    #[arg(long, value_name = "NAME", value_parser = builtin)]
    builtin: Option<Builtin>,
    /// With --stdin: print the results in the order of the lines
    #[arg(long)]
    ordered: bool,
}

/// The clock of the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockKind {
    Exact,
    Sampled(u32),
    Tsc,
}

/// What happens to an item for a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Block,
    Error,
    DropOldest,
    DropNewest,
}

/// What a worker can do with a line without running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Count,
    Hash,
}

/// A run that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    /// Senders, and as many workers.
    pub(super) threads: usize,
    /// Of each sender, in items a second; infinite if there is no limit.
    pub(super) send_rate: f64,
    /// Of each worker, in items a second.
    pub(super) receive_rate: f64,
    pub(super) queues: usize,
    /// Of each queue.
    pub(super) capacity: usize,
    pub(super) clock: ClockKind,
    pub(super) policy: Policy,
    pub(super) steal: bool,
    pub(super) goal: Goal,
}

/// What the items are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Goal {
    /// Numbers, for a time or until the user ends the run.
    Numbers { duration: Option<Duration>, csv: Option<PathBuf> },
    /// The lines of standard input.
    Lines { work: Work, ordered: bool },
}

/// What workers do with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Exec(String),
    Builtin(Builtin),
}

impl FlowArgs {
    /// Returns the run that the options ask for.
    ///
    /// # Errors
    /// Two options contradict each other.
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        if let Some(What::Profile(options)) = &self.what {
            if options.stdin {
                return Err(input("--stdin: the profile run sends numbers, not lines"));
            }
            return Options {
                threads: options.threads.or(Some(1)),
                queues: options.queues.or(Some(1)),
                send_rate: options.send_rate.or(Some(PROFILE_RATE)),
                receive_rate: options.receive_rate.or(Some(PROFILE_RATE)),
                duration: options.duration.or(Some(PROFILE_TIME)),
                ..options.clone()
            }
            .settings();
        }
        let mut options = self.options.clone();
        either("THREADS and --threads", self.first, &mut options.threads)?;
        either("SEND_RATE and --send-rate", self.second, &mut options.send_rate)?;
        either("RECEIVE_RATE and --receive-rate", self.third, &mut options.receive_rate)?;
        either("QUEUES and --queues", self.fourth, &mut options.queues)?;
        either("SECONDS and --duration", self.fifth, &mut options.duration)?;
        options.settings()
    }
}

/// Moves a value that was given by position to the option of the same meaning.
fn either<T: Copy + std::fmt::Debug>(
    both: &str,
    by_position: Option<T>,
    by_name: &mut Option<T>,
) -> Result<(), Error> {
    match (by_position, *by_name) {
        (Some(a), Some(b)) => {
            Err(input(format!("{both}: {a:?} and {b:?} are both given; give one")))
        }
        (Some(value), None) => {
            *by_name = Some(value);
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

impl Options {
    fn settings(self) -> Result<Settings, Error> {
        let goal = self.goal()?;
        let usual = if self.stdin { crate::host::cores() } else { 1 };
        let threads = self.threads.unwrap_or(usual);
        Ok(Settings {
            threads,
            send_rate: self.send_rate.unwrap_or(f64::INFINITY),
            receive_rate: self.receive_rate.unwrap_or(f64::INFINITY),
            queues: self.queues.unwrap_or(1),
            capacity: self.capacity.unwrap_or(CAPACITY),
            clock: self.clock.unwrap_or(ClockKind::Exact),
            policy: self.policy.unwrap_or(Policy::Block),
            steal: self.steal.unwrap_or(true),
            goal,
        })
    }

    fn goal(&self) -> Result<Goal, Error> {
        let work = match (&self.exec, self.builtin) {
            (Some(command), Some(_)) => {
                return Err(input(format!("--exec `{command}` and --builtin: give one of them")));
            }
            (Some(command), None) => Some(Work::Exec(command.clone())),
            (None, builtin) => builtin.map(Work::Builtin),
        };
        if self.stdin {
            // None of these would do what its help says.
            let refused = [
                ("--duration", self.duration.is_some(), "the run ends when its input does"),
                ("--csv", self.csv.is_some(), "the output is what the workers make of the lines"),
                ("--policy", self.policy.is_some_and(|p| p != Policy::Block), "no line is lost"),
            ];
            if let Some((option, _, why)) = refused.iter().find(|(_, given, _)| *given) {
                return Err(input(format!("{option} is not for --stdin: {why}")));
            }
            let work = work.ok_or_else(|| {
                input("--stdin: --exec CMD or --builtin NAME must say what to do with a line")
            })?;
            return Ok(Goal::Lines { work, ordered: self.ordered });
        }
        let alone = match (work, self.ordered) {
            (Some(Work::Exec(_)), _) => "--exec",
            (Some(Work::Builtin(_)), _) => "--builtin",
            (None, true) => "--ordered",
            (None, false) => {
                return Ok(Goal::Numbers { duration: self.duration, csv: self.csv.clone() });
            }
        };
        Err(input(format!("{alone} needs --stdin")))
    }
}

fn threads(text: &str) -> Result<usize, String> {
    whole(text, 1, MOST_THREADS)
}

fn queues(text: &str) -> Result<usize, String> {
    whole(text, 1, MOST_QUEUES)
}

fn capacity(text: &str) -> Result<usize, String> {
    whole(text, 0, MOST_CAPACITY)
}

fn clock(text: &str) -> Result<ClockKind, String> {
    match text.split_once(':') {
        None if text == "exact" => Ok(ClockKind::Exact),
        None if text == "tsc" => Ok(ClockKind::Tsc),
        Some(("sampled", every)) => {
            let every = whole(every, 1, 1 << 20).map_err(|reason| format!("K is {reason}"))?;
            Ok(ClockKind::Sampled(every as u32))
        }
        _ => Err("not one of exact, sampled:K, tsc".to_owned()),
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    let all = [
        ("block", Policy::Block),
        ("error", Policy::Error),
        ("drop-oldest", Policy::DropOldest),
        ("drop-newest", Policy::DropNewest),
    ];
    one_of(text, &all)
}

fn switch(text: &str) -> Result<bool, String> {
    one_of(text, &[("on", true), ("off", false)])
}

fn builtin(text: &str) -> Result<Builtin, String> {
    one_of(text, &[("count", Builtin::Count), ("hash", Builtin::Hash)])
}
