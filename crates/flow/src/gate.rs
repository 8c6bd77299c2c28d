//! Where workers wait for items and senders for room, and who tells them.
//!
//! | word | meaning |
//! |---|---|
//! | `waiting` | how many have announced that they wait and have not been told to go on |
//!
//! A waiter raises it first and lowers it when it goes on for a reason of its own; who notifies a waiter lowers it for that
//! one. So a teller for whom nobody waits pays a fence that is free and a load. Protocol and proof: the crate's `README.md`, section
//! *Gates*.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, fence};
use sateen_base::unwind::run_and_discard;
use sateen_base::{CachePadded, fence as asymmetric};
use sateen_sync::park::current_waker;
use sateen_sync::wait_queue::{CancelOutcome, Position, WaitQueue, Waiter};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// Waits shorter than this are not announced with a fence that interrupts others; see [`Gate::wait`].
const PROVISIONAL: Duration = Duration::from_micros(100);

/// A place to wait for a change that others bring about without looking.
#[derive(Debug)]
pub struct Gate {
    waiting: CachePadded<AtomicUsize>,
    queue: WaitQueue,
    /// Whether a light fence is enough for those who tell.
    light: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Nobody waits.
    pub fn new() -> Self {
        Self {
            waiting: CachePadded::new(AtomicUsize::new(0)),
            queue: WaitQueue::new(),
            light: cfg!(loom) || asymmetric::is_asymmetric(),
        }
    }

    /// Whether somebody waits, or is about to: a hint.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Something has changed that one waiter waits for.
    #[inline]
    pub fn tell_one(&self) {
        if !canary!("gate_tell_no_fence") {
            if self.light {
                asymmetric::light();
            } else {
                // Ordering: SeqCst, with the fence in `wait`: either that one sees the change, or we see that it waits.
                fence(Ordering::SeqCst);
            }
        }
        if self.is_wanted() {
            _ = self.tell_one_slow();
        }
    }

    /// Whether somebody was there.
    #[cold]
    fn tell_one_slow(&self) -> bool {
        let mut found = false;
        let mut notify = || {
            self.queue.notify_one_with(|outcome| {
                if outcome.found {
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                }
                found = outcome.found;
            })
        };
        if cfg!(loom) {
            // A model that fails panics everywhere.
            notify();
        } else {
            // The waker is foreign code, and the caller may have an item in hand that a panic would lose.
            run_and_discard(&mut notify);
        }
        found
    }

    /// Something has changed that all wait for.
    #[cold]
    pub fn tell_all(&self) {
        // Ordering: SeqCst as in `tell_one`.
        fence(Ordering::SeqCst);
        // Who announces itself after the fence sees the change. The queue is in order, so those before come first.
        let waiting = self.waiting.load(Ordering::Relaxed);
        for _ in 0..waiting {
            if !self.tell_one_slow() {
                break;
            }
        }
    }

    /// Waits until somebody tells or `deadline` is over, unless `ready` says that there is no need. Blocks the thread, or
    /// suspends the fiber. May return for no reason.
    ///
    /// `ready` runs under a spinlock, and must read what the others change. It first sleeps for a
    /// moment only: most waits are short, and need no heavy fence, which interrupts those who work.
    #[cold]
    pub fn wait(&self, deadline: Option<Instant>, ready: impl Fn() -> bool) {
        let mut waiter = pin!(Waiter::new(&self.queue));
        let mut announced = Announced::new(self, waiter.as_mut());
        if !cfg!(loom) {
            let now = Instant::now();
            let soon = now + PROVISIONAL;
            // Ordering: SeqCst; a teller that uses the light fence may miss us all the same, hence the time limit.
            fence(Ordering::SeqCst);
            if !announced.enqueue(&ready) || announced.until(deadline.map_or(soon, |d| d.min(soon)))
            {
                return;
            }
            if deadline.is_some_and(|deadline| deadline <= soon) {
                return;
            }
        }
        if !canary!("gate_wait_no_fence") {
            // Pairs with the light fence in `tell_one`, see there.
            let _fence = asymmetric::heavy();
        }
        if announced.enqueue(&ready) {
            match deadline {
                Some(deadline) => _ = announced.until(deadline),
                None => announced.untimed(),
            }
        }
    }

    /// [`wait`](Gate::wait) without a limit, as a future. Dropped early it passes on what it was told.
    pub async fn wait_async(&self, ready: impl Fn() -> bool) {
        let mut waiter = pin!(Waiter::new(&self.queue));
        let mut announced = Announced::new(self, waiter.as_mut());
        let _fence = asymmetric::heavy();
        let mut queued = false;
        poll_fn(|cx| {
            if !queued {
                let waker = cx.waker().clone();
                if !announced.waiter.as_mut().enqueue(Position::Back, waker, &ready) {
                    return Poll::Ready(());
                }
                queued = true;
            }
            let told = announced.waiter.as_mut().poll_wait(cx);
            announced.told = told.is_ready();
            told
        })
        .await;
    }
}

/// One that counts in `waiting` until it was told.
struct Announced<'a, 'q> {
    gate: &'q Gate,
    waiter: Pin<&'a mut Waiter<'q>>,
    told: bool,
}

impl<'a, 'q> Announced<'a, 'q> {
    fn new(gate: &'q Gate, waiter: Pin<&'a mut Waiter<'q>>) -> Self {
        // Relaxed: the fences after it order it.
        gate.waiting.fetch_add(1, Ordering::Relaxed);
        Self { gate, waiter, told: false }
    }

    /// Joins the queue; false if `ready` says no.
    fn enqueue(&mut self, ready: &impl Fn() -> bool) -> bool {
        self.waiter.as_mut().enqueue(Position::Back, current_waker(), ready)
    }

    fn untimed(&mut self) {
        self.waiter.as_mut().wait();
        self.told = true;
    }

    /// Whether it was told.
    fn until(&mut self, deadline: Instant) -> bool {
        self.told = self.waiter.as_mut().wait_until(deadline);
        self.told
    }
}

impl Drop for Announced<'_, '_> {
    fn drop(&mut self) {
        if self.told {
            return;
        }
        match self.waiter.as_mut().cancel() {
            // Told, and dropped before it noticed: the next one is told instead.
            CancelOutcome::Notified(_) => {
                if !canary!("gate_drop_forgets") {
                    self.gate.tell_one();
                }
            }
            CancelOutcome::Idle | CancelOutcome::Withdrawn => {
                self.gate.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
