//! Blocking waits that only this thread could end.

use crate::hook::{self, Awaited};
use crate::waiting::{block, block_timeout};
use sateen_base::prim::time::Duration;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Blocks until `future` is ready.
///
/// # Panics
/// If this thread runs no other fiber that could make it ready.
pub(super) fn block_local<F: Future>(what: Awaited, future: F) -> F::Output {
    if hook::installed().is_some() {
        return block(what, future);
    }
    let mut future = pin!(future);
    if let Poll::Ready(output) = look(future.as_mut()) {
        return output;
    }
    panic!("waiting for ever: only this thread could end the wait for a local {}", what.kind());
}

/// The same with a time limit, which ends a wait that nothing else could end.
pub(super) fn block_local_timeout<F: Future>(
    what: Awaited,
    timeout: Duration,
    future: F,
) -> Option<F::Output> {
    block_timeout(what, timeout, future)
}

fn look<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
