//! The two loops of a worker thread.
//!
//! The *root* runs on the thread's own stack and runs no user code. It resumes fibers: those that are
//! ready, or else one that runs the *scheduling loop*, which takes work and calls it. When the called
//! task suspends, control is back at the root with the whole stack left as it is; the root goes on with
//! another fiber, if need be a fresh one that begins the scheduling loop anew.

use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::{Fiber, Suspend, Switched};
use crate::shared::Shared;
use crate::task::{self, JoinError};
use crate::unwind::run_and_discard;
use crate::worker::Worker;
use sateen_base::AbortGuard;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, Ordering, thread};

/// Fibers that the root resumes in a row before it lets new work have a turn.
const RESUMES: u32 = 61;
/// Fibers kept with their stacks at the base of the scheduling loop.
const IDLE_FIBERS: usize = 16;
/// How long a worker without a stack waits before it tries again: at first, and how often it doubles.
const STARVED_NAP: Duration = Duration::from_micros(50);
const STARVED_DOUBLINGS: u32 = 5;
/// Naps after which, with every worker starved, spawns are given up: about 40 ms.
const STARVED_NAPS: u32 = 30;

/// A worker thread's life.
pub(crate) fn worker_main(shared: Arc<Shared>, index: usize) {
    let worker = &shared.workers[index];
    worker.set_shared(Some(Arc::clone(&shared)));
    context::with(|c| c.enter(Some(worker)));
    call_hook(shared.hooks.on_start.as_deref(), index);
    let before = sateen_sync::park::install(Some(&Suspend));
    // For the handler of overflows. Without memory for it, an overflow ends the process with less to say.
    let signals = sateen_base::os::SignalStack::ensure();
    let guard = AbortGuard::new("a panic reached a worker's root");
    root_loop(worker);
    guard.disarm();
    drop(signals);
    sateen_sync::park::install(before);
    call_hook(shared.hooks.on_exit.as_deref(), index);
    context::with(|c| c.enter(None));
    worker.set_shared(None);
}

/// Whether the calling thread is some runtime's worker.
pub(crate) fn is_worker_thread() -> bool {
    context::with(|c| c.thread().is_some())
}

/// Calls user code on a worker's thread but on no fiber: it blocks the thread, and nested work runs by
/// plain calls. Its panic was reported by the panic hook and concerns nobody else.
fn call_off_fiber(f: impl FnOnce()) {
    let before = sateen_sync::park::install(None);
    run_and_discard(|| context::run_inline(f));
    sateen_sync::park::install(before);
}

fn call_hook(hook: Option<&(dyn Fn(usize) + Send + Sync)>, index: usize) {
    if let Some(hook) = hook {
        call_off_fiber(|| hook(index));
    }
}

fn root_loop(worker: &Worker) {
    let shared = worker.shared();
    let mut naps = 0;
    let mut resumes = 0;
    while !shared.is_stopped() || worker.has_ready() {
        // Fibers that wake each other for ever must not keep new work waiting for ever.
        let due = resumes >= RESUMES;
        let fiber = if due { base_fiber(worker) } else { None };
        worker.set_work_due(fiber.is_some());
        resumes = if due { 0 } else { resumes + 1 };
        let Some(fiber) = fiber.or_else(|| worker.next_ready()).or_else(|| base_fiber(worker))
        else {
            starve(worker, naps);
            naps += 1;
            continue;
        };
        naps = 0;
        match worker.run_fiber(fiber) {
            Switched::Suspended => {}
            Switched::Finished => recycle(worker, fiber),
        }
    }
    while let Some(fiber) = worker.with_idle(Vec::pop) {
        // SAFETY: fibers live as long as the runtime.
        let fiber = unsafe { &*fiber };
        if worker.run_fiber(fiber) == Switched::Finished {
            recycle(worker, fiber);
        }
    }
}

fn recycle(worker: &Worker, fiber: &Fiber) {
    if let Some(stack) = fiber.take_stack() {
        worker.shared().stacks.give(stack);
    }
    worker.with_bare(|bare| bare.push(fiber));
}

