//! A worker: an OS thread of the runtime, its queues, and what others may ask of it.
//!
//! Who may touch what: `requests`, `join_stack`, `inbox`, `mail`, `stealer`, `forced_at` anyone;
//! `own` the worker's thread only. How it answers requests is in `worker/requests.rs`, finding
//! work and going to sleep in `idle.rs`, the loops that drive it in `root.rs`.

mod requests;

pub(crate) use crate::request_word::{FENCED, HUNGRY, OUTSIDE, READY};

use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::inbox::Inbox;
use crate::join_stack::{JoinStack, Stolen};
use crate::latch::Waiter;
use crate::request_word::RequestWord;
use crate::shared::Shared;
use crate::stats::Counters;
use crate::task;
use sateen_base::prim::{Arc, AtomicBool, AtomicPtr, AtomicU64, Ordering, UnsafeCell};
use sateen_base::{CachePadded, SpinLock, XorShift, fence};
use sateen_deque::{Steal, Stealer, Worker as Queue};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Tasks moved by one theft, at most.
const STEAL_BATCH: usize = 32;
/// Look at the injector at least every so many takes, so that nothing outside waits for ever.
const INJECTOR_TURN: u32 = 61;

/// The run queue's stage; `ARCHITECTURE.md` says why.
pub(crate) type QueueStage = sateen_deque::Asymmetric;

pub(crate) struct Worker {
    /// On lines of its own: polled at every push of this worker, written when somebody asks.
    requests: CachePadded<RequestWord>,
    /// The join stack of the fiber that runs now; null before the first and after the last.
    join_stack: CachePadded<AtomicPtr<JoinStack>>,
    stealer: Stealer<Entry, QueueStage>,
    /// Fibers that others have made ready.
    inbox: CachePadded<Inbox<Fiber>>,
    /// Work that only this worker may start.
    mail: SpinLock<VecDeque<Entry>>,
    has_mail: AtomicBool,
    /// Its thread was never started.
    absent: AtomicBool,
    /// When somebody last issued a heavy fence to publish this worker's jobs, in ticks.
    pub(crate) forced_at: AtomicU64,
    index: usize,
    pub(crate) counters: CachePadded<Counters>,
    own: Own,
}

/// The worker's thread alone.
struct Own {
    shared: UnsafeCell<Option<Arc<Shared>>>,
    queue: Queue<Entry, QueueStage>,
    ready: UnsafeCell<VecDeque<*const Fiber>>,
    /// Fibers at the base of their scheduling loop, ready for reuse.
    idle: UnsafeCell<Vec<*const Fiber>>,
    /// Fibers without a stack.
    bare: UnsafeCell<Vec<*const Fiber>>,
    rng: UnsafeCell<XorShift>,
    takes: Cell<u32>,
    /// See [`Worker::set_work_due`].
    work_due: Cell<bool>,
    /// Fibers that wait for a wake-up.
    suspended: Cell<usize>,
    /// When the running task first noticed ready fibers; 0 if it has not.
    ready_seen: Cell<u64>,
}

// SAFETY: `own` and the methods that use it are reached only through the thread's context, that is, on
// the worker's thread. Everything else is Sync.
unsafe impl Sync for Worker {}
// SAFETY: built on one thread and handed to the worker's thread before that uses it.
unsafe impl Send for Worker {}

