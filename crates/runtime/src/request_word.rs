//! The request word, by which other threads ask something of a worker.
//!
//! | bit | raised by | means |
//! |---|---|---|
//! | [`HUNGRY`] | thieves, sleepers, the owner | publish something at the next push |
//! | [`READY`] | a thread that made a fiber ready | a suspended fiber can resume |
//! | [`TIMER`] | the timekeeper, the owner | a timer may be due |
//! | [`OUTSIDE`] | constant | the thread is not a worker |
//! | [`FENCED`] | constant | there is no asymmetric fence |
//!
//! The owner polls the word by a plain load at each push. It clears a bit before it checks what the
//! bit stands for. Why no sleeper misses work: `README.md`, "Requests" and "Sleeping".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::{Ordering, fence as full_fence};

/// A thief is hungry; publish something at the next push.
pub const HUNGRY: u32 = 1;
/// A suspended fiber of this worker can resume.
pub const READY: u32 = 2;
/// Always raised for threads that are not workers; the slow path handles them.
pub const OUTSIDE: u32 = 4;
/// Timers may be due, and a watcher must learn of the next ones.
pub const TIMER: u32 = 16;
/// Always raised where the kernel has no asymmetric fence. Each push then fences and checks for
/// sleepers.
pub const FENCED: u32 = 8;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct RequestWord(AtomicU32);

impl RequestWord {
    /// A word with the bits `standing` raised.
    pub fn new(standing: u32) -> Self {
        Self(AtomicU32::new(standing))
    }

    /// The word itself, which the fast paths poll.
    pub fn word(&self) -> &AtomicU32 {
        &self.0
    }

    /// Raises a request. Returns whether it was lowered before.
    pub fn request(&self, what: u32) -> bool {
        // Ordering: the Relaxed test comes first, so that an unanswered request costs the owner
        // nothing more.
        !self.has(what) && self.insist(what)
    }

    /// [`RequestWord::request`] without the shortcut, for a worker about to sleep. It relies on the
    /// request staying raised, or on the owner that clears it seeing the sleeper's announcement.
    pub fn insist(&self, what: u32) -> bool {
        // Ordering: AcqRel; pairs with the owner's `clear`. In the order of this word, either the
        // clear comes first and the request stays raised, or this comes first and the owner then
        // sees what the caller did before.
        self.0.fetch_or(what, Ordering::AcqRel) & what == 0
    }

    /// Whether one of the bits `what` is raised.
    #[inline]
    pub fn has(&self, what: u32) -> bool {
        // Ordering: Relaxed, a hint.
        self.0.load(Ordering::Relaxed) & what != 0
    }

    /// Lowers a request, unless `still` finds what it was raised for. Owner only.
    pub fn lower_unless(&self, what: u32, still: impl FnOnce() -> bool) {
        self.clear(what);
        // A thread that found the request still raised has relied on it. Partner: the fence in
        // `Sleepers::wake_owner`.
        full_fence(Ordering::SeqCst);
        if still() {
            self.request(what);
        }
    }

    /// Lowers a request. The owner checks what was asked only after this.
    pub fn clear(&self, what: u32) {
        // Ordering: AcqRel, see `insist`.
        self.0.fetch_and(!what, Ordering::AcqRel);
    }
}
