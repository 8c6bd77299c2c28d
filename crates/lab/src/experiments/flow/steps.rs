//! The published steps: senders and workers, each held to a rate; one queue or several.

use super::collection::{Blocking, Collection, Shape, Tally, Ticks};
use super::ours::{Bound, Stealing};
use crate::crew;
use crate::error::{Error, expect, input};
use crate::exhibits::SampledClock;
use crate::experiment::{Figure, Group, Plan, Run, Trend};
use crate::experiments::through::Clocked;
use crate::host::plural;
use sateen_flow::{Rate, RealClock, Throttle};
use std::thread;
use std::time::{Duration, Instant};

/// How many looks share one reading of the clock, as published.
const EVERY: u32 = 8;
/// The rate of each sender and each worker in the last step.
const WANTED: f64 = 1e6;
/// How long the last step is watched, once it has started up. Part of the figure's meaning.
const WATCHED: Duration = Duration::from_secs(1);
const SETTLING: Duration = Duration::from_millis(100);
const STACK: usize = 256 * 1024;

/// One of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    OneExact,
    OneSampled,
    Several,
    /// The other steps are as fast as they can be; this one must reach the wanted rate.
    Rated,
}

impl Step {
    fn queues(self, threads: usize) -> usize {
        if matches!(self, Self::OneExact | Self::OneSampled) { 1 } else { threads }
    }

    fn threads(self, plan: &Plan) -> Vec<usize> {
        match self {
            Self::OneExact => vec![1],
            Self::OneSampled => plan.workers_or(&[1, 2, 4, 8]),
            Self::Several => plan.workers_or(&[2, 4, 8]),
            Self::Rated => vec![8],
        }
    }

    fn figure(self, threads: usize) -> Figure {
        let (case, what) = match self {
            Self::OneExact => {
                ("one-queue-exact", "the clock read at every wait, at a rate that is never reached")
            }
            Self::OneSampled => (
                "one-queue-sampled",
                "the clock read at every 8th wait, at a rate that is never reached",
            ),
            Self::Several => (
                "n-queues-sampled",
                "as many queues, the clock read at every 8th wait, at a rate that is never reached",
            ),
            Self::Rated => (
                "eight-queues-1000k",
                "as many queues, 1,000,000 a second wanted of each, over 1 s in the midst of it",
            ),
        };
        let s = plural(threads);
        let (of, by) = if self == Self::Rated {
            ("rate", "items handled per wall time")
        } else {
            ("time per item", "wall time per item")
        };
        Figure {
            case: case.to_owned(),
            config: format!("t{threads}"),
            name: format!("{of} of {}/{threads} thread{s}", case.replace('-', " ")),
            unit: if self == Self::Rated { "K/s" } else { "ns" },
            trend: if self == Self::Rated { Trend::Higher } else { Trend::Lower },
            description: format!(
                "{threads} sender{s} and {threads} worker{s}, items sent and handled one by one, \
                 {what}: {by}"
            ),
        }
    }
}

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut groups = Vec::new();
    for step in [Step::OneExact, Step::OneSampled, Step::Several, Step::Rated] {
        for threads in step.threads(plan) {
            let mut group = Group::new(2 * threads, vec![step.figure(threads)]);
            group.in_tour = step != Step::OneSampled || threads == 1;
            add::<Stealing>(&mut group, plan, step, threads);
            add::<Bound>(&mut group, plan, step, threads);
            add::<Blocking>(&mut group, plan, step, threads);
            groups.push(group);
        }
    }
    groups
}

fn add<Q: Collection>(group: &mut Group, plan: &Plan, step: Step, threads: usize) {
    let mut load = Load { step, threads, clocked: Clocked::new(plan, threads), watched: None };
    if step == Step::Rated {
        let watched = plan.size(WATCHED, Duration::from_millis(20));
        // A little longer, so that no sender has ended before.
        load.clocked = Clocked::lasting(SETTLING + watched + SETTLING / 2);
        load.watched = Some(watched);
    }
    group.add(Q::NAME, move || Ok(Run(move || load.run_with_clock::<Q>())));
}

#[derive(Clone, Copy)]
struct Load {
    step: Step,
    threads: usize,
    clocked: Clocked,
    /// How long it is watched at its rate; without, the whole run is timed.
    watched: Option<Duration>,
}

/// Returns the items that are handled in a second, once all threads have started.
fn steady(tally: &Tally, watched: Duration) -> f64 {
    thread::sleep(SETTLING);
    let ([before, _], start) = (tally.total(), Instant::now());
    thread::sleep(watched);
    (tally.total()[0] - before) as f64 / start.elapsed().as_secs_f64()
}

impl Load {
    fn run_with_clock<Q: Collection>(self) -> Result<Vec<f64>, Error> {
        if self.step == Step::OneExact {
            return self.run::<Q, _>(&RealClock::new());
        }
        self.run::<Q, _>(&SampledClock::new(EVERY))
    }

    /// One run, on fresh queues.
    fn run<Q: Collection, C: Ticks>(self, clock: &C) -> Result<Vec<f64>, Error> {
        let Self { step, threads, clocked, watched } = self;
        let rate = if step == Step::Rated { WANTED } else { Rate::MOST };
        let rate = Rate::per_second(rate).map_err(|e| input(e.to_string()))?;
        let tally = Tally::new(threads);
        let shape = Shape { workers: threads, queues: step.queues(threads), rate };
        let collection = Q::start(shape, clock, &tally)?;
        let job = |number: usize| {
            let (mut sender, clock) = (collection.sender(), clock.clone());
            move || {
                let throttle = Throttle::new(rate, clock).batch(1);
                let mut throttle = throttle.map_err(|e| input(e.to_string()))?;
                let mut sending = clocked.begin(number);
                let begin = sending.started();
                while let Some((item, _)) = sending.next(1) {
                    if !Q::send(&mut sender, item) {
                        return Err(input(format!("item {item} was refused")));
                    }
                    throttle.wait();
                }
                Ok((begin, sending.sums()))
            }
        };
        let (done, steady) = thread::scope(|scope| {
            let watch = |watched| {
                let (tally, builder) = (&tally, thread::Builder::new());
                builder.spawn_scoped(scope, move || steady(tally, watched))
            };
            let watcher = watched.map(watch).transpose();
            let watcher =
                watcher.map_err(|e| input(format!("cannot start the watching thread: {e}")))?;
            let done = crew::run(STACK, (0..threads).map(job).collect())?;
            // The sender does nothing that panics.
            Ok::<_, Error>((done, watcher.and_then(|watcher| watcher.join().ok())))
        })?;
        collection.finish();
        let mut sent = [0u64; 2];
        let mut begin = None;
        for member in done {
            let (began, sums) = member.result?;
            sent = [sent[0] + sums.count, sent[1].wrapping_add(sums.sum)];
            begin = begin.map_or(Some(began), |b: Instant| Some(b.min(began)));
        }
        let elapsed = begin.map_or(Duration::ZERO, |b| b.elapsed());
        expect("number and sum of what was handled", tally.total(), sent)?;
        let each = elapsed.as_nanos() as f64 / sent[0].max(1) as f64;
        Ok(vec![steady.map_or(each, |rate| rate / 1e3)])
    }
}
