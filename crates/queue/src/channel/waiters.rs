//! How callers wait at one end of a channel. Each end has a waiting point.
//!
//! A caller that changes the channel claims a slot by a sequentially consistent exchange, and then
//! notifies. So a notification without waiters is one load, and no fence.

use super::spin_phase::{SpinPhase, has_passed};
use sateen_base::CachePadded;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Ordering, fence};
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

    /// Wakes up to `count` waiters, as above. What it leaves to a spinner, that passes on.
    pub(super) fn notify(&self, count: usize) {
        for _ in 0..count {
            let mut left = false;
            self.point.notify_one_unless(|| {
                left = self.is_spun_at();
                left
            });
            if left || !self.point.has_waiters() {
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

    /// Calls `attempt` until it returns a result or it is time to sleep. While others wait, the
    /// caller counts as a spinner.
    fn spin<R>(
        &self,
        side: &impl Side,
        mut phase: SpinPhase,
        attempt: &mut impl FnMut() -> Option<R>,
    ) -> Option<R> {
        // A model has no pauses, and sees the spinner come and go.
        let mut spinner = cfg!(loom).then(|| Spinner::new(self, side));
        while phase.pause_unless(side.first_pauses(), || side.seems_ready()) {
            if spinner.is_none() && self.point.has_waiters() {
                spinner = Some(Spinner::new(self, side));
            }
            if let Some(result) = attempt() {
                return Some(result);
            }
        }
        None
    }
}

/// What callers wait for at an end: items, or room.
pub(super) trait Side {
    /// Whether a caller should try instead of sleeping.
    fn is_ready(&self) -> bool;

    /// How many callers could go on.
    fn count(&self) -> usize;

    /// A hint that costs less than a try, and may miss what has come.
    fn seems_ready(&self) -> bool;

    /// How many pauses to take before the first try, with a look at the hint after each. 1 if the
    /// hint says nothing.
    fn first_pauses(&self) -> u32;
}

impl Deref for End {
    type Target = WaitPoint;

    fn deref(&self) -> &WaitPoint {
        &self.point
    }
}

/// A caller that counts as a spinner. What notifiers left to it, it leaves to others in the end,
/// also if an iterator of items panics.
struct Spinner<'a, S: Side> {
    end: &'a End,
    side: &'a S,
}

impl<'a, S: Side> Spinner<'a, S> {
    fn new(end: &'a End, side: &'a S) -> Self {
        end.spinners.count.fetch_add(1, Ordering::SeqCst);
        Self { end, side }
    }
}

impl<S: Side> Drop for Spinner<'_, S> {
    fn drop(&mut self) {
        let Self { end, side } = self;
        // Ordering: SeqCst, before the looks that follow.
        end.spinners.count.fetch_sub(1, Ordering::SeqCst);
        // Ordering: SeqCst, between the end of the spinning and the looks. Either a notifier has
        // not counted the caller, or the caller sees what that notifier brought.
        fence(Ordering::SeqCst);
        if end.point.has_waiters() && side.is_ready() {
            // All of it: one that is woken, and has never spun, passes nothing on.
            let count = side.count().max(1);
            end.notify(count);
        }
    }
}

/// Blocks the caller until `attempt` returns a result; `None` if the deadline comes first.
///
/// `attempt` is called when the side seems ready or is, now and then, and whenever the caller is
/// woken. A caller that may not spin calls it first.
pub(super) fn block<R>(
    end: &End,
    what: Awaited,
    deadline: Option<Instant>,
    side: &impl Side,
    mut attempt: impl FnMut() -> Option<R>,
) -> Option<R> {
    let phase = SpinPhase::new(deadline);
    let result = if phase.is_over() { attempt() } else { end.spin(side, phase, &mut attempt) };
    if result.is_some() || deadline.is_some_and(has_passed) {
        return result;
    }
    sleep(end, what, deadline, || side.is_ready(), attempt)
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
    Awaited::new(kind, std::ptr::from_ref(channel).cast())
}
