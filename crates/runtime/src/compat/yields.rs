//! Work on top of the caller, who asks for it.

use crate::context;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::join_stack::Job;
use crate::offer;
use crate::worker::Owner;
use std::ptr::NonNull;

/// Runs one piece of work on top of the caller, if there is any: the worker's own, or posted to it.
/// Unless `local`, also another worker's, or from outside. Returns whether it did.
///
/// If a suspended fiber of the worker can go on, the caller gives way to that instead.
pub fn run_other(local: bool) -> bool {
    let Some((worker, fiber)) = context::here() else { return false };
    Owner::poll();
    if worker.has_ready() && !fiber.keeps_thread() {
        worker.yield_now(fiber);
        return true;
    }
    let own = worker.take_from_policy().or_else(|| worker.pop_pinned());
    let Some(entry) = own.or_else(|| own_branch(worker, fiber)).or_else(|| match local {
        true => None,
        false => worker.scan().and_then(|entry| startable(worker, entry)),
    }) else {
        return false;
    };
    worker.note_started();
    worker.execute(fiber, entry);
    true
}

/// `entry`, unless it is a fiber: that goes back to its place.
fn startable(worker: &Owner, entry: Entry) -> Option<Entry> {
    match entry.as_fiber() {
        Some(fiber) => {
            worker.resume(fiber, crate::worker::After::Yield);
            None
        }
        None => Some(entry),
    }
}

/// Steals from the caller's own join stack what nobody else has taken.
fn own_branch(worker: &Owner, fiber: &Fiber) -> Option<Entry> {
    let stack = fiber.join_stack();
    if stack.is_empty() {
        return None;
    }
    stack.publish();
    let (job, tag): (*const Job, _) = offer::steal(stack, worker.requests())?;
    worker.will_run_branch_of(tag.cast());
    NonNull::new(job.cast_mut()).map(Entry::job)
}

/// Whether the worker's run queue holds anything, or the caller's join stack a branch that nobody
/// has taken.
pub fn has_local_work() -> bool {
    context::here()
        .is_some_and(|(worker, fiber)| worker.policy_has_ready() || !fiber.join_stack().is_empty())
}
