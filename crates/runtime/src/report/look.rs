//! Inspects a fiber, from its own worker or from another thread.

use super::info::{FiberInfo, FiberState, WaitOwner, WaitsFor};
use crate::fiber::Fiber;
use crate::task::{Header, Running};
use crate::wait_record::Wait;
use sateen_base::prim::Arc;
use sateen_base::prim::time::Duration;
use sateen_base::tsc;

fn waits_for(wait: &Wait, owner: Option<u64>) -> WaitsFor {
    WaitsFor {
        kind: wait.what.kind(),
        address: wait.what.address(),
        owner: owner.map(|id| WaitOwner { id, name: None }),
        time: Duration::from_nanos(tsc::nanos(tsc::now().saturating_sub(wait.since))),
    }
}

fn bare(fiber: &Fiber, id: u64, state: FiberState) -> FiberInfo {
    FiberInfo {
        id,
        task: None,
        name: None,
        location: None,
        state,
        waits_for: None,
        worker: fiber.worker().index(),
        masked: false,
        stack_used: None,
        partial: false,
        has_waker: false,
        since: 0,
        is_outer: false,
    }
}

/// Adds what is known of `fiber` without its worker's help.
pub(super) fn from_asker(fiber: &Arc<Fiber>, out: &mut Vec<FiberInfo>) {
    if !at_sleeper(fiber, out) {
        from_outside(fiber, out);
    }
}

/// Adds what any thread may read of `fiber`.
fn from_outside(fiber: &Arc<Fiber>, out: &mut Vec<FiberInfo>) {
    let id = fiber.context_id();
    if id == 0 {
        return;
    }
    // Parked is checked first: in `no_suspend` the current fiber may wait too.
    let state = if fiber.is_parked() {
        FiberState::Waiting
    } else if fiber.worker().is_running(fiber) {
        FiberState::Running
    } else {
        FiberState::Ready
    };
    let mut info = FiberInfo { partial: true, ..bare(fiber, id, state) };
    info.has_waker = fiber.wakers() > 0;
    if state != FiberState::Running
        && let Some(wait) = fiber.wait()
    {
        info.since = wait.since;
        info.waits_for = Some(waits_for(&wait, None));
    }
    out.push(info);
}

/// [`from_worker`] for a fiber whose thread sleeps. Returns whether it does.
fn at_sleeper(fiber: &Arc<Fiber>, out: &mut Vec<FiberInfo>) -> bool {
    loop {
        let spare = out.capacity() - out.len();
        let mut places = 0;
        let asleep = fiber.while_asleep(|| {
            // SAFETY: the fiber cannot continue before this returns.
            places = unsafe { depth(fiber) };
            if places <= spare {
                from_worker(fiber, out);
            }
        });
        if !asleep || places <= spare {
            return asleep;
        }
        // Outside of the fiber's lock, because an allocator may wait.
        out.reserve(places);
    }
}

/// The number of activations on `fiber`.
///
/// # Safety
/// As [`from_worker`] demands.
unsafe fn depth(fiber: &Fiber) -> usize {
    // SAFETY: by contract: what runs on the fiber lies on its stack.
    let innermost = unsafe { fiber.running().as_ref() };
    // SAFETY: as above, for each place further up the stack.
    let outer = |inner: &&Running| unsafe { inner.outer.as_ref() };
    std::iter::successors(innermost, outer).count()
}

/// Adds all activations on `fiber`, innermost first. Called on its worker's thread while the fiber
/// does not run, or in [`Fiber::while_asleep`], so that the fiber cannot continue before this
/// returns.
pub(super) fn from_worker(fiber: &Arc<Fiber>, out: &mut Vec<FiberInfo>) {
    // SAFETY: what runs on a suspended fiber lies on its stack. The fiber cannot continue before
    // this returns: it would need this thread, or it waits for the caller's lock.
    let Some(running) = (unsafe { fiber.running().as_ref() }) else { return };
    let state = if fiber.is_parked() { FiberState::Waiting } else { FiberState::Ready };
    let mut info = bare(fiber, running.id, state);
    info.has_waker = fiber.wakers() > 0;
    #[cfg(debug_assertions)]
    {
        // SAFETY: the fiber does not run.
        info.stack_used = unsafe { fiber.record().high_water() };
    }
    if let Some(wait) = fiber.wait() {
        // SAFETY: the fiber is in the middle of that wait, so the primitive is valid. It waits on
        // this thread, or its thread sleeps.
        let owner = wait.what.owner().map(|owner| unsafe { owner(wait.what.place()) });
        info.since = wait.since;
        info.waits_for = Some(waits_for(&wait, owner.filter(|&id| id != 0)));
    }
    let mut inner = running;
    name(&mut info, fiber, running);
    out.push(info);
    // SAFETY: as above, for each place further up the stack.
    while let Some(outer) = unsafe { inner.outer.as_ref() } {
        let mut info = FiberInfo { is_outer: true, ..bare(fiber, outer.id, FiberState::Waiting) };
        info.waits_for = Some(WaitsFor {
            kind: "task",
            address: inner.task as usize,
            owner: Some(WaitOwner { id: inner.id, name: None }),
            time: Duration::ZERO,
        });
        name(&mut info, fiber, outer);
        out.push(info);
        inner = outer;
    }
}

/// As [`from_worker`].
fn name(info: &mut FiberInfo, fiber: &Fiber, running: &Running) {
    info.masked = fiber.is_masked();
    // SAFETY: null, or a task that does not end before what runs for it here.
    let task: Option<&Header> = unsafe { running.task.as_ref() };
    if let Some(task) = task {
        info.task = Some(task.id());
        info.name = task.name().cloned();
        info.location = Some(task.location());
    }
}
