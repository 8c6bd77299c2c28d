//! The unbounded queue. States, protocol and proof sketch: `README.md` beside this file.

mod begin;
mod end;
#[cfg(all(test, not(loom)))]
mod stalls;

use super::batch::Batch;
use super::claim::Claim;
use super::cursor::{Cursor, lap};
use super::depot::Depot;
use super::segment::Segment;
use crate::prim::{AtomicU64, Ordering, const_except_loom};
use crate::spin_limit::SpinLimit;
use crate::trace::Traced;
use crate::{PopError, PushError, TrustedItems};
use end::{End, Seen};
use sateen_base::pause::pause;
use sateen_base::prim::thread;
use sateen_base::unwind::run_to_end;
use sateen_base::{Backoff, CachePadded};
use std::{fmt, ptr};

/// The consumers' end, and what they know.
struct Head {
    end: End,
    /// A position at which the tail has been; it is there or further. A hint that any consumer
    /// stores.
    tail_seen: AtomicU64,
    spin_limit: SpinLimit,
}

/// Waits after a lost exchange for as long as the winner needs for a run of some hundred items,
/// longer each time: 2, 4, then 8 µs. Otherwise the line that both want goes from core to core with
/// each item. The loser also offers its time slice: where there are more threads than cores, a
/// thread of the other end serves the winner better.
#[cold]
fn let_winner_run_slow(losses: u32) {
    if !cfg!(loom) {
        pause(64 << losses.min(2));
    }
    thread::yield_now();
}

/// An unbounded first-in first-out queue for many producers and many consumers.
///
/// A push never waits for consumers. A pop waits for a producer that has claimed the slot and not
/// yet filled it. Both wait while the thread that claimed the last slot of a segment moves its end
/// to the next one. These are a few instructions, unless that thread loses its processor there.
/// After a success, a pop that finds few items spins for up to two microseconds if earlier spins
/// paid off.
///
/// # Cost
/// One locked instruction a push, pop or batch, without contention. A pair takes 7 to 8 ns on an
/// AMD EPYC (`crossbeam_queue::SegQueue`: 11 to 12). A thread that loses an exchange to another
/// waits for 2 to 8 µs, in which the other goes on without contention.
///
/// Memory: segments of up to 63 items. A segment is given back as soon as its last reader has left
/// it and a thread comes to a segment's end; up to 32 are kept for the next items, or fewer if they
/// are large (64 KiB in all, or eight segments). While readers hold more than four segments at
/// once, a segment may be given back later, after up to eight further segments for each that is
/// held. A forgotten [`Batch`] keeps its segment, at least until the queue is dropped, and slows
/// down nothing else.
///
/// Source: the segment list of Michael and Scott's queue (1996), with claims by index.
///
/// # Examples
/// ```
/// let queue = sateen::queue::mpmc::Unbounded::new();
/// std::thread::scope(|s| {
///     s.spawn(|| queue.push(1));
///     s.spawn(|| queue.push(2));
/// });
/// let sum = queue.pop().unwrap() + queue.pop().unwrap();
/// assert_eq!((sum, queue.len()), (3, 0));
/// ```
pub struct Unbounded<T> {
    head: CachePadded<Head>,
    tail: CachePadded<End>,
    /// Segments that neither end stands in.
    depot: Depot<T>,
    pub(crate) traced: Traced,
}

// SAFETY: items move in from one thread and out to another; no two threads share one.
unsafe impl<T: Send> Send for Unbounded<T> {}
// SAFETY: as above; the protocol gives each item to exactly one consumer.
unsafe impl<T: Send> Sync for Unbounded<T> {}

impl<T> std::panic::UnwindSafe for Unbounded<T> {}
impl<T> std::panic::RefUnwindSafe for Unbounded<T> {}

impl<T> Default for Unbounded<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Unbounded<T> {
    const_except_loom! {
        /// An empty queue. The first push allocates its first segment.
        ///
        /// ```
        /// use sateen::queue::mpmc::Unbounded;
        /// static QUEUE: Unbounded<String> = Unbounded::new();
        /// assert!(QUEUE.is_empty());
        /// ```
        pub const fn new() -> Self {
            // Both ends are on their way to the first segment, which does not exist yet.
            Self::with(Cursor::at(lap::<T>() - 1), ptr::null_mut())
        }
    }

