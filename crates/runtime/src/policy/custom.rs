//! A custom policy, as its worker calls it.
//!
//! Correctness does not depend on what a policy does with its work. Like a hook, the policy is
//! called off the running fiber: its waits block the thread, and its spawns are refused. A panic in
//! it ends the process, because its work could be anywhere. If it returns work at the wrong worker,
//! or drops it, the work goes back to where it belongs.

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

    /// Picks what this worker runs next. Called on the worker's thread only.
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

/// Returns a callback that wakes workers whose policies replace the default sleep.
pub(super) fn alarm<'a>(policies: impl Iterator<Item = &'a Custom>) -> Alarm {
    let policies: Vec<_> = policies.map(|custom| Held::new(Arc::clone(&*custom.policy))).collect();
    Box::new(move |index| call_policy(|| policies[index].notify()))
}

/// Calls a policy. Unwinding would lose the work that it holds, and the joiners of that work would
/// hang.
fn call_policy<R>(f: impl FnOnce() -> R) -> R {
    let guard = AbortGuard::new("a scheduling policy panicked");
    let result = context::off_fiber(f);
    guard.disarm();
    result
}

/// Whether the calling worker may run `entry`. It must not resume other workers' fibers. A future
/// is counted where it was spawned. A scope's last job wakes the scope's fiber, which only its own
/// runtime's workers keep alive. Everything else may run anywhere.
fn is_at_home(entry: Entry) -> bool {
    let Some(worker) = context::thread_owner() else { return false };
    match entry.decode() {
        // SAFETY: a ready fiber keeps its runtime alive.
        Work::Fiber(fiber) => unsafe { (*fiber).is_owned_by(worker) },
        // SAFETY: a queued future's entry keeps its frame.
        Work::Future(head) => unsafe { task::is_future_of(head, worker.shared()) },
        // SAFETY: no worker has taken it, so its scope waits.
        Work::Scoped(job) => unsafe { scope::is_of(job, worker.shared()) },
        _ => true,
    }
}

/// Returns work that a policy has dropped, or returned elsewhere, to where it can run. Any thread
/// may call this.
#[cold]
pub(super) fn give_back(entry: Entry) {
    let worker = context::thread_owner();
    if let Some(worker) = worker
        && is_at_home(entry)
    {
        return worker.defer(entry);
    }
    match entry.decode() {
        // SAFETY: a ready fiber keeps its runtime alive.
        Work::Fiber(fiber) => send_home(unsafe { &*fiber }),
        // SAFETY: this thread owns the entry, which is used up here.
        Work::Future(head) => unsafe { task::send_future_home(head) },
        // SAFETY: as above.
        Work::Scoped(job) => unsafe { scope::send_home(job) },
        // SAFETY: as above. A worker could run this entry, so the thread is not a worker, and runs
        // no task.
        _ => unsafe { task::refuse_lost(entry) },
    }
}

fn send_home(fiber: &Fiber) {
    // Once it is posted, the fiber may end, and its runtime with it, while the worker is still
    // being notified.
    let fiber = fiber.to_arc();
    if !fiber.worker().post(fiber.shared(), Entry::fiber(&fiber)) {
        sateen_base::abort_with("a worker has left before its fibers");
    }
}
