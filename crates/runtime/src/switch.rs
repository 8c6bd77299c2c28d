//! Switches control between a worker's root and a fiber by switching stacks.
//!
//! Strict runtimes do not use this. There each worker's thread runs its tasks on its own stack
//! (`own_stack.rs`).

use crate::announce::{self, Announced};
use crate::fiber::{Fiber, Switched};
use crate::stack::FiberStack;
use crate::worker::Owner;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// A fiber's main function.
pub(crate) type Main = fn(&'static Owner, &'static Fiber);

/// The root's side of a fiber that has a stack.
pub(crate) struct Switch(Coroutine<(), (), (), FiberStack>, Announced);

/// How a fiber returns to the root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Back {
    /// It has not started, or has no root.
    Nowhere,
    Root(*const Yielder<(), ()>),
}

impl Switch {
    /// Prepares `main` to run for `fiber` at the first [`Switch::resume`]. Neither outlives the
    /// runtime.
    pub(crate) fn new(stack: FiberStack, fiber: &Fiber, main: Main) -> Self {
        let fiber = FiberPtr(fiber);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            let fiber = fiber.get();
            fiber.set_back(Back::Root(yielder));
            // SAFETY: the coroutine runs on its worker's thread.
            main(unsafe { fiber.owner() }, fiber);
            announce::back();
        });
        Self(coroutine, Announced::new())
    }

    /// Runs the fiber until it switches back. Root only.
    #[inline]
    pub(crate) fn resume(&mut self) -> Switched {
        let Self(coroutine, known) = self;
        match known.resume(|| coroutine.resume(())) {
            CoroutineResult::Yield(()) => Switched::Suspended,
            CoroutineResult::Return(()) => Switched::Finished,
        }
    }

    /// The stack of a fiber that has finished. Root only.
    pub(crate) fn into_stack(self) -> FiberStack {
        self.0.into_stack()
    }
}

impl Back {
    /// Switches to the root. Returns when the root resumes the fiber.
    ///
    /// # Safety
    /// Called by the running fiber to which this belongs.
    #[inline]
    pub(crate) unsafe fn switch(self) {
        match self {
            Self::Root(yielder) => {
                announce::back();
                // SAFETY: its coroutine is running, on this stack.
                unsafe { (*yielder).suspend(()) }
            }
            Self::Nowhere => sateen_base::abort_with("a fiber switched before it started"),
        }
    }
}

/// A fiber's address.
#[derive(Clone, Copy)]
struct FiberPtr(*const Fiber);

impl FiberPtr {
    fn get(self) -> &'static Fiber {
        // SAFETY: fibers live as long as their runtime, and nothing that runs on them outlives
        // that.
        unsafe { &*self.0 }
    }
}