    /// Puts `item` in at the back. Aborts if memory runs out.
    ///
    /// # Errors
    /// [`PushError::Closed`] with the item if the queue was closed before; it is never full.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Unbounded::new();
    /// assert!(queue.push("a").is_ok());
    /// assert_eq!(queue.pop(), Ok("a"));
    /// ```
    #[inline]
    pub fn push(&self, item: T) -> Result<(), PushError<T>> {
        let (tail, segment) = self.tail.load();
        let offset = tail.offset::<T>();
        // The usual case: a slot that is not the segment's last, and no other thread wants it.
        if offset >= Segment::<T>::SLOTS - 1 || tail.is_closed() {
            return self.push_slow(item, Some((tail, segment)));
        }
        if !self.tail.claim(tail, tail.advanced(1)) {
            return self.push_slow(item, None);
        }
        // SAFETY: this thread claimed the slot, and so it has the right segment.
        unsafe {
            Segment::<T>::from_ptr(segment).unwrap_unchecked().write(offset, item, self.traced)
        };
        Ok(())
    }

    #[cold]
    fn push_slow(&self, item: T, seen: Option<Seen>) -> Result<(), PushError<T>> {
        match self.claim_back(1, seen) {
            Some(claim) => {
                // SAFETY: this thread made the claim.
                unsafe { claim.segment.write(claim.offset, item, self.traced) };
                Ok(())
            }
            None => Err(PushError::Closed(item)),
        }
    }

    /// Puts all of `items` in, with one reservation for each segment (63 items) that it touches;
    /// returns how many.
    ///
    /// # Errors
    /// [`PushError::Closed`] if the queue was closed before the first; the items stay in the
    /// iterator. If the queue is closed on the way, some have gone in.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Unbounded::new();
    /// assert_eq!(queue.push_from(&mut (0..100)), Ok(100));
    /// assert_eq!(queue.len(), 100);
    /// ```
    pub fn push_from<I: TrustedItems<Item = T>>(
        &self,
        items: &mut I,
    ) -> Result<usize, PushError<()>> {
        let all = items.len();
        let mut pushed = 0;
        while pushed < all {
            let Some(claim) = self.claim_back(all - pushed, None) else {
                return if pushed > 0 { Ok(pushed) } else { Err(PushError::Closed(())) };
            };
            for offset in claim.offset..claim.offset + claim.slots {
                // SAFETY: a `TrustedItems` has as many as it said.
                let item = unsafe { items.next().unwrap_unchecked() };
                // SAFETY: this thread made the claim.
                unsafe { claim.segment.write(offset, item, self.traced) };
            }
            pushed += claim.slots;
        }
        Ok(pushed)
    }

    /// Claims up to `max` slots at the back; `None` if the queue is closed. `seen` is what the
    /// caller has loaded just now.
    #[inline]
    fn claim_back(&self, max: usize, mut seen: Option<Seen>) -> Option<Claim<T>> {
        let mut backoff = Backoff::new();
        let mut losses = 0;
        let mut next: Option<Segment<T>> = None;
        let claim = loop {
            let (tail, segment) = seen.take().unwrap_or_else(|| self.tail.load());
            if tail.is_closed() {
                break None;
            }
            let offset = tail.offset::<T>();
            if offset == Segment::<T>::SLOTS {
                if !(segment.is_null() && self.begin_slow()) {
                    backoff.snooze();
                }
                continue;
            }
            let rest = Segment::<T>::SLOTS - offset;
            let slots = rest.min(max);
            let last = slots == rest;
            if last && next.is_none() {
                // Before the claim, so that other threads wait for two stores and not for an
                // allocation.
                next = Some(self.depot.take());
            }
            let claimed = tail.advanced(slots);
            if !self.tail.claim(tail, claimed) {
                let_winner_run_slow(losses);
                losses += 1;
                continue;
            }
            // SAFETY: slots have a segment; the claimed ones keep it live until they are filled.
            let segment = unsafe { Segment::<T>::from_ptr(segment).unwrap_unchecked() };
            if last {
                // SAFETY: filled above for the last offset.
                let next = unsafe { next.take().unwrap_unchecked() };
                self.tail.move_on(claimed.advanced(1), next);
                // SAFETY: the last slot is claimed and not filled yet.
                unsafe { segment.link(next) };
            }
            break Some(Claim { segment, offset, slots, last, fetch: 0 });
        };
        if let Some(unused) = next {
            // SAFETY: never linked, so no other thread knows of it.
            unsafe { self.depot.recycle(unused) };
        }
        claim
    }

