//! Items from senders to receivers through a channel whose ends wait: for threads and for tasks.

use crate::adapter::{Channels, OURS, Use};
use crate::crew::{self, Done};
use crate::error::{Error, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::experiments::through::{Clocked, Sums, config};
use crate::host::plural;
use crate::ours::channels::Sateen;
use crate::ours::scheduled;
use crate::registry::for_each;
use sateen::Runtime;
use sateen::channel::{bounded, unbounded};
use sateen::policy::work_stealing;
use std::time::Instant;

const STACK: usize = 256 * 1024;

/// The experiment `channel`.
pub(crate) struct Channel;

/// A kind of channel.
#[derive(Clone, Copy)]
struct Kind {
    /// The case.
    name: &'static str,
    /// How many items it has room for.
    capacity: Option<usize>,
    /// The same in words.
    what: &'static str,
    /// The usual numbers of senders and receivers.
    ends: &'static [(usize, usize)],
    /// Whether the tour shows it, and tasks send through it too.
    usual: bool,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "bounded",
        capacity: Some(1024),
        what: "room for 1024",
        ends: &[(1, 1), (2, 2), (4, 4), (16, 16)],
        usual: true,
    },
    Kind {
        name: "unbounded",
        capacity: None,
        what: "no limit",
        ends: &[(1, 1), (2, 2), (4, 4)],
        usual: true,
    },
    Kind {
        name: "rendezvous",
        capacity: Some(0),
        what: "handed over",
        ends: &[(1, 1), (2, 2), (4, 4)],
        usual: true,
    },
    Kind {
        name: "bounded-100",
        capacity: Some(100),
        what: "room for 100",
        ends: &[(2, 2), (4, 1), (4, 4)],
        usual: false,
    },
    Kind {
        name: "bounded-1",
        capacity: Some(1),
        what: "room for 1",
        ends: &[(2, 2), (16, 1)],
        usual: false,
    },
];

impl Kind {
    /// Returns the numbers of senders and receivers: those the user asked for at both ends, else
    /// the usual ones.
    fn ends(self, plan: &Plan) -> Vec<(usize, usize)> {
        if plan.workers.is_empty() {
            return self.ends.to_vec();
        }
        plan.workers.iter().map(|&n| (n, n)).collect()
    }
}

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
            for (senders, receivers) in kind.ends(plan) {
                let channel = Use { capacity: kind.capacity, senders, receivers };
                let mut group = Group::new(senders + receivers, vec![of_threads(kind, channel)]);
                // The standard library's has one receiver.
                group.in_tour = kind.usual && senders == 1;
                let clocked = Clocked::new(plan, senders);
                for_each!(C in channels(plan.peers) => add::<C>(&mut group, channel, clocked));
                groups.push(group);
            }
        }
        for kind in KINDS.into_iter().filter(|kind| kind.usual) {
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

fn of_threads(kind: Kind, channel: Use) -> Figure {
    let Kind { name, what, .. } = kind;
    let (config, threads) = config(channel.senders, channel.receivers);
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

fn add<C: Channels>(group: &mut Group, channel: Use, clocked: Clocked) {
    if C::serves(channel) {
        group.add(C::NAME, move || Ok(Run(move || run::<C>(channel, clocked))));
        if C::may_hang(channel) {
            group.limit_time();
        }
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
fn run<C: Channels>(channel: Use, clocked: Clocked) -> Result<Vec<f64>, Error> {
    let (senders, receivers) = C::open(channel);
    let mut jobs: Vec<Box<dyn FnOnce() -> Sums + Send>> = Vec::new();
    for (producer, sender) in senders.into_iter().enumerate() {
        jobs.push(Box::new(move || produce::<C>(&sender, clocked, producer)));
    }
    for receiver in receivers {
        jobs.push(Box::new(move || consume::<C>(&receiver)));
    }
    Sums::judge(&crew::run(STACK, jobs)?, channel.senders)
}

/// Makes one run through a fresh channel of ours, from a task of `runtime` to another.
fn run_tasks(
    runtime: &Runtime,
    capacity: Option<usize>,
    clocked: Clocked,
) -> Result<Vec<f64>, Error> {
    let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
    let start = Instant::now();
    let done = move |result: Sums| Done { elapsed: start.elapsed(), result };
    let producer = runtime.spawn(move || done(produce::<Sateen>(&sender, clocked, 0)));
    let consumer = runtime.spawn(move || done(consume::<Sateen>(&receiver)));
    let both = [producer.join(), consumer.join()];
    let both = both.into_iter().map(|done| done.map_err(|e| input(e.to_string())));
    Sums::judge(&both.collect::<Result<Vec<_>, Error>>()?, 1)
}
