//! Chooses who initialises, and waits for it. Protocol and proof: the crate's `README.md`, section
//! *Once*.
//!
//! | state, bits 0 and 1 | meaning | changed by |
//! |---|---|---|
//! | `INCOMPLETE` 0 | no initialiser has begun, or it gave up | one begins: `RUNNING` |
//! | `POISONED` 1 | the last one panicked | one that insists begins: `RUNNING` |
//! | `RUNNING` 2 | an initialiser runs | that one: to any other |
//! | `COMPLETE` 3 | done | never |
//!
//! Bit 2, `WAITERS`: the queue may not be empty. A joining waiter sets it, and the initialiser that
//! ends `RUNNING` clears it, both under the queue's lock. It is never set together with `COMPLETE`.

use crate::hook::{self, Awaited};
use crate::wait_queue::{Position, WaitQueue, Waiter};
use crate::waiting::{block, block_timeout};
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicU64, Ordering};
use sateen_base::unwind::run_and_discard;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(super) const INCOMPLETE: u32 = 0;
pub(super) const POISONED: u32 = 1;
const RUNNING: u32 = 2;
const COMPLETE: u32 = 3;
const STATE: u32 = 3;
const WAITERS: u32 = 4;

/// The state of a [`Once`](super::Once), a [`OnceLock`](super::OnceLock) and a
/// [`Lazy`](super::Lazy).
pub(super) struct Core {
    word: AtomicU32,
    /// The context that runs the initialiser, 0 if none or unknown. Used to report an initialiser
    /// that waits for itself.
    owner: AtomicU64,
    queue: WaitQueue,
}

/// What a caller finds.
pub(super) enum Turn<'a> {
    Complete,
    Poisoned,
    /// The caller must initialise.
    Mine(Running<'a>),
}

/// What a caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// To initialise, unless poisoned.
    Begin,
    /// To initialise, poisoned or not.
    Insist,
    /// Only to wait until another has initialised, or has panicked.
    Wait,
    /// Only to wait until another has initialised.
    WaitOn,
}

impl Core {
    crate::sys::const_except_loom! {
        pub(super) const fn new() -> Self {
            Self {
                word: AtomicU32::new(INCOMPLETE),
                owner: AtomicU64::new(0),
                queue: WaitQueue::new(),
            }
        }
    }

    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `finish`.
        self.word.load(Ordering::Acquire) == COMPLETE
    }

    pub(super) fn is_poisoned(&self) -> bool {
        // Relaxed: the exchange that begins follows, and makes the panicked closure's writes
        // visible.
        self.word.load(Ordering::Relaxed) & STATE == POISONED
    }

    /// Blocks until it is complete, poisoned, or the caller's turn.
    ///
    /// # Panics
    /// If the caller runs the initialiser itself: it would wait for ever.
    pub(super) fn turn(&self, wants: Wants) -> Turn<'_> {
        self.not_by_myself();
        let turn = block(self.awaited(), self.turn_async(wants));
        if let Turn::Mine(_) = turn {
            // Relaxed: only what this same context reads matters.
            self.owner.store(hook::context_id(), Ordering::Relaxed);
        }
        turn
    }

    /// Waits until `timeout`. `None` if the time ran out.
    pub(super) fn wait_timeout(&self, timeout: Duration, wants: Wants) -> Option<Turn<'_>> {
        self.not_by_myself();
        block_timeout(self.awaited(), timeout, self.turn_async(wants))
    }

    pub(super) fn turn_async(&self, wants: Wants) -> TurnFuture<'_> {
        TurnFuture { core: self, wants, waiter: Waiter::new(&self.queue) }
    }

    fn not_by_myself(&self) {
        // Relaxed: only this context writes its own number, and removes it before it continues.
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != 0 && owner == hook::context_id() {
            panic!(
                "an initialiser waits for itself: the initialisation is re-entered while it runs"
            );
        }
    }

    fn awaited(&self) -> Awaited {
        /// # Safety
        /// `place` is a valid `Core`.
        unsafe fn owner(place: *const ()) -> u64 {
            // SAFETY: by contract.
            let core = unsafe { &*place.cast::<Core>() };
            core.owner.load(Ordering::Relaxed)
        }
        let place = std::ptr::from_ref(self).cast();
        // SAFETY: a waiter borrows the core.
        unsafe { Awaited::new("once", place).with_owner(owner) }
    }

    /// The caller's turn according to the word; `None` if it must wait. With `join`, under the
    /// queue's lock, the word is marked for a caller that will wait.
    fn look(&self, wants: Wants, join: bool) -> Option<Turn<'_>> {
        // Ordering: Acquire pairs with the Release in `finish`.
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            let begins = match (word & STATE, wants) {
                (COMPLETE, _) => return Some(Turn::Complete),
                (POISONED, Wants::Begin | Wants::Wait) => return Some(Turn::Poisoned),
                (RUNNING, _) | (_, Wants::Wait | Wants::WaitOn) => false,
                _ => true,
            };
            let new = match (begins, join) {
                (true, _) => RUNNING | (word & WAITERS),
                (false, true) => word | WAITERS,
                (false, false) => return None,
            };
            // Ordering: Acquire, for the writes of an initialiser that gave up.
            match self.word.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) if begins => {
                    return Some(Turn::Mine(Running { core: self, end: INCOMPLETE }));
                }
                Ok(_) => return None,
                Err(seen) => word = seen,
            }
        }
    }

    /// Ends `RUNNING` and wakes all waiters.
    fn finish(&self, end: u32) {
        self.owner.store(0, Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `is_complete` and `look`.
        if self.word.compare_exchange(RUNNING, end, Ordering::Release, Ordering::Relaxed).is_err() {
            self.queue.notify_all_with(|| {
                // Ordering: as above; those in the queue get it through the queue's lock.
                self.word.swap(end, Ordering::Release);
            });
        }
    }
}

/// The caller is initialising. Dropped without [`complete`](Self::complete), it sets the state to
/// `end`.
pub(super) struct Running<'a> {
    core: &'a Core,
    pub(super) end: u32,
}

impl Running<'_> {
    pub(super) fn complete(self) {
        let core = self.core;
        std::mem::forget(self);
        core.finish(COMPLETE);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // This usually runs while the initialiser's panic unwinds, and a waker's panic must not end
        // the process.
        run_and_discard(|| self.core.finish(self.end));
    }
}

/// The future of [`Core::turn_async`].
pub(super) struct TurnFuture<'a> {
    core: &'a Core,
    wants: Wants,
    waiter: Waiter<'a>,
}

impl<'a> Future for TurnFuture<'a> {
    type Output = Turn<'a>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<'a>> {
        let (core, wants) = (self.core, self.wants);
        // SAFETY: the waiter is pinned with us and never moved.
        let mut waiter = unsafe { self.map_unchecked_mut(|this| &mut this.waiter) };
        if waiter.is_waiting() && waiter.as_mut().poll_wait(cx).is_pending() {
            return Poll::Pending;
        }
        if let Some(turn) = core.look(wants, false) {
            return Poll::Ready(turn);
        }
        let mut turn = None;
        let ready = || {
            turn = core.look(wants, true);
            turn.is_some()
        };
        waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), ready);
        turn.map_or(Poll::Pending, Poll::Ready)
    }
}
