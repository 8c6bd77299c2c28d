//! Blocking and timed forms, made from the futures: every primitive is written once.

use crate::hook::{self, Awaited};
use sateen_base::prim::time::{Duration, Instant};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What a context waits for, for reports: the `primitive`.
pub(crate) fn awaited<T: ?Sized>(kind: &'static str, primitive: &T) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(primitive).cast())
}

/// Blocks the calling context (thread or fiber) until `future` is ready.
///
/// It is for futures of this crate's primitives: when they are pending, joining was their last
/// step, so that nothing took the context's token in between. For others there is
/// [`crate::block_on`].
///
/// The future is polled when it is woken and at spurious returns of `park`; if `park` unwinds it is
/// dropped, and withdraws its wait.
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

/// The same with a time limit: `None` when it is over and the future still pending. The future is
/// polled once at least, and dropped in the end.
pub(crate) fn block_timeout<F: Future>(
    what: Awaited,
    timeout: Duration,
    future: F,
) -> Option<F::Output> {
    block_pinned_timeout(what, timeout, pin!(future))
}

/// The same for a future that its caller wants to ask once more after the time is over.
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
    // A time that no clock will reach is no limit.
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
