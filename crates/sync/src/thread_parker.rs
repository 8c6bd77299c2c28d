//! Parking one OS thread on a futex.
//!
//! | word | meaning | set by |
//! |---|---|---|
//! | `EMPTY` 0 | no token, the owner runs | owner, when it takes the token |
//! | `PARKED` 1 | no token, the owner sleeps or is about to | owner, from `EMPTY` only |
//! | `TOKEN` 2 | a wake-up waits to be taken | any thread, from any state |
//!
//! The owner leaves `PARKED` only by taking a token or by giving up a timed wait, both in one
//! read-modify-write, so no token is overwritten. A waker makes a system call only if it has
//! replaced `PARKED`.

use crate::sys::{Deadline, FutexWord};
use sateen_base::prim::Ordering;
use sateen_base::prim::time::Duration;
use std::sync::Arc;
use std::task::Wake;

const EMPTY: u32 = 0;
const PARKED: u32 = 1;
const TOKEN: u32 = 2;

/// Blocks one OS thread until it is woken; an earlier wake-up is kept as a token.
///
/// It keeps at most one token. Only one thread at a time may park (a second one might sleep for
/// ever); any thread may unpark. In an [`Arc`] it converts into a [`std::task::Waker`].
///
/// # Cost
/// One locked instruction if there is a token, otherwise a sleep in the kernel.
///
/// # Examples
///
/// ```
/// use sateen::sync::park::ThreadParker;
/// use std::{sync::Arc, task::Waker, thread};
///
/// let parker = Arc::new(ThreadParker::new());
/// let waker = Waker::from(parker.clone());
/// thread::spawn(move || waker.wake());
/// parker.park();
/// ```
#[derive(Debug)]
pub struct ThreadParker(FutexWord);

impl ThreadParker {
    crate::sys::const_except_loom! {
        /// A parker without a token.
        pub const fn new() -> Self {
            Self(FutexWord::new(EMPTY))
        }
    }

    /// Takes the token, blocking the calling thread until there is one.
    pub fn park(&self) {
        if !self.take_or_announce() {
            let taken = self.sleep(None);
            debug_assert!(taken, "an untimed park returned without a token");
        }
    }

    /// Takes the token if it arrives within `timeout`. Returns whether it did.
    ///
    /// ```
    /// use std::time::Duration;
    /// let parker = sateen::sync::park::ThreadParker::new();
    /// assert!(!parker.park_timeout(Duration::from_millis(1)));
    /// parker.unpark();
    /// assert!(parker.park_timeout(Duration::from_millis(1)));
    /// ```
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.take_or_announce() || self.sleep(Some(timeout))
    }

    /// Leaves a token, waking the owner if it is parked. The caller's earlier writes are visible to
    /// the owner once it has taken the token.
    pub fn unpark(&self) {
        // Ordering: Release pairs with the Acquire of whichever access takes the token.
        if self.0.word().swap(TOKEN, Ordering::Release) == PARKED {
            self.0.wake();
        }
    }

    /// Takes the token and returns true, or sets the word to `PARKED` and returns false.
    fn take_or_announce(&self) -> bool {
        let word = self.0.word();
        // Ordering: Acquire on failure pairs with the Release in `unpark`; the value read on
        // failure proves that there is a token. Success only announces.
        if word.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Acquire).is_ok() {
            return false;
        }
        // Ordering: Acquire as above, for a token that has replaced the one just seen.
        word.swap(EMPTY, Ordering::Acquire);
        true
    }

    /// Sleeps until there is a token, and takes it. Returns false after `timeout`, with the
    /// announcement withdrawn.
    fn sleep(&self, timeout: Option<Duration>) -> bool {
        let mut deadline = Deadline::new(timeout);
        let word = self.0.word();
        while self.0.wait_until(PARKED, &mut deadline) {
            // Ordering: Acquire pairs with the Release in `unpark`.
            if word.compare_exchange(TOKEN, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return true;
            }
        }
        // Ordering: Acquire as above. One exchange both withdraws the announcement and takes a
        // token that came at the last moment.
        word.swap(EMPTY, Ordering::Acquire) == TOKEN
    }
}

impl Default for ThreadParker {
    fn default() -> Self {
        Self::new()
    }
}

impl Wake for ThreadParker {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.unpark();
    }
}
