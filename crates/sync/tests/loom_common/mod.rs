//! Helpers that the models share.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Checks `f` under all interleavings with at most this many preemptions. There is a bound because
/// the searched atomics make many accesses.
#[allow(dead_code, reason = "not every model needs each")]
pub(crate) fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model.check(f);
}

/// Polls once, with a waker that does nothing.
#[allow(dead_code, reason = "not every model needs each")]
pub(crate) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
