//! A worker: an OS thread of the runtime, its queues, and what others may ask of it.
//!
//! Who may touch what: `requests`, `fiber`, `inbox`, `pinned`, `forced_at`, `timers` and what of the
//! policy says so anyone; the rest of the policy and `own` the worker's thread only. What it runs next is
//! in `worker/queues.rs`, how it answers requests in `worker/requests.rs`, how fibers come and go in
//! `worker/fibers.rs`, finding work and going to sleep in `idle.rs`, the loops that drive it in `root.rs`.

mod blocked;
mod fibers;
mod queues;
mod requests;
mod substitute;
mod timers;

pub(crate) use queues::here;

pub(crate) use crate::request_word::{FENCED, HUNGRY, OUTSIDE, READY, TIMER};

use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::inbox::Inbox;
use crate::join_stack::JoinStack;
use crate::latch::Waiter;
use crate::policy::Active;
use crate::request_word::RequestWord;
use crate::shared::Shared;
use crate::stall::{Mine, State};
use crate::stats::Counters;
use crate::task::{Header, Ids};
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, UnsafeCell};
use sateen_base::{CachePadded, SpinLock, XorShift, fence};
use sateen_sync::timer::TimerQueue;
use std::cell::Cell;
use std::collections::VecDeque;

pub(crate) struct Worker {
    /// On lines of its own: polled at every push of this worker, written when somebody asks.
    requests: CachePadded<RequestWord>,
    /// The fiber that runs now or ran last; null before the first. Thieves look at its join stack.
    fiber: CachePadded<AtomicPtr<Fiber>>,
    pub(crate) policy: Active,
    /// Fibers that others have made ready.
    inbox: CachePadded<Inbox<Fiber>>,
    /// Work that only this worker may start.
    pinned: SpinLock<VecDeque<Entry>>,
    has_pinned: AtomicBool,
    /// Its thread was never started, or a substitute's sleeps and takes nothing.
    absent: AtomicBool,
    /// When somebody last issued a heavy fence to publish this worker's jobs, in ticks.
    pub(crate) forced_at: AtomicU64,
    /// What it alone could start, and has no stack for. Written by the worker.
    stranded: AtomicUsize,
    /// What its fibers and futures wait for in time.
    pub(crate) timers: Arc<TimerQueue>,
    index: usize,
    pub(crate) counters: CachePadded<Counters>,
    own: Own,
}

/// The worker's thread alone.
struct Own {
    shared: UnsafeCell<Option<Arc<Shared>>>,
    ids: Ids,
    /// Fibers at the base of their scheduling loop, ready for reuse.
    idle: UnsafeCell<Vec<*const Fiber>>,
    /// Fibers without a stack.
    bare: UnsafeCell<Vec<*const Fiber>>,
    /// What was taken from the queues and could not be started, or was put back.
    deferred: UnsafeCell<VecDeque<Entry>>,
    /// What the root, or the scheduling loop that it resumes, goes on with.
    next: Cell<Option<Entry>>,
    /// The task whose branch was stolen last, until that branch starts.
    owning_task: Cell<*const Header>,
    rng: UnsafeCell<XorShift>,
    takes: Cell<u32>,
    /// Fibers that the policy holds.
    ready: Cell<usize>,
    /// Fibers that wait for a wake-up.
    suspended: Cell<usize>,
    /// Since when the running task knows of ready fibers.
    ready_seen: Cell<requests::Seen>,
    /// What whoever minds the timers may not know.
    timer_news: Cell<timers::News>,
    /// What the counts of `stall.rs` have it as.
    stall: Mine,
    /// Since when it has had no stack for what it could start.
    starved_since: Cell<Option<Instant>>,
}

// SAFETY: `own` and the methods that use it are reached only through the thread's context, that is, on
// the worker's thread. Everything else is Sync.
unsafe impl Sync for Worker {}
// SAFETY: built on one thread and handed to the worker's thread before that uses it.
unsafe impl Send for Worker {}

