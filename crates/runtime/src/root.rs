//! The two loops of a worker thread.
//!
//! The *root* runs on the thread's own stack and runs no user code. It resumes fibers: ready ones,
//! or else one that runs the *scheduling loop*, which takes work and calls it. When the called task
//! suspends, control returns to the root, and the whole stack stays as it is. The root then resumes
//! another fiber, if necessary a new one, which enters the scheduling loop at its beginning.

use crate::context::{self, call_off_fiber};
use crate::entry::{Entry, Work};
use crate::fiber::{Fiber, Suspend, Switched};
use crate::hooks::Hook;
use crate::metrics::Doing;
use crate::own_stack::OwnStack;
use crate::own_thread::{self, Threads};
use crate::shared::Shared;
use crate::stack::{FiberStack, StackSize};
use crate::starve::starve;
use crate::switch::Main;
use crate::task::{self, FutureHead, Header, JoinError};
use crate::trace;
use crate::worker::{After, Owner, Pop};
use sateen_base::AbortGuard;
use sateen_base::os::ThreadClock;
use sateen_base::prim::Arc;
use std::ptr::NonNull;

/// Most idle fibers kept with their stacks at the base of the scheduling loop.
const IDLE_FIBERS: usize = 16;
/// New fibers for which the allocator grows in one step.
const FIBERS_PER_GROWTH: usize = 64;

/// The main function of a worker's thread. In a strict runtime its tasks run on the thread's own
/// stack, `own`.
pub(crate) fn worker_main(shared: Arc<Shared>, index: usize, own: Option<OwnStack>) {
    // SAFETY: this thread is worker `index` from here on.
    let worker = unsafe { shared.workers[index].owner() };
    worker.set_shared(Some(Arc::clone(&shared)));
    ThreadClock::current().map(|clock| worker.clock.set(clock));
    context::with(|c| {
        c.enter(Some(worker));
        c.join_runtime(Arc::as_ptr(&shared));
    });
    call_hook(shared.hooks.on_start.as_deref(), index);
    // SAFETY: here and below, nothing runs on the thread.
    let before = unsafe { sateen_sync::park::install(Some(&Suspend)) };
    // For the overflow handler. If there is no memory for it, an overflow ends the process with a
    // shorter message.
    let signals = sateen_base::os::SignalStack::ensure();
    let guard = AbortGuard::new("a panic reached a worker's root");
    trace::worker_begins(worker);
    worker.turn_to(Doing::Work);
    match own {
        None => root_loop(worker),
        Some(own) => run_in_place(worker, &own),
    }
    worker.turn_to(Doing::Nothing);
    guard.disarm();
    shared.threads.as_ref().map(Threads::join_ended);
    drop(signals);
    // SAFETY: as above.
    unsafe { sateen_sync::park::install(before) };
    call_hook(shared.hooks.on_exit.as_deref(), index);
    context::with(|c| c.enter(None));
    worker.set_shared(None);
}

/// Whether the calling thread is some runtime's worker.
pub(crate) fn is_worker_thread() -> bool {
    context::thread_owner().is_some()
}

fn call_hook(hook: Option<&Hook>, index: usize) {
    if let Some(hook) = hook {
        call_off_fiber(|| hook(index));
    }
}

fn root_loop(worker: &Owner) {
    let shared = worker.shared();
    let mut naps = 0;
    while !shared.is_stopped() || worker.has_started() {
        naps = step(worker, naps);
    }
    end_idle(worker);
}

/// Resumes one fiber, or naps for lack of a stack. `naps` is the number of naps in a row; returns
/// the new number.
#[inline(always)]
pub(crate) fn step(worker: &Owner, naps: u32) -> u32 {
    let Some(fiber) = next_fiber(worker, naps > 0) else {
        return starve(worker, naps);
    };
    if naps > 0 {
        worker.end_starving();
    }
    if worker.run_fiber(fiber) == Switched::Finished {
        recycle(worker, fiber);
    }
    0
}

/// Ends the fibers at the base of their loops, once the runtime is stopped.
pub(crate) fn end_idle(worker: &Owner) {
    while let Some(fiber) = worker.with_idle(Vec::pop) {
        // SAFETY: fibers live as long as the runtime.
        let fiber = unsafe { &*fiber };
        if worker.run_fiber(fiber) == Switched::Finished {
            recycle(worker, fiber);
        }
    }
}

/// Picks the fiber to resume: a ready one, or one with a scheduling loop, for new work or for a
/// search. `None` if the work needs a stack and there is none.
#[inline(always)]
fn next_fiber(worker: &Owner, starved: bool) -> Option<&'static Fiber> {
    let popped = match worker.take_next() {
        None if starved => worker.pop(Pop::Fiber),
        None => worker.pop(Pop::Needed),
        handed => handed,
    };
    let Some(entry) = popped else { return base_fiber(worker) };
    match entry.as_fiber() {
        Some(fiber) => {
            // (Other fibers start something, which announces timers too, or sleep and watch
            // timers.)
            worker.announce_timer();
            Some(fiber)
        }
        None => next_fiber_slow(worker, entry),
    }
}

