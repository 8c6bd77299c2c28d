//! The queue of pending timers: a heap under a short lock, with its earliest time outside of the
//! lock.

use super::clock;
use super::heap::{FIRED, Heap, IDLE, Node, Room};
use crate::sys::ShortLock;
use crate::wakers::Batch;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{AtomicU64, Ordering, UnsafeCell};
use sateen_base::unwind::FirstPanic;
use std::fmt;
use std::ptr::NonNull;
use std::task::Waker;

/// The pending timers of one worker, or of all plain threads.
///
/// It has no thread and no clock. A thread that serves it sleeps until
/// [`earliest`](Self::earliest), then calls [`fire`](Self::fire). Any thread may, so an idle worker
/// can fire a busy one's timers. A thread whose timer becomes the earliest must wake the sleeper:
/// reading `earliest` orders nothing.
///
/// # Cost
/// Arming, disarming and firing take a short lock for a logarithmic number of steps, in a heap with
/// four children per node. The heap takes 16 bytes per timer and grows by doubling while timers are
/// armed; it never shrinks. The timers themselves are stored with their waiters.
///
/// # Examples
///
/// ```
/// use sateen::sync::timer::{Timer, TimerQueue};
/// use std::{pin::pin, task::Waker, time::{Duration, Instant}};
///
/// let queue = TimerQueue::new();
/// let soon = Instant::now() + Duration::from_millis(1);
/// let mut timer = pin!(Timer::new(&queue));
/// assert!(timer.as_mut().arm(soon, Waker::noop().clone()));
/// assert_eq!(queue.earliest(), Some(soon));
/// assert_eq!(queue.fire(soon), 1);
/// assert!(timer.has_fired());
/// ```
pub struct TimerQueue {
    /// When the first is due, `u64::MAX` if none. Changed under the lock, read without it.
    earliest: AtomicU64,
    lock: ShortLock,
    /// Accessed only by the holder of `lock`.
    heap: UnsafeCell<Heap>,
}

// SAFETY: the heap's pointers refer to pinned nodes, which any thread that holds the lock may
// access; the wakers in them are `Send`.
unsafe impl Send for TimerQueue {}
// SAFETY: as above; every access to the heap takes the lock.
unsafe impl Sync for TimerQueue {}

impl TimerQueue {
    crate::sys::const_except_loom! {
        /// An empty queue.
        pub const fn new() -> Self {
            Self {
                earliest: AtomicU64::new(u64::MAX),
                lock: ShortLock::new(),
                heap: UnsafeCell::new(Heap::new()),
            }
        }
    }

    /// When the first timer is due; `None` if none is armed. Costs one relaxed load.
    #[inline]
    pub fn earliest(&self) -> Option<Instant> {
        clock::instant(self.earliest.load(Ordering::Relaxed))
    }

    /// Fires all timers that are due at `now`, in order of their times, and returns how many.
    /// Timers that their wakers arm meanwhile may wait for the next call, so that this one ends.
    ///
    /// # Cost
    /// One relaxed load if nothing is due. The lock is held for sixteen timers at a time.
    ///
    /// # Panics
    /// With the first panic of a waker, after all have been woken.
    #[inline]
    pub fn fire(&self, now: Instant) -> usize {
        self.fire_with(now, Waker::wake)
    }

    /// Like [`fire`](Self::fire), but gives each waker to `wake` instead of waking it. For callers
    /// that must not call foreign wakers where they fire timers.
    ///
    /// # Panics
    /// With the first panic of `wake`, after it was given all wakers.
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::timer::{Timer, TimerQueue};
    /// use std::{pin::pin, task::Waker, time::Instant};
    ///
    /// let (queue, mut later) = (TimerQueue::new(), Vec::new());
    /// let mut timer = pin!(Timer::new(&queue));
    /// timer.as_mut().arm(Instant::now(), Waker::noop().clone());
    /// queue.fire_with(Instant::now(), |waker| later.push(waker));
    /// assert!(timer.has_fired());
    /// later.into_iter().for_each(Waker::wake);
    /// ```
    #[inline]
    pub fn fire_with(&self, now: Instant, wake: impl FnMut(Waker)) -> usize {
        let now = clock::ticks(now);
        if self.earliest.load(Ordering::Relaxed) > now { 0 } else { self.pop_all(now, FIRED, wake) }
    }

