//! Items from senders to receivers through a channel whose ends wait: for threads and for tasks.

use crate::adapter::{Channels, OURS};
use crate::crew::{self, Done};
use crate::error::{Error, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::experiments::through::{Clocked, Sums, config, ends};
use crate::host::plural;
use crate::ours::channels::Sateen;
use crate::ours::scheduled;
use crate::registry::for_each;
use sateen::Runtime;
use sateen::policy::work_stealing;
use std::time::Instant;

const STACK: usize = 256 * 1024;

/// The experiment `channel`.
pub(crate) struct Channel;

/// A kind of channel: the case's name, how many items it has room for, and the same in words.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    capacity: Option<usize>,
    what: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { name: "bounded", capacity: Some(1024), what: "room for 1024" },
    Kind { name: "unbounded", capacity: None, what: "no limit" },
    Kind { name: "rendezvous", capacity: Some(0), what: "handed over" },
];

impl Experiment for Channel {
    fn name(&self) -> &'static str {
        "channel"
    }

    fn about(&self) -> &'static str {
        "Numbers go through a channel whose ends wait while it is full or empty, from threads to \
         threads and from a task to a task (wall time per item)."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for kind in KINDS {
            for ends in ends(plan, false) {
                let mut group = Group::new(2 * ends, vec![of_threads(kind, ends)]);
                group.in_tour = ends == 4;
                let clocked = Clocked::new(plan, ends);
                for_each!(C in channels(plan.peers) => add::<C>(&mut group, kind, ends, clocked));
                groups.push(group);
            }
        }
        for kind in KINDS {
            for workers in plan.workers_or(&[1, 2]) {
                let mut group = Group::new(workers, vec![of_fibers(kind, workers)]);
                let clocked = Clocked::new(plan, 1);
                group.add(OURS, move || {
                    let runtime = scheduled(workers, work_stealing())?;
                    Ok(Run(move || run_tasks(&runtime, kind.capacity, clocked)))
                });
                groups.push(group);
            }
        }
        groups
    }
}

fn of_threads(kind: Kind, ends: usize) -> Figure {
    let Kind { name, what, .. } = kind;
    let (config, threads) = config(ends);
    Figure {
        case: name.to_owned(),
        name: format!("time per item through {name} channel/{threads}"),
        config,
        unit: "ns",
        trend: Trend::Lower,
        description: format!(
            "numbers one by one from {threads}, threads, {what}: wall time per item"
        ),
    }
}

fn of_fibers(kind: Kind, workers: usize) -> Figure {
    let Kind { name, what, .. } = kind;
    let s = plural(workers);
    Figure {
        case: format!("fiber-{name}"),
        config: format!("w{workers}"),
        name: format!("time per item through {name} channel of tasks/{workers} worker{s}"),
        unit: "ns",
        trend: Trend::Lower,
        description: format!(
            "numbers one by one from a task to a task on {workers} worker{s}, {what}: wall time \
             per item"
        ),
    }
}

fn add<C: Channels>(group: &mut Group, kind: Kind, ends: usize, clocked: Clocked) {
    if ends <= C::MOST_RECEIVERS {
        group.add(C::NAME, move || Ok(Run(move || run::<C>(kind.capacity, ends, clocked))));
    }
}

/// Sends its numbers. Returns count and sum of what it sent.
#[inline(always)]
fn produce<C: Channels>(sender: &C::Sender, clocked: Clocked, producer: usize) -> Sums {
    let mut sending = clocked.begin(producer);
    // If no thread receives any more, the sums differ.
    while let Some((item, _)) = sending.next(1)
        && C::send(sender, item)
    {}
    sending.sums()
}

/// Receives until all senders are gone. Returns count and sum of what it received.
#[inline(always)]
fn consume<C: Channels>(receiver: &C::Receiver) -> Sums {
    let mut sums = Sums::default();
    while let Some(item) = C::receive(receiver) {
        sums.add(item);
    }
    sums
}

/// Makes one run through a fresh channel.
fn run<C: Channels>(
    capacity: Option<usize>,
    ends: usize,
    clocked: Clocked,
) -> Result<Vec<f64>, Error> {
    let (sender, receiver) = C::open(capacity);
    let mut jobs: Vec<Box<dyn FnOnce() -> Sums + Send>> = Vec::new();
    for producer in 0..ends {
        let sender = sender.clone();
        jobs.push(Box::new(move || produce::<C>(&sender, clocked, producer)));
    }
    drop(sender);
    for _ in 1..ends {
        let another = C::share(&receiver);
        let another = another.ok_or_else(|| input(format!("{}: one receiver only", C::NAME)))?;
        jobs.push(Box::new(move || consume::<C>(&another)));
    }
    jobs.push(Box::new(move || consume::<C>(&receiver)));
    Sums::judge(&crew::run(STACK, jobs)?, ends)
}

/// Makes one run through a fresh channel of ours, from a task of `runtime` to another.
fn run_tasks(
    runtime: &Runtime,
    capacity: Option<usize>,
    clocked: Clocked,
) -> Result<Vec<f64>, Error> {
    let (sender, receiver) = Sateen::open(capacity);
    let start = Instant::now();
    let done = move |result: Sums| Done { elapsed: start.elapsed(), result };
    let producer = runtime.spawn(move || done(produce::<Sateen>(&sender, clocked, 0)));
    let consumer = runtime.spawn(move || done(consume::<Sateen>(&receiver)));
    let both = [producer.join(), consumer.join()];
    let both = both.into_iter().map(|done| done.map_err(|e| input(e.to_string())));
    Sums::judge(&both.collect::<Result<Vec<_>, Error>>()?, 1)
}
