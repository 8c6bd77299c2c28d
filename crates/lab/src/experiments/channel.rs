//! Items from senders to receivers through a channel, in which either end waits: for threads and for tasks.

use crate::adapter::{Channels, ChannelsVisitor, OURS, visit_channels};
use crate::crew;
use crate::error::{Error, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::experiments::through::{Clocked, Sums, config, ends};
use crate::host::plural;
use crate::ours;

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
        "Numbers through a channel, whose ends wait where it is full or empty: from threads to threads, and from a task \
         to a task (wall time by items)."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for kind in KINDS {
            for ends in ends(plan, false) {
                let mut group = Group::new(2 * ends, vec![of_threads(kind, ends)]);
                group.in_tour = ends == 4;
                let clocked = Clocked::new(plan, ends);
                visit_channels(plan.peers, &mut AddAll { group: &mut group, kind, ends, clocked });
                groups.push(group);
            }
        }
        for kind in KINDS {
            for workers in plan.workers_or(&[1, 2]) {
                let mut group = Group::new(workers, vec![of_fibers(kind, workers)]);
                let clocked = Clocked::new(plan, 1);
                group.add(OURS, move || {
                    let fibers = ours::ChannelFibers::new(workers)?;
                    Ok(Run(move || fibers.run(kind.capacity, clocked)))
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
            "numbers one by one from {threads}, threads, {what}: wall time by items"
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
            "numbers one by one from a task to a task on {workers} worker{s}, {what}: wall time by items"
        ),
    }
}

struct AddAll<'a> {
    group: &'a mut Group,
    kind: Kind,
    ends: usize,
    clocked: Clocked,
}

impl ChannelsVisitor for AddAll<'_> {
    fn visit<C: Channels>(&mut self) {
        let (ends, clocked, capacity) = (self.ends, self.clocked, self.kind.capacity);
        if ends <= C::MOST_RECEIVERS {
            self.group.add(C::NAME, move || Ok(Run(move || run::<C>(capacity, ends, clocked))));
        }
    }
}

/// Sends what is to be sent; the sum of it.
#[inline(always)]
pub(crate) fn produce<C: Channels>(sender: &C::Sender, clocked: Clocked, producer: usize) -> Sums {
    let mut sending = clocked.begin(producer);
    // Nobody to receive it: then the sums differ.
    while let Some((item, _)) = sending.next(1)
        && C::send(sender, item)
    {}
    sending.sums()
}

/// Receives until all senders are gone; the sum of it.
#[inline(always)]
pub(crate) fn consume<C: Channels>(receiver: &C::Receiver) -> Sums {
    let mut sums = Sums::default();
    while let Some(item) = C::receive(receiver) {
        sums.add(item);
    }
    sums
}

/// One run through a fresh channel.
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
