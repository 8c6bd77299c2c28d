//! Shutdown of a runtime: orderly, or enforced as far as possible.

use crate::context;
use crate::fiber::BRANCHES;
use crate::forked;
use crate::report::{FiberInfo, FiberState, Report};
use crate::runtime::Runtime;
use crate::shared::Shared;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park;
use std::fmt;

/// How long after the last progress cancelled tasks are given up.
pub(crate) const GRACE: Duration = Duration::from_millis(250);
/// The same while unstarted tasks must still be refused.
const GRACE_QUEUED: Duration = Duration::from_secs(1);
/// The same once no task is left. Then only threads must exit, which takes long on a busy machine.
const GRACE_EMPTY: Duration = Duration::from_secs(5);
/// How often that is checked.
const TICK: Duration = Duration::from_millis(5);

/// Why a shutdown did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The call came from one of the runtime's own workers, from a hook, or from within its
    /// [`blocking`](crate::blocking()), and would wait for itself. Nothing changed.
    OnOwnWorker,
    /// The process has forked, and the runtime stayed in the parent. Nothing changed.
    Forked,
    /// The time ran out, and not everything could be cancelled. The runtime refuses further work
    /// and continues to end in its own threads. Dropping it does not wait for that.
    #[non_exhaustive]
    TimedOut {
        /// Worker threads that had ended by then.
        ended: usize,
        /// All worker threads.
        workers: usize,
        /// The fibers that have not ended, with reasons.
        remaining: Vec<RemainingFiber>,
        /// Stacks with frames of those fibers. They stay until their fibers end, possibly for ever.
        stacks: usize,
        /// Spawned futures that have not ended, because a poll still runs or waits.
        futures: u64,
    },
}

/// A fiber that a shutdown could not end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemainingFiber {
    /// The state of the fiber.
    pub fiber: FiberInfo,
    /// Why it has not ended.
    pub why: WhyRemaining,
}

/// Why a cancelled fiber has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhyRemaining {
    /// It computes, or blocks its thread, and has reached no cancellation point.
    Running,
    /// It is ready, but its worker has not resumed it.
    Queued,
    /// Its wait is [uninterrupted](sateen_sync::park::uninterrupted).
    Masked,
    /// It waits for branches, scoped spawns or a task run in place, which have not ended.
    Nested,
    /// It is not a task: a caller outside waits for its result.
    NoTask,
    /// It waits again although it was cancelled: it caught the unwinding, was already unwinding, or
    /// nothing unwinds in this program.
    Resists,
}

impl WhyRemaining {
    fn of(fiber: &FiberInfo) -> Self {
        let nested = fiber.is_outer || fiber.waits_for.as_ref().is_some_and(|w| w.kind == BRANCHES);
        match fiber.state {
            FiberState::Running => Self::Running,
            FiberState::Ready => Self::Queued,
            _ if nested => Self::Nested,
            _ if fiber.masked => Self::Masked,
            _ if fiber.task.is_none() && !fiber.partial => Self::NoTask,
            _ => Self::Resists,
        }
    }
}

impl fmt::Display for WhyRemaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Queued => "queued",
            Self::Masked => "uninterrupted",
            Self::Nested => "waiting for nested work",
            Self::NoTask => "no task",
            Self::Resists => "resisting",
        })
    }
}

