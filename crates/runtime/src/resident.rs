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
use crate::own_stack::OwnStack;
use crate::shared::Shared;
use sateen_base::os::ThreadClock;
use sateen_base::prim::Arc;
use std::io;
use std::mem::ManuallyDrop;

/// What the calling thread needs to become a worker: found before the runtime has any thread.
pub(crate) struct Resident(OwnStack);

impl Resident {
    /// # Errors
    /// If the system does not tell where the thread's stack lies, or has no memory.
    pub(crate) fn prepare() -> io::Result<Self> {
        let own = OwnStack::prepare()?;
        if !own.is_known() {
            let reason = "the system does not tell where the calling thread's stack lies";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        Ok(Self(own))
    }

    /// The calling thread is worker 0 of `shared` from now on, for ever.
    pub(crate) fn enter(self, shared: &Arc<Shared>) {
        shared.has_resident.raise();
        let own = ManuallyDrop::new(self.0);
        // SAFETY: no other thread is this worker.
        let worker = unsafe { shared.workers[0].owner() };
        worker.set_shared(Some(Arc::clone(shared)));
        ThreadClock::current().map(|clock| worker.clock.set(clock));
        // The fiber stays, too.
        let fiber = ManuallyDrop::new(Fiber::new(worker, Arc::clone(shared)));
        // No other stack could go on for it.
        fiber.begin_no_suspend();
        // SAFETY: the fiber is new. Neither ends.
        unsafe { own.give_to(&fiber, 0) };
        context::with(|c| c.enter(Some(worker)));
        worker.set_current_fiber(&fiber);
        // SAFETY: the thread waits for nothing. What it runs from now on, it runs on the fiber.
        unsafe { sateen_sync::park::install(Some(&Suspend)) };
    }
}
