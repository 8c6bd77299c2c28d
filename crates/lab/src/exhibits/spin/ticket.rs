//! The ticket lock.
//!
//! | word | meaning |
//! |---|---|
//! | `next` | the ticket that the next arrival draws |
//! | `serving` | the holder's ticket; equal to `next` if the lock is free |
//!
//! `next` is changed by exchanges, `serving` by the holder. Neither ever wraps; otherwise a thread
//! that stalled between two steps could mistake an old ticket for its own.

use super::raw_mutex;
use super::wait::{Waiter, yield_now};
use sateen_base::pause;
use std::sync::atomic::{AtomicU64, Ordering};

/// The ticket lock: first come, first served.
///
/// Uncontended, one locked instruction to acquire and a plain store to release. A waiter draws a
/// ticket and spins until it is called; the more waiters are ahead, the longer it pauses.
///
/// Take it where turns must be strict, sections are a few instructions, and each thread has a core.
/// Where threads outnumber cores it collapses: the lock is handed to a thread whether that runs or
/// not, and no other may use it first. (Eight threads on two cores with sections of 50 ns: 2.8 µs
/// an acquisition, where `TtasAdaptiveFutex` takes 95 ns.) After a hundred tests waiters yield
/// their time slices, so that it goes on, at some microseconds a turn.
pub(crate) struct Ticket {
    next: AtomicU64,
    serving: AtomicU64,
}

impl Ticket {
    /// A free lock.
    pub(crate) const fn new() -> Self {
        Self { next: AtomicU64::new(0), serving: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        if !self.is_called(ticket) {
            self.wait_slow(ticket);
        }
        true
    }

    fn take_slow(&self) {}

    #[inline(always)]
    fn is_called(&self, ticket: u64) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.serving.load(Ordering::Acquire) == ticket
    }

    #[cold]
    fn wait_slow(&self, ticket: u64) {
        let mut waiter = Waiter::new();
        let limit = waiter.limit;
        while !self.is_called(ticket) {
            if !waiter.test(limit, || !self.is_called(ticket)) {
                yield_now();
                continue;
            }
            let before = ticket.saturating_sub(self.serving.load(Ordering::Relaxed));
            pause::pause(before.saturating_sub(1).min(16) as u32);
        }
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        let serving = self.serving.load(Ordering::Acquire);
        self.draw_if_next(serving)
    }

    /// Draws the ticket that the caller saw being served, if it was not drawn meanwhile.
    #[inline(always)]
    fn draw_if_next(&self, called: u64) -> bool {
        // If `next` still equals what was served then, so does `serving`, which never passes
        // `next`.
        let drawn = called + 1;
        self.next.compare_exchange(called, drawn, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn give(&self) {
        // Only the holder writes `serving`.
        let called = self.serving.load(Ordering::Relaxed) + 1;
        // Ordering: Release publishes the critical section to `is_called` and `try_take`.
        self.serving.store(called, Ordering::Release);
    }
}

// SAFETY: each ticket is drawn once, and the holder calls the next when it is done.
raw_mutex!(Ticket);

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread tries to lock, and stands still after its look at `serving`.
    #[test]
    fn who_tries_and_stands_still_for_long_gets_no_lock_that_is_held() {
        let lock = Ticket::new();
        let called = lock.serving.load(Ordering::Relaxed);
        // Starts as if this many turns had been taken.
        for word in [&lock.next, &lock.serving] {
            word.fetch_add(u32::MAX.into(), Ordering::Relaxed);
        }
        assert!(lock.take());
        assert!(!lock.draw_if_next(called), "two hold the lock");
        lock.give();
        assert!(lock.try_take());
    }
}
