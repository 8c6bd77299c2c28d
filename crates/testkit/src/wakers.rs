//! Wakers, from honest ones to the worst that are allowed.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

/// Polls once with a waker that does nothing.
pub fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Polls once with `waker`.
pub fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Counts its wake-ups. In a model too these are plain numbers, which decide nothing.
#[derive(Debug, Default)]
pub struct Counter {
    wakes: AtomicUsize,
    is_bomb: bool,
}

impl Counter {
    /// A counter and its waker.
    pub fn new() -> (Arc<Self>, Waker) {
        Self::default().with_waker()
    }

    /// A counter and its waker, which panics each time after it has counted.
    pub fn bomb() -> (Arc<Self>, Waker) {
        Self { is_bomb: true, ..Self::default() }.with_waker()
    }

    fn with_waker(self) -> (Arc<Self>, Waker) {
        let counter = Arc::new(self);
        (Arc::clone(&counter), counter.into())
    }

    /// Polls once with its waker.
    pub fn poll<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        poll_with(future, &Arc::clone(self).into())
    }

    /// How often it was woken.
    pub fn get(&self) -> usize {
        self.wakes.load(SeqCst)
    }

    /// How often it was woken since the last call.
    pub fn take(&self) -> usize {
        self.wakes.swap(0, SeqCst)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wakes.fetch_add(1, SeqCst);
        assert!(!self.is_bomb, "a bomb");
    }
}

/// Runs a closure when it is woken, and drops the closure with the last waker.
struct OnWake<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// A waker that runs `f` when it is woken, and drops `f` when its last clone is dropped.
pub fn waker_fn(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(OnWake(f)).into()
}

/// The data of a waker that runs code when it is cloned and when a clone is dropped.
pub struct Hooks<C, D> {
    /// Runs before each clone.
    pub on_clone: C,
    /// Runs at each drop.
    pub on_drop: D,
}

impl<C: Fn(), D: Fn()> Hooks<C, D> {
    const TABLE: RawWakerVTable = RawWakerVTable::new(
        |this| {
            // SAFETY: `waker` made this pointer from a reference whose value outlives all clones.
            unsafe { ((*this.cast::<Self>()).on_clone)() };
            RawWaker::new(this, &Self::TABLE)
        },
        |_| (),
        |_| (),
        // SAFETY: as above.
        |this| unsafe { ((*this.cast::<Self>()).on_drop)() },
    );

    /// The first waker. It is dropped by hand, if at all.
    ///
    /// # Safety
    /// `self` outlives all clones, which stay on this thread.
    pub unsafe fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the caller's promise.
        ManuallyDrop::new(unsafe { Waker::new(ptr::from_ref(self).cast(), &Self::TABLE) })
    }
}

impl<C, D> fmt::Debug for Hooks<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