/// Picks a fiber that can run `entry`. If there is none, puts `entry` aside, and picks a ready
/// fiber.
#[inline(never)]
fn next_fiber_slow(worker: &Owner, entry: Entry) -> Option<&'static Fiber> {
    match base_fiber(worker) {
        Some(fiber) => {
            worker.set_next(entry);
            Some(fiber)
        }
        None => {
            worker.put_aside(entry);
            worker.pop(Pop::Fiber).and_then(Entry::as_fiber)
        }
    }
}

fn recycle(worker: &Owner, fiber: &Fiber) {
    if let Some(stack) = fiber.take_stack() {
        worker.shared().stacks.give(stack);
        worker.count_stack_out();
    }
    worker.with_bare(|bare| bare.push(fiber));
}

/// A fiber that runs the scheduling loop; `None` if there is no stack for it.
#[inline(never)]
pub(crate) fn base_fiber(worker: &Owner) -> Option<&'static Fiber> {
    if let Some(fiber) = worker.with_idle(Vec::pop) {
        // SAFETY: fibers live as long as the runtime.
        return Some(unsafe { &*fiber });
    }
    let shared = worker.shared();
    let fiber = placed_fiber(worker, shared.stacks.default_size(), base_main(shared))?;
    worker.note_started();
    Some(fiber)
}

fn base_main(shared: &Shared) -> Main {
    if shared.pumped { one_by_one } else { scheduling_loop }
}

/// [`base_fiber`] on a stack beyond the limit.
pub(crate) fn extra_fiber(worker: &Owner) -> Option<&'static Fiber> {
    let shared = worker.shared();
    let stack = shared.stacks.take_beyond()?;
    let fiber = place_fiber(worker, stack, base_main(shared))?;
    worker.note_started();
    Some(fiber)
}

/// A fiber that begins with `main` on a stack of at least `size`; `None` if there is no such stack.
fn placed_fiber(worker: &Owner, size: StackSize, main: Main) -> Option<&'static Fiber> {
    let stack = worker.shared().stacks.take(size)?;
    place_fiber(worker, stack, main)
}

/// A fiber that begins with `main` on a stack of at least a thread's size; `None` if there is none.
pub(crate) fn fresh_fiber(worker: &Owner, main: Main) -> Option<&'static Fiber> {
    placed_fiber(worker, worker.shared().stacks.large_size(), main)
}

fn place_fiber(worker: &Owner, stack: FiberStack, main: Main) -> Option<&'static Fiber> {
    let Some(fiber) = bare_fiber(worker) else {
        worker.shared().stacks.give(stack);
        return None;
    };
    fiber.place(stack, main);
    worker.count_stack_in();
    Some(fiber)
}

/// A fiber without a stack; `None` if there is no memory for the list of fibers.
pub(crate) fn bare_fiber(worker: &Owner) -> Option<&'static Fiber> {
    let shared = worker.shared();
    let fiber = match worker.with_bare(Vec::pop) {
        Some(fiber) => fiber,
        None => {
            shared.fibers.lock().try_reserve(1).ok()?;
            if shared.fibers.lock().len() % FIBERS_PER_GROWTH == FIBERS_PER_GROWTH - 1 {
                grow_heap();
            }
            let fiber = Fiber::new(worker, Arc::clone(shared));
            let address = Arc::as_ptr(&fiber);
            shared.fibers.lock().push(fiber);
            address
        }
    };
    // SAFETY: fibers live as long as the runtime.
    Some(unsafe { &*fiber })
}

/// Makes the allocator grow once for many fibers. The GNU allocator grows a thread's heap by just
/// what is missing, so every fourth fiber cost a system call that changes a mapping. Such a call
/// delays the page faults of all threads.
#[cold]
fn grow_heap() {
    let mut room = Vec::<u8>::new();
    // If there is no memory for it, the fibers allocate one by one.
    _ = room.try_reserve_exact(FIBERS_PER_GROWTH * size_of::<Fiber>() * 3 / 2);
    drop(std::hint::black_box(room));
}

/// Starts `task`, which asks for a larger or a much smaller stack than the default, on a stack of
/// its own. If there is none, a task that fits runs on the caller's stack. A larger one fails,
/// because waiting would not make other stacks larger.
///
/// The caller runs `current`. A fiber that may leave its thread is at the base of its loop: only
/// such a loop starts tasks there.
#[cold]
pub(crate) fn start_apart(worker: &Owner, current: &Fiber, task: NonNull<Header>, size: usize) {
    let shared = worker.shared();
    let fits_here = size <= current.stack_size();
    let size = StackSize::new(size).map_or(shared.stacks.default_size(), StackSize::coarse);
    let starts = match &shared.threads {
        Some(threads) => own_thread::run(worker, threads, task, size),
        None => placed_fiber(worker, size, run_handed).is_some_and(|fiber| {
            fiber.will_start(Entry::task(task));
            if current.keeps_thread() {
                worker.resume(fiber, After::Yield);
            } else {
                // At once: if it were queued, tasks behind it would take stacks before it ends.
                worker.set_next(Entry::fiber(fiber));
                worker.with_idle(|idle| idle.push(current));
                current.switch_to_root();
            }
            true
        }),
    };
    if !starts && fits_here {
        // SAFETY: this thread owns the entry's reference to the task.
        unsafe { task::run_queued(task) };
    } else if !starts {
        worker.counters.out_of_stacks.bump();
        // SAFETY: this thread owns the entry's reference to the task.
        unsafe { task::refuse_queued(task, JoinError::OutOfStacks) };
    }
}

