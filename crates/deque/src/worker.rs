//! The owner's half of a deque.

use crate::buffer::{Buffer, Retired};
use crate::index::{Top, gap};
use crate::inner::Inner;
use crate::prim::{Arc, Ordering};
use crate::stage::{Cached, Stage};
use crate::stealer::Stealer;
use sateen_base::fence;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::MaybeUninit;

/// How the owner takes items. Thieves always take the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// The oldest, where thieves do.
    Fifo,
    /// The newest.
    Lifo,
    /// The newest, with a private part (`split.rs`).
    Split,
}

impl Flavor {
    fn lifo<S: Stage>(allow_split: bool) -> Self {
        // The model's light fence is a full one, so there every machine is asymmetric.
        let split = S::SPLIT && allow_split && (cfg!(loom) || fence::is_asymmetric());
        if split { Self::Split } else { Self::Lifo }
    }

    /// How many items a pop must leave to need no slow path, whatever the buffer's size: the last
    /// item of a LIFO deque is contended for.
    pub(crate) fn least_low(self) -> i32 {
        i32::from(self == Self::Lifo)
    }

    /// Whether the owner takes from the end that thieves take from.
    pub(crate) fn is_fifo(self) -> bool {
        self == Self::Fifo
    }
}

/// The owner's own state.
pub(crate) struct Own<T> {
    /// A push at this index must make room first: `resolved` plus the capacity.
    pub(crate) limit: Cell<u32>,
    /// All claims of indices before this one are resolved.
    pub(crate) resolved: Cell<u32>,
    /// Whether the owner saw a mark in the current buffer. Without one, its claims in order need
    /// none.
    pub(crate) any_marks: Cell<bool>,
    /// The last seen value of `top`: the index may be old, the generation never is.
    pub(crate) seen: Cell<Top>,
    /// The current buffer.
    pub(crate) buffer: Cell<Buffer<T>>,
    /// Pops that leave fewer items than this take the slow path, which counts those that leave the
    /// buffer almost empty. Never below [`Flavor::least_low`].
    pub(crate) low: Cell<i32>,
    /// How many such pops there were with this buffer.
    pub(crate) low_pops: Cell<u32>,
    /// Split deques: the owner gave indices before this one to thieves, or saw them claimed.
    pub(crate) floor: Cell<u32>,
    /// Split deques: the value of `guard` that makes no request.
    pub(crate) idle_guard: Cell<u32>,
    /// Split deques: what is pushed until the next slow pop is for thieves, the newest item too.
    pub(crate) shares_all: Cell<bool>,
    /// Buffers replaced while a thief was at work in them.
    pub(crate) retired: RefCell<Vec<Retired<T>>>,
    /// Whether there are such buffers.
    pub(crate) any_retired: Cell<bool>,
}

/// The owner's half of a work-stealing deque: one thread pushes and pops, any number of threads
/// steal through [`Stealer`]s.
///
/// The API is that of `crossbeam-deque`. `S` is the [`Stage`], by default [`Cached`]. A deque holds
/// at most 2^30 items.
///
/// # Cost
/// Of the default without contention: a push is a few plain instructions, a pop one fence or one
/// locked instruction. A push that finds the buffer full allocates one of twice the size, amortised
/// to a constant; thieves go on meanwhile. Memory: see [the crate's page](crate).
///
/// Source: Chase and Lev, "Dynamic circular work-stealing deque" (2005); Lê and others, "Correct
/// and efficient work-stealing for weak memory models" (2013).
///
/// # Examples
/// ```
/// use sateen::deque::{Steal, Worker};
///
/// let w = Worker::new_lifo();
/// let s = w.stealer();
/// w.push(1);
/// w.push(2);
/// w.push(3);
/// assert_eq!(s.steal(), Steal::Success(1));
/// assert_eq!(w.pop(), Some(3));
/// assert_eq!(w.pop(), Some(2));
/// assert_eq!(w.pop(), None);
/// ```
pub struct Worker<T, S: Stage = Cached> {
    pub(crate) inner: Arc<Inner<T, S>>,
    pub(crate) own: Own<T>,
    pub(crate) flavor: Flavor,
}

// SAFETY: the owner may move to another thread; items move with it and to thieves.
unsafe impl<T: Send, S: Stage> Send for Worker<T, S> {}

impl<T, S: Stage> std::panic::UnwindSafe for Worker<T, S> {}