    /// Takes the item at the front.
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue was empty at some moment during the call,
    /// [`PopError::Closed`] if it was also closed then.
    ///
    /// ```
    /// use sateen::queue::PopError;
    /// let queue = sateen::queue::mpmc::Unbounded::from_iter([1, 2]);
    /// assert_eq!(queue.pop(), Ok(1));
    /// assert_eq!(queue.pop(), Ok(2));
    /// assert_eq!(queue.pop(), Err(PopError::Empty));
    /// ```
    #[inline]
    pub fn pop(&self) -> Result<T, PopError> {
        let (head, segment) = self.head.end.load();
        let offset = head.offset::<T>();
        // The usual case: a slot that is not the segment's last, an item known to be there, and no
        // other thread wants it.
        if offset >= Segment::<T>::SLOTS - 1 || !head.has_more() && !self.is_known_before_tail(head)
        {
            return self.pop_slow(Some((head, segment)));
        }
        if !self.head.end.claim(head, head.advanced(1)) {
            return self.pop_slow(None);
        }
        // SAFETY: this thread claimed the slot, and so it has the right segment. The slot is read
        // once, at last.
        Ok(unsafe {
            let segment = Segment::<T>::from_ptr(segment).unwrap_unchecked();
            if !cfg!(loom) {
                segment.fetch(offset, 1);
                segment.fetch_next(offset, 1);
            }
            segment.read(offset, self.traced)
        })
    }

    /// Whether the tail is known to be after `head`. Reads the tail only where the consumer has
    /// nothing to gain by letting the producer get ahead: they may well be one thread.
    #[inline(always)]
    fn is_known_before_tail(&self, head: Cursor) -> bool {
        if head.is_before(self.head.tail_seen.load(Ordering::Relaxed)) {
            return true;
        }
        // (A model has no use for this look: `look` does the same.)
        if cfg!(loom) || self.head.spin_limit.spins_at(head.position()) {
            return false;
        }
        let tail = Cursor(self.tail.cursor.load(Ordering::Relaxed)).position();
        if head.advanced(1).is_before(tail) {
            self.head.tail_seen.store(tail, Ordering::Relaxed);
        }
        head.is_before(tail)
    }

    #[cold]
    fn pop_slow(&self, seen: Option<Seen>) -> Result<T, PopError> {
        let claim = self.claim_front(1, Share::All, seen)?;
        // SAFETY: the slot is claimed, and read once, at last.
        let item = unsafe {
            claim.fetch_ahead();
            claim.segment.read(claim.offset, self.traced)
        };
        self.leave(claim.segment, claim.last);
        Ok(item)
    }

    /// Takes up to `max` items from the front and appends them to `buf`, with one reservation for
    /// each segment (63 items) that it touches; returns how many. `buf` grows if it has to, before
    /// any item is taken.
    ///
    /// # Errors
    /// As [`Unbounded::pop`], if there is no item and `max` is not 0.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Unbounded::from_iter(0..5);
    /// let mut buf = Vec::with_capacity(4);
    /// assert_eq!(queue.pop_into(&mut buf, 4), Ok(4));
    /// assert_eq!(buf, [0, 1, 2, 3]);
    /// ```
    pub fn pop_into(&self, buf: &mut Vec<T>, max: usize) -> Result<usize, PopError> {
        let mut taken = 0;
        while taken < max {
            let wanted = (max - taken).min(Segment::<T>::SLOTS);
            buf.reserve(wanted);
            let claim = match self.claim_front(wanted, Share::All, None) {
                Ok(claim) => claim,
                Err(nothing) => return if taken > 0 { Ok(taken) } else { Err(nothing) },
            };
            // SAFETY: the claimed slots are not read yet.
            unsafe { claim.fetch_ahead() };
            let slots = claim.offset..claim.offset + claim.slots;
            for (offset, room) in slots.zip(buf.spare_capacity_mut()) {
                // SAFETY: the slot is claimed, and read once.
                room.write(unsafe { claim.segment.read(offset, self.traced) });
            }
            // SAFETY: there was room for all, and that many were written.
            unsafe { buf.set_len(buf.len() + claim.slots) };
            self.leave(claim.segment, claim.last);
            taken += claim.slots;
        }
        Ok(taken)
    }