/// Runs the one task for which the fiber was created.
fn run_handed(worker: &'static Owner, fiber: &'static Fiber) {
    let guard = AbortGuard::new("a panic reached the base of a task's own stack");
    if let Some(entry) = fiber.start() {
        worker.execute(fiber, entry);
    }
    fiber.take_start();
    guard.disarm();
}

/// Takes work and runs it on `fiber`'s stack, until a fiber is ready.
fn scheduling_loop(worker: &'static Owner, fiber: &'static Fiber) {
    let guard = AbortGuard::new("a panic reached the scheduling loop");
    let shared = worker.shared();
    let is_substitute = worker.index() >= shared.regular;
    loop {
        let idle = worker.with_idle(|idle| idle.len());
        if idle != 0 && shared.stacks.is_tight() {
            // Another worker needs this stack more. The root continues with a spare one.
            break;
        }
        let next = || worker.pop(if is_substitute { Pop::Needed } else { Pop::Any });
        let found = worker.take_next().or_else(next);
        match found.or_else(|| worker.next_injected()).or_else(|| worker.idle()) {
            Some(entry) if entry.is_fiber() => {
                worker.set_next(entry);
                if idle >= IDLE_FIBERS {
                    break;
                }
                worker.with_idle(|idle| idle.push(fiber));
                fiber.switch_to_root();
            }
            Some(entry) => worker.execute(fiber, entry),
            None => {}
        }
        if shared.is_stopped() {
            break;
        }
    }
    guard.disarm();
}

/// The main function of a worker in a strict runtime: the scheduling loop on the thread's own
/// stack. Tasks keep their threads there, so no fiber is ever resumed.
fn run_in_place(worker: &Owner, own: &OwnStack) {
    let shared = worker.shared();
    let Some(fiber) = bare_fiber(worker) else {
        sateen_base::abort_with("no memory for a worker's fiber")
    };
    // SAFETY: the fiber is new. It ends below.
    unsafe { own.give_to(fiber, shared.stacks.default_size().bytes()) };
    worker.set_current_fiber(fiber);
    // SAFETY: here and below, what runs next on this thread.
    let thread_id = unsafe { sateen_sync::park::set_context_id(0) };
    while !shared.is_stopped() {
        let next = || worker.pop(Pop::Needed);
        if let Some(entry) = worker.take_next().or_else(next).or_else(|| worker.idle()) {
            worker.execute(fiber, entry);
        }
    }
    // SAFETY: as above.
    unsafe { sateen_sync::park::set_context_id(thread_id) };
    context::with(|c| c.set_fiber(None));
}

/// The scheduling loop of a worker whose root is called now and then. After each entry the root
/// decides whether to continue.
fn one_by_one(worker: &'static Owner, fiber: &'static Fiber) {
    let guard = AbortGuard::new("a panic reached the scheduling loop");
    while let Some(entry) = worker.take_next() {
        worker.execute(fiber, entry);
        let idle = worker.with_idle(|idle| idle.len());
        if idle >= IDLE_FIBERS || (idle != 0 && worker.shared().stacks.is_tight()) {
            break;
        }
        worker.with_idle(|idle| idle.push(fiber));
        fiber.switch_to_root();
    }
    guard.disarm();
}

/// Nothing queued may start any more: closures fail, futures are dropped in turn.
#[cold]
pub(crate) fn cancel_queued(worker: &Owner) {
    let error = || JoinError::Cancelled;
    refuse_spawns(worker, error, |future| {
        // SAFETY: the entry, which is put back, keeps the frame.
        call_off_fiber(|| unsafe { Header::cancel(future.cast()) });
    });
}

/// Fails the spawned tasks in reach; other queued work stays. `future` is called with each future.
fn refuse_spawns(worker: &Owner, error: fn() -> JoinError, future: impl Fn(NonNull<FutureHead>)) {
    let shared = worker.shared();
    let mut keep: Vec<Entry> = Vec::new();
    while let Some(entry) = worker.pop(Pop::Any).or_else(|| shared.take_injected()) {
        match entry.decode() {
            Work::Task(header) => {
                call_off_fiber(|| {
                    // SAFETY: this thread owns the entry's reference to the task.
                    unsafe { task::refuse_queued(header, error()) };
                });
            }
            Work::Future(head) => {
                future(head);
                keep.push(entry);
            }
            _ => keep.push(entry),
        }
    }
    for entry in keep {
        match entry.as_fiber() {
            Some(fiber) => worker.resume(fiber, After::Yield),
            None => worker.defer(entry),
        }
    }
}