impl Worker {
    pub(crate) fn new(index: usize, policy: Active) -> Self {
        let standing = if fence::is_asymmetric() { 0 } else { FENCED };
        Self {
            requests: CachePadded::new(RequestWord::new(standing)),
            fiber: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            policy,
            inbox: CachePadded::new(Inbox::new()),
            pinned: SpinLock::new(VecDeque::new()),
            has_pinned: AtomicBool::new(false),
            absent: AtomicBool::new(false),
            forced_at: AtomicU64::new(0),
            stranded: AtomicUsize::new(0),
            timers: Arc::new(TimerQueue::new()),
            index,
            counters: CachePadded::new(Counters::default()),
            own: Own {
                shared: UnsafeCell::new(None),
                ids: Ids::new(),
                idle: UnsafeCell::new(Vec::new()),
                bare: UnsafeCell::new(Vec::new()),
                deferred: UnsafeCell::new(VecDeque::new()),
                next: Cell::new(None),
                owning_task: Cell::new(std::ptr::null()),
                rng: UnsafeCell::new(XorShift::new(index as u64 + 1)),
                takes: Cell::new(index as u32),
                ready: Cell::new(0),
                suspended: Cell::new(0),
                ready_seen: Cell::default(),
                timer_news: Cell::default(),
                stall: Mine::new(),
                starved_since: Cell::new(None),
            },
        }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// What others ask of this worker.
    pub(crate) fn requests(&self) -> &RequestWord {
        &self.requests
    }

    /// Gives the thread its share of the runtime, or takes it away.
    pub(crate) fn set_shared(&self, shared: Option<Arc<Shared>>) {
        // SAFETY: worker's thread only, and no reference from `shared` is held across.
        self.own.shared.with_mut(|slot| unsafe { *slot = shared });
    }

    /// The runtime. Worker's thread only.
    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        // SAFETY: set before the worker runs anything and cleared after; see `set_shared`.
        match self.own.shared.with(|slot| unsafe { (*slot).as_ref() }) {
            Some(shared) => shared,
            None => sateen_base::abort_with("a worker without a runtime"),
        }
    }

