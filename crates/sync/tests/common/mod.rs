//! Executors and wakers for the tests: honest ones and the worst that are allowed.
#![allow(dead_code, reason = "each test binary uses some of them")]

use sateen_sync::park;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = park::current_waker();
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return out;
        }
        park::park();
    }
}

/// Polls once with a waker that does nothing.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Polls once with `waker`.
pub(crate) fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Counts its wake-ups.
#[derive(Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let counter = Arc::new(Self::default());
        (counter.clone(), counter.into())
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a closure when it is woken, and drops the closure with the last waker.
struct OnWake<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// A waker that runs `f`.
pub(crate) fn waker_fn(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(OnWake(f)).into()
}

/// The simplest task of an executor. Its waker polls it inside `wake`.
pub(crate) struct InlineTask(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl InlineTask {
    /// Polls `future` for the first time. Later polls happen inside its wakers.
    pub(crate) fn start(future: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        let task = Arc::new(Self(Mutex::new(Some(Box::pin(future)))));
        task.clone().wake();
        task
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }
}

impl Wake for InlineTask {
    fn wake(self: Arc<Self>) {
        let waker = self.clone().into();
        let mut slot = self.0.lock().unwrap();
        let done = match &mut *slot {
            Some(future) => poll_with(future.as_mut(), &waker).is_ready(),
            None => return,
        };
        if done {
            *slot = None;
        }
    }
}

/// How often to do something. Under an interpreter it is less.
pub(crate) const fn sized(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(500) } else { n }
}

/// A small generator of random numbers, so that runs can be repeated.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