impl<T> Worker<T> {
    /// A deque whose owner takes the oldest item, as thieves do.
    ///
    /// ```
    /// let w = sateen::deque::Worker::new_fifo();
    /// w.push(1);
    /// w.push(2);
    /// assert_eq!(w.pop(), Some(1));
    /// ```
    pub fn new_fifo() -> Self {
        Self::staged_fifo()
    }

    /// A deque whose owner takes the newest item.
    ///
    /// ```
    /// let w = sateen::deque::Worker::new_lifo();
    /// w.push(1);
    /// w.push(2);
    /// assert_eq!(w.pop(), Some(2));
    /// ```
    pub fn new_lifo() -> Self {
        Self::staged_lifo()
    }
}

impl<T, S: Stage> Worker<T, S> {
    /// [`Worker::new_fifo`] for any stage.
    ///
    /// ```
    /// use sateen::deque::{Asymmetric, Worker};
    /// let w: Worker<u8, Asymmetric> = Worker::staged_fifo();
    /// ```
    pub fn staged_fifo() -> Self {
        Self::starting_at(Flavor::Fifo, Top::new(0, 0))
    }

    /// [`Worker::new_lifo`] for any stage.
    ///
    /// ```
    /// use sateen::deque::{Asymmetric, Worker};
    /// let w: Worker<u8, Asymmetric> = Worker::staged_lifo();
    /// w.push(7);
    /// assert_eq!(w.stealer().steal().success(), Some(7));
    /// ```
    pub fn staged_lifo() -> Self {
        Self::starting_at(Flavor::lifo::<S>(true), Top::new(0, 0))
    }

    /// For tests: generation and index near the wrap-around, and `Asymmetric` as it is on a system
    /// without an asymmetric fence.
    #[doc(hidden)]
    pub fn for_tests(lifo: bool, generation: u32, index: u32, allow_split: bool) -> Self {
        let flavor = if lifo { Flavor::lifo::<S>(allow_split) } else { Flavor::Fifo };
        Self::starting_at(flavor, Top::new(generation, index))
    }

    fn starting_at(flavor: Flavor, start: Top) -> Self {
        let buffer = Buffer::new(Buffer::<T>::MIN);
        let index = start.index();
        Self {
            inner: Arc::new(Inner::new(start, buffer)),
            own: Own {
                limit: Cell::new(index.wrapping_add(buffer.capacity())),
                resolved: Cell::new(index),
                any_marks: Cell::new(false),
                seen: Cell::new(start),
                buffer: Cell::new(buffer),
                low: Cell::new(flavor.least_low()),
                low_pops: Cell::new(0),
                floor: Cell::new(index),
                idle_guard: Cell::new(index),
                shares_all: Cell::new(false),
                retired: RefCell::new(Vec::new()),
                any_retired: Cell::new(false),
            },
            flavor,
        }
    }

    /// A handle to steal from this deque.
    ///
    /// ```
    /// let w = sateen::deque::Worker::new_lifo();
    /// let s = w.stealer();
    /// w.push('x');
    /// std::thread::spawn(move || assert_eq!(s.steal().success(), Some('x'))).join().unwrap();
    /// ```
    pub fn stealer(&self) -> Stealer<T, S> {
        Stealer { inner: self.inner.clone(), flavor: self.flavor }
    }

    /// How many items there are: exact for the owner's own operations; thieves may take some
    /// meanwhile.
    ///
    /// ```
    /// let w = sateen::deque::Worker::from_iter(0..10);
    /// assert_eq!(w.len(), 10);
    /// ```
    pub fn len(&self) -> usize {
        // Ordering: SeqCst for callers that look after announcing something; nothing is read by it.
        let top = Top(self.inner.top.load(Ordering::SeqCst));
        gap(top.index(), self.bottom()).max(0) as usize
    }

    /// Whether there are no items. As [`Worker::len`].
    ///
    /// ```
    /// assert!(sateen::deque::Worker::<u8>::new_lifo().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `item` in as the newest.
    ///
    /// # Panics
    /// If the deque would hold more than 2^30 items, or more bytes than fit the address space.
    ///
    /// ```
    /// let w = sateen::deque::Worker::new_lifo();
    /// w.push("work");
    /// ```
    #[inline]
    pub fn push(&self, item: T) {
        if !S::CACHED {
            self.catch_up();
        }
        let at = self.bottom();
        if at == self.own.limit.get() {
            self.make_room(1);
        }
        // SAFETY: below the limit, so every claim that shares the cell is resolved.
        unsafe { self.own.buffer.get().write(at, MaybeUninit::new(item)) };
        self.publish(at.wrapping_add(1));
    }

