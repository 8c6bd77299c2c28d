//! Executors for the tests.
#![allow(dead_code, reason = "each test binary uses some of them")]

use sateen_sync::park;
use sateen_testkit::{poll_with, waker_fn};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = park::current_waker();
    loop {
        if let Poll::Ready(out) = poll_with(future.as_mut(), &waker) {
            return out;
        }
        park::park();
    }
}

/// The simplest task of an executor. Its waker polls it inside `wake`.
pub(crate) struct InlineTask(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl InlineTask {
    /// Polls `future` for the first time. Later polls happen inside its wakers.
    pub(crate) fn start(future: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        let task = Arc::new(Self(Mutex::new(Some(Box::pin(future)))));
        task.clone().poll();
        task
    }

    fn poll(self: Arc<Self>) {
        let task = self.clone();
        let waker = waker_fn(move || task.clone().poll());
        let mut slot = self.0.lock().unwrap();
        let done = match &mut *slot {
            Some(future) => poll_with(future.as_mut(), &waker).is_ready(),
            None => return,
        };
        if done {
            *slot = None;
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }
}
