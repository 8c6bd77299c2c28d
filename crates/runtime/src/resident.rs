//! A thread that becomes a worker and stays what it was.
//!
//! The thread that builds a runtime may be its worker 0. It has no root and no scheduling loop. Its
//! own frames are the worker's, on one *resident* fiber without a stack of its own: on them `join`,
//! scopes and spawns are those of a task. It runs work only while it waits for that, or gives way.
//! What it queues others take from it, as from any worker.
//!
//! The thread never leaves the runtime, which therefore keeps all that the thread may look at: the
//! workers, and all fibers. So this memory is never given back. For the end of the runtime the
//! thread counts as idle: others neither wait for it nor for what it queues from then on.

use crate::context;
use crate::fiber::{Fiber, Suspend};
use crate::join_stack::Slot;
use crate::shared::Shared;
use crate::stack::{BYTES_PER_SLOT, MAX_STACK};
use sateen_base::os::{self, Mapping, StackGuard, ThreadClock};
use sateen_base::prim::Arc;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;

/// What the calling thread needs to become a worker: found before the runtime has any thread.
pub(crate) struct Resident {
    /// The thread's stack.
    stack: Range<usize>,
    /// A slot for each job that fits it, then a guard. (The stack of a process's first thread may
    /// have no limit.)
    slots: Mapping,
}

impl Resident {
    /// # Errors
    /// If the system does not tell where the thread's stack lies, or has no memory.
    pub(crate) fn prepare() -> io::Result<Self> {
        let Some(stack) = os::thread_stack() else {
            let reason = "the system does not tell where the calling thread's stack lies";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        };
        let room = stack.len().min(MAX_STACK) / BYTES_PER_SLOT * size_of::<Slot>();
        let room = room.next_multiple_of(Mapping::PAGE);
        let slots = Mapping::reserve(room + Mapping::PAGE)?;
        // SAFETY: nothing uses the new memory.
        unsafe { slots.guard(room, Mapping::PAGE, StackGuard::default())? };
        Ok(Self { stack, slots })
    }

    /// The calling thread is worker 0 of `shared` from now on, for ever.
    pub(crate) fn enter(self, shared: &Arc<Shared>) {
        shared.has_resident.raise();
        let slots = ManuallyDrop::new(self.slots);
        // SAFETY: no other thread is this worker.
        let worker = unsafe { shared.workers[0].owner() };
        worker.set_shared(Some(Arc::clone(shared)));
        ThreadClock::current().map(|clock| worker.clock.set(clock));
        // The fiber stays, too.
        let fiber = ManuallyDrop::new(Fiber::new(worker, Arc::clone(shared)));
        fiber.record().place_thread(self.stack.end, self.stack.len());
        // No other stack could go on for it.
        fiber.begin_no_suspend();
        // SAFETY: the new fiber's join stack is empty and the caller's. The slots are as many as
        // the thread's frames can have jobs; behind them is a guard.
        unsafe { fiber.join_stack().move_to(slots.base().as_ptr().cast()) };
        context::with(|c| c.enter(Some(worker)));
        worker.set_current_fiber(&fiber);
        // SAFETY: the thread waits for nothing. What it runs from now on, it runs on the fiber.
        unsafe { sateen_sync::park::install(Some(&Suspend)) };
    }
}
