//! Scheduling policies: which of the tasks that could run runs next.
//!
//! A policy orders what waits at one worker: tasks that have not started, and suspended tasks of
//! this worker that are ready. It does not see branches (of `join`, `fork`). They are on the join
//! stack of their task, where thieves take them. Under [`round_robin`] nobody steals them, because
//! every worker is alone.

mod changes;
mod custom;
mod ready;
mod round_robin;
mod runnable;
mod shared_queue;
mod sharing;
mod stealing;

pub use runnable::Runnable;

use crate::cells::MakePolicy;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::sleepers::{Alarm, Sleepers};
use crate::task::{self, PropertyListener, TaskId};
use crate::unwind::Held;
use changes::Changes;
pub(crate) use custom::Custom;
use round_robin::RoundRobin;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicUsize, Ordering};
use shared_queue::SharedQueue;
use sharing::{Sharing, Stage};
use std::cell::Cell;
use std::ptr::NonNull;
use stealing::Stealer;
pub(crate) use stealing::{Stealing, discard_stale, is_stale, part_stale};

/// The scheduling of one worker.
///
/// Each worker has a policy of its own; the policies of one runtime may share state.
///
/// # How it is called
///
/// All methods but [`notify`](Policy::notify) are called on the worker's thread, one at a time, and
/// outside of any task. Their waits block the thread, and their spawns are refused.
///
/// # What happens to a runnable
///
/// | The policy | Then |
/// |---|---|
/// | returns it from [`pick_next`](Policy::pick_next) | it runs |
/// | returns it at another worker of the runtime | it runs there |
/// | returns a [pinned](Runnable::is_pinned) one elsewhere | it goes to its own worker |
/// | drops it | it runs when the policy gives that worker nothing, or in a turn now and then |
/// | drops an unstarted task on no worker's thread | the task ends with [`JoinError::Lost`] |
/// | keeps it for ever | it never runs |
///
/// A started task that is kept for ever prevents the runtime from ending. Unstarted tasks do not,
/// if [`has_ready`](Policy::has_ready) is false; they are lost in the end.
///
/// # Panics
///
/// A panic in a policy ends the process.
///
/// # Examples
///
/// ```
/// use sateen::policy::{self, Policy, Runnable};
/// use std::{collections::VecDeque, sync::Mutex};
///
/// /// Last in, first out, fibers and tasks alike.
/// #[derive(Default)]
/// struct Lifo(Mutex<Vec<Runnable>>);
///
/// impl Policy for Lifo {
///     fn awakened(&self, runnable: Runnable) {
///         self.0.lock().unwrap().push(runnable);
///     }
///     fn pick_next(&self) -> Option<Runnable> {
///         self.0.lock().unwrap().pop()
///     }
///     fn has_ready(&self) -> bool {
///         !self.0.lock().unwrap().is_empty()
///     }
/// }
///
/// let runtime = sateen::Runtime::builder()
///     .workers(2)
///     .policy(policy::custom(|_worker| Box::new(Lifo::default())))
///     .build()?;
/// assert_eq!(runtime.spawn(|| 6 * 7).join().unwrap(), 42);
/// # Ok::<(), sateen::BuildError>(())
/// ```
///
/// Source: the scheduling algorithms of Boost.Fiber.
///
/// [`JoinError::Lost`]: crate::JoinError::Lost
pub trait Policy: Send + Sync {
    /// Receives work that can run: a task spawned here, or a ready fiber of this worker.
    fn awakened(&self, runnable: Runnable);

    /// Removes and returns what runs next.
    fn pick_next(&self) -> Option<Runnable>;

    /// Whether [`pick_next`](Policy::pick_next) would return something.
    fn has_ready(&self) -> bool;

    /// Waits while there is nothing to run, until [`notify`](Policy::notify) or `deadline`. May
    /// return early. The default sleeps in the kernel.
    fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        sleeper.sleep_until(deadline);
    }

    /// Ends the current or the next [`suspend_until`](Policy::suspend_until). Called from any
    /// thread.
    ///
    /// Only a policy that replaces `suspend_until` needs it. It has the same limits as a hook, and
    /// should be short.
    fn notify(&self) {}

    /// The [property](crate::JoinHandle::set_property) of a task has changed. If the task is queued
    /// here, the policy may reorder it.
    ///
    /// Each worker's policy is told before its next [`pick_next`](Policy::pick_next). Of several
    /// changes, at least the last is told.
    fn property_change(&self, task: TaskId, property: u64) {
        let _ = (task, property);
    }
}

