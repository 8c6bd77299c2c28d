//! The bounded queue. States, protocol and proof sketch: `README.md` beside this file.
//!
//! Access rules:
//! * an end's `position`: any thread, by exchange; its `spin_limit`: any thread, it is a guess.
//! * a slot's flag, its turn: read by any thread; stored by the thread that claimed the slot; that
//!   of a reserved slot under the lock `reservations`.
//! * a slot's item: written by the producer that claimed it, before it stores the turn "full"; read
//!   by the consumer that claimed it, before it stores the turn "free".

mod force;
mod hint;
mod reserved;
#[cfg(all(test, not(loom)))]
mod stalls;

pub(crate) use reserved::ReservedSlot;

use super::block::{Block, Slot};
use super::position::{Position, Shape};
use crate::prim::{AtomicU64, Ordering};
use crate::spin_limit::SpinLimit;
use crate::trace::Traced;
use crate::{PopError, PushError, TrustedItems};
use sateen_base::unwind::run_to_end;
use sateen_base::{Backoff, CachePadded, RawSpinLock, SpinLock};
use std::fmt;

/// One end of the ring.
struct End {
    position: AtomicU64,
    spin_limit: SpinLimit,
}

/// A bounded first-in first-out queue for many producers and many consumers.
///
/// Any capacity from 1 on; all memory is taken at construction. Neither push nor pop waits for room
/// or for items.
///
/// A pop does wait for a producer that has claimed the front slot and not yet filled it, and a push
/// for a consumer in the same way: a few instructions, unless that thread lost its processor there.
/// After a success, a call that finds the queue empty (or full) spins for up to two microseconds if
/// earlier spins paid off.
///
/// # Cost
/// One locked instruction a push, pop or batch.
///
/// Source: Vyukov's bounded queue (2010), with a byte for a lap's turn.
///
/// # Examples
/// ```
/// use sateen::queue::{PopError, PushError, mpmc::Bounded};
/// let queue = Bounded::new(2);
/// assert_eq!(queue.push(1), Ok(()));
/// assert_eq!(queue.push(2), Ok(()));
/// assert_eq!(queue.push(3), Err(PushError::Full(3)));
/// queue.close();
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Ok(1), Ok(2), Err(PopError::Closed)));
/// ```
pub struct Bounded<T> {
    head: CachePadded<End>,
    tail: CachePadded<End>,
    shape: Shape,
    /// As many slots as the capacity.
    slots: Block<(), T>,
    /// Held while a reservation ends: see the module `reserved`. Looks have found no item from the
    /// head up to the position in it.
    reservations: SpinLock<Position>,
    pub(crate) traced: Traced,
}

// SAFETY: items move in from one thread and out to another; no two threads share one.
unsafe impl<T: Send> Send for Bounded<T> {}
// SAFETY: as above; the protocol gives each item to exactly one consumer.
unsafe impl<T: Send> Sync for Bounded<T> {}

impl<T> std::panic::UnwindSafe for Bounded<T> {}
impl<T> std::panic::RefUnwindSafe for Bounded<T> {}

/// What a thread found at the position it wanted.
enum Found {
    /// The slot has become ready.
    Again,
    /// Other threads are at work there, or have been: look again in a moment.
    Busy,
    /// No room, or no item.
    Nothing,
}

impl<T> Bounded<T> {
    /// An empty queue for up to `capacity` items.
    ///
    /// # Panics
    /// If `capacity` is 0 or above 2^48, or there is no memory for it.
    ///
    /// ```
    /// assert_eq!(sateen::queue::mpmc::Bounded::<u8>::new(1000).capacity(), 1000);
    /// ```
    pub fn new(capacity: usize) -> Self {
        Self::from_lap(capacity, 0)
    }

    /// As [`new`](Self::new), but `None` if there is no memory for it.
    #[doc(hidden)]
    pub fn try_new(capacity: usize) -> Option<Self> {
        Self::try_from_lap(capacity, 0)
    }

    /// A queue whose first lap has number `lap`, for tests near the wrap-around.
    #[doc(hidden)]
    pub fn starting_at(capacity: usize, lap: u64) -> Self {
        Self::from_lap(capacity, lap)
    }

