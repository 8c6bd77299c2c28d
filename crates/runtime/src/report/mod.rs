//! Reports: live fibers, deadlocks among them, and whether the runtime can make progress.
//!
//! `info.rs` has the types, `look.rs` inspects a fiber, `survey.rs` asks workers. `README.md`,
//! "Seeing what waits", explains when the results are certain.

mod info;
mod look;
mod survey;
mod watch;

pub use info::{FiberInfo, FiberState, WaitOwner, WaitsFor};
pub(crate) use watch::{TimedWaits, Watch};

use crate::cycles::{self, Seen};
use crate::monitor::BlockedWorker;
use crate::runtime::Runtime;
use crate::shared::Shared;
use std::collections::HashMap;
use std::fmt;
use survey::{Answers, Survey};

/// The most fibers in a printed report. All deadlocks are listed.
const ROWS: usize = 100;

/// What a runtime's fibers are doing; see [`Runtime::report`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The live fibers.
    pub fibers: Vec<FiberInfo>,
    /// Cycles of fibers that wait for each other's locks and ends. None of these fibers can resume
    /// without help.
    pub deadlocks: Vec<Deadlock>,
    /// Set if there are fibers or futures, all of them wait, no timer is pending, and nothing
    /// queued could start.
    pub blocked: Option<Blocked>,
    /// Approximate amount of queued work that could not start for lack of a stack: spawned tasks
    /// and futures, jobs of scopes, branches, calls from outside.
    pub waiting_for_stacks: usize,
    /// Workers that a task has blocked in the system while work was queued. A substitute runs for
    /// each; tasks suspended there wait.
    pub blocked_workers: Vec<BlockedWorker>,
    /// The number of workers.
    pub workers: usize,
    /// Busy workers that did not answer. Little is known of their fibers.
    pub busy: usize,
}

/// Fibers that wait for each other in a cycle: each for the next, and the last for the first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deadlock {
    /// The members. A single one waits for itself.
    pub fibers: Vec<FiberInfo>,
}

/// Nothing can resume without help from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// Fibers that something outside of the runtime might wake: a waker for them exists, and they
    /// do not wait for another fiber's lock or end.
    pub outside_wakers: usize,
    /// Spawned futures that have not ended. Their wakers could wake them.
    pub futures: u64,
    /// Queued work that cannot start, because waiting fibers use all stacks.
    pub queued: usize,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |one: bool| if one { "" } else { "s" };
        let (n, s) = (self.outside_wakers, plural(self.outside_wakers == 1));
        write!(f, "all blocked, no timer pending, {n} outside waker{s} outstanding")?;
        match (self.futures, plural(self.futures == 1)) {
            (0, _) => {}
            (n, s) => write!(f, ", {n} future{s} pending")?,
        }
        match (self.queued, plural(self.queued == 1)) {
            (0, _) => Ok(()),
            (n, s) => write!(f, ", no stack for {n} queued job{s}"),
        }
    }
}

/// One line: `deadlock: task 7 "a" (spawned at x.rs:3:5) waits for mutex 0x7f.. held by task 9 "b"
/// (spawned at x.rs:9:5), which waits for the end of task 7 "a"`.
impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadlock: ")?;
        for (index, fiber) in self.fibers.iter().enumerate() {
            match index {
                0 => fiber.write_name(f)?,
                _ => {
                    fiber
                        .location
                        .map_or(Ok(()), |location| write!(f, " (spawned at {location})"))?;
                    f.write_str(", which")?;
                }
            }
            f.write_str(" ")?;
            fiber.write_wait(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let (fibers, workers) = (self.fibers.len(), self.workers);
        writeln!(f, "{fibers} fiber{} on {workers} worker{}", plural(fibers), plural(workers))?;
        for fiber in self.fibers.iter().take(ROWS) {
            writeln!(f, "  {fiber}")?;
        }
        if fibers > ROWS {
            writeln!(f, "  and {} more", fibers - ROWS)?;
        }
        if self.busy > 0 {
            writeln!(f, "{} worker{} too busy to tell more", self.busy, plural(self.busy))?;
        }
        match self.waiting_for_stacks {
            0 => {}
            n => writeln!(
                f,
                "{n} queued job{} wait{} for a stack",
                plural(n),
                if n == 1 { "s" } else { "" }
            )?,
        }
        for blocked in &self.blocked_workers {
            writeln!(f, "{blocked}; a substitute works for it")?;
        }
        for deadlock in &self.deadlocks {
            writeln!(f, "{deadlock}")?;
        }
        self.blocked.map_or(Ok(()), |blocked| writeln!(f, "{blocked}"))
    }
}

