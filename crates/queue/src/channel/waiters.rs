//! How callers wait at one end of a channel. Each end has a waiting point.
//!
//! A caller that changes the channel claims a slot by a sequentially consistent exchange, and then
//! notifies. So a notification without waiters is one load, and no fence.

use super::spin_phase::{SpinPhase, has_passed};
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Ordering, fence};
use sateen_base::{CachePadded, canary};
use sateen_sync::WaitPoint;
use sateen_sync::park::{self, Awaited};
use sateen_sync::wait_queue::{Position, Waiter};
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// One end of a channel: the callers that wait there, and those that are about to.
///
/// A thread that looks again and again before it waits, a *spinner*, takes what comes without being
/// woken. So a notifier leaves most of what it brings to the spinners, if there are any.
pub(super) struct End {
    point: WaitPoint,
    spinners: CachePadded<Spinners>,
}

struct Spinners {
    count: AtomicU32,
    /// How many notifications have been left to them.
    left: AtomicU32,
}

impl End {
    /// One of so many notifications wakes a sleeper beside spinners: none sleeps for ever.
    const WAKE_EVERY: u32 = 32;

    pub(super) fn new() -> Self {
        let spinners = Spinners { count: AtomicU32::new(0), left: AtomicU32::new(0) };
        Self { point: WaitPoint::new(), spinners: CachePadded::new(spinners) }
    }

    /// Wakes a waiter, unless a spinner looks again anyway. The caller's last exchange of the
    /// channel's state was sequentially consistent.
    #[inline(always)]
    pub(super) fn notify_one(&self) {
        self.point.notify_one_unless(|| self.is_spun_at());
    }

    /// Wakes up to `count` waiters, as above.
    pub(super) fn notify(&self, count: usize) {
        for _ in 0..count {
            self.notify_one();
            if !self.point.has_waiters() {
                return;
            }
        }
    }

    /// Whether a spinner sees to what has come.
    #[cold]
    fn is_spun_at(&self) -> bool {
        // Ordering: SeqCst, after the caller's exchange. A spinner that this counts leaves after
        // this load, and looks for what the exchange brought then.
        if self.spinners.count.load(Ordering::SeqCst) == 0 {
            return false;
        }
        let left = self.spinners.left.fetch_add(1, Ordering::Relaxed);
        cfg!(loom) || !left.is_multiple_of(Self::WAKE_EVERY)
    }

    /// As a spinner, calls `attempt` until it returns a result or it is time to sleep.
    fn spin<R>(&self, mut phase: SpinPhase, attempt: &mut impl FnMut() -> Option<R>) -> Option<R> {
        let _spinner = Spinner::new(&self.spinners.count);
        while phase.pause() {
            if let Some(result) = attempt() {
                return Some(result);
            }
        }
        None
    }

    /// What notifiers left to the caller while it was a spinner, it leaves to others.
    fn pass_on(&self, ready: impl Fn() -> bool) {
        if canary!("channel_spinner_forgets") {
            return;
        }
        // Ordering: SeqCst, between the end of the spinning and the looks. Either a notifier has
        // not counted the caller, or the caller sees what that notifier brought.
        fence(Ordering::SeqCst);
        if self.point.has_waiters() && ready() {
            self.notify_one();
        }
    }
}

impl Deref for End {
    type Target = WaitPoint;

    fn deref(&self) -> &WaitPoint {
        &self.point
    }
}

/// A caller that counts as a spinner.
struct Spinner<'a>(&'a AtomicU32);

impl<'a> Spinner<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Spinner<'_> {
    fn drop(&mut self) {
        // Ordering: SeqCst, before the looks that follow: see `End::pass_on`.
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Blocks the caller until `attempt` returns a result; `None` if the deadline comes first.
///
/// `attempt` is called first, whenever the caller is woken, and when `ready` returns true.
pub(super) fn block<R>(
    end: &End,
    what: Awaited,
    deadline: Option<Instant>,
    ready: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Option<R>,
) -> Option<R> {
    if let Some(result) = attempt() {
        return Some(result);
    }
    let phase = SpinPhase::new(deadline);
    let spins = !phase.is_over();
    let ready = &ready;
    let _passes_on = spins.then(|| PassOn { end, ready });
    let spun = if spins { end.spin(phase, &mut attempt) } else { None };
    if spun.is_some() || deadline.is_some_and(has_passed) {
        return spun;
    }
    sleep(end, what, deadline, ready, attempt)
}

/// Calls [`End::pass_on`], also if an iterator of items panics.
struct PassOn<'a, F: Fn() -> bool> {
    end: &'a End,
    ready: &'a F,
}

impl<F: Fn() -> bool> Drop for PassOn<'_, F> {
    fn drop(&mut self) {
        self.end.pass_on(self.ready);
    }
}

fn sleep<R>(
    end: &End,
    what: Awaited,
    deadline: Option<Instant>,
    ready: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Option<R>,
) -> Option<R> {
    let mut waiter = pin!(end.waiter());
    let mut position = Position::Back;
    park::waiting_for(what, || {
        loop {
            if end.enqueue(waiter.as_mut(), position, park::current_waker(), &ready) {
                waiter.as_mut().wait_joined(deadline);
                // A waiter that was woken and comes too late has waited long already.
                position = Position::Front;
            }
            if let Some(result) = attempt() {
                return Some(result);
            }
            if deadline.is_some_and(has_passed) {
                return None;
            }
        }
    })
}

/// The same as one step of a future whose waiter is `waiter`.
pub(super) fn poll<R>(
    waiters: &WaitPoint,
    mut waiter: Pin<&mut Waiter<'_>>,
    cx: &mut Context<'_>,
    ready: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Option<R>,
) -> Poll<R> {
    let mut position = Position::Back;
    if waiter.is_waiting() {
        if waiter.as_mut().poll_wait(cx).is_pending() {
            return Poll::Pending;
        }
        position = Position::Front;
    }
    loop {
        if let Some(result) = attempt() {
            return Poll::Ready(result);
        }
        if waiters.enqueue(waiter.as_mut(), position, cx.waker().clone(), &ready) {
            return Poll::Pending;
        }
    }
}

/// What a caller waits for, as reports show it.
pub(super) fn awaited<C>(kind: &'static str, channel: &C) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(channel).cast::<()>().addr())
}
