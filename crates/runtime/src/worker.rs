//! A worker: an OS thread of the runtime, its queues, and what others may ask of it.
//!
//! Two types, one inside the other:
//!
//! | type | who has it | what it holds |
//! |---|---|---|
//! | [`Worker`] | every thread | requests, inbox, pinned queue, timers, what thieves take |
//! | [`Owner`] | the worker's thread, from its context | policy, fibers to reuse, private lists |
//!
//! The lists of work at one worker:
//!
//! | list | holds | filled by | taken by |
//! |---|---|---|---|
//! | run queue | new tasks, ready fibers and futures, in policy order | owner | owner, thieves |
//! | join stack | the branches of one fiber | fiber | fiber, thieves |
//! | inbox | fibers of this worker that other threads have made ready | others | owner |
//! | pinned queue | work that only this worker may start | any thread | owner |
//! | deferred list | entries that could not start, or that a policy has dropped | owner | owner |
//! | next slot | one entry that runs next, whatever the policy says | owner | owner |
//!
//! Fibers go from the inbox to the run queue. Pinned and deferred entries run when the run queue is
//! empty, and get a turn now and then. The next slot passes an entry between the root and the
//! scheduling loop that it resumes.
//!
//! Two lists belong to the runtime: the *injector* with work from outside, and work set *aside*
//! (`aside.rs`) because no worker had a stack for it.
//!
//! The owner moves work by three operations, all in `worker/queues.rs`: [`Owner::push`] makes new
//! work visible, [`Owner::pop`] takes what runs next, [`Owner::resume`] returns a fiber to the
//! policy. Their options are [`Push`], [`Pop`] and [`After`].
//!
//! | look for | in |
//! |---|---|
//! | what runs next | `worker/queues.rs` |
//! | how requests are answered | `worker/requests.rs` |
//! | how fibers come and go | `worker/fibers.rs` |
//! | the search for work, and sleep | `idle.rs` |
//! | the loops that drive a worker | `root.rs` |

mod blocked;
mod execute;
mod fibers;
mod figures;
mod lists;
mod queues;
mod requests;
mod substitute;
mod timers;

pub(crate) use queues::{After, Pop, Push};

pub(crate) use crate::request_word::{FENCED, HUNGRY, OUTSIDE, READY, TIMER};

use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::inbox::Inbox;
use crate::join_stack::JoinStack;
use crate::latch::{Latch, Waiter};
use crate::metrics::{Counters, Doing, ReadyTable, Times, count_task_woken};
use crate::placement::Place;
use crate::policy::{Custom, PolicyView, WorkerPolicy};
use crate::request_word::RequestWord;
use crate::shared::Shared;
use crate::stall::{OwnState, State};
use crate::task::{Ids, Running};
use crate::trace;
use crate::watcher::News;
use sateen_base::os::ThreadClock;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, UnsafeCell};
use sateen_base::{CachePadded, SpinLock, XorShift, fence};
use sateen_sync::timer::TimerQueue;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::OnceLock;

/// The part of a worker that every thread may use.
pub(crate) struct Worker {
    /// On its own cache lines: polled at every push of this worker, written when another thread
    /// asks.
    requests: CachePadded<RequestWord>,
    /// The fiber that runs now or ran last; null before the first. Thieves read its join stack.
    fiber: CachePadded<AtomicPtr<Fiber>>,
    /// The policy's part for other threads: they take from the run queue, or tell the policy of
    /// changes.
    pub(crate) policy_view: PolicyView,
    inbox: CachePadded<Inbox<Fiber>>,
    pinned: SpinLock<VecDeque<Entry>>,
    /// Whether the pinned queue may hold something: a hint.
    has_pinned: AtomicBool,
    /// Whether the worker takes nothing: its thread never started, or it is a dormant substitute.
    absent: AtomicBool,
    /// In a strict runtime, whether the thread sleeps in a task, so that nobody answers a survey.
    asleep: AtomicBool,
    /// When a thief last issued a heavy fence to publish this worker's jobs, in ticks.
    pub(crate) forced_at: AtomicU64,
    /// The CPU clock of its thread.
    pub(crate) clock: OnceLock<ThreadClock>,
    /// Number of entries that only this worker may start and has no stack for. Written by the
    /// owner.
    stranded: AtomicUsize,
    /// Timers of its fibers and futures.
    pub(crate) timers: Arc<TimerQueue>,
    index: usize,
    pub(crate) place: Place,
    /// Written by the owner, readable by every thread. The same holds for `times`.
    pub(crate) counters: CachePadded<Counters>,
    pub(crate) times: Times,
    /// Its event ring.
    #[cfg_attr(not(feature = "trace"), allow(dead_code))]
    pub(crate) trace: trace::Slot,
    /// Number of fibers that the policy holds.
    ready: AtomicUsize,
    /// Number of fibers that wait for a wake-up.
    suspended: AtomicUsize,
    /// Stacks in use by its fibers, and the most at once.
    stacks: AtomicUsize,
    most_stacks: AtomicUsize,
    /// How long named tasks were ready.
    pub(crate) ready_times: ReadyTable,
}

