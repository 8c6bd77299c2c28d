//! Blocking on a future.

use crate::hook;
use crate::waiting::awaited;
use sateen_base::prim::{AtomicBool, Ordering};
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Runs `future` to completion on the calling context. While it is pending, a thread blocks and a
/// fiber suspends. It may be called anywhere, even inside a future that another `block_on` polls.
///
/// The future is polled in place, so it needs to be neither `Send` nor `'static`.
///
/// # Cost
/// One allocation, and one suspension of the context for each time the future is pending.
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

/// The signal behind the waker with which the future is polled. The context's own token is not
/// enough, because a lock or another `block_on` inside the future may consume it. So the signal is
/// kept here, and the token only ends the parking.
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
        // Ordering: Release pairs with the Acquire in `wait`. The first waker that sets the signal
        // wakes the context.
        if !self.woken.swap(true, Ordering::Release) {
            self.context.wake_by_ref();
        }
    }
}

/// A static table of our own, unlike the one behind [`std::task::Wake`], so that [`context_of`]
/// recognises it by its address.
static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// # Safety
/// For all four: `signal` comes with a count of a [`Signal`], which belongs to the waker.
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

/// If `waker` was made by [`block_on`], returns the waker of the waiting context, or else `waker`.
/// So a runtime recognises the wakers of its contexts.
#[doc(hidden)]
pub fn context_of(waker: &Waker) -> &Waker {
    if !std::ptr::eq(waker.vtable(), &TABLE) {
        return waker;
    }
    // SAFETY: a waker with our table holds a count of a signal, which lives as long as the waker is
    // borrowed.
    unsafe { &(*waker.data().cast::<Signal>()).context }
}