    /// Takes up to `max` items from the front with one claim.
    ///
    /// It takes at most half of the items, rounded up, or the rest of the front segment when more
    /// follow: other threads find some too. The items come in order; those not taken from the
    /// iterator are dropped with it. `None` if the queue was empty at some moment during the call.
    ///
    /// # Cost
    /// Two locked instructions in all.
    ///
    /// # Panics
    /// If `max` is 0.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Unbounded::from_iter(0..6);
    /// let half: Vec<_> = queue.pop_batch(32).unwrap().collect();
    /// assert_eq!(half, [0, 1, 2]);
    /// ```
    pub fn pop_batch(&self, max: usize) -> Option<Batch<'_, T>> {
        assert!(max > 0, "a batch of at most 0 items");
        let claim = self.claim_front(max, Share::Half, None).ok()?;
        Some(Batch::new(self, claim))
    }

    /// How many items are in the queue: exact for some moment during the call.
    ///
    /// ```
    /// assert_eq!(sateen::queue::mpmc::Unbounded::from_iter(0..100).len(), 100);
    /// ```
    pub fn len(&self) -> usize {
        loop {
            // Ordering: SeqCst, so that an unchanged tail means that both were read at one moment.
            let tail = self.tail.cursor.load(Ordering::SeqCst);
            let head = self.head.end.cursor.load(Ordering::SeqCst);
            if self.tail.cursor.load(Ordering::SeqCst) == tail {
                return Cursor(head).slots_until::<T>(Cursor(tail));
            }
        }
    }

    /// Whether the queue was empty at some moment during the call.
    ///
    /// ```
    /// assert!(sateen::queue::mpmc::Unbounded::<u8>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        // Ordering: SeqCst as in `look`: head first, then tail.
        let head = Cursor(self.head.end.cursor.load(Ordering::SeqCst));
        let tail = Cursor(self.tail.cursor.load(Ordering::SeqCst));
        // Not by comparing positions: an end that is moving on stands before the other by one.
        head.slots_until::<T>(tail) == 0
    }

    /// Accepts no more items: pushes give theirs back, pops go on until nothing is left. True if
    /// this call closed it.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Unbounded::new();
    /// assert!(queue.close() && !queue.close());
    /// assert!(queue.push(1).unwrap_err().is_closed());
    /// ```
    pub fn close(&self) -> bool {
        let mut backoff = Backoff::new();
        let mut losses = 0;
        loop {
            let (tail, segment) = self.tail.load();
            if tail.is_closed() {
                return false;
            }
            if segment.is_null() && self.begin_slow() {
                continue;
            }
            // At the nameless offset the tail belongs to the thread that moves it on with a plain
            // store.
            let moving = tail.offset::<T>() == Segment::<T>::SLOTS;
            if moving {
                backoff.snooze();
            } else if self.tail.claim(tail, tail.closed()) {
                return true;
            } else {
                let_winner_run_slow(losses);
                losses += 1;
            }
        }
    }

    /// Whether [`Unbounded::close`] was called.
    ///
    /// ```
    /// assert!(!sateen::queue::mpmc::Unbounded::<u8>::new().is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        // Ordering: SeqCst, in one order with claims.
        Cursor(self.tail.cursor.load(Ordering::SeqCst)).is_closed()
    }

    /// Claims up to `max` slots at the front. `seen` is what the caller has loaded just now.
    #[inline]
    fn claim_front(
        &self,
        max: usize,
        share: Share,
        mut seen: Option<Seen>,
    ) -> Result<Claim<T>, PopError> {
        let mut backoff = Backoff::new();
        let mut losses = 0;
        loop {
            let (head, segment) = seen.take().unwrap_or_else(|| self.head.end.load());
            let offset = head.offset::<T>();
            if offset == Segment::<T>::SLOTS {
                if segment.is_null() {
                    // No push has come yet; or the tail has moved on, and the head is about to.
                    self.look_slow(head, 1, share)?;
                }
                backoff.snooze();
                continue;
            }
            let rest = Segment::<T>::SLOTS - offset;
            let (there, more) =
                if head.has_more() { (rest, true) } else { self.look(head, rest, share)? };
            let slots = if share == Share::Half && !more { there.div_ceil(2) } else { there };
            let slots = slots.min(max);
            let claimed = head.advanced(slots).with_more(more);
            if !self.head.end.claim(head, claimed) {
                let_winner_run_slow(losses);
                losses += 1;
                continue;
            }
            // SAFETY: slots have a segment; the claimed ones keep it live until they are left.
            let segment = unsafe { Segment::<T>::from_ptr(segment).unwrap_unchecked() };
            if slots == rest {
                // SAFETY: the last slot is claimed and not left. The next segment is live: no
                // consumer can claim in it before the head stands there.
                unsafe {
                    let next = segment.wait_next();
                    let to = claimed.with_more(next.has_next()).advanced(1);
                    self.head.end.move_on(to, next);
                }
            }
            // Items beyond the claim will be wanted soon.
            let fetch = if there > slots { slots } else { 0 };
            return Ok(Claim { segment, offset, slots, last: slots == rest, fetch });
        }
    }

    /// How many slots may be claimed at `head`, and whether a later segment exists. Reads the tail
    /// only if all items of the last look are gone, or if half of those there *now* are wanted.
    #[inline]
    fn look(&self, head: Cursor, rest: usize, share: Share) -> Result<(usize, bool), PopError> {
        if share == Share::All {
            let seen = Cursor::at(self.head.tail_seen.load(Ordering::Relaxed));
            let there = head.ahead_of::<T>(seen, rest);
            if there.0 > 0 {
                return Ok(there);
            }
        }
        self.look_slow(head, rest, share)
    }

    #[cold]
    fn look_slow(
        &self,
        head: Cursor,
        rest: usize,
        share: Share,
    ) -> Result<(usize, bool), PopError> {
        let mut tail = head;
        let mut there = (0, false);
        let mut read = || {
            // Ordering: SeqCst: a push that came before this call, in any order that the caller can
            // see, is not missed. The claim needs none.
            tail = Cursor(self.tail.cursor.load(Ordering::SeqCst));
            there = head.ahead_of::<T>(tail, rest);
            head.slots_until::<T>(tail)
        };
        match share {
            Share::All => self.head.spin_limit.spin_then(head.position(), read),
            // A thief has other queues to look at.
            Share::Half => read(),
        };
        if there.0 > 0 {
            self.head.tail_seen.store(tail.position(), Ordering::Relaxed);
            return Ok(there);
        }
        self.head.spin_limit.found_nothing(head.position());
        Err(if tail.is_closed() { PopError::Closed } else { PopError::Empty })
    }

    /// The caller is through with slots of `segment`; with its last one if `last`.
    #[inline]
    pub(super) fn leave(&self, segment: Segment<T>, last: bool) {
        if last {
            self.depot.retire_slow(segment);
        }
    }
}

