//! Tasks that all block at one event and are released together.

use super::figure;
use crate::adapter::{Crowd, Crowds, Job};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session, Trend};
use crate::registry::for_each;
use crate::{peers, proc};
use std::time::{Duration, Instant};

/// Memory that a waiting task may take. A crowd is made smaller if the machine has less.
const ROOM_OF_ONE: u64 = 12 * 1024;
/// How long one task of the skewed crowd computes.
const WORK: Duration = Duration::from_micros(100);

/// How long a million tasks take, and the memory of one.
pub(super) fn million(plan: &Plan, workers: usize) -> Group {
    const MILLION: u64 = 1_000_000;
    let what = "one task starts 1,000,000, all block on one event and are then released: time \
                until the last has ended (in the tour, and where memory is short, from fewer \
                tasks, scaled up)";
    let each = "resident memory and page tables while all are blocked, per task";
    let figures = vec![
        figure("million", workers, "time for a million blocked tasks", "s", Trend::Lower, what),
        figure("million-bytes", workers, "memory of a blocked task", "bytes", Trend::Lower, each),
    ];
    let mut group = Group::new(workers, figures);
    group.warmups = 0;
    group.min_runs = if plan.short { 1 } else { 3 };
    // One run in each process: the next run would measure the memory that this one left.
    group.max_runs = Some(group.min_runs);
    let wanted = plan.size(if plan.short { MILLION / 10 } else { MILLION }, 1_000);
    let fits = proc::available_memory().map_or(MILLION, |bytes| bytes / 2 / ROOM_OF_ONE);
    let size = wanted.min(fits).max(1);
    for_each!(C in crowds(plan.peers) => add_million::<C>(&mut group, workers, size));
    if plan.peers.all() {
        let values = |v: &[f64], job: &Job| vec![scaled(v[0] / 1e9, job.size), v[1]];
        let job = Job { case: "", workers, size, check: size, values };
        peers::add_programs(&mut group, &["million"], job);
    }
    group
}

/// Scales the seconds for `size` tasks to a million.
fn scaled(seconds: f64, size: u64) -> f64 {
    seconds * 1e6 / size as f64
}

fn add_million<C: Crowds>(group: &mut Group, workers: usize, size: u64) {
    group.add(C::NAME, move || Ok(Million::<C> { pool: C::build(workers)?, size }));
    group.keep_apart(true);
    group.set_environment(C::environment(size));
}

struct Million<C: Crowds> {
    pool: C::Pool,
    size: u64,
}

impl<C: Crowds> Session for Million<C> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let memory = || {
            proc::own_memory().ok_or_else(|| {
                Error::Absent("this system does not report the memory of a process".to_owned())
            })
        };
        let before = memory()?;
        let start = Instant::now();
        let crowd = Crowd::of(self.size);
        let open = C::gather(&self.pool, &crowd, || {});
        crowd.wait_here()?;
        let pause = Instant::now();
        let bytes = memory()?.saturating_sub(before) as f64 / self.size as f64;
        let pause = pause.elapsed();
        open();
        crowd.wait_gone()?;
        let elapsed = start.elapsed().saturating_sub(pause);
        Ok(vec![scaled(elapsed.as_secs_f64(), self.size), bytes])
    }
}

/// Whether all workers get their share of what one of them started.
pub(super) fn skew(plan: &Plan, workers: usize) -> Group {
    let what = "10,000 tasks started by one worker, all blocked, then released; each computes for \
                0.1 ms: share of the workers' time in which they computed";
    let name = "efficiency of what one worker started";
    let one = figure("skew", workers, name, "of 1", Trend::Higher, what);
    let mut group = Group::new(workers, vec![one]);
    if plan.short {
        (group.min_runs, group.max_runs) = (1, Some(1));
    }
    let size = plan.size(10_000, 20);
    for_each!(C in crowds(plan.peers) => add_skew::<C>(&mut group, workers, size));
    if plan.peers.all() {
        let values = |v: &[f64], job: &Job| vec![efficiency(v[0], job.size, job.workers)];
        let job = Job { case: "", workers, size, check: size, values };
        peers::add_programs(&mut group, &["skew"], job);
    }
    group
}

/// Returns the share of each worker's `nanoseconds` that was computing.
fn efficiency(nanoseconds: f64, size: u64, workers: usize) -> f64 {
    WORK.as_nanos() as f64 * size as f64 / workers as f64 / nanoseconds
}

fn add_skew<C: Crowds>(group: &mut Group, workers: usize, size: u64) {
    group.add(C::NAME, move || Ok(Skew::<C> { pool: C::build(workers)?, workers, size }));
    group.keep_apart(C::LINGERS);
    group.set_environment(C::environment(size));
}

struct Skew<C: Crowds> {
    pool: C::Pool,
    workers: usize,
    size: u64,
}

impl<C: Crowds> Session for Skew<C> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let crowd = Crowd::of(self.size);
        let open = C::gather(&self.pool, &crowd, || {
            let start = Instant::now();
            while start.elapsed() < WORK {
                std::hint::spin_loop();
            }
        });
        crowd.wait_here()?;
        let start = Instant::now();
        open();
        crowd.wait_gone()?;
        Ok(vec![efficiency(start.elapsed().as_nanos() as f64, self.size, self.workers)])
    }
}
