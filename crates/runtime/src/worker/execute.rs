//! Starts work taken from a queue.

use super::{HUNGRY, Owner};
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::join_stack::Stolen;
use crate::root::start_apart;
use crate::task::{self, Header, JoinError, Running};
use crate::trace;
use std::ptr::NonNull;

impl Owner {
    /// Records the activation of a branch that was just stolen; [`Owner::execute`] follows.
    pub(crate) fn will_run_branch_of(&self, caller: *const Running) {
        self.branch_of.set(caller);
    }

    /// Starts work taken from a queue, on the calling fiber.
    pub(crate) fn execute(&self, fiber: &Fiber, entry: Entry) {
        self.counters.taken.bump();
        self.ready_seen.take();
        self.announce_timer();
        match entry.decode() {
            Work::Task(header) if self.shared().is_cancelling() => {
                // SAFETY: this thread now owns the entry's reference to the task.
                unsafe { task::refuse_queued(header, JoinError::Cancelled) };
            }
            Work::Task(header) => {
                // SAFETY: this thread now owns the entry's reference to the task.
                match unsafe { header.as_ref() }.stack_size() {
                    Some(size) if fiber.is_unfit_for(size) => self.start_apart(fiber, header, size),
                    // SAFETY: as above.
                    _ => unsafe { task::run_queued(header) },
                }
            }
            Work::Job(job) | Work::Here(job) | Work::Survey(job) => {
                let caller = self.branch_of.replace(std::ptr::null());
                // SAFETY: an entry is taken once, and its job is valid until it has run. Until then
                // its caller waits.
                unsafe { Running::branch(fiber, caller, job.cast(), || ((*job).run)(job)) };
            }
            // SAFETY: as above; the scope waits for it.
            Work::Scoped(job) => unsafe { crate::scope::run(fiber, job) },
            // SAFETY: fibers live as long as the runtime.
            Work::Stack(suspended) => self.take_from_listed(fiber, unsafe { &*suspended }),
            // SAFETY: an entry is taken once.
            Work::Future(future) => unsafe { task::poll_queued(self, fiber, future) },
            Work::Fiber(_) => sateen_base::abort_with("a started fiber was to be started"),
        }
    }

    /// Starts a task that needs a different stack from the caller's.
    #[cold]
    fn start_apart(&self, fiber: &Fiber, header: NonNull<Header>, size: usize) {
        let shared = self.shared();
        let resident = shared.has_resident.is_raised() && self.index() == 0;
        match resident {
            false => start_apart(self, fiber, header, size),
            // This thread has no root that could start it. Another worker does.
            true if shared.regular > 1 => shared.submit_inside(Entry::task(header)),
            true => {
                self.counters.out_of_stacks.bump();
                // SAFETY: this thread owns the entry's reference to the task.
                unsafe { task::refuse_queued(header, JoinError::OutOfStacks) };
            }
        }
    }

    /// Runs a branch that a suspended task has left to others.
    fn take_from_listed(&self, fiber: &Fiber, suspended: &Fiber) {
        if let Stolen::Job(job, tag, more) = suspended.join_stack().steal_listed() {
            if more {
                self.list_branches(suspended);
            } else {
                // The stack may be in use again; see `answer`.
                suspended.worker().insist(HUNGRY);
            }
            self.counters.branches_stolen.bump();
            trace::stole_branch(self, suspended.worker().index());
            // SAFETY: stolen, so ours to run, once; its frame waits, and so does its caller.
            unsafe { Running::branch(fiber, tag.cast(), job.cast(), || ((*job).run)(job)) };
        }
    }
}
