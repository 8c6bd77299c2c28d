//! Waits for a given time: asleep while it is long, yielding when it gets short, spinning at its
//! end.

use super::Clock;
use sateen_base::prim::spin_loop;
use sateen_base::prim::time::{Duration, Instant};
use sateen_runtime::{sleep, sleep_async, sleep_until, yield_now};
use std::future::poll_fn;
use std::task::Poll;

/// No sleep below this: falling asleep and waking up takes as long.
const SLEEP: Duration = Duration::from_micros(80);
/// The kernel wakes threads late by up to this (the slack of its timers is 50 µs).
const EARLY: Duration = Duration::from_micros(60);
/// No yield below this: coming back late wastes more.
const SPIN: Duration = Duration::from_micros(3);

/// Blocks the thread, or suspends the fiber, for `interval`.
pub(crate) fn pause(interval: Duration) {
    let Some(deadline) = Instant::now().checked_add(interval) else { return sleep(interval) };
    if interval >= SLEEP {
        sleep_until(deadline - EARLY);
    }
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > SPIN {
            yield_now();
        } else {
            // A fiber that has waited too long for the worker gets it all the same.
            sateen_runtime::poll_requests();
            spin_loop();
        }
    }
}

/// The same as a future, in the time of `clock`.
pub(crate) async fn pause_async(clock: &impl Clock, interval: Duration) {
    if interval <= SPIN || !clock.takes_time() {
        clock.delay(interval);
    } else if interval >= SLEEP {
        sleep_async(interval - EARLY).await;
    } else {
        let mut again = true;
        poll_fn(|cx| {
            if !std::mem::take(&mut again) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
