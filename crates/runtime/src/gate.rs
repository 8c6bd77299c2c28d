//! The gate for submissions from outside, and the stages of a runtime's life.
//!
//! The gate's word: bit 0 is set when the gate is shut, the rest counts callers inside. Proof:
//! `README.md`, "Ending"; models: `loom_drain.rs`, `loom_submit.rs`.
//!
//! | life | meaning | changed by |
//! |---|---|---|
//! | `STARTING` | threads are being started, and those that exist wait | the builder |
//! | `OPEN` | workers run; work is accepted | `close`, once the gate is shut and empty |
//! | `CLOSING` | no more work from outside; workers end once nothing is left | the last worker |
//! | `STOPPED` | workers leave their loops | |
//!
//! The builder changes `STARTING` to `OPEN`, or to `STOPPED` if a thread cannot be started. If no
//! worker ever runs, the thread that drops the last of them shuts the gate and sets `STOPPED`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicUsize};

const SHUT: usize = 1;
const ENTER: usize = 2;

const OPEN: u32 = 0;
const CLOSING: u32 = 1;
const STOPPED: u32 = 2;
/// Started threads wait in this stage. If they took memory for their first stacks now, a failure to
/// start a thread for lack of memory could not even be reported.
const STARTING: u32 = 3;

/// The runtime takes no more work.
#[derive(Debug)]
pub struct Closed;

/// Admits submissions until it is shut. See the [module's documentation](self).
#[derive(Debug)]
pub struct Gate(AtomicUsize);

/// Keeps the runtime from closing; see [`Gate::enter`].
#[derive(Debug)]
pub struct GateGuard<'a>(&'a Gate);

impl Gate {
    /// Starts open and empty.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Keeps the gate from being shut while the guard lives.
    pub fn enter(&self) -> Result<GateGuard<'_>, Closed> {
        // Ordering: Relaxed, an early check so that newcomers cannot delay the closer for ever.
        if self.0.load(Ordering::Relaxed) & SHUT != 0 {
            return Err(Closed);
        }
        // Ordering: Relaxed: the order of the exchanges decides, and a refused caller reads nothing
        // that the closer wrote. Release on leaving publishes the submission to the closer.
        let before = self.0.fetch_add(ENTER, Ordering::Relaxed);
        let guard = GateGuard(self);
        if before & SHUT != 0 { Err(Closed) } else { Ok(guard) }
    }

    /// The number of callers inside at some moment.
    #[cfg(loom)]
    pub fn inside(&self) -> usize {
        self.0.load(Ordering::Relaxed) / ENTER
    }

    /// Shuts the gate and waits until it is empty. The wait is short: no user code runs inside.
    pub fn shut(&self) {
        // Ordering: Relaxed, as in `enter`; the load below always follows.
        self.0.fetch_or(SHUT, Ordering::Relaxed);
        let mut backoff = sateen_base::Backoff::new();
        // Ordering: Acquire pairs with the Release of each guard, which later exchanges carry on.
        while self.0.load(Ordering::Acquire) != SHUT {
            backoff.snooze();
        }
    }
}

impl GateGuard<'_> {
    /// Submits work: calls `queue` inside, leaves, then calls `announce`. `announce` may call a
    /// policy or an arrival callback, which may end the runtime and wait until the gate is empty.
    ///
    /// The caller keeps the runtime's memory alive by other means. The queued work may be done and
    /// all workers gone before `announce` begins.
    #[inline]
    pub fn submit<A, R>(self, queue: impl FnOnce() -> A, announce: impl FnOnce(A) -> R) -> R {
        let queued = queue();
        drop(self);
        announce(queued)
    }
}

impl Drop for GateGuard<'_> {
    fn drop(&mut self) {
        // Ordering: Release, see `Gate::enter`.
        self.0.0.fetch_sub(ENTER, Ordering::Release);
    }
}

/// The stage that the runtime is in. See the [module's documentation](self).
#[derive(Debug)]
pub struct Life(AtomicU32);

impl Life {
    /// Starts as `STARTING`.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU32::new(STARTING))
    }

    /// Whether threads must still wait before they run.
    pub fn is_starting(&self) -> bool {
        // Ordering: Relaxed, under the lock with which threads wait.
        self.0.load(Ordering::Relaxed) == STARTING
    }

    /// Whether the runtime takes no work from outside.
    pub fn is_closing(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `close`.
        self.0.load(Ordering::Acquire) != OPEN
    }

    /// Whether workers leave their loops.
    pub fn is_stopped(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `stop`.
        self.0.load(Ordering::Acquire) == STOPPED
    }

    /// Called when all threads are started.
    pub fn open(&self) {
        // Ordering: Release, as in `stop`. The stage is `STOPPED` already if no thread will ever
        // run.
        let _ = self.0.compare_exchange(STARTING, OPEN, Ordering::Release, Ordering::Relaxed);
    }

    /// Called when the gate is shut. A second call has no effect.
    pub fn close(&self) {
        // Ordering: Release: a thread that sees the runtime closing sees what was submitted.
        let _ = self.0.compare_exchange(OPEN, CLOSING, Ordering::Release, Ordering::Relaxed);
    }

    /// Called when nothing is left to do, or a thread could not be started.
    pub fn stop(&self) {
        // Ordering: Release pairs with `is_stopped`.
        self.0.store(STOPPED, Ordering::Release);
    }
}