    /// Closes the queue, which will no longer be served. Takes all timers out, wakes their wakers
    /// without firing them, and admits no more ([`Timer::is_armed`](super::Timer::is_armed) is
    /// false after arming one). The futures of this module then use another queue.
    ///
    /// # Panics
    /// As [`fire`](Self::fire).
    pub fn close(&self) {
        self.close_with(Waker::wake);
    }

    /// Like [`close`](Self::close), but gives each waker to `wake` instead of waking it.
    ///
    /// # Panics
    /// With the first panic of `wake`, after it was given all wakers.
    pub fn close_with(&self, wake: impl FnMut(Waker)) {
        self.locked(|heap| heap.closed = true);
        self.pop_all(u64::MAX, IDLE, wake);
    }

    fn pop_all(&self, now: u64, state: u32, mut wake: impl FnMut(Waker)) -> usize {
        let (mut batch, mut panics) = (Batch::new(), FirstPanic::default());
        let (mut count, mut most) = (0, None);
        loop {
            self.locked(|heap| {
                let left = most.get_or_insert(heap.len());
                while *left > 0 && !batch.is_full() {
                    // SAFETY: the lock is held.
                    let Some(waker) = (unsafe { heap.pop(now, state) }) else { break };
                    batch.push(waker);
                    *left -= 1;
                }
            });
            let full = batch.is_full();
            // The lock is free, and the timers may be gone: only their wakers are used from here
            // on.
            count += batch.hand_out(&mut panics, &mut wake);
            if !full {
                break;
            }
        }
        panics.resume();
        count
    }

    /// Number of armed timers at some moment during the call. Takes the lock.
    pub fn len(&self) -> usize {
        self.locked(|heap| heap.len())
    }

    /// Whether none is armed. Costs one relaxed load.
    pub fn is_empty(&self) -> bool {
        self.earliest.load(Ordering::Relaxed) == u64::MAX
    }

    /// Arms a node. Returns whether it is now the earliest. Not armed if the queue is closed.
    ///
    /// # Safety
    /// `node` is not armed, and stays valid and in place until it is out of the queue again.
    pub(super) unsafe fn arm(&self, node: &Node, deadline: Instant, waker: Waker) -> bool {
        let at = clock::ticks(deadline);
        let mut waker = Some(waker);
        let mut room = Room::default();
        // A thread that needs room allocates it outside of the lock; the first one to return
        // installs it.
        loop {
            let tried = self.locked(|heap| {
                if heap.closed {
                    return Ok(false);
                }
                if !heap.has_room(&mut room) {
                    return Err(heap.len());
                }
                let earliest = at < heap.earliest();
                if let Some(waker) = waker.take() {
                    // SAFETY: there is room; the rest is by contract. The lock is held.
                    unsafe { heap.insert(at, NonNull::from(node), waker) };
                }
                Ok(earliest)
            });
            match tried {
                Ok(earliest) => return earliest,
                Err(len) => room = Room::beyond(len),
            }
        }
    }

    /// Takes a node out, if it is armed, and returns its waker, to be dropped outside of the lock.
    ///
    /// # Safety
    /// If `node` is armed, it was armed here.
    pub(super) unsafe fn disarm(&self, node: &Node) -> Option<Waker> {
        // SAFETY: by contract; the lock is held.
        self.locked(|heap| unsafe { heap.remove(node) })
    }

    /// Runs `f` on the heap under the lock, and publishes its earliest time. `f` must not unwind.
    pub(super) fn locked<R>(&self, f: impl FnOnce(&mut Heap) -> R) -> R {
        self.lock.with(|| {
            self.heap.with_mut(|heap| {
                // SAFETY: the lock is held until after the last use of the reference.
                let heap = unsafe { &mut *heap };
                let result = f(heap);
                let earliest = heap.earliest();
                // Written only if it changed: other threads read this line all the time.
                if self.earliest.load(Ordering::Relaxed) != earliest {
                    self.earliest.store(earliest, Ordering::Relaxed);
                }
                result
            })
        })
    }
}

impl Default for TimerQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TimerQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerQueue").field("earliest", &self.earliest()).finish_non_exhaustive()
    }
}