impl Worker {
    pub(crate) fn new(index: usize) -> Self {
        let queue = Queue::staged_lifo();
        let standing = if fence::is_asymmetric() { 0 } else { FENCED };
        Self {
            requests: CachePadded::new(RequestWord::new(standing)),
            join_stack: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            stealer: queue.stealer(),
            inbox: CachePadded::new(Inbox::new()),
            mail: SpinLock::new(VecDeque::new()),
            has_mail: AtomicBool::new(false),
            absent: AtomicBool::new(false),
            forced_at: AtomicU64::new(0),
            index,
            counters: CachePadded::new(Counters::default()),
            own: Own {
                shared: UnsafeCell::new(None),
                queue,
                ready: UnsafeCell::new(VecDeque::new()),
                idle: UnsafeCell::new(Vec::new()),
                bare: UnsafeCell::new(Vec::new()),
                rng: UnsafeCell::new(XorShift::new(index as u64 + 1)),
                takes: Cell::new(index as u32),
                work_due: Cell::new(false),
                suspended: Cell::new(0),
                ready_seen: Cell::new(0),
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

    /// The join stack that the worker uses now.
    #[inline]
    pub(crate) fn current_join_stack(&self) -> Option<&JoinStack> {
        // Ordering: Acquire pairs with the Release in `run_fiber`: the stack is seen whole.
        // SAFETY: fibers, and so their join stacks, live as long as the runtime.
        unsafe { self.join_stack.load(Ordering::Acquire).as_ref() }
    }

    /// Whether anything visible waits at this worker: tasks, public branches, fibers, mail.
    pub(crate) fn has_queued(&self) -> bool {
        self.has_stealable() || self.has_own_arrivals()
    }

    /// Whether other workers could take something from this one.
    pub(crate) fn has_stealable(&self) -> bool {
        !self.stealer.is_empty() || self.current_join_stack().is_some_and(JoinStack::has_public)
    }

    /// Whether fibers or mail wait that only this worker can take.
    pub(crate) fn has_own_arrivals(&self) -> bool {
        // Ordering: Relaxed, hints; the sleeper's fence orders them.
        !self.inbox.is_empty() || self.has_mail.load(Ordering::Relaxed)
    }

    /// Hands over a fiber that may go on. Any thread; exactly once for each suspension.
    pub(crate) fn make_ready(&self, shared: &Shared, fiber: &Fiber) {
        let me = std::ptr::from_ref(fiber).cast_mut();
        let here = context::with(|c| c.worker().is_some_and(|w| std::ptr::eq(w, self)));
        if here {
            // SAFETY: on the worker's thread, and nothing else holds the queue.
            self.own.ready.with_mut(|ready| unsafe { (*ready).push_back(me) });
            // The task that runs now will let it through in good time.
            self.request(READY);
            return;
        }
        // SAFETY: its unparking gave the fiber to us alone, and fibers live as long as the runtime.
        unsafe { self.inbox.push(me) };
        if !shared.sleep.wake_owner(self.index) {
            self.request(READY);
        }
    }

    /// The worker's thread will never run: what was or will be posted to it stays undone. Returns what
    /// was posted.
    pub(crate) fn leave_out(&self) -> VecDeque<Entry> {
        let mut mail = self.mail.lock();
        // Ordering: Relaxed, under the lock.
        self.absent.store(true, Ordering::Relaxed);
        std::mem::take(&mut *mail)
    }

    /// Puts `entry` where only this worker finds it; false if it never will. Any thread.
    pub(crate) fn post(&self, shared: &Shared, entry: Entry) -> bool {
        {
            let mut mail = self.mail.lock();
            // Ordering: Relaxed, under the lock.
            if self.absent.load(Ordering::Relaxed) {
                return false;
            }
            mail.push_back(entry);
            // Ordering: Relaxed, under the lock; a hint outside of it.
            self.has_mail.store(true, Ordering::Relaxed);
        }
        shared.sleep.wake_owner(self.index);
        true
    }

    // ---- the owner's side ----

    /// Switches away from `fiber`, whose state says `PARKED`, until it has been made ready.
    pub(crate) fn suspend(&self, fiber: &Fiber) {
        self.counters.suspensions.bump();
        self.own.suspended.set(self.own.suspended.get() + 1);
        self.leave(fiber);
        self.own.suspended.set(self.own.suspended.get() - 1);
    }

    fn leave(&self, fiber: &Fiber) {
        if fiber.join_stack().publish_for_suspension() {
            self.push_entry(Entry::stack(fiber));
        }
        // Another join stack is in use from now on, with nothing public on it.
        if self.shared().sleep.has_sleepers() {
            self.request(HUNGRY);
        }
        self.own.ready_seen.set(0);
        fiber.switch_to_root();
    }

    pub(crate) fn suspended(&self) -> usize {
        self.own.suspended.get()
    }

    /// Puts independent work on the run queue and wakes a sleeper for it.
    #[inline]
    pub(crate) fn push_entry(&self, entry: Entry) {
        self.own.queue.push(entry);
        self.wake_for_push();
    }

    /// The youngest entry of the run queue.
    #[inline]
    pub(crate) fn pop_entry(&self) -> Option<Entry> {
        self.own.queue.pop()
    }

    /// Takes the entry of `task` off the run queue if it is the youngest, not counting stale ones,
    /// which it takes off on the way.
    pub(crate) fn pop_task(&self, task: NonNull<task::Header>) -> bool {
        let wanted = Entry::task(task);
        while let Some(entry) = self.pop_entry() {
            if entry == wanted {
                return true;
            }
            match entry.decode() {
                // SAFETY: the entry's reference to the task is ours.
                Work::Task(header) if unsafe { header.as_ref() }.is_started() => unsafe {
                    task::run_queued(header);
                },
                _ => {
                    self.unpop_entry(entry);
                    return false;
                }
            }
        }
        false
    }

    /// Puts an entry back that was popped and belongs to somebody else. It was gone for a moment, in
    /// which a sleeper may have looked: so this is a push like any other.
    pub(crate) fn unpop_entry(&self, entry: Entry) {
        self.push_entry(entry);
    }

    /// Moves some of the victim's oldest tasks to the own queue and returns one of them.
    pub(crate) fn steal_tasks(&self, victim: &Worker) -> Steal<Entry> {
        victim.stealer.steal_batch_with_limit_and_pop(&self.own.queue, STEAL_BATCH)
    }

    /// A number below `n`.
    pub(crate) fn random(&self, n: usize) -> usize {
        // SAFETY: worker's thread; the reference ends here.
        self.own.rng.with_mut(|rng| unsafe { (*rng).below(n) })
    }

    /// The root has resumed many fibers in a row: the next scheduling loop takes work first.
    pub(crate) fn set_work_due(&self, due: bool) {
        self.own.work_due.set(due);
    }

    pub(crate) fn is_work_due(&self) -> bool {
        self.own.work_due.get()
    }

    /// Work that needs no search: own queue, mail, and now and then the injector first.
    pub(crate) fn next_entry(&self) -> Option<Entry> {
        let takes = self.own.takes.get().wrapping_add(1);
        self.own.takes.set(takes);
        if takes.is_multiple_of(INJECTOR_TURN)
            && let Some(entry) = self.take_mail().or_else(|| self.shared().take_injected())
        {
            return Some(entry);
        }
        self.pop_entry().or_else(|| self.take_mail())
    }

    fn take_mail(&self) -> Option<Entry> {
        // Ordering: Relaxed, a hint; the truth is under the lock.
        if !self.has_mail.load(Ordering::Relaxed) {
            return None;
        }
        let mut mail = self.mail.lock();
        let entry = mail.pop_front();
        self.has_mail.store(!mail.is_empty(), Ordering::Relaxed);
        entry
    }

    /// Whether a fiber of this worker can go on.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        // SAFETY: worker's thread; the reference ends here.
        let local = self.own.ready.with(|ready| unsafe { !(*ready).is_empty() });
        local || !self.inbox.is_empty()
    }

    /// The fiber that has been ready for longest.
    pub(crate) fn next_ready(&self) -> Option<&'static Fiber> {
        // SAFETY: worker's thread; the reference ends here.
        let take = || self.own.ready.with_mut(|ready| unsafe { (*ready).pop_front() });
        let fiber = take().or_else(|| {
            self.take_inbox();
            take()
        })?;
        // SAFETY: fibers live as long as the runtime.
        Some(unsafe { &*fiber })
    }

    fn take_inbox(&self) {
        if self.inbox.is_empty() {
            return;
        }
        // SAFETY: worker's thread; the references end here.
        self.own.ready.with_mut(|ready| unsafe {
            let first = (*ready).len();
            self.inbox.take(|fiber| (*ready).push_back(fiber));
            // The inbox is youngest first.
            (*ready).make_contiguous()[first..].reverse();
        });
    }

    /// Runs `fiber` until it switches back. Root only.
    pub(crate) fn run_fiber(&self, fiber: &Fiber) -> crate::fiber::Switched {
        let stack: *const JoinStack = fiber.join_stack();
        // Ordering: Release, see `current_join_stack`.
        self.join_stack.store(stack.cast_mut(), Ordering::Release);
        context::with(|c| c.set_fiber(Some((self, fiber))));
        let switched = fiber.resume();
        context::with(|c| c.set_fiber(None));
        switched
    }

    pub(crate) fn with_idle<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.own.idle.with_mut(|idle| f(unsafe { &mut *idle }))
    }