impl Report {
    /// Completes the workers' answers. `me` is the number of the calling context.
    fn new(shared: &Shared, answers: Answers, me: u64) -> Self {
        let Answers { mut fibers, busy } = answers;
        for fiber in fibers.iter_mut().filter(|fiber| fiber.id == me) {
            (fiber.state, fiber.waits_for) = (FiberState::Running, None);
        }
        let names: HashMap<u64, _> =
            fibers.iter().filter_map(|f| Some((f.id, f.name.clone()?))).collect();
        for fiber in &mut fibers {
            if let Some(owner) = fiber.waits_for.as_mut().and_then(|wait| wait.owner.as_mut()) {
                owner.name = names.get(&owner.id).cloned();
            }
        }
        let members = |cycle: Vec<usize>| cycle.into_iter().map(|i| fibers[i].clone()).collect();
        let deadlocks = cycles::find(&seen(&fibers))
            .into_iter()
            .map(|cycle| Deadlock { fibers: members(cycle) })
            .collect();
        let waiting_for_stacks = shared.waiting_for_stacks();
        let (workers, blocked_workers) = (shared.regular, shared.monitor.blocked());
        Self {
            fibers,
            deadlocks,
            blocked: None,
            waiting_for_stacks,
            blocked_workers,
            workers,
            busy,
        }
    }

    /// Asks all workers.
    pub(crate) fn take(shared: &Shared) -> Self {
        let me = sateen_sync::park::context_id();
        let before = watch::activity(shared);
        let mut report = Self::new(shared, Survey::conduct(shared), me);
        report.blocked = watch::blocked(shared, &report, before);
        if report.blocked.is_none() && !report.deadlocks.is_empty() {
            // The members were seen one after another. A real cycle is seen again; `README.md`
            // explains why that suffices.
            let again = seen(&Self::new(shared, Survey::conduct(shared), me).fibers);
            let is_seen_again = |it: &Deadlock| cycles::is_seen_again(&seen(&it.fibers), &again);
            report.deadlocks.retain(is_seen_again);
        }
        report
    }
}

fn seen(fibers: &[FiberInfo]) -> Vec<Seen> {
    fibers.iter().map(FiberInfo::seen).collect()
}

impl Runtime {
    /// Lists the live fibers: every task that has been started and has not ended, and what it waits
    /// for.
    ///
    /// Each worker is asked, and answers between two tasks. If a worker is busy for 100 ms, the
    /// entries of its fibers contain only what other threads can read. If a fiber resumes
    /// meanwhile, its entry is true of some moment of the call.
    ///
    /// # Cost
    /// Wakes all workers; then well below a microsecond per fiber (debug builds also read the
    /// stacks). Between calls, some 15 ns for each wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::{FiberState, Runtime, Spawn};
    /// use std::sync::Arc;
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let event = Arc::new(sateen::sync::Event::new());
    /// let inner = Arc::clone(&event);
    /// let task = runtime.spawn_with(Spawn::new().name("reader"), move || inner.wait());
    /// // (Another task, to be sure that the first one has been started.)
    /// runtime.spawn(|| {}).join().unwrap();
    /// let fibers = runtime.fibers();
    /// assert_eq!(fibers[0].name.as_deref(), Some("reader"));
    /// assert_eq!(fibers[0].state, FiberState::Waiting);
    /// assert_eq!(fibers[0].waits_for.as_ref().unwrap().kind, "event");
    /// event.set();
    /// task.join().unwrap();
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn fibers(&self) -> Vec<FiberInfo> {
        Report::new(&self.shared, Survey::conduct(&self.shared), sateen_sync::park::context_id())
            .fibers
    }

    /// Lists the live fibers as [`Runtime::fibers`] does, finds deadlocks, and tells whether
    /// everything is blocked. The report can be printed.
    ///
    /// A deadlock is reported only if each member was seen twice in the same wait. The known owners
    /// are those of mutexes, and the tasks that joins wait for. A thread records itself as a
    /// mutex's owner just after taking it; if it stalls in between, the former owner is reported. A
    /// wait with a time limit may end by it.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(2).build()?;
    /// let report = runtime.report();
    /// assert!(report.deadlocks.is_empty());
    /// assert_eq!(report.to_string(), "0 fibers on 2 workers\n");
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn report(&self) -> Report {
        Report::take(&self.shared)
    }
}
