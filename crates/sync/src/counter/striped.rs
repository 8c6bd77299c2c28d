//! A striped counter, with a stripe for each thread.

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;
use sateen_base::{CachePadded, thread_number};
use std::fmt;

/// A counter to which threads add without contention.
///
/// Only the thread with number `i` ([`thread_number`]) writes stripe `i`, by a load and a store.
/// Numbers are small, and released when a thread ends: the next thread continues with the stripe
/// and its value. Threads whose number is `STRIPES` or more, and those that are just ending, share
/// one stripe by locked instructions. So `STRIPES` should be at least the number of threads that
/// live at the same time.
///
/// [`StripedCounter::new`] creates 64 stripes, [`StripedCounter::with_stripes`] any number. It
/// allocates nothing and can be a `static`.
///
/// An addition in a signal handler may be lost, or undo one that it interrupted.
///
/// # Cost
/// An addition is a load and a store (0.3 ns), or a locked instruction in the shared stripe. The
/// first one of a thread also draws its number. A sum loads `STRIPES + 1` lines. A counter takes
/// `(STRIPES + 1) * 128` bytes, 8.1 KiB for 64. If there are many counters, plain atomics are
/// better.
///
/// # Examples
///
/// ```
/// use sateen::sync::counter::StripedCounter;
/// static HITS: StripedCounter = StripedCounter::new();
///
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| (0..1000).for_each(|_| HITS.increment()));
///     }
/// });
/// assert_eq!(HITS.sum(), 4000);
/// ```
pub struct StripedCounter<const STRIPES: usize = 64> {
    /// Only the thread with number `i` writes stripe `i`.
    stripes: [CachePadded<AtomicU64>; STRIPES],
    /// Written by all other threads.
    shared: CachePadded<AtomicU64>,
}

impl StripedCounter {
    /// A counter of 64 stripes at 0.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self::with_stripes()
    }
}

impl<const STRIPES: usize> StripedCounter<STRIPES> {
    /// Rejects, at compile time, more stripes than there can be numbers.
    const CHECKED: () =
        assert!(STRIPES <= thread_number::LIMIT as usize, "more stripes than threads");

    /// A counter at 0 with the type's number of stripes. With none, all threads share one.
    ///
    /// More than [`thread_number::LIMIT`] stripes do not compile.
    ///
    /// ```
    /// use sateen::sync::counter::StripedCounter;
    /// let small: StripedCounter<4> = StripedCounter::with_stripes();
    /// small.add(5);
    /// assert_eq!(small.sum(), 5);
    /// assert_eq!(size_of_val(&small), 5 * 128);
    /// ```
    #[cfg(not(loom))]
    pub const fn with_stripes() -> Self {
        let () = Self::CHECKED;
        Self {
            stripes: [const { CachePadded::new(AtomicU64::new(0)) }; STRIPES],
            shared: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// The same (loom's atomics cannot be created at compile time).
    #[cfg(loom)]
    pub fn with_stripes() -> Self {
        let () = Self::CHECKED;
        let zero = || CachePadded::new(AtomicU64::new(0));
        Self { stripes: std::array::from_fn(|_| zero()), shared: zero() }
    }

    /// Adds `n`, wrapping around.
    ///
    /// It orders nothing: a sum that includes the addition makes nothing else visible.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        if !self.add_to_stripe(thread_number::get(), n) {
            self.add_slow(n);
        }
    }

    /// Adds one.
    #[inline(always)]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Subtracts `n`, wrapping around. Any thread may subtract what another has added.
    ///
    /// ```
    /// let level = sateen::sync::counter::StripedCounter::new();
    /// level.add(2);
    /// level.sub(5);
    /// assert_eq!(level.sum() as i64, -3);
    /// ```
    #[inline(always)]
    pub fn sub(&self, n: u64) {
        self.add(n.wrapping_neg());
    }

    /// Adds `n` to the stripe of the thread with `number`, which must be the caller's. Returns
    /// whether there is such a stripe.
    #[inline(always)]
    fn add_to_stripe(&self, number: u32, n: u64) -> bool {
        let Some(stripe) = self.stripes.get(number as usize) else { return false };
        // Relaxed: the only writer reads its own writes; its predecessor's came with the number.
        stripe.store(stripe.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        true
    }

    /// The first addition of a thread, or one without a stripe.
    #[cold]
    fn add_slow(&self, n: u64) {
        let number = thread_number::get_or_assign().unwrap_or(thread_number::NONE);
        if self.add_to_stripe(number, n) {
            return;
        }
        self.shared.fetch_add(n, Ordering::Relaxed);
    }

    /// Like [`StripedCounter::add`] by the thread with `number`: threads of a model have no
    /// numbers.
    #[cfg(loom)]
    pub fn add_as(&self, number: u32, n: u64) {
        assert!(self.add_to_stripe(number, n));
    }

    /// The total, modulo 2⁶⁴.
    ///
    /// * It includes every addition that happens before the call and none that happens after it. So
    ///   it is exact if there are no concurrent additions: after the threads were joined, or under
    ///   a lock under which they add.
    /// * Of each thread's concurrent additions it includes the first few, in their order. How many
    ///   is independent for each thread, so it is not a snapshot.
    /// * So if additions only add and do not wrap around, it is at least the total at the beginning
    ///   of the call and at most the total at its end (*intermediate value linearizability*,
    ///   Rinberg and Keidar, DISC 2020). Consecutive sums never decrease.
    /// * With subtractions it may lie outside those bounds, by at most what was added or subtracted
    ///   during the call.
    ///
    /// ```
    /// let counter = sateen::sync::counter::StripedCounter::new();
    /// counter.add(u64::MAX);
    /// counter.increment();
    /// assert_eq!(counter.sum(), 0);
    /// ```
    pub fn sum(&self) -> u64 {
        let all = self.stripes.iter().chain([&self.shared]);
        all.fold(0, |sum, stripe| sum.wrapping_add(stripe.load(Ordering::Relaxed)))
    }

    /// Sets the total to 0. Requires exclusive access: a concurrent addition could not be
    /// distinguished from an earlier one.
    ///
    /// ```
    /// let mut counter = sateen::sync::counter::StripedCounter::new();
    /// counter.add(7);
    /// counter.reset();
    /// assert_eq!(counter.sum(), 0);
    /// ```
    pub fn reset(&mut self) {
        for stripe in self.stripes.iter().chain([&self.shared]) {
            stripe.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the exact total and sets it to 0.
    ///
    /// ```
    /// let mut counter = sateen::sync::counter::StripedCounter::new();
    /// counter.add(7);
    /// assert_eq!((counter.take(), counter.take()), (7, 0));
    /// ```
    pub fn take(&mut self) -> u64 {
        let sum = self.sum();
        self.reset();
        sum
    }
}

impl<const STRIPES: usize> Default for StripedCounter<STRIPES> {
    fn default() -> Self {
        Self::with_stripes()
    }
}

impl<const STRIPES: usize> fmt::Debug for StripedCounter<STRIPES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripedCounter").field("sum", &self.sum()).finish_non_exhaustive()
    }
}
