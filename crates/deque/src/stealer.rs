//! The thieves' half of a deque.

use crate::Steal;
use crate::index::{Top, gap, none};
use crate::inner::Inner;
use crate::prim::{Arc, Ordering, spin_loop};
use crate::stage::{Cached, Stage};
use crate::worker::{Flavor, Landing, Worker};
use std::fmt;

/// Limit on the items of a batch, unless the caller names one.
pub(crate) const MAX_BATCH: usize = 32;

/// A thief's handle of a deque, from [`Worker::stealer`]. Clone it as often as you like.
///
/// All methods are lock-free: a thief that stops in the middle of one delays no other thread.
/// Thieves take the oldest items, whichever end the owner takes from.
///
/// # Cost
/// Without contention, one locked instruction and two misses.
///
/// # Examples
/// ```
/// use sateen::deque::{Steal, Worker};
///
/// let w = Worker::new_lifo();
/// w.push(1);
/// w.push(2);
/// let s = w.stealer();
/// assert_eq!(s.steal(), Steal::Success(1));
/// assert_eq!(s.steal(), Steal::Success(2));
/// assert_eq!(s.steal(), Steal::Empty);
/// ```
pub struct Stealer<T, S: Stage = Cached> {
    pub(crate) inner: Arc<Inner<T, S>>,
    pub(crate) flavor: Flavor,
}

// SAFETY: a thief takes items out by claims that exclude each other; it may be on any thread.
unsafe impl<T: Send, S: Stage> Send for Stealer<T, S> {}
// SAFETY: as above; nothing in the handle itself changes.
unsafe impl<T: Send, S: Stage> Sync for Stealer<T, S> {}

impl<T, S: Stage> std::panic::UnwindSafe for Stealer<T, S> {}
impl<T, S: Stage> std::panic::RefUnwindSafe for Stealer<T, S> {}

impl<T, S: Stage> Stealer<T, S> {
    /// Whether the deque was empty a moment ago.
    ///
    /// ```
    /// assert!(sateen::deque::Worker::<u8>::new_lifo().stealer().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items the deque held a moment ago.
    ///
    /// ```
    /// assert_eq!(sateen::deque::Worker::from_iter(0..5).stealer().len(), 5);
    /// ```
    pub fn len(&self) -> usize {
        loop {
            // Ordering: SeqCst for callers that look after announcing something.
            let top = Top(self.inner.top.load(Ordering::SeqCst));
            let bottom = self.inner.owner.bottom.load(Ordering::SeqCst);
            match gap(top.index(), bottom) {
                // This thread slept between the two: see `none`.
                ..-1 => {}
                items => return items.max(0) as usize,
            }
        }
    }

