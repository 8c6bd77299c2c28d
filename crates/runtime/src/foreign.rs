//! Due wakers that run foreign code: the user's wakers, and those of other runtimes.
//!
//! Timers fire between two tasks, on a worker's root, and in the middle of a task's push. A foreign
//! waker may panic, wait, spawn, or drop anything, and must not do so there. So it goes into a
//! list. For each waker in the list a job is queued, which calls the first waker of the list as if
//! it were a task.
//!
//! A worker that is blocked or has no stack cannot start work. It hands the whole list to the
//! threads for blocking calls. A job that finds the list empty does nothing.
//!
//! [`is_ours`] tells which wakers may be called in place: those of the runtime's own fibers and
//! futures, which only queue that fiber or future. (A waker of another runtime may hold the last
//! count of a fiber there, and call that runtime's arrival callback.)

use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::join_stack::Job;
use crate::shared::Shared;
use crate::task;
use crate::unwind::run_and_discard;
use crate::waker;
use crate::worker::{Owner, Push};
use sateen_base::SpinLock;
use sateen_base::prim::Arc;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Weak;
use std::task::Waker;

/// See the [module's documentation](self).
#[derive(Default)]
pub(crate) struct Foreign(SpinLock<VecDeque<Waker>>);

/// A job that calls the first waker in a runtime's list, on any thread to which a policy has moved
/// the job. The job does not keep the runtime alive, because a policy may keep the job for ever.
#[repr(C)]
struct CallFirst {
    job: Job,
    shared: Weak<Shared>,
}

impl CallFirst {
    fn entry(shared: &Arc<Shared>) -> Entry {
        let call = Self { job: Job { run: Self::run }, shared: Arc::downgrade(shared) };
        Entry::job(NonNull::from(Box::leak(Box::new(call))).cast())
    }

    /// # Safety
    /// `job` starts a `CallFirst` made by `entry`; called once.
    unsafe fn run(job: *const Job) {
        // SAFETY: by contract.
        let this = unsafe { Box::from_raw(job.cast::<Self>().cast_mut()) };
        if let Some(shared) = this.shared.upgrade()
            && let Some(waker) = shared.foreign.take_first()
        {
            run_and_discard(|| waker.wake());
        }
    }
}

impl Foreign {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn take_first(&self) -> Option<Waker> {
        self.0.lock().pop_front()
    }

    /// Hands all wakers to other threads, for a worker that cannot start work now.
    #[cold]
    pub(crate) fn send_away(&self, shared: &Shared) {
        while let Some(waker) = self.take_first() {
            shared.blocking.send(move || waker.wake());
        }
    }
}

impl Shared {
    /// Closes the timer queues, as no worker fires timers any more. A future that has left the
    /// runtime but sleeps on one of the timers is woken, so that it arms a timer elsewhere.
    #[cold]
    pub(crate) fn close_timers(&self) {
        // A policy may still hold the jobs that were to call them.
        self.foreign.send_away(self);
        for worker in self.workers.iter() {
            worker.timers.close_with(|waker| {
                // The runtime's own fibers and futures have ended.
                if !is_ours(&waker, self) {
                    self.blocking.send(move || waker.wake());
                }
            });
        }
    }
}

/// Whether `waker` runs no user code, wherever it is woken and dropped.
fn is_ours(waker: &Waker, shared: &Shared) -> bool {
    let waker = sateen_sync::park::context_of(waker);
    waker::is_of(waker, shared) || task::is_future_waker_of(waker, shared)
}

impl Owner {
    /// Whether `waker` may be woken anywhere on this worker.
    pub(crate) fn owns(&self, waker: &Waker) -> bool {
        is_ours(waker, self.shared())
    }

    /// Queues a job that calls `waker`.
    #[cold]
    pub(crate) fn call_later(&self, waker: Waker) {
        self.shared().foreign.0.lock().push_back(waker);
        self.push(CallFirst::entry(self.shared()), Push::Other);
    }

    /// Lets jobs call `wakers` before the calling `fiber` continues.
    pub(crate) fn call_now(&self, fiber: &Fiber, wakers: Vec<Waker>) {
        for waker in wakers {
            if fiber.keeps_thread() {
                self.shared().blocking.send(move || waker.wake());
            } else {
                self.shared().foreign.0.lock().push_back(waker);
                self.dispatch(fiber, CallFirst::entry(self.shared()));
            }
        }
    }
}
