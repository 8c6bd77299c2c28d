//! A counter's local handle.

use sateen_base::prim::{AtomicU64, Ordering};
use std::cell::Cell;
use std::fmt;

/// Counts on one thread, and adds its count to a shared total when flushed or dropped.
///
/// It is for loops: an addition costs as much as on a local variable, and the total is touched
/// once. Other threads see additions only after the flush. A panic drops the handle and so flushes
/// it; [`std::mem::forget`] loses unflushed additions.
///
/// # Cost
/// An addition is not an atomic access. A flush is one locked instruction, or nothing if there is
/// nothing to add.
///
/// # Examples
///
/// ```
/// use sateen::sync::counter::LocalCounter;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let words = AtomicU64::new(0);
/// std::thread::scope(|s| {
///     for text in ["the lock", "the other lock"] {
///         let words = &words;
///         s.spawn(move || {
///             let seen = LocalCounter::new(words);
///             text.split(' ').for_each(|_| seen.increment());
///         });
///     }
/// });
/// assert_eq!(words.load(Ordering::Relaxed), 5);
/// ```
pub struct LocalCounter<'a> {
    total: &'a AtomicU64,
    pending: Cell<u64>,
}

impl<'a> LocalCounter<'a> {
    /// Creates a handle to `total`, with nothing counted yet.
    #[inline]
    pub const fn new(total: &'a AtomicU64) -> Self {
        Self { total, pending: Cell::new(0) }
    }

    /// Adds `n`, wrapping around.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        self.pending.set(self.pending.get().wrapping_add(n));
    }

    /// Adds one.
    #[inline(always)]
    pub fn increment(&self) {
        self.add(1);
    }

    /// The additions that were not flushed yet.
    ///
    /// ```
    /// let total = std::sync::atomic::AtomicU64::new(1);
    /// let mine = sateen::sync::counter::LocalCounter::new(&total);
    /// mine.add(3);
    /// assert_eq!(mine.pending(), 3);
    /// drop(mine);
    /// assert_eq!(total.into_inner(), 4);
    /// ```
    #[inline(always)]
    pub fn pending(&self) -> u64 {
        self.pending.get()
    }

    /// Adds the unflushed count to the total. It publishes nothing else: the total is no signal for
    /// other data.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// static TOTAL: AtomicU64 = AtomicU64::new(0);
    ///
    /// let mine = sateen::sync::counter::LocalCounter::new(&TOTAL);
    /// mine.increment();
    /// mine.flush();
    /// assert_eq!((mine.pending(), TOTAL.load(Ordering::Relaxed)), (0, 1));
    /// ```
    #[inline]
    pub fn flush(&self) {
        let pending = self.pending.take();
        if pending != 0 {
            self.total.fetch_add(pending, Ordering::Relaxed);
        }
    }
}

impl Drop for LocalCounter<'_> {
    #[inline]
    fn drop(&mut self) {
        self.flush();
    }
}

impl fmt::Debug for LocalCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalCounter").field("pending", &self.pending()).finish_non_exhaustive()
    }
}
