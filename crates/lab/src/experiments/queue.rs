//! Items from producers to consumers through a queue without waiting.

use crate::adapter::{Pipe, PipeKind};
use crate::crew::{self, Relax};
use crate::error::Error;
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::experiments::through::{Clocked, Sums, config};
use crate::registry::for_each;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room in a limited queue.
const CAPACITY: usize = 1024;
const STACK: usize = 256 * 1024;

/// The experiment `queue`.
pub(crate) struct Queues;

impl Experiment for Queues {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn about(&self) -> &'static str {
        "Numbers go through a queue, from threads that only push to threads that only pop, one by \
         one and in batches of 16. The queue is for one thread at each end, or for any number of \
         threads, with or without a limit (wall time per item)."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for batches in [false, true] {
            for kind in PipeKind::ALL {
                let one = kind == PipeKind::Spsc;
                let ends = if one { vec![1] } else { plan.workers_or(&[1, 2, 4]) };
                for ends in ends {
                    let mut group = Group::new(2 * ends, vec![figure(kind, batches, ends)]);
                    group.in_tour = ends == if one { 1 } else { 4 };
                    let clocked = Clocked::new(plan, ends);
                    for_each!(P in pipes(plan.peers) => {
                        if P::KIND == kind && (P::BATCH > 1) == batches {
                            add::<P>(&mut group, ends, clocked);
                        }
                    });
                    groups.push(group);
                }
            }
        }
        groups
    }
}

fn figure(kind: PipeKind, batches: bool, ends: usize) -> Figure {
    let (suffix, how) = if batches { ("-batch", "in batches of 16") } else { ("", "one by one") };
    let limit = match kind {
        PipeKind::Spsc => "for one thread at each end, room for 1024",
        PipeKind::Bounded => "for any number of threads, room for 1024",
        PipeKind::Unbounded => "for any number of threads, no limit",
    };
    let (config, threads) = config(ends, ends);
    Figure {
        case: format!("{}{suffix}", kind.name()),
        name: format!("time per item through {}{suffix}/{threads}", kind.name()),
        config,
        unit: "ns",
        trend: Trend::Lower,
        description: format!("numbers {how} from {threads}, {limit}: wall time per item"),
    }
}

fn add<P: Pipe>(group: &mut Group, ends: usize, clocked: Clocked) {
    if ends <= P::MOST {
        group.add(P::NAME, move || Ok(Run(move || run::<P>(ends, clocked))));
    }
}

/// Makes one run through a fresh queue.
fn run<P: Pipe>(ends: usize, clocked: Clocked) -> Result<Vec<f64>, Error> {
    let (senders, receivers) = P::open(CAPACITY, ends, ends);
    let sending = AtomicUsize::new(ends);
    let produce = |mut sender: P::Sender, producer: usize| {
        let (mut sent, mut relax) = (clocked.begin(producer), Relax::new(2 * ends));
        while let Some((first, count)) = sent.next(P::BATCH) {
            let mut done = 0;
            loop {
                let went = P::send(&mut sender, first + done as u64, count - done);
                done += went;
                if done == count {
                    break;
                }
                if went > 0 { relax.reset() } else { relax.pause() }
            }
            relax.reset();
        }
        drop(sender);
        // Ordering: pairs with the acquire load of a consumer that finds nothing: it then sees all
        // sent items.
        sending.fetch_sub(1, Ordering::Release);
        sent.sums()
    };
    let consume = |mut receiver: P::Receiver| {
        let (mut sums, mut relax) = (Sums::default(), Relax::new(2 * ends));
        loop {
            // Ordering: pairs with the producers' release above. It comes before the look, so that
            // no item is missed.
            let last = sending.load(Ordering::Acquire) == 0;
            if P::receive(&mut receiver, |item| sums.add(item)) > 0 {
                relax.reset();
            } else if last {
                return sums;
            } else {
                relax.pause();
            }
        }
    };
    let (produce, consume) = (&produce, &consume);
    let mut jobs: Vec<Box<dyn FnOnce() -> Sums + Send + '_>> = Vec::new();
    for (producer, sender) in senders.into_iter().enumerate() {
        jobs.push(Box::new(move || produce(sender, producer)));
    }
    for receiver in receivers {
        jobs.push(Box::new(move || consume(receiver)));
    }
    Sums::judge(&crew::run(STACK, jobs)?, ends)
}
