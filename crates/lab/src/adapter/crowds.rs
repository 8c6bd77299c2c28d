//! Runtimes that can have very many tasks waiting at once.

use super::program::Environment;
use crate::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Releases a crowd that waits.
pub(crate) type Release = Box<dyn FnOnce()>;

/// A runtime with crowds of tasks.
pub(crate) trait Crowds: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether dropping the pool leaves threads behind. Each turn then runs in a process of its
    /// own.
    const LINGERS: bool = false;
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers.
    ///
    /// # Errors
    /// A thread cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// What the runtime's processes need for this many tasks at once.
    fn environment(_tasks: u64) -> Environment {
        || Ok(None)
    }

    /// Starts all of `crowd` from one task. Each member arrives, waits until the crowd is released,
    /// calls `each`, and leaves.
    fn gather(
        pool: &Self::Pool,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release;

    /// Starts a task for each of `spans` from one task. Each sleeps for its span and reports how
    /// late it was.
    fn sleep(pool: &Self::Pool, spans: Vec<Duration>, late: &Arc<Late>);
}

/// How long a crowd may take. A lost wake-up would make it wait for ever.
const CROWD_TIMEOUT: Duration = Duration::from_secs(180);

/// A count that goes down to zero, and the thread that waits for it.
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
                n if start.elapsed() > CROWD_TIMEOUT => {
                    return Err(Error::Wrong(format!("{n} tasks are still missing")));
                }
                _ => thread::park_timeout(CROWD_TIMEOUT),
            }
        }
    }
}

/// Tasks that arrive, wait, and leave. The thread that made the crowd can wait for all of them.
pub(crate) struct Crowd {
    pub(crate) size: u64,
    arriving: Count,
    leaving: Count,
}

impl Crowd {
    pub(crate) fn of(size: u64) -> Arc<Self> {
        Arc::new(Self { size, arriving: Count::of(size), leaving: Count::of(size) })
    }

    /// Counts a member that is about to wait.
    pub(crate) fn arrive(&self) {
        self.arriving.one();
    }

    /// Counts a member that is done.
    pub(crate) fn leave(&self) {
        self.leaving.one();
    }

    /// Waits until all members have arrived.
    ///
    /// # Errors
    /// Some members never arrive.
    pub(crate) fn wait_here(&self) -> Result<(), Error> {
        self.arriving.wait()
    }

    /// Waits until all members have left.
    ///
    /// # Errors
    /// Some members never leave.
    pub(crate) fn wait_gone(&self) -> Result<(), Error> {
        self.leaving.wait()
    }
}

/// How late sleepers were. The thread that made this can wait for all of them.
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

    /// Counts a sleeper that slept for `slept` instead of `span`.
    pub(crate) fn report(&self, span: Duration, slept: Duration) {
        let position = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        if let Some(late) = self.nanoseconds.get(position) {
            late.store(slept.saturating_sub(span).as_nanos() as u64, Ordering::Relaxed);
        }
        self.count.one();
    }

    /// Waits for all sleepers. Returns how late they were, in microseconds, sorted.
    ///
    /// # Errors
    /// Some sleepers never wake.
    pub(crate) fn sorted(&self) -> Result<Vec<f64>, Error> {
        self.count.wait()?;
        let value = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e3;
        let mut all: Vec<f64> = self.nanoseconds.iter().map(value).collect();
        all.sort_unstable_by(f64::total_cmp);
        Ok(all)
    }
}