    fn from_lap(capacity: usize, lap: u64) -> Self {
        Self::try_from_lap(capacity, lap)
            .unwrap_or_else(|| panic!("no memory for a queue of {capacity} items"))
    }

    fn try_from_lap(capacity: usize, lap: u64) -> Option<Self> {
        let shape = Shape::new(capacity);
        let start = shape.start(lap);
        let end = || {
            let position = AtomicU64::new(start.word());
            CachePadded::new(End { position, spin_limit: SpinLimit::new(start.word(), capacity) })
        };
        let slots = Block::try_new((), capacity, shape.free(start))?;
        let reservations = SpinLock::from_raw(RawSpinLock::new(), start);
        let traced = Traced::NO;
        Some(Self { head: end(), tail: end(), shape, slots, reservations, traced })
    }

    /// Puts `item` in at the back.
    ///
    /// # Errors
    /// [`PushError::Full`] if the queue was full at some moment during the call,
    /// [`PushError::Closed`] if it was closed before; either holds the item.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(1);
    /// assert!(queue.push("a").is_ok());
    /// assert!(queue.push("b").unwrap_err().is_full());
    /// ```
    #[inline]
    pub fn push(&self, item: T) -> Result<(), PushError<T>> {
        self.push_or_look(item, true)
    }

    /// As [`push`](Self::push). Unless it `looks`, it may say "full" of a small ring without a look
    /// at the head: that would take its line from the consumers.
    #[inline(always)]
    pub(crate) fn push_or_look(&self, item: T, looks: bool) -> Result<(), PushError<T>> {
        let mut backoff = Backoff::new();
        loop {
            let tail = self.position(&self.tail);
            if self.shape.is_closed(tail) {
                return Err(PushError::Closed(item));
            }
            let slot = self.slot(tail);
            if Self::turn(slot) == self.shape.free(tail) {
                if self.claim(&self.tail, tail, self.shape.next(tail)) {
                    self.traced.sent(slot);
                    // SAFETY: free, and claimed by this thread.
                    unsafe { Self::fill(slot, self.shape.full(tail), item) };
                    self.fetch(tail, 1, Self::FILL_AHEAD);
                    return Ok(());
                }
                backoff.spin();
            } else if !looks && !self.tail.spin_limit.is_worthwhile() {
                return Err(PushError::Full(item));
            } else {
                match self.room_slow(tail) {
                    Found::Nothing => return Err(PushError::Full(item)),
                    Found::Busy => backoff.snooze(),
                    Found::Again => {}
                }
            }
        }
    }

    /// Puts in as many of `items` as there is room for, with one reservation; returns how many.
    /// Items that do not fit stay in the iterator.
    ///
    /// # Errors
    /// [`PushError::Full`] or [`PushError::Closed`], if there were items and none went in.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(3);
    /// let mut items = 0..5;
    /// assert_eq!(queue.push_from(&mut items), Ok(3));
    /// assert_eq!(items, 3..5);
    /// assert!(queue.push_from(&mut items).unwrap_err().is_full());
    /// ```
    pub fn push_from<I: TrustedItems<Item = T>>(
        &self,
        items: &mut I,
    ) -> Result<usize, PushError<()>> {
        let wanted = items.len();
        if wanted == 0 {
            return Ok(0);
        }
        let mut backoff = Backoff::new();
        let mut waited = false;
        loop {
            let tail = self.position(&self.tail);
            if self.shape.is_closed(tail) {
                return Err(PushError::Closed(()));
            }
            let count = self.run(tail, wanted, Shape::free);
            let end = self.shape.advanced(tail, count);
            if count == 0 {
                match self.room_slow(tail) {
                    Found::Nothing => return Err(PushError::Full(())),
                    Found::Busy => backoff.snooze(),
                    Found::Again => {}
                }
                continue;
            }
            if count < wanted && !waited {
                // A short reservation costs as much as a long one.
                waited = true;
                let free = || Self::turn(self.slot(end)) == self.shape.free(end);
                if self.tail.spin_limit.spin_until(tail.word(), free) {
                    continue;
                }
            }
            if !self.claim(&self.tail, tail, end) {
                backoff.spin();
                continue;
            }
            for (first, most, position) in self.shape.parts(tail, count) {
                let full = self.shape.full(position);
                for index in first..first + most {
                    // SAFETY: a `TrustedItems` has as many as it said.
                    let item = unsafe { items.next().unwrap_unchecked() };
                    self.traced.sent(self.at(index));
                    // SAFETY: all of them were free, and this thread claimed them.
                    unsafe { Self::fill(self.at(index), full, item) };
                }
            }
            self.fetch(tail, count, 2 * count);
            return Ok(count);
        }
    }

