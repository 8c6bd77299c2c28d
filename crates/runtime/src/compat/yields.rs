//! Work that runs on top of a caller who asks for it.

use crate::context;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::join_stack::Job;
use crate::offer;
use crate::worker::Owner;
use std::ptr::NonNull;

/// Runs one piece of work on top of the caller, if there is any. It takes the worker's own work or
/// work posted to it, and unless `local` also work of other workers or from outside. Returns
/// whether it did.
///
/// If a suspended fiber of the worker can resume, the caller yields to it instead.
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

/// Returns `entry` unless it is a fiber, which is put back.
fn startable(worker: &Owner, entry: Entry) -> Option<Entry> {
    match entry.as_fiber() {
        Some(fiber) => {
            worker.resume(fiber, crate::worker::After::Yield);
            None
        }
        None => Some(entry),
    }
}

/// Steals a branch from the caller's own join stack.
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

/// Whether the worker's run queue holds anything, or the caller's join stack holds a branch that
/// was not stolen.
pub fn has_local_work() -> bool {
    context::here()
        .is_some_and(|(worker, fiber)| worker.policy_has_ready() || !fiber.join_stack().is_empty())
}