/// A worker as its own thread sees it. The thread's [context](crate::context) provides it; its
/// cells keep a reference from leaving the thread.
pub(crate) struct Owner {
    worker: Worker,
    policy: WorkerPolicy,
    /// `None` while the thread is not in the runtime.
    shared: UnsafeCell<Option<Arc<Shared>>>,
    ids: Ids,
    /// Fibers at the base of their scheduling loop, ready for reuse.
    idle: UnsafeCell<Vec<*const Fiber>>,
    /// Fibers without a stack.
    bare: UnsafeCell<Vec<*const Fiber>>,
    /// The deferred list.
    deferred: UnsafeCell<VecDeque<Entry>>,
    /// The next slot.
    next: Cell<Option<Entry>>,
    /// The task whose branch was last stolen, until the branch starts.
    branch_of: Cell<*const Running>,
    rng: UnsafeCell<XorShift>,
    /// Number of pops of the run queue; wraps around.
    pops: Cell<u32>,
    /// What its times currently count.
    doing: Cell<Doing>,
    /// Since when the running task knows of ready fibers.
    ready_seen: Cell<requests::Seen>,
    /// How many more stale entries it may leave before it sweeps.
    until_sweep: Cell<usize>,
    /// When it last left idleness, in ticks.
    pub(crate) left_idle: Cell<u64>,
    /// For how many more pushes it publishes each job at once; see [`offer::answer`](crate::offer).
    eager: Cell<u32>,
    /// How often it may take work from outside before it must search; see `idle.rs`.
    pub(crate) injected_run: Cell<u32>,
    /// Whether it was notified in its sleep and has not searched since.
    pub(crate) was_woken: Cell<bool>,
    /// Timer changes that the watcher may not know.
    timer_news: Cell<News>,
    /// Its state as counted in `stall.rs`.
    stall: OwnState,
    /// Since when it has had no stack for work that it could start.
    starved_since: Cell<Option<Instant>>,
}

impl Deref for Owner {
    type Target = Worker;

    #[inline(always)]
    fn deref(&self) -> &Worker {
        &self.worker
    }
}

/// A worker's cell in its runtime: a [`Worker`] to all threads, an [`Owner`] to one.
pub(crate) struct WorkerCell(Owner);

// SAFETY: all threads reach the `Worker` inside, which is Sync. The `Owner` around it is only
// reached through `owner`, whose callers are on the worker's thread.
unsafe impl Sync for WorkerCell {}
// SAFETY: built on one thread and handed to the worker's thread before that uses it. The fibers
// behind its pointers are Sync.
unsafe impl Send for WorkerCell {}

// Properties that the proofs above rely on and that no signature states.
const _: () = {
    const fn is_sync<T: Sync>() {}
    is_sync::<Worker>();

    // Ambiguous, and so a compile error, for a type that is Sync.
    trait NotSync<A> {
        const HOLDS: () = ();
    }
    impl<T> NotSync<()> for T {}
    impl<T: Sync> NotSync<u8> for T {}
    <Owner as NotSync<_>>::HOLDS
};

