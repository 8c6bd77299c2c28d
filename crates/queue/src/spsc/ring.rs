//! The ring for one producer and one consumer. Protocol and proof sketch: `README.md` beside this
//! file.
//!
//! Access rules:
//! * `Shared::tail`: stored by the producer, read by the consumer.
//! * `Shared::head`: stored by the consumer, read by the producer.
//! * `Shared::closed`: set by the producer, or by the consumer as it goes; read by both.
//! * a slot: the producer's while its position is not below the tail, the consumer's while it is
//!   not below the head.
//! * a half's own fields: that half.

use crate::prim::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell};
use crate::spin_limit::SpinLimit;
use crate::{PopError, PushError};
use sateen_base::unwind::run_to_end;
use sateen_base::{CachePadded, prefetch_write};
use std::fmt;
use std::mem::MaybeUninit;

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

struct Shared<T> {
    /// Position of the next item to come; positions count up and wrap.
    tail: CachePadded<AtomicUsize>,
    /// Position of the next item to go.
    head: CachePadded<AtomicUsize>,
    /// The producer has closed, or either half is gone. On a line that is written once, so that
    /// each push can look at it.
    closed: CachePadded<AtomicBool>,
    capacity: usize,
    /// A power of two of them, at least the capacity, so that positions wrap in step.
    slots: Box<[Slot<T>]>,
}

// SAFETY: items move from the producer's thread to the consumer's; slots are accessed by one half
// at a time.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The half that puts items in. Dropping it closes the queue.
///
/// # Examples
/// ```
/// let (mut producer, mut consumer) = sateen::queue::spsc::bounded(8);
/// std::thread::scope(|s| {
///     s.spawn(move || (0..5).for_each(|i| producer.push(i).unwrap()));
///     s.spawn(move || {
///         let mut sum = 0;
///         loop {
///             match consumer.pop() {
///                 Ok(i) => sum += i,
///                 Err(nothing) if nothing.is_closed() => break,
///                 Err(_) => std::thread::yield_now(),
///             }
///         }
///         assert_eq!(sum, 10);
///     });
/// });
/// ```
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    /// The head as last seen: it is there or further.
    head: usize,
    spin_limit: SpinLimit,
}

/// The half that takes items out. Dropping it closes the queue.
///
/// # Examples
/// ```
/// let (mut producer, mut consumer) = sateen::queue::spsc::bounded(8);
/// producer.push_from(&mut [1, 2, 3].into_iter()).unwrap();
/// let mut buf = Vec::new();
/// assert_eq!(consumer.pop_into(&mut buf, 2), Ok(2));
/// assert_eq!(buf, [1, 2]);
/// ```
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    /// The tail as last seen: it is there or further.
    tail: usize,
    spin_limit: SpinLimit,
}

impl<T> std::panic::UnwindSafe for Producer<T> {}
impl<T> std::panic::RefUnwindSafe for Producer<T> {}
impl<T> std::panic::UnwindSafe for Consumer<T> {}
impl<T> std::panic::RefUnwindSafe for Consumer<T> {}

/// An empty queue for up to `capacity` items of one producer and one consumer. Takes its memory
/// now, slots for the next power of two.
///
/// # Cost
/// A push or pop is a few plain loads and stores. The other half's line is fetched only when the
/// queue looks full or empty.
///
/// Source: Lamport's ring (1983) with cached far indices.
///
/// # Panics
/// If `capacity` is 0 or above 2^48 (2^31 where words have 32 bits), or there is no memory for it.
///
/// # Examples
/// ```
/// use sateen::queue::{PopError, PushError, spsc};
/// let (mut producer, mut consumer) = spsc::bounded(1);
/// assert_eq!(producer.push(1), Ok(()));
/// assert_eq!(producer.push(2), Err(PushError::Full(2)));
/// drop(producer);
/// assert_eq!((consumer.pop(), consumer.pop()), (Ok(1), Err(PopError::Closed)));
/// ```
pub fn bounded<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    from_position(capacity, 0)
}

/// [`bounded`] with positions from `position` on, for tests near the wrap-around.
#[doc(hidden)]
pub fn starting_at<T>(capacity: usize, position: usize) -> (Producer<T>, Consumer<T>) {
    from_position(capacity, position)
}