/// The default way for a worker to sleep.
#[derive(Debug)]
pub struct Sleeper<'a> {
    sleep: &'a Sleepers,
    slot: usize,
    notified: Cell<bool>,
}

impl<'a> Sleeper<'a> {
    pub(crate) fn new(sleep: &'a Sleepers, slot: usize) -> Self {
        Self { sleep, slot, notified: Cell::new(false) }
    }

    /// Sleeps in the kernel until there may be something to do, or until `deadline`.
    pub fn sleep_until(&self, deadline: Option<Instant>) {
        self.sleep_for(deadline.map(|d| d.saturating_duration_since(Instant::now())));
    }

    pub(crate) fn sleep_for(&self, limit: Option<Duration>) {
        if !self.notified.get() {
            self.notified.set(self.sleep.sleep(self.slot, limit));
        }
    }

    /// Whether a notification was consumed, and the announcement with it.
    pub(crate) fn was_notified(&self) -> bool {
        self.notified.get()
    }
}

/// Creates the policy of the worker with the given index.
type Make = dyn FnMut(usize) -> Box<dyn Policy>;

/// How a runtime schedules; for [`Builder::policy`](crate::Builder::policy).
pub struct Scheduling(pub(crate) Kind);

pub(crate) enum Kind {
    Stealing,
    Sharing,
    RoundRobin,
    Custom(Held<Box<Make>>),
}

impl std::fmt::Debug for Scheduling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Kind::Stealing => "work_stealing",
            Kind::Sharing => "work_sharing",
            Kind::RoundRobin => "round_robin",
            Kind::Custom(_) => "custom",
        })
    }
}

/// Each worker has a queue, the youngest task first. A worker without work steals the oldest tasks
/// of others. The default, and the fastest.
pub fn work_stealing() -> Scheduling {
    Scheduling(Kind::Stealing)
}

/// All workers share one queue, the oldest task first. Fairer, but slower as the number of workers
/// grows.
///
/// A worker keeps the last few tasks that it has spawned until it spawns more, or until the shared
/// queue is empty.
pub fn work_sharing() -> Scheduling {
    Scheduling(Kind::Sharing)
}

/// Each worker is alone: tasks and branches that are spawned on it stay on it, and run in order.
/// Work from outside is dealt out to the workers in turn.
///
/// In a [strict](crate::Builder::strict) runtime a worker may have to take over from another. There
/// all workers share one queue, as under [`work_sharing`].
pub fn round_robin() -> Scheduling {
    Scheduling(Kind::RoundRobin)
}

/// A custom policy. `make` is called with each worker's index when the runtime is built.
///
/// The policy sees each task once. A join waits until the policy lets the task run; it runs the
/// task in place only if the joiner keeps its thread.
///
/// A runtime with a custom policy is never [strict](crate::Builder::strict): building one with both
/// fails.
pub fn custom(make: impl FnMut(usize) -> Box<dyn Policy> + 'static) -> Scheduling {
    Scheduling(Kind::Custom(Held::new(Box::new(make))))
}

impl Kind {
    /// The policy for a strict runtime, whose workers take over from each other.
    pub(crate) fn strict(self) -> Self {
        match self {
            Self::RoundRobin => Self::Sharing,
            other => other,
        }
    }

    pub(crate) fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_))
    }

    /// Whether one worker can take over what waits at another.
    pub(crate) fn moves_work(&self) -> bool {
        match self {
            Self::Stealing | Self::Sharing => true,
            Self::RoundRobin | Self::Custom(_) => false,
        }
    }
}

/// A worker's policy. An enum and not a trait object, so that the calls for each task are direct.
#[expect(clippy::large_enum_variant)] // One a worker, and nearly always the largest.
pub(crate) enum WorkerPolicy {
    Stealing(Stealing),
    Sharing(Sharing),
    RoundRobin(RoundRobin),
    Custom(Custom),
}