impl WorkerCell {
    pub(crate) fn new(index: usize, policy: WorkerPolicy) -> Self {
        let standing = if fence::is_asymmetric() { 0 } else { FENCED };
        let worker = Worker {
            requests: CachePadded::new(RequestWord::new(standing)),
            fiber: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            policy_view: policy.view(),
            inbox: CachePadded::new(Inbox::new()),
            pinned: SpinLock::new(VecDeque::new()),
            has_pinned: AtomicBool::new(false),
            absent: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            forced_at: AtomicU64::new(0),
            clock: OnceLock::new(),
            stranded: AtomicUsize::new(0),
            timers: Arc::new(TimerQueue::new()),
            index,
            place: Place::default(),
            counters: CachePadded::new(Counters::default()),
            times: Times::default(),
            trace: trace::Slot::new(),
            ready: AtomicUsize::new(0),
            suspended: AtomicUsize::new(0),
            stacks: AtomicUsize::new(0),
            most_stacks: AtomicUsize::new(0),
            ready_times: ReadyTable::default(),
        };
        Self(Owner {
            worker,
            policy,
            shared: UnsafeCell::new(None),
            ids: Ids::new(),
            idle: UnsafeCell::new(Vec::new()),
            bare: UnsafeCell::new(Vec::new()),
            deferred: UnsafeCell::new(VecDeque::new()),
            next: Cell::new(None),
            branch_of: Cell::new(std::ptr::null()),
            rng: UnsafeCell::new(XorShift::new(index as u64 + 1)),
            pops: Cell::new(index as u32),
            doing: Cell::new(Doing::Nothing),
            ready_seen: Cell::default(),
            until_sweep: Cell::new(queues::SWEEP_LEAST),
            left_idle: Cell::new(0),
            eager: Cell::new(0),
            injected_run: Cell::new(0),
            was_woken: Cell::new(false),
            timer_news: Cell::default(),
            stall: OwnState::new(),
            starved_since: Cell::new(None),
        })
    }

    /// The worker, for its own thread.
    ///
    /// # Safety
    /// The caller is on the worker's thread, or on the one that stands in for it (`own_thread.rs`).
    /// Or no thread runs the worker yet, or any more.
    pub(crate) unsafe fn owner(&self) -> &Owner {
        &self.0
    }
}

impl Deref for WorkerCell {
    type Target = Worker;

    #[inline(always)]
    fn deref(&self) -> &Worker {
        &self.0.worker
    }
}

impl Worker {
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    // ---- requests by others ----

    /// The request word.
    pub(crate) fn requests(&self) -> &RequestWord {
        &self.requests
    }

    /// Raises a request. Returns whether it was lowered before.
    pub(crate) fn request(&self, what: u32) -> bool {
        self.requests.request(what)
    }

    /// See [`RequestWord::insist`].
    pub(crate) fn insist(&self, what: u32) -> bool {
        self.requests.insist(what)
    }

    pub(crate) fn has_request(&self, what: u32) -> bool {
        self.requests.has(what)
    }

    // ---- state visible to others ----

    /// The fiber that the worker runs now, as others see it. Callers are workers, or threads that
    /// hold the lock of the runtime's list of fibers while that list is not empty.
    #[inline]
    pub(crate) fn current_fiber(&self) -> Option<&Fiber> {
        // Ordering: Acquire pairs with the Release in `set_current_fiber`, which makes the fiber
        // visible.
        // SAFETY: fibers live until the last worker has left, and then until that lock was taken.
        unsafe { self.fiber.load(Ordering::Acquire).as_ref() }
    }

    /// Whether the worker runs `fiber` now.
    pub(crate) fn is_running(&self, fiber: &Fiber) -> bool {
        // Ordering: Relaxed; only the address is compared.
        std::ptr::eq(self.fiber.load(Ordering::Relaxed), fiber)
    }

    /// The join stack in use; see [`Worker::current_fiber`] for the allowed callers.
    #[inline]
    pub(crate) fn current_join_stack(&self) -> Option<&JoinStack> {
        self.current_fiber().map(Fiber::join_stack)
    }

