//! Runtimes that can have very many tasks waiting at once.

use crate::error::Error;
use crate::experiment::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Opens the gate at which a crowd waits.
pub(crate) type Open = Box<dyn FnOnce()>;

/// A runtime with crowds of tasks.
pub(crate) trait Crowds: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether dropping the pool leaves threads behind, so that each turn needs a process of its own.
    const LINGERS: bool = false;
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers.
    ///
    /// # Errors
    /// A thread that cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// What its processes need for so many tasks at once.
    fn environment(_tasks: u64) -> Environment {
        || Ok(None)
    }

    /// One task starts all of `crowd`. Each member arrives, waits until the gate is open, calls `each`,
    /// and leaves.
    fn gather(
        pool: &Self::Pool,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Open;

    /// One task starts a task for each of `spans`, which sleeps for it and reports how late it was.
    fn sleep(pool: &Self::Pool, spans: Vec<Duration>, late: &Arc<Late>);
}

/// Does something with each runtime.
pub(crate) trait CrowdsVisitor {
    fn visit<C: Crowds>(&mut self);
}

/// Shows `visitor` our runtime, by tasks and by futures, and, if asked, the peers.
pub(crate) fn visit_crowds(peers: bool, visitor: &mut impl CrowdsVisitor) {
    crate::ours::visit_crowds(visitor);
    if peers {
        crate::peers::visit_crowds(visitor);
    }
}

/// How long a crowd may take; somebody who is never woken would take for ever.
const PATIENCE: Duration = Duration::from_secs(180);

/// Counts down, which one thread waits for.
struct Count {
    missing: AtomicU64,
    observer: Thread,
}

impl Count {
    fn of(n: u64) -> Self {
        Self { missing: AtomicU64::new(n), observer: thread::current() }
    }

    fn one(&self) {
        // Ordering: pairs with the observer's acquire load in `wait`.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.observer.unpark();
        }
    }

    fn wait(&self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            // Ordering: pairs with the decrements in `one`.
            match self.missing.load(Ordering::Acquire) {
                0 => return Ok(()),
                n if start.elapsed() > PATIENCE => {
                    return Err(Error::Wrong(format!("{n} tasks are still missing")));
                }
                _ => thread::park_timeout(PATIENCE),
            }
        }
    }
}

/// Tasks that arrive, wait, and leave; the thread that made it can wait for all of them.
pub(crate) struct Crowd {
    pub(crate) size: u64,
    arriving: Count,
    leaving: Count,
}

impl Crowd {
    pub(crate) fn of(size: u64) -> Arc<Self> {
        Arc::new(Self { size, arriving: Count::of(size), leaving: Count::of(size) })
    }

    /// A member is about to wait.
    pub(crate) fn arrive(&self) {
        self.arriving.one();
    }

    /// A member is done.
    pub(crate) fn leave(&self) {
        self.leaving.one();
    }

    /// Until all have arrived.
    ///
    /// # Errors
    /// Some never do.
    pub(crate) fn wait_here(&self) -> Result<(), Error> {
        self.arriving.wait()
    }

    /// Until all have left.
    ///
    /// # Errors
    /// Some never do.
    pub(crate) fn wait_gone(&self) -> Result<(), Error> {
        self.leaving.wait()
    }
}

/// How late sleepers were; the thread that made it can wait for all of them.
pub(crate) struct Late {
    count: Count,
    next: AtomicU64,
    nanoseconds: Vec<AtomicU64>,
}

impl Late {
    pub(crate) fn of(sleepers: u64) -> Arc<Self> {
        let nanoseconds = (0..sleepers).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { count: Count::of(sleepers), next: AtomicU64::new(0), nanoseconds })
    }

    /// One slept for `slept` instead of `span`.
    pub(crate) fn report(&self, span: Duration, slept: Duration) {
        let place = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        if let Some(late) = self.nanoseconds.get(place) {
            late.store(slept.saturating_sub(span).as_nanos() as u64, Ordering::Relaxed);
        }
        self.count.one();
    }

    /// Waits for all; how late they were, in microseconds, sorted.
    ///
    /// # Errors
    /// Some never wake.
    pub(crate) fn sorted(&self) -> Result<Vec<f64>, Error> {
        self.count.wait()?;
        let value = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e3;
        let mut all: Vec<f64> = self.nanoseconds.iter().map(value).collect();
        all.sort_unstable_by(f64::total_cmp);
        Ok(all)
    }
}