    /// Takes the oldest item.
    ///
    /// `Empty` means that the deque was empty at some moment during the call; `Retry` that another
    /// thread was faster.
    ///
    /// ```
    /// use sateen::deque::{Steal, Worker};
    /// let w = Worker::new_lifo();
    /// w.push(1);
    /// assert_eq!(w.stealer().steal(), Steal::Success(1));
    /// ```
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        if S::SPLIT { self.steal_split() } else { self.steal_one() }
    }

    /// Not inlined: it would make the caller save registers, and the caller usually tries its own
    /// deque first.
    #[inline(never)]
    fn steal_split(&self) -> Steal<T> {
        self.steal_one()
    }

    #[inline(always)]
    fn steal_one(&self) -> Steal<T> {
        let top = match self.look() {
            Steal::Success((top, _)) => top,
            Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        match self.inner.claim(top, 1) {
            // SAFETY: a claim of one, taken once.
            Some(claim) => Steal::Success(unsafe { claim.take(0) }),
            None => lost(),
        }
    }

    /// Moves some of the oldest items to `dest`: about half of them, at most 32.
    ///
    /// If both deques are of one flavour, `dest` gives them out in the order in which this one
    /// would have. Otherwise in the opposite order. Stealing from `dest`'s own deque does nothing.
    ///
    /// ```
    /// let w1 = sateen::deque::Worker::new_fifo();
    /// let w2 = sateen::deque::Worker::new_fifo();
    /// (1..=4).for_each(|i| w1.push(i));
    /// assert!(w1.stealer().steal_batch(&w2).is_success());
    /// assert_eq!((w2.pop(), w2.pop(), w2.pop()), (Some(1), Some(2), None));
    /// ```
    pub fn steal_batch<D: Stage>(&self, dest: &Worker<T, D>) -> Steal<()> {
        self.steal_batch_with_limit(dest, MAX_BATCH)
    }

    /// [`Stealer::steal_batch`] of at most `limit` items.
    ///
    /// # Panics
    /// If `limit` is 0.
    ///
    /// ```
    /// let w1 = sateen::deque::Worker::from_iter(1..=6);
    /// let w2 = sateen::deque::Worker::new_lifo();
    /// assert!(w1.stealer().steal_batch_with_limit(&w2, 2).is_success());
    /// assert_eq!(w2.len(), 2);
    /// ```
    pub fn steal_batch_with_limit<D: Stage>(&self, dest: &Worker<T, D>, limit: usize) -> Steal<()> {
        assert!(limit > 0, "a batch of at most 0 items");
        if self.is_own(dest) {
            return if dest.is_empty() { Steal::Empty } else { Steal::Success(()) };
        }
        match self.steal_many(dest, limit, false) {
            Steal::Success(_) => Steal::Success(()),
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
        }
    }

    /// [`Stealer::steal_batch`] that returns one of the items: the one that `dest` would pop first
    /// if the deques were of one flavour.
    ///
    /// ```
    /// use sateen::deque::{Steal, Worker};
    /// let w1 = Worker::new_fifo();
    /// let w2 = Worker::new_fifo();
    /// (1..=4).for_each(|i| w1.push(i));
    /// assert_eq!(w1.stealer().steal_batch_and_pop(&w2), Steal::Success(1));
    /// assert_eq!(w2.pop(), Some(2));
    /// ```
    pub fn steal_batch_and_pop<D: Stage>(&self, dest: &Worker<T, D>) -> Steal<T> {
        self.steal_batch_with_limit_and_pop(dest, MAX_BATCH)
    }

    /// [`Stealer::steal_batch_and_pop`] of at most `limit` items, the returned one included.
    ///
    /// # Panics
    /// If `limit` is 0.
    ///
    /// ```
    /// use sateen::deque::{Steal, Worker};
    /// let w1 = Worker::new_fifo();
    /// let w2 = Worker::new_fifo();
    /// (1..=6).for_each(|i| w1.push(i));
    /// assert_eq!(w1.stealer().steal_batch_with_limit_and_pop(&w2, 2), Steal::Success(1));
    /// assert_eq!((w2.pop(), w2.pop()), (Some(2), None));
    /// ```
    pub fn steal_batch_with_limit_and_pop<D: Stage>(
        &self,
        dest: &Worker<T, D>,
        limit: usize,
    ) -> Steal<T> {
        assert!(limit > 0, "a batch of at most 0 items");
        if self.is_own(dest) {
            return dest.pop().map_or(Steal::Empty, Steal::Success);
        }
        match self.steal_many(dest, limit, true) {
            // `keep` was set, so an item was kept.
            Steal::Success(Some(item)) => Steal::Success(item),
            Steal::Empty => Steal::Empty,
            Steal::Success(None) | Steal::Retry => Steal::Retry,
        }
    }

    fn is_own<D: Stage>(&self, dest: &Worker<T, D>) -> bool {
        std::ptr::addr_eq(&raw const *self.inner, &raw const *dest.inner)
    }

    /// How many items may be claimed, and at which value of `top`; never `Success` of 0.
    #[inline(always)]
    fn look(&self) -> Steal<(Top, u32)> {
        if S::SPLIT && self.flavor == Flavor::Split {
            return self.inner.look_split();
        }
        let (top, bottom) = self.inner.look();
        let items = gap(top.index(), bottom);
        if items > 0 { Steal::Success((top, items as u32)) } else { none(items) }
    }

    /// Moves up to half of the items to `dest`. Returns one of them if `keep` is set.
    fn steal_many<D: Stage>(
        &self,
        dest: &Worker<T, D>,
        limit: usize,
        keep: bool,
    ) -> Steal<Option<T>> {
        let (top, items) = match self.look() {
            Steal::Success(found) => found,
            Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        let mut wanted = items.div_ceil(2);
        if self.flavor == Flavor::Split {
            // `items` are the public ones. The batch is half of all items, and at most the public
            // ones.
            wanted = (self.len() as u32).div_ceil(2).clamp(1, items);
        }
        let wanted = wanted.min(limit.try_into().unwrap_or(u32::MAX));
        let mut landing = Landing::new(dest, wanted);
        let mut kept = None;
        if self.flavor != Flavor::Lifo {
            // One claim for all: the owner never takes one of these without an exchange.
            let Some(claim) = self.inner.claim(top, wanted) else { return lost() };
            let keep_nth = if self.flavor.is_fifo() { 0 } else { wanted - 1 };
            for nth in 0..claim.len() {
                // SAFETY: each once, within the claim and within the room reserved.
                unsafe {
                    if keep && nth == keep_nth {
                        kept = Some(claim.take(nth));
                    } else {
                        landing.put(claim.take(nth));
                    }
                }
            }
        } else {
            // The items are taken one by one. The owner pops items more than one past `top` without
            // an exchange, so each claim needs its own look at `bottom`.
            let (mut top, mut taken) = (top, 0);
            while let Some(claim) = self.inner.claim(top, 1) {
                // SAFETY: a claim of one, taken once, and at most `wanted` of them.
                unsafe {
                    let item = claim.take(0);
                    let landed = if keep { kept.replace(item) } else { Some(item) };
                    if let Some(item) = landed {
                        landing.put(item);
                    }
                }
                top = top.claimed(1);
                taken += 1;
                if taken == wanted {
                    break;
                }
                let bottom = self.inner.then_bottom();
                if gap(top.index(), bottom) <= 0 {
                    break;
                }
            }
            if taken == 0 {
                return lost();
            }
        }
        landing.finish(self.flavor.is_fifo() != dest.flavor.is_fifo());
        Steal::Success(kept)
    }
}

/// How long a thief that lost a race waits: about 200 ns here.
const LOST_PAUSES: u32 = if cfg!(loom) { 0 } else { 8 };

/// Another thread was faster, and is likely to go on from a line that it now has to itself. Let it:
/// two takers at one adder take 1.4 times as many items here as without this wait.
#[cold]
fn lost<X>() -> Steal<X> {
    (0..LOST_PAUSES).for_each(|_| spin_loop());
    Steal::Retry
}

impl<T, S: Stage> Clone for Stealer<T, S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), flavor: self.flavor }
    }
}

impl<T, S: Stage> fmt::Debug for Stealer<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Stealer { .. }")
    }
}