    /// Takes an item: the newest if the owner is LIFO, the oldest if it is FIFO. `None` means that
    /// the deque was empty at some moment during the call.
    ///
    /// ```
    /// let w = sateen::deque::Worker::new_fifo();
    /// w.push(1);
    /// assert_eq!(w.pop(), Some(1));
    /// assert_eq!(w.pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        match self.flavor {
            Flavor::Split if S::SPLIT => self.pop_private(),
            _ if S::SPLIT => self.pop_unsplit(),
            Flavor::Fifo => self.pop_oldest(),
            _ => self.pop_newest(),
        }
    }

    /// Keeps code that a split deque does not need out of its callers.
    #[inline(never)]
    fn pop_unsplit(&self) -> Option<T> {
        if self.flavor.is_fifo() { self.pop_oldest() } else { self.pop_newest() }
    }

    /// Whether there is a private part.
    #[inline(always)]
    pub(crate) fn is_split(&self) -> bool {
        S::SPLIT && self.flavor == Flavor::Split
    }

    /// Lets thieves see the items before `bottom`.
    #[inline(always)]
    pub(crate) fn publish(&self, bottom: u32) {
        // Ordering: Release pairs with the thief's Acquire of `bottom`: it sees the items, and the
        // buffer if it is new.
        self.inner.owner.bottom.store(bottom, Ordering::Release);
        if S::SPLIT {
            self.share(bottom);
        }
    }

    /// LIFO: lowers `bottom`, then looks at `top`; contends for the last item only.
    #[inline(always)]
    fn pop_newest(&self) -> Option<T> {
        let bottom = self.bottom();
        let seen = if S::CACHED {
            self.own.seen.get()
        } else {
            Top(self.inner.top.load(Ordering::Relaxed))
        };
        match gap(seen.index(), bottom) {
            // `top` only grows: a deque that was empty then is empty now.
            ..=0 => return self.found_empty(),
            // One item at most: compete for it where the thieves do. No handshake: `bottom` stays.
            1 if S::TUNED => return self.pop_last(seen),
            _ => {}
        }
        let newest = bottom.wrapping_sub(1);
        let top = self.inner.lower(newest);
        self.own.seen.set(top);
        let older = gap(top.index(), newest);
        if older < self.own.low.get() {
            return self.pop_low_slow(bottom, top, older);
        }
        // No thief claims `newest`: it would have to see `top` at it and `bottom` still past it.
        Some(self.take_newest(newest))
    }

    /// The rest of `pop_newest` when few items are left, or none: `older` are older than the
    /// newest.
    #[cold]
    #[inline(never)]
    fn pop_low_slow(&self, bottom: u32, top: Top, older: i32) -> Option<T> {
        let newest = bottom.wrapping_sub(1);
        if older > 0 {
            let item = self.take_newest(newest);
            self.count_low();
            return Some(item);
        }
        let won = older == 0 && self.inner.exchange(top, top.claimed(1)).is_ok();
        // Ordering: Release as every store of `bottom`.
        self.inner.owner.bottom.store(bottom, Ordering::Release);
        if !won {
            return self.found_empty();
        }
        self.own.seen.set(top.claimed(1));
        Some(self.take_last(newest))
    }

    /// LIFO: the one item there may be, at `seen`.
    #[inline(always)]
    fn pop_last(&self, seen: Top) -> Option<T> {
        match self.inner.exchange(seen, seen.claimed(1)) {
            Ok(()) => {
                self.own.seen.set(seen.claimed(1));
                Some(self.take_last(seen.index()))
            }
            Err(now) => {
                self.own.seen.set(now);
                self.found_empty()
            }
        }
    }

    /// Takes the claimed last item of a LIFO deque.
    #[inline(always)]
    fn take_last(&self, index: u32) -> T {
        let item = self.take_claimed(index);
        if self.own.low.get() > Flavor::Lifo.least_low() {
            self.count_low();
        }
        item
    }

    /// FIFO: competes for the oldest item where the thieves do.
    #[inline(never)]
    fn pop_oldest(&self) -> Option<T> {
        let bottom = self.bottom();
        let mut top = if S::CACHED {
            self.own.seen.get()
        } else {
            Top(self.inner.top.load(Ordering::Relaxed))
        };
        loop {
            let items = gap(top.index(), bottom);
            if items <= 0 {
                self.own.seen.set(top);
                return self.found_empty();
            }
            match self.inner.exchange(top, top.claimed(1)) {
                Ok(()) => {
                    self.own.seen.set(top.claimed(1));
                    let item = self.take_claimed(top.index());
                    if items <= self.own.low.get() {
                        self.count_low();
                    }
                    return Some(item);
                }
                // A thief was faster, and has made progress.
                Err(now) => top = now,
            }
        }
    }

    /// Takes the item at `index`, which the owner has claimed through `top`.
    #[inline(always)]
    fn take_claimed(&self, index: u32) -> T {
        // SAFETY: claimed; the current buffer holds every item between top and bottom, and only
        // the owner writes to it.
        let item = unsafe { self.own.buffer.get().read(index).assume_init() };
        let in_order = self.own.resolved.get() == index;
        if in_order {
            self.own.resolved.set(index.wrapping_add(1));
            self.own.limit.set(self.own.limit.get().wrapping_add(1));
        }
        if !in_order || self.own.any_marks.get() {
            self.resolve_own(index);
        }
        item
    }

    /// Marks the owner's own claim. This is needed if a thief's earlier claim is not resolved yet,
    /// or if the cell may have an older mark: a mark of two laps ago looks like the next one.
    #[cold]
    fn resolve_own(&self, index: u32) {
        // SAFETY: claimed in the current buffer, and marked once.
        unsafe { self.own.buffer.get().resolve(index) };
    }

    /// Takes the item at `index`, which no thief can claim any more.
    #[inline(always)]
    pub(crate) fn take_newest(&self, index: u32) -> T {
        // SAFETY: an item before the former `bottom` that no thief claims; the owner reads it once.
        unsafe { self.own.buffer.get().read(index).assume_init() }
    }

    /// The deque is empty: a good moment to free retired buffers.
    #[inline(always)]
    pub(crate) fn found_empty(&self) -> Option<T> {
        if self.own.any_retired.get() {
            self.sweep();
        }
        None
    }

    pub(crate) fn low(&self) -> i32 {
        self.own.low.get()
    }

    /// The shared `bottom`. Only the owner changes it, so thieves that read it do not make this a
    /// miss.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> u32 {
        self.inner.owner.bottom.load(Ordering::Relaxed)
    }

    pub(crate) fn seen(&self) -> Top {
        self.own.seen.get()
    }

    pub(crate) fn set_seen(&self, top: Top) {
        self.own.seen.set(top);
    }
}