    pub(crate) fn with_bare<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.own.bare.with_mut(|bare| f(unsafe { &mut *bare }))
    }

    /// Runs what was taken from a queue.
    pub(crate) fn execute(&self, entry: Entry) {
        self.counters.tasks.bump();
        self.own.ready_seen.set(0);
        match entry.decode() {
            // SAFETY: an entry is taken once, and its job is valid until it has run.
            Work::Job(job) => unsafe { ((*job).run)(job) },
            // SAFETY: as above; the scope waits for it.
            Work::Scoped(job) => unsafe { crate::scope::run(job) },
            // SAFETY: the entry's reference to the task is ours now.
            Work::Task(header) => unsafe { task::run_queued(header) },
            // SAFETY: fibers live as long as the runtime.
            Work::Stack(fiber) => self.take_from_listed(unsafe { &*fiber }),
        }
    }

    /// An entry that stands for the branches of a suspended task.
    fn take_from_listed(&self, fiber: &Fiber) {
        if let Stolen::Job(job, more) = fiber.join_stack().steal_listed() {
            if more {
                self.push_entry(Entry::stack(fiber));
            } else {
                // The stack may be in use again; see `offer::feed`.
                fiber.worker().insist(HUNGRY);
            }
            self.counters.join_steals.bump();
            // SAFETY: stolen, so ours to run, once; its frame waits.
            unsafe { ((*job).run)(job) };
        }
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

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("index", &self.index).finish_non_exhaustive()
    }
}
