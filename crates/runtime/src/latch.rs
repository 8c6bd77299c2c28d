//! Latches, by which a joiner learns that its stolen work is done.
//!
//! State of the word of a [`Latch`]:
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | null | not done, no waiter | setter: to `DONE`; waiter: to its own address |
//! | a waiter's address | not done, the waiter parks or will | setter: to `DONE`, then unparks it |
//! | `DONE` (1) | done; the setter never touches the latch again | |
//!
//! Once the word is `DONE`, the waiter may return and free the latch. So a setter takes a pointer
//! and touches nothing behind it after its exchange.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicPtr, AtomicUsize};

/// A context that can sleep until another thread wakes it.
pub trait Waiter {
    /// Blocks the calling context, which is this waiter, until [`Waiter::unpark`]. May return
    /// early.
    fn park(&self);
    /// Ends the current or the next [`Waiter::park`]. Any thread may call this.
    fn unpark(&self);
}

/// A latch that is set once, and awaited by at most one waiter. See the [module's
/// documentation](self).
#[derive(Debug)]
pub struct Latch<W> {
    state: AtomicPtr<W>,
}

fn done<W>() -> *mut W {
    std::ptr::without_provenance_mut(1)
}

impl<W: Waiter> Latch<W> {
    /// Starts unset.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { state: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Whether the latch is set. If so, the setter's earlier writes are visible.
    #[inline]
    pub fn is_done(&self) -> bool {
        // Ordering: Acquire pairs with the AcqRel exchange in `set`: results are visible.
        self.state.load(Ordering::Acquire) == done()
    }

    /// Waits until the latch is set; `waiter` is the calling context. Calls `help` before each
    /// park, and repeats that as long as `help` has done something.
    pub fn wait_helping(&self, waiter: &W, mut help: impl FnMut() -> bool) {
        let me = std::ptr::from_ref(waiter).cast_mut();
        let none = std::ptr::null_mut();
        // Ordering: Release publishes the waiter to the setter's exchange; on failure the latch is
        // done, and Acquire makes its results visible.
        if self.state.compare_exchange(none, me, Ordering::Release, Ordering::Acquire).is_err() {
            return;
        }
        while !self.is_done() {
            if !help() {
                waiter.park();
            }
        }
    }

    /// Sets the latch and unparks the waiter, if there is one.
    ///
    /// # Safety
    /// `this` points to a latch that is not set; the latch may be gone when this returns. A
    /// registered waiter stays valid until it is unparked (fibers live as long as their runtime).
    pub unsafe fn set(this: *const Self) {
        // Ordering: Release publishes the results to `is_done`. Acquire pairs with the registration
        // in `wait`, so that the waiter's fields are visible.
        // SAFETY: not set yet, so the waiter has not returned and the latch is valid.
        let waiter = unsafe { (*this).state.swap(done(), Ordering::AcqRel) };
        if !waiter.is_null() {
            // SAFETY: registered by a waiter that, by contract, outlives this call.
            unsafe { (*waiter).unpark() };
        }
    }
}

/// A latch that is set when its count falls to zero.
#[derive(Debug)]
pub struct CountLatch<W> {
    count: AtomicUsize,
    latch: Latch<W>,
}

impl<W: Waiter> CountLatch<W> {
    /// The latch is set after `count` calls of [`CountLatch::drop_one`].
    #[inline(always)]
    pub fn new(count: usize) -> Self {
        Self { count: AtomicUsize::new(count), latch: Latch::new() }
    }

    /// Adds a count. The caller holds one itself.
    #[inline]
    pub fn add_one(&self) {
        // Ordering: Relaxed, as with any reference count: the caller's own count keeps it above
        // zero.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The remaining count: exact only while no thread changes it.
    #[inline]
    pub fn pending(&self) -> usize {
        // Ordering: Relaxed, a hint.
        self.count.load(Ordering::Relaxed)
    }

    /// Drops a count.
    ///
    /// # Safety
    /// As [`Latch::set`]; the caller owns a count.
    pub unsafe fn drop_one(this: *const Self) {
        // Ordering: Release publishes the work of this count. Acquire lets the last one see the
        // work of all others before it passes everything on through the latch.
        // SAFETY: this count keeps the latch alive until this exchange.
        if unsafe { (*this).count.fetch_sub(1, Ordering::AcqRel) } == 1 {
            // SAFETY: the count is zero but the latch is not set, so the waiter is still there.
            unsafe { Latch::set(&raw const (*this).latch) };
        }
    }

    /// The owner drops its `own` counts and waits for all others, as [`Latch::wait_helping`] does.
    pub fn finish_helping<'a>(
        &self,
        own: usize,
        spin: impl FnOnce(&Latch<W>),
        waiter: impl FnOnce() -> &'a W,
        help: impl FnMut() -> bool,
    ) where
        W: 'a,
    {
        // Ordering: AcqRel as in `drop_one`; if these were the last counts, the work of all others
        // is visible.
        if self.count.fetch_sub(own, Ordering::AcqRel) == own {
            return;
        }
        spin(&self.latch);
        if !self.latch.is_done() {
            self.latch.wait_helping(waiter(), help);
        }
    }
}