/// Creates a policy for each regular worker, and the factory for substitutes if there can be any.
pub(crate) fn for_workers(kind: Kind, workers: usize) -> (Vec<WorkerPolicy>, Option<MakePolicy>) {
    let make: MakePolicy = match kind {
        Kind::Stealing => Box::new(|| WorkerPolicy::Stealing(Stealing::new())),
        Kind::Sharing => {
            let queue = Arc::new(SharedQueue::new());
            Box::new(move || WorkerPolicy::Sharing(Sharing::new(Arc::clone(&queue))))
        }
        Kind::RoundRobin => {
            let alone = |_| WorkerPolicy::RoundRobin(RoundRobin::new());
            return ((0..workers).map(alone).collect(), None);
        }
        Kind::Custom(mut make) => {
            let changes = Arc::new(Changes::new(workers));
            let custom = |worker| {
                WorkerPolicy::Custom(Custom::new(make(worker), Arc::clone(&changes), worker))
            };
            return ((0..workers).map(custom).collect(), None);
        }
    };
    ((0..workers).map(|_| make()).collect(), Some(make))
}

impl WorkerPolicy {
    #[inline]
    pub(crate) fn awakened(&self, entry: Entry) {
        let runnable = || Runnable::new(entry);
        match self {
            Self::Stealing(policy) => policy.awakened(runnable()),
            Self::Sharing(policy) => policy.awakened(runnable()),
            Self::RoundRobin(policy) => policy.awakened(runnable()),
            Self::Custom(custom) => custom.awakened(entry),
        }
    }

    /// [`WorkerPolicy::awakened`] for a fiber.
    #[inline(always)]
    pub(crate) fn awaken_fiber(&self, fiber: &Fiber) {
        match self {
            Self::Stealing(policy) => policy.push_fiber(fiber),
            _ => self.awakened(Entry::fiber(fiber)),
        }
    }

    /// [`WorkerPolicy::awakened`] for a fiber that waited and was woken.
    #[inline]
    pub(crate) fn woken_fiber(&self, fiber: &Fiber) {
        match self {
            Self::Stealing(policy) => policy.push_woken_fiber(fiber),
            _ => self.awaken_fiber(fiber),
        }
    }

    /// Lets thieves take new tasks without asking, until the worker runs out of the tasks that it
    /// keeps to itself. A thief that must ask pays for a heavy fence.
    #[cold]
    pub(crate) fn share(&self) {
        if let Self::Stealing(policy) = self {
            policy.share();
        }
    }

    /// [`WorkerPolicy::awakened`] for a new task of normal priority, the usual case.
    #[inline(always)]
    pub(crate) fn spawned(&self, entry: Entry) {
        match self {
            Self::Stealing(policy) => policy.push_normal(entry),
            Self::Sharing(policy) => policy.push_normal(entry),
            Self::RoundRobin(policy) => policy.push_normal(entry),
            Self::Custom(custom) => custom.awakened(entry),
        }
    }

    /// Adds a woken future.
    #[inline]
    pub(crate) fn awakened_again(&self, entry: Entry) {
        match self {
            Self::Stealing(policy) => policy.awakened_again(Runnable::new(entry)),
            _ => self.awakened(entry),
        }
    }

    #[inline]
    pub(crate) fn pick_next(&self) -> Option<Entry> {
        match self {
            Self::Stealing(policy) => policy.pick_next(),
            Self::Sharing(policy) => policy.pick_next(),
            Self::RoundRobin(policy) => policy.pick_next(),
            Self::Custom(custom) => return custom.pick_next(),
        }
        .map(Runnable::into_entry)
    }

    pub(crate) fn has_ready(&self) -> bool {
        match self {
            Self::Stealing(policy) => policy.has_ready(),
            Self::Sharing(policy) => policy.has_ready(),
            Self::RoundRobin(policy) => policy.has_ready(),
            Self::Custom(custom) => custom.has_ready(),
        }
    }

    /// Whether a ready fiber that it holds can be taken now. A custom policy may withhold some.
    pub(crate) fn gives_fibers(&self) -> bool {
        self.custom().is_none_or(Custom::has_ready)
    }

    /// Takes `task` out of the queue if it is where the youngest task is.
    #[inline]
    pub(crate) fn pop_task(&self, task: NonNull<task::Header>) -> bool {
        match self {
            Self::Stealing(policy) => policy.pop_task(task),
            Self::Sharing(policy) => policy.pop_task(task),
            Self::RoundRobin(policy) => policy.pop_task(task),
            Self::Custom(_) => false,
        }
    }

