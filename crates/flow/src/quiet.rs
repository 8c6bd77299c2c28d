//! How many are at work, and who waits for a change of that.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::{AtomicUsize, Ordering, fence};
use sateen_sync::{Condvar, Mutex};

/// A count of those at work, and a place to wait for what they bring about.
#[derive(Debug)]
pub struct Quiet {
    /// Stand-ins that are queued, all that have started, and threads that execute what only they may.
    live: AtomicUsize,
    /// How many sleep at `changed`, or are about to.
    waiting: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for Quiet {
    fn default() -> Self {
        Self::new()
    }
}

impl Quiet {
    /// Nobody works, nobody waits.
    pub fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// One more is at work.
    pub fn enter(&self) {
        // Ordering: Relaxed; who enters is accounted for by the one who makes it enter, or looks for work after it.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// One less. The last one tells those who wait.
    pub fn leave(&self) {
        // Ordering: Release, for `is_quiet`: a thread that sees 0 sees all that was done. The
        // exchanges of those that leave later pass it on.
        if self.live.fetch_sub(1, Ordering::Release) == 1 {
            self.tell();
        }
    }

    /// Whether nobody is at work. What they did is visible then.
    pub fn is_quiet(&self) -> bool {
        // Ordering: Acquire, with the Release in `leave`.
        self.live.load(Ordering::Acquire) == 0
    }

    /// Something has changed that somebody may wait for.
    #[inline]
    pub fn tell(&self) {
        if !canary!("quiet_tell_no_fence") {
            // Ordering: SeqCst, with the fence in `wait_unless`: either that one sees the change, or we see that it waits.
            fence(Ordering::SeqCst);
        }
        if self.waiting.load(Ordering::Relaxed) != 0 {
            self.tell_slow();
        }
    }

    #[cold]
    fn tell_slow(&self) {
        // Who waits has looked under the lock: it looks after this, or sleeps before it.
        if !canary!("quiet_tell_no_lock") {
            drop(self.lock.lock());
        }
        self.changed.notify_all();
    }

    /// Waits for something to change, unless `changed` says that it has.
    pub fn wait_unless(&self, changed: impl FnOnce() -> bool) {
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if !canary!("quiet_wait_no_fence") {
            // Ordering: SeqCst, with the fence in `tell`.
            fence(Ordering::SeqCst);
        }
        let mut guard = self.lock.lock();
        if !changed() {
            self.changed.wait(&mut guard);
        }
    }
}
