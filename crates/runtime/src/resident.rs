//! The resident worker: the thread that builds a runtime, used as its worker 0.
//!
//! The thread has no root and no scheduling loop. Its own frames run on one *resident* fiber, which
//! has no stack of its own. On it `join`, scopes and spawns work as in a task. The thread runs
//! other work only while it waits for such a call, or yields. Other workers steal what it queues.
//!
//! The thread never leaves the runtime. So everything that the thread may access, the workers and
//! all fibers, is never freed. At shutdown the thread counts as idle: other workers wait neither
//! for it nor for what it queues from then on.

use crate::context;
use crate::fiber::{Fiber, Suspend};
use crate::own_stack::OwnStack;
use crate::shared::Shared;
use sateen_base::os::ThreadClock;
use sateen_base::prim::Arc;
use std::io;
use std::mem::ManuallyDrop;

/// What the calling thread needs to become a worker, prepared before the runtime starts any thread.
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

    /// Makes the calling thread worker 0 of `shared`, for good.
    pub(crate) fn enter(self, shared: &Arc<Shared>) {
        shared.has_resident.raise();
        let own = ManuallyDrop::new(self.0);
        // SAFETY: no other thread is this worker.
        let worker = unsafe { shared.workers[0].owner() };
        worker.set_shared(Some(Arc::clone(shared)));
        ThreadClock::current().map(|clock| worker.clock.set(clock));
        // The fiber is never freed either.
        let fiber = ManuallyDrop::new(Fiber::new(worker, Arc::clone(shared)));
        // The fiber cannot suspend: no other stack could run this worker meanwhile.
        fiber.begin_no_suspend();
        // SAFETY: the fiber is new. Neither the fiber nor the stack is ever freed.
        unsafe { own.give_to(&fiber, 0) };
        context::with(|c| c.enter(Some(worker)));
        worker.set_current_fiber(&fiber);
        // SAFETY: the thread is in no wait. From now on it runs everything on the fiber.
        unsafe { sateen_sync::park::install(Some(&Suspend)) };
    }
}
