//! Wakers of the user's making that are due.
//!
//! Timers are fired between two tasks, on a worker's root, and in the middle of a task's push. What a waker of the
//! user's making does (it may panic, wait, spawn, drop what it likes) has no place there. So it goes into a list,
//! and for each in the list a job is queued, whose taker calls the first of them as if it were a task.
//!
//! A worker that cannot start work, because it is blocked or has no stack, hands the whole list to the threads
//! for calls that block. Who comes for the first of a list that is empty has nothing to do.
//!
//! [`is_ours`] says which are called where they are: those of the runtime's own fibers and futures. All they
//! do is to queue those. (Those of other runtimes may be the last to know of them, and sound their alarms.)

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

/// Calls the first waker in the list of a runtime, on whatever thread a policy has brought it to.
/// It does not keep the runtime: a policy may keep it for ever.
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

    /// For a worker that starts nothing for now: others are to call them all.
    #[cold]
    pub(crate) fn send_away(&self, shared: &Shared) {
        while let Some(waker) = self.take_first() {
            shared.blocking.send(move || waker.wake());
        }
    }
}

impl Shared {
    /// Nobody fires timers here any more: whoever sleeps by one, which futures may do that have left the runtime,
    /// is to look for another place.
    #[cold]
    pub(crate) fn close_timers(&self) {
        // Whoever was to call them has not: a policy keeps the job.
        self.foreign.send_away(self);
        for worker in &self.workers {
            worker.timers.close_with(|waker| {
                // What was the runtime's needs none any more.
                if !is_ours(&waker, self) {
                    self.blocking.send(move || waker.wake());
                }
            });
        }
    }
}

/// Whether `waker` runs nothing of the user's, wherever it is woken and dropped.
fn is_ours(waker: &Waker, shared: &Shared) -> bool {
    let waker = sateen_sync::park::context_of(waker);
    waker::is_of(waker, shared) || task::is_future_waker_of(waker, shared)
}

impl Owner {
    /// Whether `waker` may be woken anywhere on this worker.
    pub(crate) fn owns(&self, waker: &Waker) -> bool {
        is_ours(waker, self.shared())
    }

    /// Lets a task call `waker`.
    #[cold]
    pub(crate) fn call_later(&self, waker: Waker) {
        self.shared().foreign.0.lock().push_back(waker);
        self.push(CallFirst::entry(self.shared()), Push::Other);
    }

    /// Lets tasks call `wakers` before `fiber`, the caller, goes on.
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
