//! What a promise and its futures share: an event, and the result that is there once it is set.

use crate::event::{Event, EventWait};
use crate::oneshot::BrokenPromise;
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, UnsafeCell};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How a promise ended.
pub(super) enum Outcome<T> {
    Value(T),
    Panic(Box<dyn Any + Send>),
    Broken,
}

impl<T> Outcome<T> {
    pub(super) fn into_result(self) -> Result<T, BrokenPromise> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Panic(panic) => resume_unwind(panic),
            Self::Broken => Err(BrokenPromise),
        }
    }

    pub(super) fn as_result(&self) -> Result<&T, BrokenPromise> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Panic(panic) => {
                let text = panic.downcast_ref::<&str>().copied();
                let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                panic!("the promise of a shared future panicked: {}", text.unwrap_or("no message"))
            }
            Self::Broken => Err(BrokenPromise),
        }
    }
}

/// Who may touch the outcome: before the event is set, the one promise; afterwards nobody writes, but
/// for the one [`PromiseFuture`](super::PromiseFuture), which takes it.
pub(super) struct State<T> {
    done: Event,
    outcome: UnsafeCell<Option<Outcome<T>>>,
}

// SAFETY: the outcome moves from the promise's thread to a future's.
unsafe impl<T: Send> Send for State<T> {}
// SAFETY: several shared futures may read the value at once, hence `Sync`; a panic's payload is shared
// as the state's own only, to look for text in it, by one type test and a read of `str` or `String`.
unsafe impl<T: Send + Sync> Sync for State<T> {}

impl<T> State<T> {
    pub(super) fn new() -> Self {
        Self { done: Event::new(), outcome: UnsafeCell::new(None) }
    }

    /// # Safety
    /// Called once, by the promise.
    pub(super) unsafe fn finish(&self, outcome: Outcome<T>) {
        // SAFETY: the event is not set, so nobody else looks.
        self.outcome.with_mut(|slot| unsafe { *slot = Some(outcome) });
        self.done.set();
    }

    pub(super) fn is_ready(&self) -> bool {
        self.done.is_set()
    }

    pub(super) fn wait(&self) {
        if !self.is_ready() {
            block(awaited("promise", self), self.done.wait_async());
        }
    }

    pub(super) fn wait_timeout(&self, timeout: Duration) -> bool {
        block_timeout(awaited("promise", self), timeout, self.done.wait_async()).is_some()
    }

    /// The outcome, if it is there.
    pub(super) fn peek(&self) -> Option<&Outcome<T>> {
        if !self.is_ready() {
            return None;
        }
        // SAFETY: the event is set, so nobody writes while a shared future borrows this.
        self.outcome.with(|slot| unsafe { (*slot).as_ref() })
    }

    /// Takes the outcome out; broken if it is not there.
    ///
    /// # Safety
    /// The event is set, and nobody else reads: the caller is the only future.
    pub(super) unsafe fn take(&self) -> Outcome<T> {
        debug_assert!(self.is_ready());
        // SAFETY: the caller vouches.
        self.outcome.with_mut(|slot| unsafe { (*slot).take() }).unwrap_or(Outcome::Broken)
    }
}

/// Waits for a state that it keeps alive itself.
pub(super) struct OwnedWait<T> {
    /// Borrows `state`, hence dropped first, by hand. `MaybeUninit`, so that moving us asserts nothing
    /// about the borrow.
    wait: MaybeUninit<EventWait<'static>>,
    state: Arc<State<T>>,
}

impl<T> OwnedWait<T> {
    pub(super) fn new(state: Arc<State<T>>) -> Self {
        // SAFETY: `state` keeps the event alive and in place until `wait` has been dropped.
        let done: &'static Event = unsafe { &*std::ptr::from_ref(&state.done) };
        Self { wait: MaybeUninit::new(done.wait_async()), state }
    }

    /// Ready with the state once its event is set.
    pub(super) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&Arc<State<T>>> {
        // SAFETY: `wait` is initialised until we are dropped, pinned with us and never moved.
        let (wait, state) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(this.wait.assume_init_mut()), &this.state)
        };
        if state.is_ready() {
            return Poll::Ready(state);
        }
        wait.poll(cx).map(|()| state)
    }
}

impl<T> Drop for OwnedWait<T> {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and not used after this; `state` is still there.
        unsafe { self.wait.assume_init_drop() };
    }
}

impl<T> fmt::Debug for OwnedWait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedWait").finish_non_exhaustive()
    }
}