    /// Moves to `stale` the entries of tasks that their joiners have run in place. Returns the
    /// number of other entries. A custom policy keeps all, because no task runs without its
    /// consent.
    #[cold]
    pub(crate) fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
        match self {
            Self::Stealing(policy) => policy.take_stale(stale),
            Self::Sharing(policy) => policy.take_stale(stale),
            Self::RoundRobin(policy) => policy.take_stale(stale),
            Self::Custom(_) => 0,
        }
    }

    /// Takes the youngest unstarted task or spawn, if possible.
    #[inline]
    pub(crate) fn pop_youngest(&self) -> Option<Entry> {
        match self {
            Self::Stealing(policy) => policy.pop_youngest(),
            Self::Sharing(policy) => policy.pop_youngest(),
            Self::RoundRobin(policy) => policy.pop_youngest(),
            Self::Custom(_) => None,
        }
    }

    /// The work-stealing policy, if it is one.
    pub(crate) fn stealing(&self) -> Option<&Stealing> {
        match self {
            Self::Stealing(policy) => Some(policy),
            _ => None,
        }
    }

    /// Whether the workers do not take work from each other.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }

    /// The custom policy, if it is one.
    pub(crate) fn custom(&self) -> Option<&Custom> {
        match self {
            Self::Custom(custom) => Some(custom),
            _ => None,
        }
    }

    /// The part of it that every thread may use.
    pub(crate) fn view(&self) -> PolicyView {
        match self {
            Self::Stealing(policy) => PolicyView::Stealing(policy.stealer().clone()),
            Self::Sharing(policy) => PolicyView::Sharing(policy.stage()),
            Self::RoundRobin(policy) => PolicyView::Alone(Arc::clone(policy.len())),
            Self::Custom(custom) => PolicyView::Custom(Arc::clone(custom.changes())),
        }
    }
}

/// The part of a worker's policy that every thread may use.
pub(crate) enum PolicyView {
    Stealing(Stealer),
    Sharing(Arc<Stage>),
    /// Round robin: others may take nothing, branches neither. The number of tasks that wait.
    Alone(Arc<AtomicUsize>),
    /// Others may take branches. The policy is told of changed properties.
    Custom(Arc<Changes>),
}

impl PolicyView {
    /// Whether other workers could take something from the run queue.
    pub(crate) fn has_stealable(&self) -> bool {
        match self {
            Self::Stealing(stealer) => !stealer.is_empty(),
            Self::Sharing(stage) => stage.has_shared(),
            Self::Alone(_) | Self::Custom(_) => false,
        }
    }

    /// Approximate number of tasks that wait at the worker; 0 for a custom policy, which does not
    /// tell.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Stealing(stealer) => stealer.len(),
            Self::Sharing(stage) => stage.lens().0,
            // Ordering: Relaxed, a statistic.
            Self::Alone(len) => len.load(Ordering::Relaxed),
            Self::Custom(_) => 0,
        }
    }

    /// Approximate number of tasks in a queue that all workers share.
    pub(crate) fn shared_len(&self) -> usize {
        match self {
            Self::Sharing(stage) => stage.lens().1,
            _ => 0,
        }
    }

    /// Takes the oldest task that the worker has staged, if its policy stages tasks.
    pub(crate) fn take_staged(&self) -> Option<Entry> {
        match self {
            Self::Sharing(stage) => stage.take_staged(),
            _ => None,
        }
    }

    /// The run queue, for thieves.
    pub(crate) fn stealer(&self) -> Option<&Stealer> {
        match self {
            Self::Stealing(stealer) => Some(stealer),
            _ => None,
        }
    }

    /// Whether the workers do not take work from each other.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Self::Alone(_))
    }

    /// The listener for changed properties, if the policy wants them.
    pub(crate) fn listener(&self) -> Option<Arc<dyn PropertyListener>> {
        match self {
            Self::Custom(changes) => Some(Arc::clone(changes) as Arc<dyn PropertyListener>),
            _ => None,
        }
    }
}

/// Returns a callback that wakes workers whose policies replace the default sleep.
pub(crate) fn alarm(policies: &[WorkerPolicy]) -> Option<Alarm> {
    policies.first()?.custom()?;
    Some(custom::alarm(policies.iter().filter_map(WorkerPolicy::custom)))
}