    /// Whether this worker belongs to `shared`. Worker's thread only.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        std::ptr::eq(Arc::as_ptr(self.shared()), shared)
    }

    // ---- what others ask ----

    /// Raises a request, and says whether it was not raised before.
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

    /// The fiber that the worker runs now, as others see it: other workers, or a thread that holds
    /// the lock of the runtime's list of fibers while that is not empty.
    #[inline]
    pub(crate) fn current_fiber(&self) -> Option<&Fiber> {
        // Ordering: Acquire pairs with the Release in `run_fiber`: the fiber is seen whole.
        // SAFETY: fibers live until the last worker has left, and then until that lock was taken.
        unsafe { self.fiber.load(Ordering::Acquire).as_ref() }
    }

    /// Whether that is `fiber`. Any thread, at any time.
    pub(crate) fn is_running(&self, fiber: &Fiber) -> bool {
        // Ordering: Relaxed; only the address is looked at.
        std::ptr::eq(self.fiber.load(Ordering::Relaxed), fiber)
    }

    /// The join stack that the worker uses now.
    #[inline]
    pub(crate) fn current_join_stack(&self) -> Option<&JoinStack> {
        self.current_fiber().map(Fiber::join_stack)
    }

    /// Whether anything visible waits at this worker: tasks, public branches, fibers, pinned work.
    pub(crate) fn has_queued(&self) -> bool {
        self.has_stealable() || self.has_own_arrivals()
    }

    /// Whether other workers could take something from this one.
    pub(crate) fn has_stealable(&self) -> bool {
        self.policy.has_stealable()
            || !self.policy.is_alone()
                && self.current_join_stack().is_some_and(JoinStack::has_public)
    }

    /// Whether fibers or pinned work wait that only this worker can take.
    pub(crate) fn has_own_arrivals(&self) -> bool {
        // Ordering: Relaxed, hints; the sleeper's fence orders them.
        !self.inbox.is_empty() || self.has_pinned.load(Ordering::Relaxed)
    }

    /// Whether fibers wait that others have made ready; a hint.
    pub(crate) fn has_fibers_in_inbox(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Hands over a fiber that may go on. Any thread; exactly once for each suspension.
    pub(crate) fn make_ready(&self, shared: &Shared, fiber: &Fiber) {
        let here = context::with(|c| c.worker().is_some_and(|w| std::ptr::eq(w, self)));
        if here {
            self.wake(fiber);
            // The task that runs now will let it through in good time.
            self.request(READY);
            return;
        }
        // SAFETY: its unparking gave the fiber to us alone, and fibers live as long as the runtime.
        unsafe { self.inbox.push(fiber) };
        if !shared.sleep.wake_owner(self.index) {
            self.request(READY);
        }
    }

    /// The worker's thread will never run: what was or will be posted to it stays undone. Returns what
    /// was posted.
    pub(crate) fn leave_out(&self) -> VecDeque<Entry> {
        let mut pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(true, Ordering::Relaxed);
        // Whoever looks for work must not see what will never be taken.
        self.has_pinned.store(false, Ordering::Relaxed);
        std::mem::take(&mut *pinned)
    }

    /// [`Worker::leave_out`] for a while, if nothing was posted; whether that is so.
    pub(crate) fn leave_empty(&self) -> bool {
        let pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(pinned.is_empty(), Ordering::Relaxed);
        pinned.is_empty()
    }

    /// The worker will take what is posted to it from now on.
    pub(crate) fn attend(&self) {
        let _pinned = self.pinned.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(false, Ordering::Relaxed);
    }

    /// Puts `entry` where only this worker finds it; false if it never will or does not now. Any thread.
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
        pinned.push_back(entry);
        // Ordering: Relaxed, under the lock; a hint outside of it.
        self.has_pinned.store(true, Ordering::Relaxed);
        true
    }

    // ---- the owner's side ----

    pub(crate) fn set_stall(&self, state: State) {
        let (shared, before) = (self.shared(), self.stall_state());
        shared.stall.set(&self.own.stall, state);
        match (before.is_starved(), state.is_starved()) {
            (false, true) => shared.stacks.tighten(),
            (true, false) => shared.stacks.loosen(),
            _ => {}
        }
    }

    /// Whether it keeps a stack that others need more. Only the base of the loop that keeps it can
    /// give it back.
    pub(crate) fn has_stack_to_give(&self) -> bool {
        self.with_idle(|idle| !idle.is_empty()) && self.shared().stacks.is_tight()
    }

    pub(crate) fn stall_state(&self) -> State {
        self.own.stall.get()
    }

    /// What it alone could start waits for a stack: so many, about. Any thread.
    pub(crate) fn stranded(&self) -> usize {
        // Ordering: Relaxed, a figure.
        self.stranded.load(Ordering::Relaxed)
    }

    pub(crate) fn count_stranded(&self) {
        let count = self.deferred_count() + self.pinned.lock().len();
        self.stranded.store(count, Ordering::Relaxed);
    }

    /// The worker, which was starved, resumes a fiber.
    #[cold]
    pub(crate) fn end_starving(&self) {
        self.stranded.store(0, Ordering::Relaxed);
        self.set_stall(State::Working);
    }

    /// How long it has had no stack for what it could start.
    pub(crate) fn starved_for(&self) -> Duration {
        let now = Instant::now();
        let since = self.own.starved_since.get().unwrap_or(now);
        self.own.starved_since.set(Some(since));
        now - since
    }

    /// Something is about to start.
    #[inline]
    pub(crate) fn note_started(&self) {
        self.own.starved_since.set(None);
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.own.ids
    }

    /// A number below `n`.
    pub(crate) fn random(&self, n: usize) -> usize {
        // SAFETY: worker's thread; the reference ends here.
        self.own.rng.with_mut(|rng| unsafe { (*rng).below(n) })
    }
}

/// The calling fiber, as what a latch waits with.
pub(crate) fn this_fiber() -> &'static Fiber {
    match context::with(context::Context::fiber) {
        Some(fiber) => fiber,
        None => sateen_base::abort_with("waited for a branch outside a fiber"),
    }
}

/// Waits briefly for a latch, no longer than a suspension would take.
pub(crate) fn spin_for<W: Waiter>(latch: &crate::latch::Latch<W>) {
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
        // A question that came when nobody was left to answer it.
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