/// Items on their way in: written past `bottom` and published together.
pub(crate) struct Landing<'a, T, S: Stage> {
    worker: &'a Worker<T, S>,
    items: u32,
}

impl<'a, T, S: Stage> Landing<'a, T, S> {
    /// Room for `room` items at most. Items that are written and not finished are leaked.
    pub(crate) fn new(worker: &'a Worker<T, S>, room: u32) -> Self {
        worker.reserve(room);
        Self { worker, items: 0 }
    }

    /// # Safety
    /// Not more often than there is room.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, item: T) {
        let at = self.worker.bottom().wrapping_add(self.items);
        // SAFETY: reserved, so below the limit, and not published yet.
        unsafe { self.worker.own.buffer.get().write(at, MaybeUninit::new(item)) };
        self.items += 1;
    }

    /// Publishes the items, in reverse order if told to.
    #[inline(always)]
    pub(crate) fn finish(self, reverse: bool) {
        if self.items == 0 {
            return;
        }
        let own = &self.worker.own;
        let first = self.worker.bottom();
        if reverse {
            let buffer = own.buffer.get();
            for nth in 0..self.items / 2 {
                let low = first.wrapping_add(nth);
                let high = first.wrapping_add(self.items - 1 - nth);
                // SAFETY: both were written by `put` and are not published; they change places.
                unsafe {
                    let (a, b) = (buffer.read(low), buffer.read(high));
                    buffer.write(low, b);
                    buffer.write(high, a);
                }
            }
        }
        self.worker.publish(first.wrapping_add(self.items));
    }
}

impl<T, S: Stage> Drop for Worker<T, S> {
    fn drop(&mut self) {
        let mut retired = self.own.retired.take();
        retired.retain_mut(|retired| !retired.try_free());
        if !retired.is_empty() {
            // SAFETY: this is the owner, and it goes.
            unsafe { self.inner.leave_behind(retired) };
        }
    }
}

impl<T, S: Stage> Extend<T> for Worker<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

/// Collects into a LIFO deque, the last item being the newest.
impl<T> FromIterator<T> for Worker<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let worker = Self::new_lifo();
        items.into_iter().for_each(|item| worker.push(item));
        worker
    }
}

impl<T, S: Stage> fmt::Debug for Worker<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Worker { .. }")
    }
}
