//! Waking: how long work waits before a worker starts it.
//!
//! The submitter parks after it has submitted. If it spun, two cores would measure where the kernel
//! places threads. Between samples the runtime has time to fall asleep.

mod ready;
mod starve;

use crate::adapter::Submit;
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::registry::for_each;
use crate::stats::quantile;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Long enough for any runtime here to fall asleep: several times its spinning.
const REST: Duration = Duration::from_millis(2);

/// The experiment `wake`.
pub(crate) struct Wake;

impl Experiment for Wake {
    fn name(&self) -> &'static str {
        "wake"
    }

    fn about(&self) -> &'static str {
        "Latency: the time from submitting work to a sleeping runtime until the work starts, and \
         how long queued work waits behind a worker that is busy with something else."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for workers in plan.workers_or(&[2]) {
            groups.push(group::<First>(plan, workers, plan.size(100, 3)));
            groups.push(group::<All>(plan, workers, plan.size(20, 2)));
        }
        groups.extend(starve::groups(plan));
        groups.push(ready::group(plan));
        groups
    }
}

fn figure(case: &str, workers: usize, name: &str, description: &str) -> Figure {
    Figure {
        case: case.to_owned(),
        config: format!("w{workers}"),
        name: format!("{name}/{workers} worker{}", crate::host::plural(workers)),
        unit: "µs",
        trend: Trend::Lower,
        description: description.to_owned(),
    }
}

/// A way of sampling; one run takes many samples.
trait Sampling: 'static {
    fn figures(workers: usize) -> Vec<Figure>;
    /// Takes a sample, in microseconds.
    fn sample<P: Submit>(pool: &P::Pool) -> Result<f64, Error>;
    /// Returns the figures' values from the sorted samples.
    fn values(sorted: &[f64]) -> Vec<f64>;
}

/// One task.
struct First;

impl Sampling for First {
    fn figures(workers: usize) -> Vec<Figure> {
        let what = "idle runtime: from submitting a task to its first instruction";
        vec![
            figure("first", workers, "time to the first instruction", what),
            figure("first-p99", workers, "99th percentile to the first instruction", what),
        ]
    }

    fn sample<P: Submit>(pool: &P::Pool) -> Result<f64, Error> {
        started::<P>(pool, 1)
    }

    fn values(sorted: &[f64]) -> Vec<f64> {
        vec![quantile(sorted, 0.5), quantile(sorted, 0.99)]
    }
}

/// Many tasks at once.
struct All;

impl Sampling for All {
    fn figures(workers: usize) -> Vec<Figure> {
        let what = "idle runtime: from submitting the first of 64 tasks to the start of the last";
        vec![figure("all", workers, "time until 64 tasks have started", what)]
    }

    fn sample<P: Submit>(pool: &P::Pool) -> Result<f64, Error> {
        started::<P>(pool, 64)
    }

    fn values(sorted: &[f64]) -> Vec<f64> {
        vec![quantile(sorted, 0.5)]
    }
}

/// Counts starts, and wakes the observer at the last.
struct Starts {
    from: Instant,
    missing: AtomicU32,
    /// The latest start, in nanoseconds.
    latest: AtomicU64,
    observer: Thread,
}

impl Starts {
    /// For tasks that the calling thread observes.
    fn expecting(tasks: u32) -> Arc<Self> {
        Self::observed_by(tasks, thread::current())
    }

    fn observed_by(tasks: u32, observer: Thread) -> Arc<Self> {
        let (missing, latest) = (AtomicU32::new(tasks), AtomicU64::new(0));
        Arc::new(Self { from: Instant::now(), missing, latest, observer })
    }

    /// Counts one start.
    fn count(&self) {
        let now = self.from.elapsed().as_nanos() as u64;
        self.latest.fetch_max(now, Ordering::Relaxed);
        // Ordering: pairs with the observer's acquire load in `wait`, so that it sees every
        // `latest`.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.observer.unpark();
        }
    }

    /// Parks until all have started. Returns the latest start in microseconds.
    fn wait(&self) -> f64 {
        // Ordering: pairs with the decrements in `count`.
        while self.missing.load(Ordering::Acquire) > 0 {
            thread::park();
        }
        self.latest.load(Ordering::Relaxed) as f64 / 1e3
    }
}

/// Returns the microseconds from submitting the first of `tasks` tasks until the last has started.
fn started<P: Submit>(pool: &P::Pool, tasks: u32) -> Result<f64, Error> {
    thread::sleep(REST);
    let starts = Starts::expecting(tasks);
    for _ in 0..tasks {
        let starts = Arc::clone(&starts);
        P::submit(pool, move || starts.count());
    }
    let latest = starts.wait();
    expect("tasks that have not started", starts.missing.load(Ordering::Relaxed), 0)?;
    Ok(latest)
}

/// Returns a group of one way of sampling, with all pools that run tasks on other threads.
fn group<S: Sampling>(plan: &Plan, workers: usize, samples: u32) -> Group {
    let mut group = Group::new(workers, S::figures(workers));
    for_each!(P in submits(plan.peers) => add::<P, S>(&mut group, workers, samples));
    group
}

fn add<P: Submit, S: Sampling>(group: &mut Group, workers: usize, samples: u32) {
    // A closure that runs on the submitter wakes no worker.
    if P::ELSEWHERE {
        let how = PhantomData;
        let open = move || Ok(Asleep::<P, S> { pool: P::build(workers)?, samples, how });
        group.add(P::NAME, open);
        group.keep_apart(P::LINGERS);
    }
}

struct Asleep<P: Submit, S> {
    pool: P::Pool,
    samples: u32,
    how: PhantomData<S>,
}

impl<P: Submit, S: Sampling> Session for Asleep<P, S> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let samples = (0..self.samples).map(|_| S::sample::<P>(&self.pool));
        let mut samples: Vec<f64> = samples.collect::<Result<_, _>>()?;
        samples.sort_unstable_by(f64::total_cmp);
        Ok(S::values(&samples))
    }

    fn warm(&mut self) -> Result<(), Error> {
        (0..5).try_for_each(|_| S::sample::<P>(&self.pool).map(drop))
    }
}
