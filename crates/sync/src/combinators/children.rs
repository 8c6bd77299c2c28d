//! Futures that are polled only when they were woken. Protocol and proof: the crate's `README.md`,
//! section *Combinators*.

use crate::sys::ShortLock;
use crate::wakers::{let_go, wake};
use sateen_base::prim::{AtomicBool, Ordering, UnsafeCell};
use sateen_base::unwind::{discard, run_and_discard, run_to_end};
use std::any::Any;
use std::future::Future;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// What a panic carries.
type Payload = Box<dyn Any + Send>;

/// A fixed set of futures. Each has its own waker, which notes its index for the next poll. So the
/// cost of a poll depends on the woken futures only.
pub(super) struct Children<F> {
    /// `None`: finished.
    slots: Pin<Box<[Option<F>]>>,
    wakers: Box<[(Arc<ChildWaker>, Waker)]>,
    shared: Arc<Shared>,
    /// The indices that are being polled; kept for its memory.
    round: Vec<usize>,
    left: usize,
}

struct ChildWaker {
    index: usize,
    /// The index is in the list, or in the round that is being polled and not yet reached.
    noted: AtomicBool,
    shared: Arc<Shared>,
}

struct Shared {
    lock: ShortLock,
    /// Accessed under `lock` only.
    woken: UnsafeCell<Woken>,
}

// SAFETY: `woken` is accessed under the lock only; the waker in it is `Send`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

struct Woken {
    /// Room for every index once, taken at the start: nothing allocates under the lock.
    indices: Vec<usize>,
    parent: Option<Waker>,
}

impl Shared {
    fn with<R>(&self, f: impl FnOnce(&mut Woken) -> R) -> R {
        // SAFETY: the lock is held until after the last use of the reference.
        self.lock.with(|| self.woken.with_mut(|woken| f(unsafe { &mut *woken })))
    }
}

impl Wake for ChildWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordering: Release pairs with the Acquire of the swap in `poll`. The child's next poll
        // sees what came before this wake-up, even if the child was noted already.
        if self.noted.swap(true, Ordering::AcqRel) {
            return;
        }
        let parent = self.shared.with(|woken| {
            woken.indices.push(self.index);
            woken.parent.take()
        });
        if let Some(parent) = parent {
            wake(parent);
        }
    }
}

impl<F: Future> Children<F> {
    pub(super) fn new(futures: Vec<F>) -> Self {
        let left = futures.len();
        let shared = Arc::new(Shared {
            lock: ShortLock::new(),
            woken: UnsafeCell::new(Woken { indices: (0..left).collect(), parent: None }),
        });
        let waker = |index| {
            let child = ChildWaker { index, noted: AtomicBool::new(true), shared: shared.clone() };
            let child = Arc::new(child);
            (child.clone(), child.into())
        };
        let wakers = (0..left).map(waker).collect();
        let slots: Box<[_]> = futures.into_iter().map(Some).collect();
        Self { slots: slots.into(), wakers, shared, round: Vec::with_capacity(left), left }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Polls the woken futures, and passes the value or panic of each that finished to `done`.
    /// Ready when `done` breaks or all have finished.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut done: impl FnMut(usize, std::thread::Result<F::Output>) -> ControlFlow<()>,
    ) -> Poll<()> {
        // The parent first: a child that is woken from here on wakes it.
        let parent = cx.waker().clone();
        self.round.clear();
        let old = self.shared.with(|woken| {
            std::mem::swap(&mut woken.indices, &mut self.round);
            woken.parent.replace(parent)
        });
        // A panic of its drop must not cost the round its polls.
        let_go(old);
        for at in 0..self.round.len() {
            let index = self.round[at];
            let (child, waker) = &self.wakers[index];
            // Before the poll: a wake-up during it counts for the next one.
            // Ordering: Acquire pairs with the Release in `wake_by_ref`.
            child.noted.swap(false, Ordering::AcqRel);
            // SAFETY: the slots are pinned in their box, and no slot is moved out of it.
            let mut slot = unsafe { self.slots.as_mut().map_unchecked_mut(|s| &mut s[index]) };
            let Some(future) = slot.as_mut().as_pin_mut() else { continue };
            let mut cx = Context::from_waker(waker);
            let result = match catch_unwind(AssertUnwindSafe(|| future.poll(&mut cx))) {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(panic) => Err(panic),
            };
            self.left -= 1;
            let dropped = catch_unwind(AssertUnwindSafe(|| slot.set(None)));
            let result = match dropped {
                Ok(()) => result,
                Err(panic) => Err(first_of(result, panic)),
            };
            if let ControlFlow::Break(()) = done(index, result) {
                return Poll::Ready(());
            }
        }
        if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Drops those that have not finished. Their panics end here, because there is a result
    /// already.
    pub(super) fn clear(&mut self) {
        if self.left > 0 {
            self.left = 0;
            run_and_discard(|| self.drop_all());
        }
        self.slots = Box::into_pin(Box::default());
    }
}

impl<F> Children<F> {
    /// Drops all, whatever their destructors do. The first panic goes on afterwards.
    fn drop_all(&mut self) {
        let mut next = 0..self.slots.len();
        run_to_end(|| {
            let Some(index) = next.next() else { return false };
            // SAFETY: the slots are pinned in their box, and no slot is moved out of it.
            unsafe { self.slots.as_mut().map_unchecked_mut(|s| &mut s[index]) }.set(None);
            true
        });
    }
}

/// The panic of a child whose future panicked when it was dropped: that of its poll, if it panicked
/// there before. A value does not count then.
#[cold]
fn first_of<T>(result: std::thread::Result<T>, dropped: Payload) -> Payload {
    match result {
        Ok(value) => {
            discard(value);
            dropped
        }
        Err(polled) => {
            discard(dropped);
            polled
        }
    }
}

impl<F> Drop for Children<F> {
    fn drop(&mut self) {
        // Wakers that outlive this keep the shared part alive, but not the parent's waker with it.
        let_go(self.shared.with(|woken| woken.parent.take()));
        self.drop_all();
    }
}
