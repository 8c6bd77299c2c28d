//! Blocking and timed forms built on the futures, so that every primitive is written once.

use crate::hook::{self, Awaited};
use sateen_base::prim::time::{Duration, Instant};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What a context waits for: the `primitive`. For reports.
pub(crate) fn awaited<T: ?Sized>(kind: &'static str, primitive: &T) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(primitive).cast())
}

/// Blocks the calling context (thread or fiber) until `future` is ready.
///
/// It is for futures of this crate's primitives. When they are pending, joining was their last
/// step, so nothing consumed the context's token in between. For other futures there is
/// [`crate::block_on`].
///
/// The future is polled when it is woken and on spurious returns of `park`. If `park` unwinds, the
/// future is dropped and withdraws its wait.
pub(crate) fn block<F: Future>(what: Awaited, future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = hook::current_waker();
    let mut cx = Context::from_waker(&waker);
    let first = future.as_mut().poll(&mut cx);
    if let Poll::Ready(output) = first {
        return output;
    }
    hook::waiting_for(what, || {
        loop {
            hook::park();
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
        }
    })
}

/// The same with a time limit: `None` if it runs out and the future is still pending. The future is
/// polled at least once, and dropped in the end.
pub(crate) fn block_timeout<F: Future>(
    what: Awaited,
    timeout: Duration,
    future: F,
) -> Option<F::Output> {
    block_pinned_timeout(what, timeout, pin!(future))
}

/// The same for a future that its caller wants to poll once more after the time limit.
pub(crate) fn block_pinned_timeout<F: Future>(
    what: Awaited,
    timeout: Duration,
    mut future: Pin<&mut F>,
) -> Option<F::Output> {
    let waker = hook::current_waker();
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
        return Some(output);
    }
    // A time that the clock never reaches is no limit.
    let deadline = Instant::now().checked_add(timeout);
    hook::waiting_for(what, || {
        loop {
            match deadline {
                Some(deadline) => hook::park_until(deadline),
                None => hook::park(),
            }
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return Some(output);
            }
            if deadline.is_some_and(crate::sys::has_passed) {
                return None;
            }
        }
    })
}
