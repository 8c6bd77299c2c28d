//! The task state word, which controls who may run, read and free a spawned task.
//!
//! | bit | set from | meaning while set |
//! |---|---|---|
//! | `ENTRY` | birth | a queue's entry, later its runner, refers to the frame |
//! | `HANDLE` | birth | the join handle refers to the frame |
//! | `STARTED` | claim | the claimer owns the closure |
//! | `DONE` | end of the run | the result is written, and the handle owns it |
//! | `WAITING` | registration | the handle has left a waker and does not touch its slot |
//! | `CANCELLED` | a canceller, once | the task must end at its next wait, or not start |
//! | `CANCELLING` | with `CANCELLED` | the canceller still looks for fibers: the run waits for it |
//! | `SHARED` | first theft of a branch | fibers other than the starter's may run branches |
//!
//! The side that drops the last reference frees the frame. A claim is one exchange: of the entry's
//! taker and the joiner, the second finds `STARTED` and leaves the closure alone. The run does not
//! end before a canceller holds a count of each fiber that it will wake.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;

const ENTRY: u32 = 1;
const HANDLE: u32 = 2;
const STARTED: u32 = 4;
const DONE: u32 = 8;
const WAITING: u32 = 16;
const CANCELLED: u32 = 32;
const CANCELLING: u32 = 64;
const SHARED: u32 = 128;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct TaskState(AtomicU32);

/// What the taker of a queue's entry must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    /// Run the closure, then [`TaskState::complete`].
    Run,
    /// Nothing: the task runs or has run elsewhere.
    Stale,
    /// Free the frame: no other thread refers to it.
    Free,
}

/// What a canceller must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Nothing: the task is done, or was cancelled before.
    Nothing,
    /// Find the fibers that run the task and make them check, then [`TaskState::cancel_delivered`].
    Deliver {
        /// Whether the task has been claimed. If not, a later claimer will see the mark.
        started: bool,
        /// Whether its branches may run on fibers other than its own.
        shared: bool,
    },
}

/// What the runner must do after it has written the result.
#[derive(Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nothing: the handle will take the result.
    Left,
    /// Drop the result and free the frame: there is no joiner.
    Free,
    /// Wake the waker, then call [`TaskState::drop_entry`].
    Wake,
}

