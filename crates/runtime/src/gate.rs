//! The gate for what comes from outside, and the runtime's stages of life.
//!
//! The gate's word: bit 0 says shut, the rest counts those inside. Proof: `README.md`, "Ending";
//! models: `loom_drain.rs`, `loom_submit.rs`.
//!
//! | life | meaning | moved on by |
//! |---|---|---|
//! | `STARTING` | threads are being made, and those that exist wait | the builder |
//! | `OPEN` | workers run; work is accepted | `close`, once the gate is shut and empty |
//! | `CLOSING` | no more work from outside; workers end once nothing is left | the last worker |
//! | `STOPPED` | workers leave their loops | |
//!
//! The builder moves on to `OPEN`, or to `STOPPED` if a thread cannot be made. If no worker ever
//! runs, the thread that drops the last of them shuts the gate and moves on to `STOPPED`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicUsize};

const SHUT: usize = 1;
const ENTER: usize = 2;

const OPEN: u32 = 0;
const CLOSING: u32 = 1;
const STOPPED: u32 = 2;
/// Threads that exist wait in this stage. If they took memory for their first stacks now, a thread
/// that cannot be made for want of memory could not even be reported.
const STARTING: u32 = 3;

/// The runtime takes no more work.
#[derive(Debug)]
pub struct Closed;

/// Lets submissions in until it is shut. See the [module's documentation](self).
#[derive(Debug)]
pub struct Gate(AtomicUsize);

/// Keeps the runtime from closing; see [`Gate::enter`].
#[derive(Debug)]
pub struct GateGuard<'a>(&'a Gate);

impl Gate {
    /// Open and empty.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Keeps the gate from being shut while the answer lives.
    pub fn enter(&self) -> Result<GateGuard<'_>, Closed> {
        // Ordering: Relaxed, a look that keeps newcomers from holding up the closer for ever.
        if self.0.load(Ordering::Relaxed) & SHUT != 0 {
            return Err(Closed);
        }
        // Ordering: Relaxed, the order of the exchanges decides, and a caller that is refused reads
        // nothing of the closer's. Release on leaving makes what was submitted visible to the
        // closer.
        let before = self.0.fetch_add(ENTER, Ordering::Relaxed);
        let guard = GateGuard(self);
        if before & SHUT != 0 { Err(Closed) } else { Ok(guard) }
    }

    /// How many are inside, at some moment.
    #[cfg(loom)]
    pub fn inside(&self) -> usize {
        self.0.load(Ordering::Relaxed) / ENTER
    }

    /// Shuts the gate and waits until it is empty. The wait is short: no user code runs inside.
    pub fn shut(&self) {
        // Ordering: Relaxed, as in `enter`; the load below always follows.
        self.0.fetch_or(SHUT, Ordering::Relaxed);
        let mut backoff = sateen_base::Backoff::new();
        // Ordering: Acquire pairs with the Release of each guard, which the later exchanges pass
        // on.
        while self.0.load(Ordering::Acquire) != SHUT {
            backoff.snooze();
        }
    }
}

impl GateGuard<'_> {
    /// A submission: calls `queue` inside, leaves, then calls `announce`. That may call a policy or
    /// a callback for arrivals, which may end the runtime and wait until the gate is empty.
    ///
    /// The caller keeps the runtime's memory in another way: what is queued may be done, and all
    /// workers gone, before `announce` begins.
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
    /// Starting.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU32::new(STARTING))
    }

    /// Whether threads still have to wait for their first turn.
    pub fn is_starting(&self) -> bool {
        // Ordering: Relaxed, under the lock that waiting threads wait with.
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

    /// All threads are made.
    pub fn open(&self) {
        // Ordering: Release, as in `stop`. It is stopped already if no thread will ever run.
        let _ = self.0.compare_exchange(STARTING, OPEN, Ordering::Release, Ordering::Relaxed);
    }

    /// The gate is shut. A second closer changes nothing.
    pub fn close(&self) {
        // Ordering: Release: a thread that sees the runtime closing sees what was submitted.
        let _ = self.0.compare_exchange(OPEN, CLOSING, Ordering::Release, Ordering::Relaxed);
    }

    /// Nothing is left to do, or not all threads could be made.
    pub fn stop(&self) {
        // Ordering: Release pairs with `is_stopped`.
        self.0.store(STOPPED, Ordering::Release);
    }
}