    /// Takes the item at the front.
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue was empty at some moment during the call,
    /// [`PopError::Closed`] if it was also closed then.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::<u8>::new(1);
    /// assert!(queue.pop().unwrap_err().is_empty());
    /// ```
    #[inline]
    pub fn pop(&self) -> Result<T, PopError> {
        self.pop_past(&mut 0, true)
    }

    /// The same; adds to `skipped` the aborted slots that it passed over. Unless it `looks`, it may
    /// say "empty" of a small ring without a look at the tail.
    #[inline(always)]
    pub(crate) fn pop_past(&self, skipped: &mut usize, looks: bool) -> Result<T, PopError> {
        let mut backoff = Backoff::new();
        loop {
            let head = self.position(&self.head);
            let slot = self.slot(head);
            if Self::turn(slot) == self.shape.full(head) {
                if self.claim(&self.head, head, self.shape.next(head)) {
                    let free = self.shape.free_after(head);
                    self.traced.received(slot);
                    // SAFETY: full, and claimed by this thread.
                    let item = unsafe { Self::empty(slot, free) };
                    self.fetch(head, 1, Self::EMPTY_AHEAD);
                    return Ok(item);
                }
                backoff.spin();
            } else if !looks && !self.head.spin_limit.is_worthwhile() {
                return Err(PopError::Empty);
            } else {
                if let Found::Busy = self.item_slow(head, skipped)? {
                    backoff.snooze();
                }
            }
        }
    }

    /// Takes up to `max` items from the front with one reservation and appends them to `buf`;
    /// returns how many. `buf` grows if it has to, before any item is taken.
    ///
    /// # Errors
    /// As [`Bounded::pop`], if there is no item and `max` is not 0.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(8);
    /// queue.push_from(&mut (0..5)).unwrap();
    /// let mut buf = Vec::with_capacity(4);
    /// assert_eq!(queue.pop_into(&mut buf, 4), Ok(4));
    /// assert_eq!(buf, [0, 1, 2, 3]);
    /// ```
    pub fn pop_into(&self, buf: &mut Vec<T>, max: usize) -> Result<usize, PopError> {
        self.pop_into_past(buf, max, &mut 0)
    }

    /// The same; adds to `skipped` the aborted slots that it passed over.
    pub(crate) fn pop_into_past(
        &self,
        buf: &mut Vec<T>,
        max: usize,
        skipped: &mut usize,
    ) -> Result<usize, PopError> {
        if max == 0 {
            return Ok(0);
        }
        let mut backoff = Backoff::new();
        let mut waited = false;
        loop {
            let head = self.position(&self.head);
            let count = self.run(head, max, Shape::full);
            let end = self.shape.advanced(head, count);
            if count == 0 {
                if let Found::Busy = self.item_slow(head, skipped)? {
                    backoff.snooze();
                }
                continue;
            }
            if count < max && !waited {
                // A short reservation costs as much as a long one.
                waited = true;
                let full = || Self::turn(self.slot(end)) == self.shape.full(end);
                if self.head.spin_limit.spin_until(head.word(), full) {
                    continue;
                }
            }
            buf.reserve(count);
            if !self.claim(&self.head, head, end) {
                backoff.spin();
                continue;
            }
            let mut room = buf.spare_capacity_mut().iter_mut();
            for (first, most, position) in self.shape.parts(head, count) {
                let free = self.shape.free_after(position);
                for (index, room) in (first..first + most).zip(&mut room) {
                    self.traced.received(self.at(index));
                    // SAFETY: all of them were full, and this thread claimed them.
                    room.write(unsafe { Self::empty(self.at(index), free) });
                }
            }
            // SAFETY: there was room for all, and `count` items were written.
            unsafe { buf.set_len(buf.len() + count) };
            self.fetch(head, count, 2 * count);
            return Ok(count);
        }
    }

