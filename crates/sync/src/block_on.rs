//! Waiting for a future from anywhere.

use crate::hook;
use crate::waiting::awaited;
use sateen_base::prim::{AtomicBool, Ordering};
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Runs `future` to its end on the calling context: a thread blocks while it is pending, a fiber
/// suspends. It may be called anywhere, also inside a future that another `block_on` polls.
///
/// The future is polled in place, so it needs to be neither `Send` nor `'static`.
///
/// # Cost
/// One allocation, and a context's suspension for each time it is pending.
///
/// # Examples
///
/// ```
/// use sateen::sync::{Mutex, block_on};
///
/// let mutex = Mutex::new(1);
/// let sum = block_on(async { *mutex.lock_async().await + block_on(async { 1 }) });
/// assert_eq!(sum, 2);
/// ```
///
/// # Panics
/// If the future does. If parking unwinds (a cancelled task), the future is dropped.
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    use std::future::Future as _;
    let mut future = pin!(future.into_future());
    let signal = Arc::new(Signal { woken: AtomicBool::new(false), context: hook::current_waker() });
    let waker = signal.waker();
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return out;
        }
        signal.wait();
    }
}

/// The signal behind the waker with which a future is polled. The context's own token is not
/// enough: a lock or another `block_on` inside the future may take it. So the signal is kept here,
/// and the token only ends the parking.
struct Signal {
    woken: AtomicBool,
    context: Waker,
}

impl Signal {
    fn wait(&self) {
        hook::waiting_for(awaited("future", self), || {
            // Ordering: Acquire pairs with the Release in `wake_by_ref`.
            while !self.woken.swap(false, Ordering::Acquire) {
                hook::park();
            }
        });
    }
}

impl Signal {
    fn waker(self: &Arc<Self>) -> Waker {
        // SAFETY: the table's functions treat the pointer as one count of the signal.
        unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(Arc::clone(self)).cast(), &TABLE)) }
    }

    fn wake(&self) {
        // Ordering: Release pairs with the Acquire in `wait`. The waker that sets it first wakes
        // the context.
        if !self.woken.swap(true, Ordering::Release) {
            self.context.wake_by_ref();
        }
    }
}

/// A static of our own, unlike the table behind [`std::task::Wake`]: by its address [`context_of`]
/// knows it.
static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// # Safety
/// For all four: `signal` comes with a count of a [`Signal`], which the waker that is used has.
unsafe fn clone(signal: *const ()) -> RawWaker {
    // SAFETY: by contract.
    unsafe { Arc::increment_strong_count(signal.cast::<Signal>()) };
    RawWaker::new(signal, &TABLE)
}

unsafe fn wake(signal: *const ()) {
    // SAFETY: by contract; the count goes at the end.
    unsafe { Arc::from_raw(signal.cast::<Signal>()) }.wake();
}

unsafe fn wake_by_ref(signal: *const ()) {
    // SAFETY: by contract.
    unsafe { &*signal.cast::<Signal>() }.wake();
}

unsafe fn release(signal: *const ()) {
    // SAFETY: by contract; given away here.
    drop(unsafe { Arc::from_raw(signal.cast::<Signal>()) });
}

/// The waker of the context that waits, if `waker` is one that [`block_on`] polls with, else
/// `waker`: so that a runtime knows the wakers of its contexts.
#[doc(hidden)]
pub fn context_of(waker: &Waker) -> &Waker {
    if !std::ptr::eq(waker.vtable(), &TABLE) {
        return waker;
    }
    // SAFETY: a waker with our table has a count of a signal, which lives as long as the waker is
    // borrowed.
    unsafe { &(*waker.data().cast::<Signal>()).context }
}