impl fmt::Display for RemainingFiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why, self.fiber)
    }
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The most that are listed; the rest are counted.
        const TOLD: usize = 8;
        match self {
            Self::OnOwnWorker => {
                f.write_str("a runtime cannot be shut down by one of its own workers")
            }
            Self::Forked => f.write_str(forked::MESSAGE),
            Self::TimedOut { ended, workers, remaining, stacks, futures } => {
                write!(f, "shutdown timed out when {ended} of {workers} workers had ended; ")?;
                write!(f, "{} fibers remain on {stacks} stacks", remaining.len())?;
                if *futures > 0 {
                    write!(f, ", and {futures} futures")?;
                }
                for (index, remaining) in remaining.iter().take(TOLD).enumerate() {
                    write!(f, "{} {remaining}", if index == 0 { ":" } else { ";" })?;
                }
                if remaining.len() > TOLD { f.write_str("; ..") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for ShutdownError {}

impl Runtime {
    /// Refuses further work from outside, and waits until everything accepted is done and the
    /// workers have ended. A second call waits for the same.
    ///
    /// # Errors
    /// [`ShutdownError::OnOwnWorker`].
    pub fn shutdown(&self) -> Result<(), ShutdownError> {
        self.close()?;
        self.shared.wait_all_exited(None);
        Ok(())
    }

    /// Shuts down as [`Runtime::shutdown`] does, but cancels all tasks after `limit`
    /// ([`JoinHandle::cancel`](crate::JoinHandle::cancel) says how).
    ///
    /// Tasks that do not end within about 250 ms more are given up: they keep their stacks and
    /// their workers, and dropping the runtime does not wait for them. Once no task is left,
    /// threads have 5 s to exit. A task of another runtime that calls this is suspended.
    ///
    /// Tasks that have not started when the time runs out never start, and futures are dropped. In
    /// a program built with `panic = "abort"` only these end. The others run on, and those that
    /// take longer are given up.
    ///
    /// # Errors
    /// [`ShutdownError`], which lists what remains, with reasons.
    ///
    /// ```
    /// use sateen::{JoinError, Runtime};
    /// use std::{sync::Arc, time::Duration};
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let event = Arc::new(sateen::sync::Event::new());
    /// let task = runtime.spawn(move || event.wait());
    /// runtime.shutdown_timeout(Duration::from_millis(10)).unwrap();
    /// assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn shutdown_timeout(&self, limit: Duration) -> Result<(), ShutdownError> {
        self.close()?;
        if self.shared.wait_all_exited(Instant::now().checked_add(limit)) || self.cancel_all() {
            return Ok(());
        }
        let fibers = self.remaining_fibers();
        if self.shared.wait_all_exited(Some(Instant::now())) {
            return Ok(());
        }
        // Fibers that remain keep their stacks.
        self.shared.stacks.close();
        let remain = |fiber: FiberInfo| RemainingFiber { why: WhyRemaining::of(&fiber), fiber };
        Err(ShutdownError::TimedOut {
            ended: self.shared.exited(),
            workers: self.workers(),
            stacks: fibers.iter().filter(|fiber| !fiber.is_outer).count(),
            remaining: fibers.into_iter().map(remain).collect(),
            futures: self.shared.futures.count(),
        })
    }

    fn close(&self) -> Result<(), ShutdownError> {
        if self.shared.is_orphan() {
            return Err(ShutdownError::Forked);
        }
        if context::with(|c| c.is_member_of(&self.shared)) {
            return Err(ShutdownError::OnOwnWorker);
        }
        self.shared.close();
        Ok(())
    }

    /// Cancels everything, and waits as long as there is progress. Returns whether all have ended.
    fn cancel_all(&self) -> bool {
        let shared: &Shared = &self.shared;
        shared.start_cancelling();
        let (mut fewest, mut tasks, mut since) = (u64::MAX, 0, Instant::now());
        let mut progress = since;
        loop {
            // Marked each time: a fiber that was about to start has started, and one that caught
            // the unwinding once may not do so again.
            let fibers = shared.interrupt(|fiber| fiber.context_id() != 0);
            shared.futures.cancel();
            let live = fibers as u64 + shared.futures.count();
            let now = Instant::now();
            if live < fewest {
                (fewest, since, progress) = (live, now, now);
            }
            let begun = shared.workers.iter().map(|w| w.counters.taken.get()).sum();
            if begun != tasks && shared.has_work_from_outside() {
                (tasks, progress) = (begun, now);
            }
            if shared.wait_all_exited(Some(now + TICK)) {
                return true;
            }
            let given_up = match live {
                0 => now - since > GRACE_EMPTY,
                _ => now - progress > GRACE || now - since > GRACE_QUEUED,
            };
            if given_up {
                return false;
            }
        }
    }

    /// The remaining fibers, once all woken ones wait again, if that does not take too long.
    fn remaining_fibers(&self) -> Vec<FiberInfo> {
        let end = Instant::now() + GRACE;
        loop {
            let fibers = Report::take(&self.shared).fibers;
            let on_its_way = |f: &FiberInfo| f.state == FiberState::Ready && !f.partial;
            if !fibers.iter().any(on_its_way) || Instant::now() > end {
                return fibers;
            }
            self.shared.wait_all_exited(Some(Instant::now() + TICK));
        }
    }
}

/// Waits until everything is done, like [`Runtime::shutdown`]; a cancellation does not end that
/// wait. In two cases it only begins the end and does not wait. One is that a
/// [`shutdown_timeout`](Runtime::shutdown_timeout) has given up. The other is that it would wait
/// for itself: on one of its own workers (in a task, a waker, a destructor), in a hook, or within
/// its [`blocking`](crate::blocking()).
///
/// If a task waits for a thread that drops the task's own runtime, both wait for ever.
impl Drop for Runtime {
    fn drop(&mut self) {
        match self.close() {
            // Its threads, which are gone, hold counts of the shared part, so that is leaked.
            Err(ShutdownError::Forked) => {}
            // It ends once the task that dropped it has ended.
            Err(_) => self.shared.close(),
            Ok(()) if self.shared.is_cancelling() => {}
            Ok(()) => _ = park::uninterrupted(|| self.shared.wait_all_exited(None)),
        }
    }
}