fn from_position<T>(capacity: usize, position: usize) -> (Producer<T>, Consumer<T>) {
    assert!(capacity > 0, "capacity must be non-zero");
    let count = capacity.checked_next_power_of_two().filter(|_| capacity as u64 <= 1 << 48);
    let Some(count) = count else { panic!("a capacity of {capacity} items is above the limit") };
    let Some(slots) = slots(count) else { panic!("no memory for a queue of {capacity} items") };
    let shared = Arc::new(Shared {
        tail: CachePadded::new(AtomicUsize::new(position)),
        head: CachePadded::new(AtomicUsize::new(position)),
        closed: CachePadded::new(AtomicBool::new(false)),
        capacity,
        slots,
    });
    let spin_limit = || SpinLimit::new(position as u64, capacity);
    let producer = Producer {
        shared: shared.clone(),
        tail: position,
        head: position,
        spin_limit: spin_limit(),
    };
    (producer, Consumer { shared, head: position, tail: position, spin_limit: spin_limit() })
}

/// Slots without items, in untouched memory; `None` if there is no memory.
fn slots<T>(count: usize) -> Option<Box<[Slot<T>]>> {
    let mut slots = Vec::<Slot<T>>::new();
    slots.try_reserve_exact(count).ok()?;
    if cfg!(loom) {
        slots.extend((0..count).map(|_| UnsafeCell::new(MaybeUninit::uninit())));
    } else {
        // SAFETY: there is room for this many, and a cell of a `MaybeUninit` need not be
        // initialised.
        unsafe { slots.set_len(count) };
    }
    Some(slots.into_boxed_slice())
}

impl<T> Shared<T> {
    #[inline(always)]
    fn slot(&self, position: usize) -> &Slot<T> {
        let mask = self.slots.len() - 1;
        // SAFETY: the number of slots is a power of two, so the masked position is below it.
        unsafe { self.slots.get_unchecked(position & mask) }
    }

    #[inline(always)]
    fn is_closed(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `close`: a consumer that sees it sees every
        // item.
        self.closed.load(Ordering::Acquire)
    }

    fn close(&self) -> bool {
        let was = self.closed.load(Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `is_closed`: all pushes come before it.
        self.closed.store(true, Ordering::Release);
        !was
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Ordering: Relaxed, the last reference to go has synchronised with the other.
        let mut head = self.head.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Relaxed);
        run_to_end(|| {
            let left = head != tail;
            if left {
                let slot = self.slot(head);
                head = head.wrapping_add(1);
                // SAFETY: the halves are gone; an item between head and tail was put in and not
                // taken out, and the head has moved past it.
                slot.with_mut(|at| unsafe { (*at).assume_init_drop() });
            }
            left
        });
    }
}