    /// A number that changes when the worker starts something.
    pub(crate) fn started(&self) -> u64 {
        self.counters.taken.get().wrapping_add(self.counters.branches_stolen.get())
    }

    /// Whether anything visible waits at this worker: tasks, public branches, fibers, pinned work.
    pub(crate) fn has_queued(&self) -> bool {
        self.has_stealable() || self.has_own_arrivals()
    }

    /// Whether other workers could take something from this one.
    pub(crate) fn has_stealable(&self) -> bool {
        self.policy_view.has_stealable()
            || !self.policy_view.is_alone()
                && self.current_join_stack().is_some_and(JoinStack::has_public)
    }

    /// Whether fibers or pinned work wait that only this worker can take.
    pub(crate) fn has_own_arrivals(&self) -> bool {
        // Ordering: Relaxed, hints; the sleeper's fence orders them.
        !self.inbox.is_empty() || self.has_pinned.load(Ordering::Relaxed)
    }

    /// Whether the inbox holds fibers; a hint.
    pub(crate) fn has_fibers_in_inbox(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Number of entries that only this worker may start and has no stack for, possibly stale.
    pub(crate) fn stranded(&self) -> usize {
        // Ordering: Relaxed, a statistic.
        self.stranded.load(Ordering::Relaxed)
    }

    // ---- work sent by others ----

    /// Hands over a ready fiber of this worker. Called exactly once for each suspension.
    pub(crate) fn make_ready(&self, shared: &Shared, fiber: &Fiber) {
        count_task_woken();
        fiber.note_ready();
        trace::woken(shared, fiber);
        let here = context::owner().filter(|owner| std::ptr::eq(&raw const owner.worker, self));
        if let Some(owner) = here {
            owner.resume(fiber, After::Wait);
            // The running task will let it through in time.
            self.request(READY);
            return;
        }
        // SAFETY: unparking has given the fiber to us alone, and fibers live as long as the
        // runtime.
        unsafe { self.inbox.push(fiber) };
        if !shared.sleep.wake_owner(self.index) {
            self.request(READY);
        }
    }

    /// Puts `entry` into the pinned queue and wakes the worker. Returns false if the worker takes
    /// nothing, for now or for good.
    pub(crate) fn post(&self, shared: &Shared, entry: Entry) -> bool {
        let taken = self.put(entry);
        if taken {
            shared.sleep.wake_owner(self.index);
        }
        taken
    }

    /// [`Worker::post`] for a caller that wakes the worker afterwards.
    pub(crate) fn put(&self, entry: Entry) -> bool {
        let mut pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        if self.absent.load(Ordering::Relaxed) {
            return false;
        }
        self.push_pinned(&mut pinned, entry);
        true
    }

    fn push_pinned(&self, pinned: &mut VecDeque<Entry>, entry: Entry) {
        pinned.push_back(entry);
        // Ordering: Relaxed, under the lock; a hint outside of it.
        self.has_pinned.store(true, Ordering::Relaxed);
    }

    /// [`Worker::post`] for a survey. Also returns false if the worker's thread sleeps in a task.
    pub(crate) fn ask(&self, shared: &Shared, survey: Entry) -> bool {
        let mut pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        if self.absent.load(Ordering::Relaxed) || self.asleep.load(Ordering::Relaxed) {
            return false;
        }
        self.push_pinned(&mut pinned, survey);
        drop(pinned);
        shared.sleep.wake_owner(self.index);
        true
    }

    /// Sets whether the worker's thread sleeps in a task. The worker then answers earlier surveys.
    pub(crate) fn set_asleep(&self, asleep: bool) {
        let _pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.asleep.store(asleep, Ordering::Relaxed);
    }

    /// Whether a posted entry is `wanted`.
    pub(crate) fn has_posted(&self, wanted: impl Fn(Entry) -> bool) -> bool {
        // Ordering: Relaxed, a hint.
        self.has_pinned.load(Ordering::Relaxed)
            && self.pinned.lock().iter().any(|&entry| wanted(entry))
    }

    /// The worker's thread will never run. Posted work stays undone, and more is refused. Returns
    /// what was posted before.
    pub(crate) fn leave_out(&self) -> VecDeque<Entry> {
        let mut pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(true, Ordering::Relaxed);
        // Threads that look for work must not see entries that will never be taken.
        self.has_pinned.store(false, Ordering::Relaxed);
        std::mem::take(&mut *pinned)
    }

    /// [`Worker::leave_out`] for a while, if nothing was posted. Returns whether that is so.
    pub(crate) fn leave_empty(&self) -> bool {
        let pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(pinned.is_empty(), Ordering::Relaxed);
        pinned.is_empty()
    }

    /// The worker takes posted work from now on.
    pub(crate) fn attend(&self) {
        let _pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(false, Ordering::Relaxed);
    }
}

impl Owner {
    /// Gives the thread its count of the runtime, or takes it away.
    pub(crate) fn set_shared(&self, shared: Option<Arc<Shared>>) {
        // SAFETY: one thread has the owner, and no reference from `shared` is held across.
        self.shared.with_mut(|slot| unsafe { *slot = shared });
    }

