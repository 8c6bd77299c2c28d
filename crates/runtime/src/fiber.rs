//! Fibers: a stack, its join stack, and the switch between them and a worker's root.
//!
//! Every task runs on a fiber from the start; a fiber becomes visible as such only when the task
//! blocks. Then the worker leaves the whole stack parked, and goes on scheduling on another one.
//!
//! State of the word that joins parking and unparking:
//!
//! | word | meaning | moves |
//! |---|---|---|
//! | `RUNNING` | on the processor, no wake-up pending | `park`: to `PARKED`; `unpark`: to `NOTIFIED` |
//! | `NOTIFIED` | a wake-up arrived; the next park returns at once, or it is on its way to resume | owner, when it goes on: to `RUNNING` |
//! | `PARKED` | off the processor, or about to be | `unpark`: to `NOTIFIED`, and exactly that caller hands the fiber to its worker |
//!
//! A fiber is resumed by its own worker only, from its root, so "about to be parked" needs no
//! care: the worker cannot look into its inbox before the switch is over.

use crate::context;
use crate::join_stack::JoinStack;
use crate::latch::Waiter;
use crate::overflow::Record;
use crate::shared::Shared;
use crate::stack::FiberStack;
use crate::worker::Worker;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use sateen_base::prim::{Arc, AtomicPtr, AtomicU32, Ordering, UnsafeCell};
use std::cell::Cell;
use std::task::Wake;

const RUNNING: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// What the root learns when a fiber switches back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switched {
    /// The fiber waits, or has put itself where it will be found.
    Suspended,
    /// The fiber has left its scheduling loop; its stack is free.
    Finished,
}

type Switch = Coroutine<(), (), (), FiberStack>;

/// A started task's stack. Allocated once, reused, and freed with the runtime, because thieves and
/// latches hold its address.
pub(crate) struct Fiber {
    join_stack: JoinStack,
    state: AtomicU32,
    /// Link of the worker's inbox.
    next: AtomicPtr<Fiber>,
    worker: *const Worker,
    shared: Arc<Shared>,
    /// The root's alone.
    switch: UnsafeCell<Option<Switch>>,
    /// The fiber's alone, set when it starts.
    yielder: Cell<*const Yielder<(), ()>>,
    record: Record,
    /// The address as its `Arc` knows it, from which further counts may be made.
    me: Cell<*const Fiber>,
}

// SAFETY: other threads use `join_stack`, `state`, `next`, `worker` and `shared` only, which are
// Sync or constant; the worker behind the pointer lives as long as `shared`. The rest belongs to the
// worker's thread.
unsafe impl Send for Fiber {}
// SAFETY: as above.
unsafe impl Sync for Fiber {}

impl Fiber {
    pub(crate) fn new(worker: &Worker, shared: Arc<Shared>) -> Arc<Self> {
        let fiber = Arc::new(Self {
            join_stack: JoinStack::new(),
            state: AtomicU32::new(RUNNING),
            next: AtomicPtr::new(std::ptr::null_mut()),
            worker,
            shared,
            switch: UnsafeCell::new(None),
            yielder: Cell::new(std::ptr::null()),
            record: Record::new(),
            me: Cell::new(std::ptr::null()),
        });
        fiber.me.set(Arc::as_ptr(&fiber));
        fiber
    }

    #[inline(always)]
    pub(crate) fn join_stack(&self) -> &JoinStack {
        &self.join_stack
    }