impl TaskState {
    /// A task in a queue, with a handle.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU32::new(ENTRY | HANDLE))
    }

    /// A task in a queue, without a handle.
    pub fn detached() -> Self {
        Self(AtomicU32::new(ENTRY))
    }

    /// A task that only its entry's taker may run: a future.
    pub fn claimed() -> Self {
        Self(AtomicU32::new(ENTRY | HANDLE | STARTED))
    }

    /// A refused task: done, with a handle, in no queue.
    pub fn refused() -> Self {
        Self(AtomicU32::new(HANDLE | STARTED | DONE))
    }

    /// The taker of the entry tries to claim the task. `cancellable` tells whether others than its
    /// handle may cancel it.
    pub fn claim_from_queue(&self, cancellable: bool) -> Claim {
        // Ordering: Acquire pairs with the AcqRel of `drop_handle`: if this side frees the frame,
        // the handle has used it for the last time.
        let mut state = self.0.load(Ordering::Acquire);
        while state & STARTED == 0 {
            if !cancellable && state & HANDLE == 0 {
                // Ordering: Relaxed; the handle is gone, so no other thread changes the word.
                self.0.store(state | STARTED, Ordering::Relaxed);
                return Claim::Run;
            }
            // Ordering: AcqRel. Acquire makes the frame's contents visible as they were when it was
            // queued (the queue gives that too). Release orders the joiner's later reads.
            let claimed = self.0.compare_exchange_weak(
                state,
                state | STARTED,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match claimed {
                Ok(_) => return Claim::Run,
                Err(now) => state = now,
            }
        }
        if state & HANDLE == 0 { Claim::Free } else { self.stale_slow() }
    }

    /// The claimer is a joiner that still runs the task or has not dropped its handle.
    #[cold]
    fn stale_slow(&self) -> Claim {
        if self.drop_entry() { Claim::Free } else { Claim::Stale }
    }

    /// The joiner tries to claim the task to run it in place; the entry stays queued.
    pub fn claim_inline(&self) -> bool {
        // Ordering: Relaxed. The closure came with the handle. A thread that finds the task claimed
        // leaves it alone, or waits for `StartedOn`.
        let mut state = self.0.load(Ordering::Relaxed);
        while state & STARTED == 0 {
            match self.0.compare_exchange_weak(
                state,
                state | STARTED,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Claims the task for a joiner that also has its entry. No other thread refers to the frame
    /// any more, except a canceller if the task is `cancellable` by others than its handle.
    pub fn claim_alone(&self, cancellable: bool) {
        if cancellable {
            self.claim_inline();
            // Ordering: Relaxed; the bits that a canceller checks stay.
            self.0.fetch_and(!ENTRY, Ordering::Relaxed);
            return;
        }
        // Ordering: Relaxed; the queue and the handle have made everything visible here.
        let cancelled = self.0.load(Ordering::Relaxed) & CANCELLED;
        self.0.store(HANDLE | STARTED | cancelled, Ordering::Relaxed);
    }

    /// Marks the task as cancelled. The caller keeps the frame until it has delivered the mark.
    pub fn cancel(&self) -> Cancel {
        // Ordering: the first load is Relaxed; the exchange decides.
        let mut state = self.0.load(Ordering::Relaxed);
        while state & (DONE | CANCELLED) == 0 {
            let next = state | CANCELLED | CANCELLING;
            // Ordering: Release publishes the canceller's earlier writes to `is_cancelled`. Acquire
            // pairs with `share`: the fibers that run branches are found.
            match self.0.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    let (started, shared) = (state & STARTED != 0, state & SHARED != 0);
                    return Cancel::Deliver { started, shared };
                }
                Err(now) => state = now,
            }
        }
        Cancel::Nothing
    }

    /// The canceller no longer touches the task or its fibers.
    pub fn cancel_delivered(&self) {
        // Ordering: Release pairs with the Acquire in `await_canceller`.
        self.0.fetch_and(!CANCELLING, Ordering::Release);
    }

    /// Whether the task must end.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        // Ordering: Acquire pairs with the exchange in `cancel`.
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }

    /// Called when another fiber, published as a runner of the task, takes over a branch.
    pub fn share(&self) {
        // Ordering: Release, so that a canceller later in this word's order finds the fiber. An
        // earlier canceller has left its mark in this word, and the fiber reads it.
        self.0.fetch_or(SHARED, Ordering::Release);
    }

    /// Called at the end of the run. Waits briefly for an active canceller, which may still use the
    /// fiber, and through it the runtime.
    #[cold]
    fn await_canceller(&self) {
        let mut backoff = Backoff::new();
        // Ordering: Acquire pairs with the Release in `cancel_delivered`.
        while self.0.load(Ordering::Acquire) & CANCELLING != 0 {
            backoff.snooze();
        }
    }

    /// Called when the runner has written the result.
    pub fn complete(&self) -> Completion {
        // Ordering: the first load is Relaxed; the exchange decides.
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            if state & CANCELLING != 0 {
                self.await_canceller();
                state = self.0.load(Ordering::Relaxed);
            }
            if state & HANDLE == 0 {
                // Ordering: Acquire pairs with the AcqRel of `drop_handle`: the handle no longer
                // uses the frame.
                sateen_base::acquire_fence!(self.0);
                return Completion::Free;
            }
            // Without a waker the runner is done with the frame. With one it keeps its reference
            // until it has used the waker.
            let next = if state & WAITING == 0 { (state | DONE) & !ENTRY } else { state | DONE };
            // Ordering: Release publishes the result to `is_done`. Acquire pairs with `register`,
            // so that the waker is visible.
            match self.0.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if state & WAITING == 0 => return Completion::Left,
                Ok(_) => return Completion::Wake,
                Err(now) => state = now,
            }
        }
    }

    /// Whether an entry's taker would find the task claimed: a hint.
    pub fn is_started(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.0.load(Ordering::Relaxed) & STARTED != 0
    }

    /// Whether the handle can take the result.
    pub fn is_done(&self) -> bool {
        // Ordering: Acquire pairs with the exchange in `complete`.
        self.0.load(Ordering::Acquire) & DONE != 0
    }

    /// Whether a waker is registered. If so, its slot may be read, but not written.
    pub fn is_waiting(&self) -> bool {
        // Ordering: Relaxed; only the handle changes the bit.
        self.0.load(Ordering::Relaxed) & WAITING != 0
    }

    /// Called before the handle changes its waker. Returns false if the task is done; then the slot
    /// must be left alone.
    pub fn unregister(&self) -> bool {
        // Ordering: AcqRel. Before `complete`, the handle owns the slot again. After it, the result
        // is visible.
        self.0.fetch_and(!WAITING, Ordering::AcqRel) & DONE == 0
    }

    /// Called when the handle has left a waker. Returns false if the task is done, so that no
    /// thread will use the waker.
    pub fn register(&self) -> bool {
        // Ordering: Release publishes the waker to `complete`; Acquire as in `is_done`.
        self.0.fetch_or(WAITING, Ordering::AcqRel) & DONE == 0
    }

    /// Drops the entry's reference. Returns whether the caller must free the frame.
    pub fn drop_entry(&self) -> bool {
        // Ordering: AcqRel, as with any reference count.
        self.0.fetch_and(!ENTRY, Ordering::AcqRel) & HANDLE == 0
    }

    /// Drops the handle's reference. Returns whether the caller must free the frame, with the
    /// result if it is still there.
    pub fn drop_handle(&self) -> bool {
        // Ordering: Acquire pairs with `complete` and `drop_entry`: the other side is done.
        if self.0.load(Ordering::Acquire) & ENTRY == 0 {
            return true;
        }
        // Ordering: AcqRel, as with any reference count.
        self.0.fetch_and(!HANDLE, Ordering::AcqRel) & ENTRY == 0
    }
}
