//! A policy of the user's, at its worker.
//!
//! Nothing here relies on what a policy does with the work it is given. Like a hook, the policy is
//! called off the running fiber: its waits block the thread, and what it spawns is refused. A panic
//! in it ends the process, because the work it was given may then be anywhere. Work that it returns
//! at the wrong worker, or drops anywhere, goes back to where it belongs.

use super::{Changes, Policy, Runnable, Sleeper};
use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::scope;
use crate::sleepers::Alarm;
use crate::task;
use crate::unwind::Held;
use sateen_base::AbortGuard;
use sateen_base::prim::Arc;
use sateen_base::prim::time::Instant;

pub(crate) struct Custom {
    policy: Held<Arc<dyn Policy>>,
    changes: Arc<Changes>,
    worker: usize,
}

impl Custom {
    pub(super) fn new(policy: Box<dyn Policy>, changes: Arc<Changes>, worker: usize) -> Self {
        Self { policy: Held::new(policy.into()), changes, worker }
    }

    fn call<R>(&self, f: impl FnOnce(&dyn Policy) -> R) -> R {
        call_policy(|| f(&**self.policy))
    }

    pub(super) fn awakened(&self, entry: Entry) {
        self.call(|policy| policy.awakened(Runnable::new(entry)));
    }

    /// What this worker may run. Called on the worker's thread only.
    pub(super) fn pick_next(&self) -> Option<Entry> {
        self.changes.pass_on(self.worker, |task, property| {
            self.call(|policy| policy.property_change(task, property));
        });
        loop {
            let entry = self.call(|policy| policy.pick_next())?.into_entry();
            if is_at_home(entry) {
                return Some(entry);
            }
            give_back(entry);
        }
    }

    pub(super) fn has_ready(&self) -> bool {
        self.call(|policy| policy.has_ready())
    }

    pub(crate) fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        self.call(|policy| policy.suspend_until(sleeper, deadline));
    }

    pub(super) fn changes(&self) -> &Arc<Changes> {
        &self.changes
    }
}

/// Wakes workers whose policies sleep in a way of their own.
pub(super) fn alarm<'a>(policies: impl Iterator<Item = &'a Custom>) -> Alarm {
    let policies: Vec<_> = policies.map(|custom| Held::new(Arc::clone(&*custom.policy))).collect();
    Box::new(move |index| call_policy(|| policies[index].notify()))
}

/// Calls a policy. What it keeps would be lost in an unwinding, and those who wait for that would
/// hang.
fn call_policy<R>(f: impl FnOnce() -> R) -> R {
    let guard = AbortGuard::new("a scheduling policy panicked");
    let result = context::off_fiber(f);
    guard.disarm();
    result
}

/// Whether the calling worker may run `entry`. It must not resume other workers' fibers. A future
/// is counted where it was spawned. The end of a scope's last job wakes the scope's fiber, which
/// only its own runtime's workers keep. All else can run anywhere.
fn is_at_home(entry: Entry) -> bool {
    let Some(worker) = context::thread_owner() else { return false };
    match entry.decode() {
        // SAFETY: a fiber that can go on keeps its runtime.
        Work::Fiber(fiber) => unsafe { (*fiber).is_owned_by(worker) },
        // SAFETY: a queued future's entry keeps its frame.
        Work::Future(head) => unsafe { task::is_future_of(head, worker.shared()) },
        // SAFETY: no worker has taken it, so its scope waits.
        Work::Scoped(job) => unsafe { scope::is_of(job, worker.shared()) },
        _ => true,
    }
}

/// Puts what a policy has dropped, or returned elsewhere, where it can run. Any thread.
#[cold]
pub(super) fn give_back(entry: Entry) {
    let worker = context::thread_owner();
    if let Some(worker) = worker
        && is_at_home(entry)
    {
        return worker.defer(entry);
    }
    match entry.decode() {
        // SAFETY: a fiber that can go on keeps its runtime.
        Work::Fiber(fiber) => send_home(unsafe { &*fiber }),
        // SAFETY: this thread owns the entry, which is used up here.
        Work::Future(head) => unsafe { task::send_future_home(head) },
        // SAFETY: as above.
        Work::Scoped(job) => unsafe { scope::send_home(job) },
        // SAFETY: as above; the thread is no worker, because a worker could run this entry. So it
        // runs no task.
        _ => unsafe { task::refuse_lost(entry) },
    }
}

fn send_home(fiber: &Fiber) {
    // Once it is posted the fiber may end, and its runtime with it, while the worker is notified.
    let fiber = fiber.to_arc();
    if !fiber.worker().post(fiber.shared(), Entry::fiber(&fiber)) {
        sateen_base::abort_with("a worker has left before its fibers");
    }
}