    /// Accepts no more items: pushes give theirs back, pops go on until nothing is left. True if
    /// this call closed it.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(1);
    /// assert!(queue.close() && !queue.close());
    /// assert!(queue.push(1).unwrap_err().is_closed());
    /// ```
    pub fn close(&self) -> bool {
        // Ordering: SeqCst, in one order with claims and emptiness tests: a consumer that is told
        // "closed" has missed no item.
        let before = self.tail.position.fetch_or(self.shape.closed_bit(), Ordering::SeqCst);
        !self.shape.is_closed(Position::new(before))
    }

    /// Whether [`Bounded::close`] was called.
    ///
    /// ```
    /// assert!(!sateen::queue::mpmc::Bounded::<u8>::new(1).is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        // Ordering: SeqCst, as in `close`.
        self.shape.is_closed(Position::new(self.tail.position.load(Ordering::SeqCst)))
    }

    /// How many items it can hold.
    ///
    /// ```
    /// assert_eq!(sateen::queue::mpmc::Bounded::<u8>::new(3).capacity(), 3);
    /// ```
    pub fn capacity(&self) -> usize {
        self.shape.capacity()
    }

    /// How many items are in the queue: exact for some moment during the call. Items being put in
    /// count, items being taken out do not.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(3);
    /// queue.push(1).unwrap();
    /// assert_eq!(queue.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        loop {
            // Ordering: SeqCst, so that an unchanged tail means that both were read at one moment.
            let tail = self.tail.position.load(Ordering::SeqCst);
            let head = self.head.position.load(Ordering::SeqCst);
            if self.tail.position.load(Ordering::SeqCst) == tail {
                // A forced push goes past the end for a moment.
                return self
                    .shape
                    .between(Position::new(head), Position::new(tail))
                    .min(self.capacity());
            }
        }
    }

    /// Whether the queue was empty at some moment during the call.
    ///
    /// ```
    /// assert!(sateen::queue::mpmc::Bounded::<u8>::new(1).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        // Ordering: SeqCst, head first: it never passes the tail, so equal means empty then.
        let head = self.head.position.load(Ordering::SeqCst);
        self.shape.open(Position::new(self.tail.position.load(Ordering::SeqCst))) == head
    }

    /// Whether the queue was full at some moment during the call.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(1);
    /// queue.push(1).unwrap();
    /// assert!(queue.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    #[inline(always)]
    fn position(&self, end: &End) -> Position {
        // Ordering: Acquire pairs with the claim that came to this position. A thread that sees it
        // sees at least the turn that its claimant saw in the lap before. It never sees one so old
        // that it looks like the next.
        Position::new(end.position.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn slot(&self, position: Position) -> &Slot<T> {
        self.at(self.shape.index(position))
    }

    #[inline(always)]
    fn at(&self, index: usize) -> &Slot<T> {
        debug_assert!(index < self.capacity());
        // SAFETY: indices come from positions and their parts, which are below the capacity, the
        // number of slots.
        unsafe { self.slots.slot(index) }
    }

    #[inline(always)]
    fn turn(slot: &Slot<T>) -> u8 {
        // Ordering: Acquire pairs with the Releases in `fill` and `empty`: it shows the item, or
        // that the one before is out.
        slot.flag.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn claim(&self, end: &End, from: Position, to: Position) -> bool {
        // Ordering: SeqCst, in one order with the tests for empty, full and closed; as a Release it
        // pairs with the Acquire in `position`. The items need none: their turns show them.
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        end.position.compare_exchange_weak(from.word(), to.word(), success, failure).is_ok()
    }

    /// How many slots from `start` on have the turn that `turn` names, up to `max`.
    #[inline]
    fn run(&self, start: Position, max: usize, turn: fn(&Shape, Position) -> u8) -> usize {
        let mut count = 0;
        for (first, most, position) in self.shape.parts(start, max) {
            let turn = turn(&self.shape, position);
            let slots = (first..first + most).map(|index| self.at(index));
            let ready = slots.take_while(|slot| Self::turn(slot) == turn).count();
            count += ready;
            if ready < most {
                break;
            }
        }
        count
    }

    /// # Safety
    /// The caller claimed the slot when it was free; `full` is its turn.
    #[inline(always)]
    unsafe fn fill(slot: &Slot<T>, full: u8, item: T) {
        slot.item.with_mut(|at| {
            // SAFETY: free, so the last reader is through; claimed, so there is no other writer.
            unsafe { (*at).write(item) };
        });
        // Ordering: Release pairs with the Acquire in `turn`, and shows the item.
        slot.flag.store(full, Ordering::Release);
    }

    /// # Safety
    /// The caller claimed the slot when it was full; `free` is its turn in the next lap.
    #[inline(always)]
    unsafe fn empty(slot: &Slot<T>, free: u8) -> T {
        // SAFETY: full, so the item is there; claimed, so no other thread reads it.
        let item = slot.item.with(|at| unsafe { (*at).assume_init_read() });
        // Ordering: Release pairs with the Acquire in `turn`: this read comes before the next item
        // is written.
        slot.flag.store(free, Ordering::Release);
        item
    }

    /// How many slots ahead lines are fetched for writing: four lines and two. By then the far side
    /// is through with them, unless the ring is nearly full or nearly empty. Otherwise the next
    /// exchange waits for each line.
    const FILL_AHEAD: usize = Block::<(), T>::slots_in(4);
    const EMPTY_AHEAD: usize = Block::<(), T>::slots_in(2);

    /// Fetches the lines of the `count` slots that lie `ahead` of `position`.
    #[inline(always)]
    fn fetch(&self, position: Position, count: usize, ahead: usize) {
        // Not in a small ring, where the far side may be anywhere, and not past its end.
        let first = self.shape.index(position) + ahead;
        if ahead > 0 {
            self.slots.fetch(first, count.min(self.capacity().saturating_sub(first)));
        }
    }

    /// The slot at `tail` was not free: is there room at all?
    #[cold]
    fn room_slow(&self, tail: Position) -> Found {
        let free = || Self::turn(self.slot(tail)) == self.shape.free(tail);
        if self.tail.spin_limit.spin_until(tail.word(), free) {
            return Found::Again;
        }
        // Ordering: SeqCst, in one order with claims. With the same tail before and after, the
        // queue was as full as that when the head was read.
        let head = Position::new(self.head.position.load(Ordering::SeqCst));
        let same = self.tail.position.load(Ordering::SeqCst) == tail.word();
        if same && self.shape.between(head, tail) >= self.capacity() {
            self.tail.spin_limit.found_nothing(tail.word());
            return Found::Nothing;
        }
        Found::Busy
    }

    /// The slot at `head` was not full: is there an item at all? An error if not.
    #[cold]
    fn item_slow(&self, head: Position, skipped: &mut usize) -> Result<Found, PopError> {
        let full = || Self::turn(self.slot(head)) == self.shape.full(head);
        if self.head.spin_limit.spin_until(head.word(), full) {
            return Ok(Found::Again);
        }
        // Ordering: SeqCst, in one order with claims and `close`. The head never passes the tail,
        // so the queue was empty when the tail was read.
        let tail = Position::new(self.tail.position.load(Ordering::SeqCst));
        if self.shape.open(tail) != head.word()
            && (!self.is_reserved(head) || self.pass_over_slow(head, tail))
        {
            if self.skip_aborted(head) {
                *skipped += 1;
                return Ok(Found::Again);
            }
            return Ok(Found::Busy);
        }
        self.head.spin_limit.found_nothing(head.word());
        Err(if self.shape.is_closed(tail) { PopError::Closed } else { PopError::Empty })
    }
}

impl<T> Drop for Bounded<T> {
    fn drop(&mut self) {
        /// Gives the memory back, also if an item's destructor panics.
        struct Memory<'a, T>(&'a Bounded<T>);
        impl<T> Drop for Memory<'_, T> {
            fn drop(&mut self) {
                // SAFETY: made with as many slots; no other thread has the queue.
                unsafe { self.0.slots.free(self.0.capacity()) };
            }
        }
        if cfg!(loom) && std::thread::panicking() {
            // A failed model leaves threads in the middle of their steps: do not wait for them.
            return;
        }
        let memory = Memory(self);
        run_to_end(|| memory.0.drop_one());
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Bounded { .. }")
    }
}
