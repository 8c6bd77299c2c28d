//! Fibers: a stack, its join stack, and the switch between them and a worker's root.
//!
//! Every task runs on a fiber from its start. The fiber matters only when the task blocks: the
//! worker parks the whole stack and continues scheduling on another one. `park_word.rs` has the
//! state that parking and unparking share.

mod asked;
mod helping;
#[cfg(all(feature = "inspect", unix))]
mod inspected;
mod interrupted;
mod own;
mod ready;
mod room;
mod suspend;

pub(crate) use interrupted::Joining;
pub use own::{fiber_number, stack_used};
pub(crate) use suspend::Suspend;

use crate::context;
use crate::entry::Entry;
use crate::inbox::Linked;
use crate::join_stack::JoinStack;
use crate::latch::Waiter;
use crate::overflow::Record;
use crate::panic_count::Hidden;
use crate::park_word::ParkWord;
use crate::shared::Shared;
use crate::spans;
use crate::stack::FiberStack;
use crate::standoff::Patience;
use crate::switch::{Back, Main, Switch};
use crate::task::{Header, Priority, Running};
use crate::time::Limit;
use crate::trace;
use crate::wait_record::{Wait, WaitRecord};
use crate::waker;
use crate::worker::{Owner, Worker};
use sateen_base::SpinLock;
use sateen_base::os::ThreadClock;
use sateen_base::prim::thread;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Arc, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, UnsafeCell};
use sateen_base::tsc;
use sateen_sync::park::{Awaited, Identity, ThreadParker};
use std::cell::Cell;
use std::panic::Location;

/// What the root learns when a fiber switches back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switched {
    /// The fiber waits, or has queued itself.
    Suspended,
    /// The fiber has left its scheduling loop, and its stack is free.
    Finished,
}

/// A started task's stack and state. It is allocated once, reused, and freed with the runtime,
/// because thieves and latches hold its address.
pub(crate) struct Fiber {
    join_stack: JoinStack,
    park_word: ParkWord,
    /// The link in its worker's inbox.
    next: AtomicPtr<Fiber>,
    /// The worker on which it starts and resumes.
    owner: *const Owner,
    shared: Arc<Shared>,
    /// See [`fiber_number`].
    number: u32,
    /// The task, or the task of the branch, that runs here; null for none. Written by the fiber's
    /// worker.
    task: AtomicPtr<Header>,
    /// The number of the activation that runs here; 0 for none. Written with `running`.
    id: AtomicU64,
    /// Where the last task that began here was spawned; null for none.
    location: AtomicPtr<Location<'static>>,
    /// That task's name, if it has one.
    name: SpinLock<Option<std::sync::Arc<str>>>,
    /// What the fiber waits for. Written by the fiber.
    wait: WaitRecord,
    /// The waits around that one, outermost first. For the fiber only.
    outer_waits: UnsafeCell<Vec<Wait>>,
    /// The running activation, linked to the outer ones. For the fiber only.
    running: Cell<*const Running>,
    /// The entry that a fiber created for one task starts with, until the task has ended. For the
    /// worker only.
    start: Cell<Option<Entry>>,
    /// Counts of dropped wakers, kept for the next ones.
    kept: waker::Kept,
    /// How often waits have been [masked](sateen_sync::park::Blocker::mask).
    masks: Cell<u32>,
    /// The innermost [limit](crate::time) in force; null for none.
    limit: Cell<*const Limit>,
    /// The depth of [`no_suspend`](crate::no_suspend) calls. For the fiber only.
    no_suspends: Cell<u32>,
    /// Whether `name` is set.
    has_name: Cell<bool>,
    /// How often the current wait has [looked for something to help with](crate::help) in vain.
    naps: Cell<u32>,
    /// The record of its current wait, for standoffs.
    patience: Cell<Patience>,
    /// Whether its thread sleeps in a wait. While another thread holds the lock, everything behind
    /// the fiber's pointers is stable.
    asleep: SpinLock<bool>,
    /// The runtime's count of started work at the fiber's last check in a
    /// [yield](crate::yield_now), and the number of yields since.
    yields: Cell<(u64, u32)>,
    /// Whether the waiting task has a name, so that its ready time is recorded.
    timed: AtomicBool,
    /// Since when it is ready, in ticks. Written by the thread that makes it ready, read on
    /// resumption.
    ready_at: AtomicU64,
    /// Whether the current wait keeps the thread, which waits at `thread`.
    blocking: AtomicBool,
    thread: ThreadParker,
    /// For the root only.
    switch: UnsafeCell<Option<Switch>>,
    /// For the fiber only; set when it starts.
    back: Cell<Back>,
    record: Record,
    /// Its thread's clock, if that is not its worker's first thread: see `own_thread.rs`.
    clock: SpinLock<Option<ThreadClock>>,
    /// The address as its `Arc` knows it, for making further counts.
    me: Cell<*const Fiber>,
}

