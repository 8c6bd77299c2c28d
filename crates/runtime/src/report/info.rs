//! What a report contains about one fiber.

use crate::cycles::Seen;
use crate::task::TaskId;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A live fiber as [`Runtime::fibers`](crate::Runtime::fibers) saw it. It is a task that has
/// started and not ended, or other work: a stolen branch, a scoped spawn, or an `install` call.
///
/// A task that joins another and runs it in place shares its fiber. Then each has an entry, and the
/// outer one waits for the inner one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FiberInfo {
    /// Its number: a task's [`TaskId`], or one that no task has.
    pub id: u64,
    /// The task that it runs or works for.
    pub task: Option<TaskId>,
    /// That task's name.
    pub name: Option<Arc<str>>,
    /// Where that task was spawned.
    pub location: Option<&'static Location<'static>>,
    /// What it is doing.
    pub state: FiberState,
    /// What it waits for, if that is known. All waits of `sateen::sync`, joins and unfinished
    /// branches are.
    pub waits_for: Option<WaitsFor>,
    /// Its worker.
    pub worker: usize,
    /// Whether its waits are [uninterrupted](sateen_sync::park::uninterrupted), so that cancelling
    /// does not end them.
    pub masked: bool,
    /// The most bytes of stack used so far. Debug builds only.
    pub stack_used: Option<usize>,
    /// Whether its worker did not answer, because it was busy or is a substitute. Task, name,
    /// location, mask and owners are then unknown.
    pub partial: bool,
    /// Whether a waker for it exists.
    pub(super) has_waker: bool,
    /// When its wait began, in ticks.
    pub(super) since: u64,
    /// Whether another task runs on top of it.
    pub(crate) is_outer: bool,
}

/// What a fiber is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FiberState {
    /// It runs (or its thread could, if the system let it).
    Running,
    /// It is ready, and waits for its worker.
    Ready,
    /// It waits for something.
    Waiting,
}

/// What a fiber waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitsFor {
    /// The kind of the primitive, such as `"mutex"`. It is `"task"` in a join, and `"branches"` if
    /// a join, a fork or a scope waits for work that others took.
    pub kind: &'static str,
    /// Its address; 0 if it has none.
    pub address: usize,
    /// The owner, which must release it or end, if known.
    pub owner: Option<WaitOwner>,
    /// How long it has waited.
    pub time: Duration,
}

/// The owner of what a fiber waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitOwner {
    /// Its number: [`FiberInfo::id`], or the number of a plain thread or of a task that has not
    /// started.
    pub id: u64,
    /// Its name, if it is a live fiber of this runtime and has one.
    pub name: Option<Arc<str>>,
}

impl WaitOwner {
    /// Whether it is a thread outside of any task.
    pub fn is_thread(&self) -> bool {
        self.id >> 63 != 0
    }
}

impl fmt::Display for WaitOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_thread() {
            return f.write_str("a thread");
        }
        write!(f, "task {}", self.id)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " {name:?}"))
    }
}

impl WaitsFor {
    /// `waits for mutex 0x7f.. held by task 9 "b"`, as the middle of a sentence.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.owner, self.kind) {
            (Some(owner), "task") => return write!(f, "waits for the end of {owner}"),
            (_, kind) => write!(f, "waits for {kind}")?,
        }
        if self.address != 0 {
            write!(f, " {:#x}", self.address)?;
        }
        self.owner.as_ref().map_or(Ok(()), |owner| write!(f, " held by {owner}"))
    }
}

impl FiberInfo {
    /// The part that cycle detection needs.
    pub(super) fn seen(&self) -> Seen {
        let waits_for = self.waits_for.as_ref().filter(|_| self.state == FiberState::Waiting);
        let owner = waits_for.and_then(|wait| wait.owner.as_ref()).map(|owner| owner.id);
        Seen { id: self.id, since: self.since, owner }
    }

    /// `task 7 "a" (spawned at x.rs:3:5)`.
    pub(super) fn write_name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_task = self.task.is_some_and(|task| task.get() == self.id);
        let what = if is_task { "task" } else { "work" };
        write!(f, "{what} {}", self.id)?;
        if let (false, Some(task)) = (is_task, self.task) {
            write!(f, " of task {task}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        self.location.map_or(Ok(()), |location| write!(f, " (spawned at {location})"))
    }

    pub(super) fn write_wait(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.waits_for, self.state) {
            (Some(wait), _) => wait.write(f),
            (None, FiberState::Running) => f.write_str("runs"),
            (None, FiberState::Ready) => f.write_str("can go on"),
            (None, FiberState::Waiting) => f.write_str("waits"),
        }
    }
}

/// One line: `task 7 "a" (spawned at x.rs:3:5) on worker 0 waits for mutex 0x7f.. held by task 9
/// "b", for 1.2s`.
impl fmt::Display for FiberInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_name(f)?;
        write!(f, " on worker {} ", self.worker)?;
        self.write_wait(f)?;
        if let Some(wait) = &self.waits_for
            && self.since != 0
        {
            write!(f, ", for {:.1?}", wait.time)?;
        }
        if let (Some(_), FiberState::Ready) = (&self.waits_for, self.state) {
            f.write_str(", and has been woken")?;
        }
        if self.masked {
            f.write_str(", uninterrupted")?;
        }
        if let Some(bytes) = self.stack_used.filter(|_| !self.is_outer) {
            write!(f, ", {bytes} bytes of stack")?;
        }
        if self.partial { f.write_str("; its worker did not answer") } else { Ok(()) }
    }
}
