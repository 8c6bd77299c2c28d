//! Wakers taken out under an internal lock, to be woken without it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Waker;

/// A batch of them, small enough for a fiber's stack of one page.
#[derive(Default)]
pub(crate) struct Batch {
    wakers: [Option<Waker>; Batch::SIZE],
    len: usize,
}

impl Batch {
    const SIZE: usize = if cfg!(loom) { 1 } else { 16 };

    pub(crate) fn is_full(&self) -> bool {
        self.len == Self::SIZE
    }

    /// Under the lock: adds one. There must be room.
    pub(crate) fn push(&mut self, waker: Waker) {
        self.wakers[self.len] = Some(waker);
        self.len += 1;
    }

    /// Wakes and forgets every one, whatever the others do; how many there were.
    pub(crate) fn wake_all(&mut self, panics: &mut FirstPanic) -> usize {
        let len = std::mem::take(&mut self.len);
        for waker in self.wakers[..len].iter_mut().filter_map(Option::take) {
            panics.catch(|| waker.wake());
        }
        len
    }
}

/// The first of the panics of many calls, to go on when all were made.
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Runs `f`; keeps its panic if it is the first.
    pub(crate) fn catch(&mut self, f: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            self.keep(panic);
        }
    }

    /// Keeps a panic that was caught, if it is the first.
    pub(crate) fn keep(&mut self, panic: Box<dyn Any + Send>) {
        match &mut self.0 {
            first @ None => *first = Some(panic),
            // Dropping it might panic in its turn, and cost the others their calls.
            Some(_) => std::mem::forget(panic),
        }
    }

    /// Lets nobody see it.
    pub(crate) fn forget(self) {
        std::mem::forget(self.0);
    }

    /// Goes on with the panic that was kept, if any was.
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }
}