    /// What is said of it should it overflow.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// The worker that it starts and resumes on.
    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: `shared` keeps the worker.
        unsafe { &*self.worker }
    }

    /// Link of the inbox that the fiber is in.
    pub(crate) fn next(&self) -> &AtomicPtr<Fiber> {
        &self.next
    }

    /// Gives the fiber a stack; `main` runs on it at the first [`Fiber::resume`]. Root only.
    pub(crate) fn place(&self, stack: FiberStack, main: fn(&'static Worker, &'static Fiber)) {
        // SAFETY: the fiber does not run, so its join stack is empty and the caller's; the stack has
        // a slot for every job that fits its frames.
        unsafe { self.join_stack.place(stack.slots()) };
        self.record.place(&stack);
        let me = std::ptr::from_ref(self);
        let switch = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: fibers and workers outlive everything that runs on them.
            let (fiber, worker) = unsafe { (&*me, &*(*me).worker) };
            fiber.yielder.set(yielder);
            main(worker, fiber);
        });
        // SAFETY: the root alone touches `switch`, and nothing runs on it.
        self.switch.with_mut(|slot| unsafe { *slot = Some(switch) });
    }

    /// Runs the fiber until it switches back. Root only.
    pub(crate) fn resume(&self) -> Switched {
        // SAFETY: the root alone touches `switch`; the fiber never does while it runs.
        let result = self.switch.with_mut(|slot| unsafe { (*slot).as_mut() }.map(|s| s.resume(())));
        match result {
            Some(CoroutineResult::Yield(())) => Switched::Suspended,
            Some(CoroutineResult::Return(())) => Switched::Finished,
            None => sateen_base::abort_with("resumed a fiber without a stack"),
        }
    }

    /// The stack back from a fiber that has finished. Root only.
    pub(crate) fn take_stack(&self) -> Option<FiberStack> {
        // SAFETY: the root alone touches `switch`.
        self.switch.with_mut(|slot| unsafe { (*slot).take() }).map(Coroutine::into_stack)
    }

    /// Switches to the root. The fiber has made sure that it will be resumed.
    pub(crate) fn switch_to_root(&self) {
        // SAFETY: set by `main`'s caller on this very stack, and the coroutine is running.
        unsafe { (*self.yielder.get()).suspend(()) };
    }

    /// Bytes of stack left below the caller's frame.
    pub(crate) fn stack_left(&self) -> usize {
        let here = 0u8;
        (std::ptr::from_ref(&here) as usize).saturating_sub(self.record.bottom())
    }

    /// The fiber as something a future's or a primitive's waker can hold.
    pub(crate) fn to_arc(&self) -> Arc<Self> {
        let me = self.me.get();
        // SAFETY: fibers are only made in `new`, inside an `Arc` that the runtime holds while they run.
        unsafe {
            Arc::increment_strong_count(me);
            Arc::from_raw(me)
        }
    }
}

impl Waiter for Fiber {
    fn park(&self) {
        // Ordering: Acquire on both outcomes pairs with the Release in `unpark`: what the waker did is
        // visible. Release on success is for `unpark`, which hands our frames to the worker.
        let parked =
            self.state.compare_exchange(RUNNING, PARKED, Ordering::AcqRel, Ordering::Acquire);
        if parked.is_ok() {
            self.worker().suspend(self);
        }
        // Ordering: Acquire as above. A wake-up after this store counts for the next park.
        self.state.swap(RUNNING, Ordering::Acquire);
    }

    fn unpark(&self) {
        // Ordering: AcqRel, see `park`.
        if self.state.swap(NOTIFIED, Ordering::AcqRel) == PARKED {
            // The fiber is suspended and only we know that it may go on: until its worker has it, the
            // worker counts it as live and does not end.
            self.worker().make_ready(&self.shared, self);
        }
    }
}

impl Wake for Fiber {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.unpark();
    }
}

/// The hook that makes `sateen-sync` suspend fibers.
pub(crate) struct Suspend;

impl sateen_sync::park::Blocker for Suspend {
    fn waker(&self) -> std::task::Waker {
        match context::with(context::Context::fiber) {
            Some(fiber) => fiber.to_arc().into(),
            None => sateen_base::abort_with("a worker's root blocked"),
        }
    }

    fn park(&self) {
        match context::with(context::Context::fiber) {
            Some(fiber) => Waiter::park(fiber),
            None => sateen_base::abort_with("a worker's root blocked"),
        }
    }

    fn park_until(&self, _deadline: sateen_base::prim::time::Instant) {
        self.park();
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber").field("shared", &Arc::as_ptr(&self.shared)).finish_non_exhaustive()
    }
}