/// How many fibers have been created.
static FIBERS: AtomicU32 = AtomicU32::new(0);

// SAFETY: other threads use `join_stack`, `park_word`, `next`, `task`, `id`, `wait`, `kept`,
// `clock`, `blocking`, `thread` and `asleep`, which are Sync. They also use `number`, `shared`,
// `me` and the `Worker` behind `owner`, which do not change after `new`. That worker lives as long
// as `shared`. The rest belongs to the worker's thread. Others read it under the lock of `asleep`,
// if that is true: the fiber changes nothing before it has taken the lock again.
unsafe impl Send for Fiber {}
// SAFETY: as above.
unsafe impl Sync for Fiber {}

impl Fiber {
    pub(crate) fn new(owner: &Owner, shared: Arc<Shared>) -> Arc<Self> {
        let keeps = shared.keeps_threads;
        let fiber = Arc::new(Self {
            join_stack: JoinStack::new(),
            park_word: ParkWord::new(),
            next: AtomicPtr::new(std::ptr::null_mut()),
            owner,
            shared,
            // Ordering: Relaxed; only uniqueness counts.
            number: FIBERS.fetch_add(1, Ordering::Relaxed),
            task: AtomicPtr::new(std::ptr::null_mut()),
            id: AtomicU64::new(0),
            location: AtomicPtr::new(std::ptr::null_mut()),
            name: SpinLock::new(None),
            wait: WaitRecord::new(),
            outer_waits: UnsafeCell::new(Vec::new()),
            running: Cell::new(std::ptr::null()),
            start: Cell::new(None),
            kept: waker::Kept::new(),
            masks: Cell::new(0),
            limit: Cell::new(std::ptr::null()),
            no_suspends: Cell::new(u32::from(keeps)),
            has_name: Cell::new(false),
            naps: Cell::new(0),
            patience: Cell::default(),
            asleep: SpinLock::new(false),
            yields: Cell::new((0, 0)),
            timed: AtomicBool::new(false),
            ready_at: AtomicU64::new(0),
            blocking: AtomicBool::new(false),
            thread: ThreadParker::new(),
            switch: UnsafeCell::new(None),
            back: Cell::new(Back::Nowhere),
            record: Record::new(),
            clock: SpinLock::new(None),
            me: Cell::new(std::ptr::null()),
        });
        fiber.me.set(Arc::as_ptr(&fiber));
        fiber
    }

    #[inline(always)]
    pub(crate) fn join_stack(&self) -> &JoinStack {
        &self.join_stack
    }