/// Which part of the front segment's items a batch may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    /// Other threads find some too.
    Half,
}

impl<T> Drop for Unbounded<T> {
    fn drop(&mut self) {
        /// Gives the memory back, also if an item's destructor panics.
        struct Memory<'a, T>(&'a Unbounded<T>);
        impl<T> Drop for Memory<'_, T> {
            fn drop(&mut self) {
                let last = self.0.head.end.segment.load(Ordering::Relaxed);
                // SAFETY: no other thread has the queue: one that had a slot of a segment is gone,
                // or has forgotten its batch. Drained, it has one segment, where both ends stand,
                // and those in the depot.
                unsafe {
                    if let Some(last) = Segment::<T>::from_ptr(last) {
                        last.free();
                    }
                    self.0.depot.free();
                }
            }
        }
        if cfg!(loom) && std::thread::panicking() {
            // A failed model leaves threads in the middle of their steps: do not wait for them.
            return;
        }
        let memory = Memory(self);
        run_to_end(|| memory.0.pop().is_ok());
    }
}

/// Items for a closed queue are dropped.
impl<T> Extend<T> for Unbounded<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| drop(self.push(item)));
    }
}

impl<T> FromIterator<T> for Unbounded<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let queue = Self::new();
        items.into_iter().for_each(|item| drop(queue.push(item)));
        queue
    }
}

impl<T> fmt::Debug for Unbounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Unbounded { .. }")
    }
}