/// A fiber that runs the scheduling loop; none if no stack can be had.
fn base_fiber(worker: &Worker) -> Option<&'static Fiber> {
    if let Some(fiber) = worker.with_idle(Vec::pop) {
        // SAFETY: fibers live as long as the runtime.
        return Some(unsafe { &*fiber });
    }
    let shared = worker.shared();
    let stack = shared.stacks.take(shared.stacks.default_size())?;
    let fiber = worker.with_bare(Vec::pop).unwrap_or_else(|| {
        let fiber = Fiber::new(worker, Arc::clone(shared));
        let address = Arc::as_ptr(&fiber);
        shared.fibers.lock().push(fiber);
        address
    });
    // SAFETY: as above.
    let fiber = unsafe { &*fiber };
    fiber.place(stack, scheduling_loop);
    Some(fiber)
}

/// Takes work and runs it, on `fiber`'s stack, for as long as no fiber is ready to go on.
fn scheduling_loop(worker: &'static Worker, fiber: &'static Fiber) {
    let guard = AbortGuard::new("a panic reached the scheduling loop");
    let shared = worker.shared();
    loop {
        let spare = worker.with_idle(|idle| idle.len());
        // Ordering: Relaxed; a starved worker asks again.
        if spare != 0 && shared.starved.load(Ordering::Relaxed) != 0 {
            // Somebody needs this stack more. The root goes on with a spare one.
            break;
        }
        if worker.is_work_due() {
            worker.set_work_due(false);
            if let Some(entry) = worker.next_entry().or_else(|| shared.take_injected()) {
                worker.execute(entry);
                continue;
            }
        }
        if worker.has_ready() {
            if spare >= IDLE_FIBERS {
                break;
            }
            worker.with_idle(|idle| idle.push(fiber));
            fiber.switch_to_root();
        } else if let Some(entry) = worker.next_entry().or_else(|| worker.idle()) {
            worker.execute(entry);
            continue;
        }
        if shared.is_stopped() {
            break;
        }
    }
    guard.disarm();
}

/// No stack to start work on: wait for a fiber to become ready or a stack to become free.
#[cold]
fn starve(worker: &Worker, naps: u32) {
    let shared = worker.shared();
    // Ordering: AcqRel; the count tells whether everybody is stuck, and guards no data.
    let starved = shared.starved.fetch_add(1, Ordering::AcqRel) + 1;
    if naps >= STARVED_NAPS && starved == shared.workers.len() {
        give_up_spawns(worker);
    }
    if naps == 0 {
        // Sleepers may hold spare stacks.
        shared.wake_all();
    }
    // It may not be able to start work, but it must not keep the runtime from ending.
    let drains = shared.is_closing() && worker.suspended() == 0 && !worker.has_ready();
    if drains {
        shared.drain();
    }
    // Not through the event count: whoever is announced there is taken for somebody who can start work.
    thread::sleep(STARVED_NAP * 2u32.pow(naps.min(STARVED_DOUBLINGS)));
    if drains {
        shared.undrain();
    }
    shared.starved.fetch_sub(1, Ordering::AcqRel);
}

/// Every worker is stuck without a stack: the spawns in reach fail, so that whoever waits for them can
/// go on. Branches and scoped work stay: their owners run or await them.
fn give_up_spawns(worker: &Worker) {
    let shared = worker.shared();
    let mut keep: Vec<Entry> = Vec::new();
    while let Some(entry) = worker.pop_entry().or_else(|| shared.take_injected()) {
        match entry.decode() {
            Work::Task(header) => {
                worker.counters.out_of_stacks.bump();
                call_off_fiber(|| {
                    // SAFETY: the entry's reference to the task is ours.
                    unsafe { task::refuse_queued(header, JoinError::OutOfStacks) };
                });
            }
            _ => keep.push(entry),
        }
    }
    keep.into_iter().rev().for_each(|entry| worker.unpop_entry(entry));
}