impl<T> Producer<T> {
    /// Puts `item` in at the back.
    ///
    /// # Errors
    /// [`PushError::Full`] if there was no room, [`PushError::Closed`] if this half was closed or
    /// the other is gone; either holds the item. An item that goes in while the other half is being
    /// dropped is dropped with the queue.
    ///
    /// ```
    /// let (mut producer, consumer) = sateen::queue::spsc::bounded(1);
    /// assert!(producer.push(1).is_ok());
    /// assert!(producer.push(2).unwrap_err().is_full());
    /// drop(consumer);
    /// assert!(producer.push(3).unwrap_err().is_closed());
    /// ```
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), PushError<T>> {
        if self.shared.is_closed() {
            return Err(PushError::Closed(item));
        }
        if self.tail.wrapping_sub(self.head) == self.shared.capacity && self.room_slow() == 0 {
            return Err(PushError::Full(item));
        }
        // SAFETY: there is room.
        unsafe { self.write(self.tail, item) };
        self.publish(self.tail.wrapping_add(1));
        Ok(())
    }

    /// Puts in as many of `items` as there is room for; returns how many. The consumer sees them
    /// all at once. Items that do not fit stay in the iterator. If the iterator panics, the items
    /// that it returned before are in.
    ///
    /// # Errors
    /// [`PushError::Full`] if there was no room for any; [`PushError::Closed`] as
    /// [`Producer::push`].
    ///
    /// ```
    /// let (mut producer, consumer) = sateen::queue::spsc::bounded(3);
    /// let mut items = (0..5).map(|i| i * 2);
    /// assert_eq!(producer.push_from(&mut items), Ok(3));
    /// assert_eq!((items.next(), consumer.len()), (Some(6), 3));
    /// ```
    pub fn push_from<I: Iterator<Item = T>>(
        &mut self,
        items: &mut I,
    ) -> Result<usize, PushError<()>> {
        /// Publishes the items that were written, also if the iterator panics.
        struct Publish<'a, T>(&'a mut Producer<T>, usize);
        impl<T> Drop for Publish<'_, T> {
            fn drop(&mut self) {
                self.0.publish(self.1);
            }
        }
        if self.shared.is_closed() {
            return Err(PushError::Closed(()));
        }
        let room = match self.shared.capacity - self.tail.wrapping_sub(self.head) {
            // Enough for all, if the iterator knows how many it has.
            known if known > 0 && items.size_hint().1.is_some_and(|most| most <= known) => known,
            _ => self.room_slow(),
        };
        if room == 0 {
            return Err(PushError::Full(()));
        }
        let start = self.tail;
        let mut batch = Publish(self, start);
        for item in items.take(room) {
            // SAFETY: there is room for these.
            unsafe { batch.0.write(batch.1, item) };
            batch.1 = batch.1.wrapping_add(1);
        }
        Ok(batch.1.wrapping_sub(start))
    }

    /// How many items there is room for, by a fresh look at the head.
    #[cold]
    fn room_slow(&mut self) -> usize {
        let capacity = self.shared.capacity;
        let room = self.spin_limit.spin_then(self.tail as u64, || {
            // Ordering: Acquire pairs with the Release in `Consumer::release`: the consumer's reads
            // come before the producer's next writes.
            self.head = self.shared.head.load(Ordering::Acquire);
            capacity - self.tail.wrapping_sub(self.head)
        });
        if room == 0 {
            self.spin_limit.found_nothing(self.tail as u64);
        }
        room
    }

    /// # Safety
    /// `position` is not below the tail, and less than the capacity above the head.
    #[inline(always)]
    unsafe fn write(&self, position: usize, item: T) {
        // SAFETY: between tail and head, round the ring, the slots are the producer's and hold
        // nothing.
        self.shared.slot(position).with_mut(|at| unsafe {
            (*at).write(item);
        });
        self.fetch(position);
    }

    /// The slots in 512 bytes. Lines that the consumer has read are fetched this far ahead, if it
    /// is through with them. Otherwise each line would delay the publication of its items.
    const AHEAD: usize = if size_of::<T>() == 0 { 0 } else { 512 / size_of::<T>() };

    /// Fetches the line of the slot `AHEAD` of `position`, once a line.
    #[inline(always)]
    fn fetch(&self, position: usize) {
        let ahead = position.wrapping_add(Self::AHEAD);
        if Self::AHEAD == 0 || cfg!(loom) || ahead.wrapping_sub(self.head) >= self.shared.capacity {
            return;
        }
        let at = std::ptr::from_ref(self.shared.slot(ahead)).cast::<u8>();
        if at.addr() % 64 < size_of::<T>() {
            prefetch_write(at);
        }
    }

    #[inline(always)]
    fn publish(&mut self, tail: usize) {
        self.tail = tail;
        // Ordering: Release pairs with the Acquire in `Consumer::items_slow`, and shows the items.
        self.shared.tail.store(tail, Ordering::Release);
    }

    /// Closes the queue: pushes give their items back; the consumer takes the items that are left,
    /// and is then told. True if it was open.
    ///
    /// ```
    /// let (mut producer, mut consumer) = sateen::queue::spsc::bounded::<u8>(1);
    /// assert!(producer.close() && !producer.close());
    /// assert!(consumer.pop().unwrap_err().is_closed());
    /// ```
    pub fn close(&mut self) -> bool {
        self.shared.close()
    }

    /// Whether this half was closed or the other is gone.
    ///
    /// ```
    /// let (producer, consumer) = sateen::queue::spsc::bounded::<u8>(1);
    /// drop(consumer);
    /// assert!(producer.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many items are in the queue: never fewer than the consumer finds.
    ///
    /// ```
    /// let (mut producer, consumer) = sateen::queue::spsc::bounded(2);
    /// producer.push('a').unwrap();
    /// assert_eq!((producer.len(), consumer.len()), (1, 1));
    /// ```
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.shared.head.load(Ordering::Relaxed))
    }

    /// Whether the consumer has taken everything.
    ///
    /// ```
    /// assert!(sateen::queue::spsc::bounded::<u8>(2).0.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room.
    ///
    /// ```
    /// assert!(!sateen::queue::spsc::bounded::<u8>(2).0.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many items the queue can hold.
    ///
    /// ```
    /// assert_eq!(sateen::queue::spsc::bounded::<u8>(3).0.capacity(), 3);
    /// ```
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl<T> Consumer<T> {
    /// Takes the item at the front.
    ///
    /// # Errors
    /// [`PopError::Empty`] if there is none, [`PopError::Closed`] if there will be none.
    ///
    /// ```
    /// let (producer, mut consumer) = sateen::queue::spsc::bounded::<u8>(1);
    /// assert!(consumer.pop().unwrap_err().is_empty());
    /// drop(producer);
    /// assert!(consumer.pop().unwrap_err().is_closed());
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Result<T, PopError> {
        if self.head == self.tail {
            self.items_slow()?;
        }
        // SAFETY: there is an item.
        let item = unsafe { self.read(self.head) };
        self.release(self.head.wrapping_add(1));
        Ok(item)
    }

    /// Takes up to `max` items from the front and appends them to `buf`; returns how many. The
    /// producer gets all their slots at once. `buf` grows if it has to, before any item is taken.
    ///
    /// # Errors
    /// As [`Consumer::pop`], if there is no item and `max` is not 0.
    ///
    /// ```
    /// let (mut producer, mut consumer) = sateen::queue::spsc::bounded(4);
    /// producer.push_from(&mut (0..4)).unwrap();
    /// let mut buf = Vec::with_capacity(3);
    /// assert_eq!(consumer.pop_into(&mut buf, 3), Ok(3));
    /// assert_eq!(buf, [0, 1, 2]);
    /// ```
    pub fn pop_into(&mut self, buf: &mut Vec<T>, max: usize) -> Result<usize, PopError> {
        if max == 0 {
            return Ok(0);
        }
        if self.tail.wrapping_sub(self.head) < max {
            self.items_slow()?;
        }
        let count = self.tail.wrapping_sub(self.head).min(max);
        buf.reserve(count);
        let first = self.head & (self.shared.slots.len() - 1);
        let (round, to_end) = self.shared.slots.split_at(first);
        let here = count.min(to_end.len());
        let (room, more_room) = buf.spare_capacity_mut().split_at_mut(here);
        // Two straight runs: the compiler copies many items at once, and lines are waited for
        // together.
        for (slots, room) in [(&to_end[..here], room), (&round[..count - here], more_room)] {
            for (slot, room) in slots.iter().zip(room) {
                // SAFETY: from head to tail the slots hold items; each of these is read once.
                room.write(slot.with(|at| unsafe { (*at).assume_init_read() }));
            }
        }
        // SAFETY: there was room for all, and that many were written.
        unsafe { buf.set_len(buf.len() + count) };
        self.release(self.head.wrapping_add(count));
        Ok(count)
    }

    /// Looks how far the producer is; an error if there is no item.
    #[cold]
    fn items_slow(&mut self) -> Result<(), PopError> {
        let mut closed = false;
        let there = self.spin_limit.spin_then(self.head as u64, || {
            // Before the tail: if there is no item then, there will be none later.
            closed = self.shared.is_closed();
            // Ordering: Acquire pairs with the Release in `Producer::publish`, and shows the items.
            self.tail = self.shared.tail.load(Ordering::Acquire);
            self.tail.wrapping_sub(self.head)
        });
        if there > 0 {
            return Ok(());
        }
        self.spin_limit.found_nothing(self.head as u64);
        Err(if closed { PopError::Closed } else { PopError::Empty })
    }

    /// # Safety
    /// `position` is at or above the head, and below the tail; it is read once.
    #[inline(always)]
    unsafe fn read(&self, position: usize) -> T {
        // SAFETY: from head to tail the slots are the consumer's and hold items.
        self.shared.slot(position).with(|at| unsafe { (*at).assume_init_read() })
    }

    #[inline(always)]
    fn release(&mut self, head: usize) {
        self.head = head;
        // Ordering: Release pairs with the Acquire in `Producer::room_slow`: these reads come
        // before its writes.
        self.shared.head.store(head, Ordering::Release);
    }

    /// Whether the producer has closed or is gone; there may be items left.
    ///
    /// ```
    /// let (producer, consumer) = sateen::queue::spsc::bounded::<u8>(1);
    /// drop(producer);
    /// assert!(consumer.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many items are in the queue: never more than can be taken.
    ///
    /// ```
    /// assert_eq!(sateen::queue::spsc::bounded::<u8>(2).1.len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.tail.load(Ordering::Relaxed).wrapping_sub(self.head)
    }

    /// Whether there is nothing to take.
    ///
    /// ```
    /// assert!(sateen::queue::spsc::bounded::<u8>(2).1.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for the producer.
    ///
    /// ```
    /// assert!(!sateen::queue::spsc::bounded::<u8>(2).1.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many items the queue can hold.
    ///
    /// ```
    /// assert_eq!(sateen::queue::spsc::bounded::<u8>(3).1.capacity(), 3);
    /// ```
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Producer { .. }")
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Consumer { .. }")
    }
}
