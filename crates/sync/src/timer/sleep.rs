//! Sleeping and time limits, blocking and awaited.

use super::fallback::Fallback;
use super::{Timer, TimerQueue};
use crate::hook::{self, Awaited};
use crate::sys::has_passed;
use sateen_base::prim::thread;
use sateen_base::prim::time::{Duration, Instant};
use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Blocks the thread, or suspends the fiber, for at least `duration`; for ever if that exceeds the
/// clock's range.
///
/// ```
/// sateen::sync::timer::sleep(std::time::Duration::from_millis(1));
/// ```
pub fn sleep(duration: Duration) {
    match Instant::now().checked_add(duration) {
        Some(deadline) => sleep_until(deadline),
        None => wait(hook::park, || false),
    }
}

/// Blocks the thread, or suspends the fiber, until `deadline`.
///
/// ```
/// let soon = std::time::Instant::now() + std::time::Duration::from_millis(1);
/// sateen::sync::timer::sleep_until(soon);
/// assert!(std::time::Instant::now() >= soon);
/// ```
pub fn sleep_until(deadline: Instant) {
    wait(|| hook::park_until(deadline), || has_passed(deadline));
}

fn wait(park: impl Fn(), over: impl Fn() -> bool) {
    let timer = Awaited::new("timer", std::ptr::null());
    hook::waiting_for(timer, || {
        while !over() {
            park();
        }
    });
}

/// A future that is ready when `duration` has passed since this call; never if that exceeds the
/// clock's range.
///
/// Its timer belongs to the runtime's worker that polls it first, or otherwise to one thread of
/// this crate, which the first such timer starts. If the system refuses that thread, the future
/// wakes itself repeatedly and tries to start it each time: it is busy, and late by a round, but
/// ready in the end. It may be polled on different threads, and dropped on any.
///
/// ```
/// use sateen::sync::{block_on, timer::sleep_async};
/// block_on(sleep_async(std::time::Duration::from_millis(1)));
/// ```
pub fn sleep_async(duration: Duration) -> Sleep {
    Sleep { deadline: Instant::now().checked_add(duration), timer: None }
}

/// A future that is ready when `deadline` has passed; see [`sleep_async`].
///
/// ```
/// # use sateen::sync::{block_on, timer::sleep_until_async};
/// let soon = std::time::Instant::now() + std::time::Duration::from_millis(1);
/// block_on(sleep_until_async(soon));
/// assert!(std::time::Instant::now() >= soon);
/// ```
pub fn sleep_until_async(deadline: Instant) -> Sleep {
    Sleep { deadline: Some(deadline), timer: None }
}

/// The future of [`sleep_async`].
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    /// `None` for never.
    deadline: Option<Instant>,
    /// Present since the first poll that had to wait.
    timer: Option<Timer<Home>>,
}

/// The queue that fires the timer.
enum Home {
    Runner(Arc<TimerQueue>),
    Fallback(&'static Fallback),
}

impl Deref for Home {
    type Target = TimerQueue;
    fn deref(&self) -> &TimerQueue {
        match self {
            Self::Runner(queue) => queue,
            Self::Fallback(fallback) => &fallback.queue,
        }
    }
}

impl Sleep {
    /// When it is ready; `None` for never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn timer(self: Pin<&mut Self>) -> Pin<&mut Option<Timer<Home>>> {
        // SAFETY: the timer is pinned with us and never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.timer) }
    }

    /// Arms a new timer in `home`. Returns whether it is armed, or has already fired.
    fn arm(mut self: Pin<&mut Self>, home: Home, deadline: Instant, cx: &Context<'_>) -> bool {
        let mut slot = self.as_mut().timer();
        slot.set(Some(Timer::new(home)));
        let Some(mut timer) = slot.as_pin_mut() else { return false };
        if timer.as_mut().arm(deadline, cx.waker().clone()) {
            match timer.queue() {
                Home::Runner(_) => hook::earlier_timer(),
                Home::Fallback(fallback) => fallback.earlier_timer(),
            }
        }
        timer.is_armed() || timer.has_fired()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        if Instant::now() >= deadline {
            self.timer().set(None);
            return Poll::Ready(());
        }
        let waits = self
            .as_mut()
            .timer()
            .as_pin_mut()
            .is_some_and(|mut timer| timer.as_mut().set_waker(cx.waker()) || timer.has_fired());
        // It was never armed, or its queue was closed: use the current poller's queue.
        if !waits {
            let here = hook::timers()
                .is_some_and(|queue| self.as_mut().arm(Home::Runner(queue), deadline, cx));
            if !here {
                self.as_mut().arm(Home::Fallback(Fallback::here()), deadline, cx);
            }
        }
        let Some(timer) = self.timer().as_pin_mut() else { return Poll::Pending };
        if timer.has_fired() {
            return Poll::Ready(());
        }
        if let Home::Fallback(fallback) = timer.queue()
            && !fallback.is_served()
        {
            // No thread fires it, so this future does, by returning until it is time.
            fallback.queue.fire(Instant::now());
            thread::yield_now();
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Limits `future` to `duration` from now: returns its result, or [`Elapsed`]. The future is polled
/// first, so one that is ready at the last moment wins. It is dropped with the result.
///
/// ```
/// use sateen::sync::{block_on, timer::{timeout_async, Elapsed}, Event};
/// use std::time::Duration;
///
/// let event = Event::new();
/// let short = Duration::from_millis(1);
/// assert_eq!(block_on(timeout_async(short, event.wait_async())), Err(Elapsed));
/// event.set();
/// assert_eq!(block_on(timeout_async(short, event.wait_async())), Ok(()));
/// ```
pub fn timeout_async<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { sleep: sleep_async(duration), future: future.into_future() }
}

/// The future of [`timeout_async`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Timeout<F> {
    sleep: Sleep,
    future: F,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both are pinned with us and never moved; there is no `Drop` that could.
        let (sleep, future) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.sleep), Pin::new_unchecked(&mut this.future))
        };
        match future.poll(cx) {
            Poll::Ready(out) => Poll::Ready(Ok(out)),
            Poll::Pending => sleep.poll(cx).map(|()| Err(Elapsed)),
        }
    }
}

/// The time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over")
    }
}

impl Error for Elapsed {}