    /// The runtime.
    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        // SAFETY: set before the worker runs anything and cleared after; see `set_shared`.
        match self.shared.with(|slot| unsafe { (*slot).as_ref() }) {
            Some(shared) => shared,
            None => sateen_base::abort_with("a worker without a runtime"),
        }
    }

    /// Whether this worker belongs to `shared`.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        std::ptr::eq(Arc::as_ptr(self.shared()), shared)
    }

    /// Whether the workers do not take work from each other.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.policy.is_alone()
    }

    /// The custom policy, if it is one.
    pub(crate) fn custom_policy(&self) -> Option<&Custom> {
        self.policy.custom()
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.ids
    }

    /// A number below `n`.
    pub(crate) fn random(&self, n: usize) -> usize {
        // SAFETY: one thread has the owner; the reference ends here.
        self.rng.with_mut(|rng| unsafe { (*rng).below(n) })
    }

    // ---- a worker without a stack ----

    pub(crate) fn set_stall(&self, state: State) {
        let (shared, before) = (self.shared(), self.stall_state());
        shared.stall.set(&self.stall, state);
        match (before.is_starved(), state.is_starved()) {
            (false, true) => shared.stacks.tighten(),
            (true, false) => shared.stacks.loosen(),
            _ => {}
        }
    }

    pub(crate) fn stall_state(&self) -> State {
        self.stall.get()
    }

    /// Whether it keeps a spare stack that others need more. Only the base of the loop that keeps
    /// the stack can return it.
    pub(crate) fn has_stack_to_give(&self) -> bool {
        self.with_idle(|idle| !idle.is_empty()) && self.shared().stacks.is_tight()
    }

    /// Brings [`Worker::stranded`] up to date.
    pub(crate) fn count_stranded(&self) {
        let count = self.deferred_count() + self.pinned.lock().len();
        self.stranded.store(count, Ordering::Relaxed);
    }

    /// Called when a starved worker resumes a fiber.
    #[cold]
    pub(crate) fn end_starving(&self) {
        self.stranded.store(0, Ordering::Relaxed);
        self.set_stall(State::Working);
    }

    /// How long it has had no stack for work that it could start.
    pub(crate) fn starved_for(&self) -> Duration {
        let now = Instant::now();
        let since = self.starved_since.get().unwrap_or(now);
        self.starved_since.set(Some(since));
        now - since
    }

    /// Called before something starts.
    #[inline]
    pub(crate) fn note_started(&self) {
        self.starved_since.set(None);
    }
}

/// Waits briefly for a latch, no longer than a suspension would take.
pub(crate) fn spin_for<W: Waiter>(latch: &Latch<W>) {
    const SPINS: u32 = 64;
    for _ in 0..SPINS {
        if latch.is_done() {
            return;
        }
        sateen_base::prim::spin_loop();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A survey that arrived when no thread was left to answer it.
        for entry in std::mem::take(&mut *self.pinned.lock()) {
            if let Work::Job(job) | Work::Here(job) | Work::Survey(job) = entry.decode() {
                // SAFETY: taken from the pinned queue, so ours to run, once.
                unsafe { ((*job).run)(job) };
            }
        }
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