    /// Whether the fiber belongs to this runtime.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.shared), shared)
    }

    /// What the overflow handler reports about the fiber.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Its thread's clock, if that is not its worker's first thread.
    pub(crate) fn clock(&self) -> Option<ThreadClock> {
        *self.clock.lock()
    }

    /// Sets its thread's clock; `None` for its worker's first thread.
    pub(crate) fn set_clock(&self, clock: Option<ThreadClock>) {
        *self.clock.lock() = clock;
    }

    /// The worker on which it starts and resumes, as any thread may use it.
    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: `shared` keeps the worker alive. Only its Sync part is accessible through this.
        unsafe { &*self.owner }
    }

    /// That worker, for its own thread.
    ///
    /// # Safety
    /// The caller runs on this fiber, or on its worker's thread.
    pub(crate) unsafe fn owner(&self) -> &Owner {
        // SAFETY: `shared` keeps the worker alive.
        unsafe { &*self.owner }
    }

    /// The fiber's runtime.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Gives the fiber a stack, on which the first [`Fiber::run`] calls `main`. Root only.
    pub(crate) fn place(&self, stack: FiberStack, main: Main) {
        let slots = stack.slots();
        self.record.place(&stack);
        let switch = Switch::new(stack, self, main);
        // SAFETY: the fiber does not run, so its join stack is empty and belongs to the caller. The
        // stack has a slot for every job that fits in its frames.
        unsafe { self.join_stack.move_to(slots) };
        // SAFETY: only the root touches `switch`, and nothing runs on it.
        self.switch.with_mut(|slot| unsafe { *slot = Some(switch) });
    }

    /// Runs the fiber until it switches back. Root only.
    pub(crate) fn run(&self) -> Switched {
        // SAFETY: only the root touches `switch`; the fiber never does while it runs.
        let result = self.switch.with_mut(|slot| unsafe { (*slot).as_mut() }.map(Switch::resume));
        match result {
            Some(switched) => switched,
            None => sateen_base::abort_with("resumed a fiber without a stack"),
        }
    }

    /// Takes the stack back from a finished fiber. Root only.
    pub(crate) fn take_stack(&self) -> Option<FiberStack> {
        // SAFETY: only the root touches `switch`.
        let switch = self.switch.with_mut(|slot| unsafe { (*slot).take() });
        switch.map(Switch::into_stack)
    }

    /// Sets how to switch to the root. The fiber calls this when it starts.
    pub(crate) fn set_back(&self, back: Back) {
        self.back.set(back);
    }

    /// Sets `entry` as the first that the fiber runs.
    pub(crate) fn will_start(&self, entry: Entry) {
        self.start.set(Some(entry));
    }

    pub(crate) fn start(&self) -> Option<Entry> {
        self.start.get()
    }

    pub(crate) fn take_start(&self) -> Option<Entry> {
        self.start.take()
    }

    /// Switches to the root in the middle of a task. The caller has ensured that the fiber will be
    /// resumed.
    #[inline]
    pub(crate) fn leave(&self) {
        if thread::panicking() {
            return self.leave_unwinding();
        }
        self.switch_to_root();
    }

    /// Switches while the task unwinds. Others run on the thread meanwhile, and the panic is not
    /// theirs.
    #[cold]
    #[inline(never)]
    fn leave_unwinding(&self) {
        let panics = Hidden::take();
        self.switch_to_root();
        panics.put_back();
    }

    /// Switches to the root at the base of the stack. The caller has ensured that the fiber will be
    /// resumed.
    #[inline]
    pub(crate) fn switch_to_root(&self) {
        // SAFETY: set by `main`'s caller on this very stack.
        unsafe { self.back.get().switch() };
    }

    /// The task, or the task of the branch, that runs here.
    #[inline]
    pub(crate) fn task(&self) -> *const Header {
        // Ordering: Acquire pairs with the Release in `set_running`.
        self.task.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn running(&self) -> *const Running {
        self.running.get()
    }

    /// Sets `running`, which lies on this fiber's stack, as the running activation. Only the fiber
    /// calls this.
    #[inline]
    pub(crate) fn set_running(&self, running: *const Running) {
        self.running.set(running);
        // SAFETY: null, or on the caller's stack.
        let (task, id) = unsafe { running.as_ref() }
            .map_or((std::ptr::null(), 0), |running| (running.task, running.id));
        // Ordering: Release publishes the task to threads that interrupt fibers.
        self.task.store(task.cast_mut(), Ordering::Release);
        // Ordering: Relaxed; others only check which fibers are live.
        self.id.store(id, Ordering::Relaxed);
        // SAFETY: this thread runs it from here on.
        unsafe { sateen_sync::park::set_context_id(id) };
    }

    /// Records what reports about a blocked worker need to know of `task`, which is about to run
    /// here.
    #[inline]
    pub(crate) fn describe(&self, task: &Header) {
        // Ordering: Relaxed, a hint.
        self.location.store(std::ptr::from_ref(task.location()).cast_mut(), Ordering::Relaxed);
        if task.has_extra() || self.has_name.get() {
            self.set_name(task.name());
        }
    }

    #[cold]
    fn set_name(&self, name: Option<&std::sync::Arc<str>>) {
        self.has_name.set(name.is_some());
        let name = name.cloned();
        *self.name.lock() = name;
    }

    /// The name of the last task that began here, and where it was spawned.
    pub(crate) fn described(
        &self,
    ) -> (Option<std::sync::Arc<str>>, Option<&'static Location<'static>>) {
        let name = self.name.lock().clone();
        // SAFETY: null, or a static location.
        (name, unsafe { self.location.load(Ordering::Relaxed).as_ref() })
    }

    /// Whether a wait keeps its thread now; a hint.
    pub(crate) fn is_blocking(&self) -> bool {
        self.blocking.load(Ordering::Relaxed)
    }

    /// The number of the activation that runs here, for locks and reports; 0 for none. Exact for
    /// the worker, a hint for others.
    #[inline]
    pub(crate) fn context_id(&self) -> u64 {
        // Ordering: Relaxed, see `set_running`.
        self.id.load(Ordering::Relaxed)
    }

    /// See [`Blocker::waits_for`](sateen_sync::park::Blocker::waits_for).
    #[inline]
    fn waits_for(&self, what: Option<Awaited>) {
        if let Some(what) = what {
            if self.wait.is_waiting() {
                self.begin_inner_wait();
            }
            self.wait.begin(&Wait { what, since: tsc::now().max(1) });
            return;
        }
        self.wait.end();
        // SAFETY: for the fiber only, and no reference leaves the closures.
        if let Some(outer) = self.outer_waits.with_mut(|outer| unsafe { (*outer).pop() }) {
            self.wait.begin(&outer);
        }
    }

    #[cold]
    fn begin_inner_wait(&self) {
        if let Some(outer) = self.wait.read() {
            // SAFETY: as above.
            self.outer_waits.with_mut(|waits| unsafe { (*waits).push(outer) });
        }
    }

    /// Parks. May return early; the caller checks what it waits for.
    #[inline(always)]
    fn park_here(&self) {
        if self.keeps_thread() {
            return self.block(None);
        }
        // Before the wait begins, because this may call user code, which may wait itself.
        let spans = spans::leave();
        if self.park_word.begin() {
            // SAFETY: a fiber parks itself.
            unsafe { self.owner() }.suspend(self);
        }
        self.park_word.resumed();
        spans.enter();
    }

    /// The priority of the task here. Only the worker calls this.
    #[inline]
    pub(crate) fn priority(&self) -> Priority {
        // SAFETY: what runs here keeps its task alive.
        unsafe { self.task().as_ref() }.map_or(Priority::Normal, Header::priority)
    }

    /// Whether the task here was cancelled, alone or with all others, or its time limit has passed.
    /// Only the worker calls this.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_task_cancelled() || self.is_over_limit()
    }

    /// [`Fiber::is_cancelled`] without the time limit.
    #[inline]
    fn is_task_cancelled(&self) -> bool {
        // SAFETY: what runs here keeps its task alive.
        unsafe { self.task().as_ref() }
            .is_some_and(|task| task.is_cancelled() || self.shared.is_cancelling())
    }

    /// Whether a limit in force here has passed. Only the worker calls this.
    #[inline]
    pub(crate) fn is_over_limit(&self) -> bool {
        // SAFETY: null, or on the fiber's stack while it is in force.
        unsafe { self.limit.get().as_ref() }.is_some_and(Limit::is_over)
    }

    #[inline]
    pub(crate) fn limit(&self) -> *const Limit {
        self.limit.get()
    }

    /// Sets the limit. Only the fiber calls this. `limit` lies on its stack, or is null.
    pub(crate) fn set_limit(&self, limit: *const Limit) {
        self.limit.set(limit);
    }

    fn mask(&self) {
        self.masks.set(self.masks.get() + 1);
    }

    /// # Safety
    /// See [`Blocker::unmask`](sateen_sync::park::Blocker::unmask): every unmask follows a mask, so
    /// the count is not 0.
    unsafe fn unmask(&self) {
        self.masks.set(self.masks.get() - 1);
    }

    /// The identity that re-entrant mutexes use; `None` if nothing runs here.
    fn identity(&self) -> Option<&Identity> {
        // SAFETY: null, or on the caller's stack.
        unsafe { self.running.get().as_ref() }.map(Running::identity)
    }

    /// Whether its waits block the thread, because it is in a [`no_suspend`](crate::no_suspend).
    #[inline]
    pub(crate) fn keeps_thread(&self) -> bool {
        self.no_suspends.get() != 0
    }

    pub(crate) fn begin_no_suspend(&self) {
        self.no_suspends.set(self.no_suspends.get() + 1);
    }

    pub(crate) fn end_no_suspend(&self) {
        self.no_suspends.set(self.no_suspends.get() - 1);
    }

    /// Parks together with the thread, until `deadline` at most.
    #[cold]
    fn block(&self, deadline: Option<Instant>) {
        // Ordering: Relaxed; a thread that finds the park word `PARKED` has synchronised with
        // `begin`.
        self.blocking.store(true, Ordering::Relaxed);
        if self.park_word.begin() {
            // SAFETY: a fiber blocks itself.
            let owner = unsafe { self.owner() };
            owner.block(self, &self.thread, deadline, || self.park_word.unpark());
        }
        self.blocking.store(false, Ordering::Relaxed);
        self.park_word.resumed();
    }

    /// The fibers that check whether `task` was cancelled: this fiber, on which the task was
    /// started, and if the task is `shared`, the fibers with its branches. Called on any thread
    /// that keeps the runtime alive.
    pub(crate) fn runners(&self, task: &Header, shared: bool) -> Vec<Arc<Self>> {
        let mut runners = vec![self.to_arc()];
        if shared {
            runners.extend(self.shared.fibers_that(|fiber| std::ptr::eq(fiber.task(), task)));
        }
        runners
    }

    /// The address as its `Arc` knows it.
    #[inline]
    pub(crate) fn address(&self) -> *const Self {
        self.me.get()
    }

    /// See [`waker::Kept`].
    pub(crate) fn kept(&self) -> &waker::Kept {
        &self.kept
    }

    /// Whether `owner` is the fiber's worker.
    #[inline]
    pub(crate) fn is_owned_by(&self, owner: &Owner) -> bool {
        std::ptr::eq(owner, self.owner)
    }

    /// Whether the calling thread is the fiber's worker and runs a fiber.
    #[inline]
    pub(crate) fn is_at_home(&self) -> bool {
        context::owner().is_some_and(|owner| self.is_owned_by(owner))
    }

    /// Returns a counted reference to the fiber.
    pub(crate) fn to_arc(&self) -> Arc<Self> {
        let me = self.me.get();
        // SAFETY: fibers are created only in `new`, inside an `Arc` that the runtime holds while
        // they run.
        unsafe {
            Arc::increment_strong_count(me);
            Arc::from_raw(me)
        }
    }
}

impl Linked for Fiber {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

/// What a fiber waits for until its branches or scoped spawns are done.
pub(crate) const BRANCHES: &str = "branches";

impl Waiter for Fiber {
    fn park(&self) {
        self.waits_for(Some(Awaited::new(BRANCHES, std::ptr::null())));
        if self.helps() {
            // SAFETY: a fiber parks itself.
            unsafe { self.owner() }.nap(self, Some(&self.shared));
        } else {
            self.park_here()
        }
        self.waits_for(None);
    }

    fn unpark(&self) {
        if self.park_word.unpark() {
            // Ordering: Relaxed, see `block`.
            if self.blocking.load(Ordering::Relaxed) {
                // The runtime may end as soon as the fiber has the token.
                let fiber = self.to_arc();
                trace::woken(&fiber.shared, &fiber);
                return fiber.thread.unpark();
            }
            // The fiber is suspended, and only this caller knows that it can resume. Until its
            // worker has it, the worker counts the fiber as suspended and does not end.
            self.worker().make_ready(&self.shared, self);
        }
    }
}
