//! The MCS queue lock. Protocol: `README.md`, section *Mcs*.
//!
//! | `tail` | meaning |
//! |---|---|
//! | null | free |
//! | the mark `HOLDER` | held, no waiters |
//! | a node | held, and this one is the last that waits |
//!
//! | `next` | meaning |
//! |---|---|
//! | null | no waiters, or the first has not linked its node yet |
//! | a node | the first that waits |
//!
//! Nodes are on the waiters' stacks. `tail` is changed by exchanges. The holder owns `next`, with
//! one exception: the waiter that exchanged `HOLDER` for its node writes `next` once, and the
//! holder reads it before it may change it. A node's `next` is written once by the waiter that
//! queued behind it, and its `turn` once by the holder.

use super::config::{SpinConfig, Standard};
use super::raw_mutex;
use super::wait::{Waiter, yield_now};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicBool, AtomicPtr};
use std::marker::PhantomData;
use std::ptr;

struct Node {
    turn: AtomicBool,
    next: AtomicPtr<Node>,
}

/// Marks that the last in the queue is the holder, which has no node. No node has this address.
fn holder() -> *mut Node {
    ptr::without_provenance_mut(1)
}

/// The queue lock of Mellor-Crummey and Scott, in the variant (K42's) that needs a node only while
/// waiting.
///
/// First come, first served. Each waiter spins on a word on its own stack, so a hand-over touches
/// one line however many wait. Uncontended, it takes two locked instructions. Nodes need no
/// allocation, and the guard may be sent.
///
/// Use it if many cores want the same lock all the time and fairness matters. If threads are
/// oversubscribed it collapses, because the lock is handed to a thread that may not be running:
/// eight threads on two cores with sections of 50 ns take 2.0 µs per acquisition. After
/// [`SpinConfig::TESTS`] tests waiters yield their time slices, so that it makes progress.
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::Mcs, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct Mcs<C = Standard> {
    tail: AtomicPtr<Node>,
    next: AtomicPtr<Node>,
    config: PhantomData<C>,
}

impl<C: SpinConfig> Mcs<C> {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            let null = ptr::null_mut();
            Self { tail: AtomicPtr::new(null), next: AtomicPtr::new(null), config: PhantomData }
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        let free = ptr::null_mut();
        // Ordering: Acquire pairs with the Release in `give`.
        self.tail.compare_exchange(free, holder(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn take_slow(&self) {
        let node = Node { turn: AtomicBool::new(false), next: AtomicPtr::new(ptr::null_mut()) };
        let me = ptr::from_ref(&node).cast_mut();
        let mut last = self.tail.load(Ordering::Relaxed);
        loop {
            if last.is_null() {
                if self.take() {
                    return;
                }
                last = self.tail.load(Ordering::Relaxed);
                continue;
            }
            // Ordering: Release publishes the node's fields to the waiter that queues behind it;
            // Acquire pairs with that, for `last`.
            match self.tail.compare_exchange(last, me, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(seen) => last = seen,
            }
        }
        let link = if last == holder() {
            &self.next
        } else {
            // SAFETY: `last` was the tail. So its owner waits, or holds the lock. In the latter
            // case it cannot leave `take_slow` before this link is written, because its exchange of
            // the tail fails (`leave_queue`).
            unsafe { &(*last).next }
        };
        // Ordering: Release publishes the node to the holder, which loads the link with Acquire.
        link.store(me, Ordering::Release);
        // Ordering: Acquire pairs with the Release in `hand_over`.
        Self::wait(|| node.turn.load(Ordering::Acquire));
        self.leave_queue(&node);
    }

    /// Takes the holder's own node out of the queue; afterwards no other thread knows it.
    fn leave_queue(&self, node: &Node) {
        let me = ptr::from_ref(node).cast_mut();
        // Ordering: Acquire pairs with the Release of the link.
        let mut next = node.next.load(Ordering::Acquire);
        if next.is_null() {
            // Before the exchange: a waiter that sees `HOLDER` may link itself here at once.
            self.next.store(ptr::null_mut(), Ordering::Relaxed);
            // Ordering: Release keeps the store above before it: a waiter that sees `HOLDER` writes
            // `next` later.
            let left =
                self.tail.compare_exchange(me, holder(), Ordering::Release, Ordering::Relaxed);
            if left.is_ok() {
                return;
            }
            next = Self::linked(&node.next);
        }
        self.next.store(next, Ordering::Relaxed);
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Acquire pairs with the Release of the link: the node is read.
        let next = self.next.load(Ordering::Acquire);
        if next.is_null() {
            let free = ptr::null_mut();
            // Ordering: Release publishes the critical section to the next `take`.
            if self
                .tail
                .compare_exchange(holder(), free, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                return;
            }
        }
        self.give_slow();
    }

    #[cold]
    fn give_slow(&self) {
        let next = Self::linked(&self.next);
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the node's owner waits for `turn`, and the node is not touched after that.
        let turn = unsafe { &(*next).turn };
        // Ordering: Release publishes the critical section, and `next`, to the new holder.
        turn.store(true, Ordering::Release);
    }

    /// The next node, which is linked or about to be.
    fn linked(link: &AtomicPtr<Node>) -> *mut Node {
        // Ordering: Acquire pairs with the Release of the link.
        Self::wait(|| !link.load(Ordering::Acquire).is_null());
        link.load(Ordering::Acquire)
    }

    fn wait(done: impl Fn() -> bool) {
        if done() {
            return;
        }
        let mut waiter = Waiter::<C>::new();
        let limit = waiter.limit();
        let mut tests = 0_u64;
        while !done() {
            tests += 1;
            // A model gives all other threads a turn at each test, so no thread is left that could
            // end this wait.
            assert!(!cfg!(loom) || tests < 100, "a wait that does not end");
            if !waiter.test(limit, || !done()) {
                yield_now();
            }
        }
    }

    fn is_held(&self) -> bool {
        !self.tail.load(Ordering::Relaxed).is_null()
    }
}

// SAFETY: one thread exchanges null for `HOLDER`, and the holder hands over to one.
raw_mutex!(Mcs<C>);
