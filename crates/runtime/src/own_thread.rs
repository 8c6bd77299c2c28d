//! A thread for one task of a strict runtime that asks for a larger stack than its worker has.
//!
//! The thread acts as the worker while the task runs, and the worker's own thread waits for it. The
//! task's frames count as lying above those of the worker's fiber, as if the fiber had called the
//! task.
//!
//! | thread | steps |
//! |---|---|
//! | the worker's | publishes its fiber's branches, starts the other thread, parks |
//! | the task's | is the worker: takes its context, runs the task, gives it back, unparks |
//! | the worker's | is the worker again |
//!
//! Starting a thread, and the parker's Release and Acquire, order everything that one of the two
//! threads did before everything that the other does next. So whatever belongs to the worker's
//! thread is used by one at a time.

use crate::context;
use crate::entry::Entry;
use crate::fiber::{Fiber, Suspend};
use crate::forked;
use crate::root::bare_fiber;
use crate::stack::{FiberStack, StackSize};
use crate::task::Header;
use crate::worker::Owner;
use sateen_base::os::{self, SignalStack, ThreadClock, process_generation};
use sateen_base::prim::{Arc, AtomicUsize, Ordering, thread};
use sateen_base::{AbortGuard, SpinLock};
use sateen_sync::park::{self, ThreadParker};
use std::cell::Cell;
use std::ptr::NonNull;

/// Bytes that a thread needs besides its fiber's frames: for thread-locals and its own first
/// frames.
pub(crate) const THREAD_OVERHEAD: usize = 32 * 1024;

/// State shared by the two threads.
#[derive(Debug)]
struct Turn {
    /// The process in which both live.
    lives_in: u32,
    /// The worker's own thread waits here.
    worker: ThreadParker,
}

/// What the new thread receives.
struct Given {
    worker: *const Owner,
    fiber: *const Fiber,
    task: NonNull<Header>,
    turn: Arc<Turn>,
    /// Bytes for the task.
    size: usize,
}

// SAFETY: the starting thread uses none of these until the new thread has given them back.
unsafe impl Send for Given {}

std::thread_local! {
    /// Set before any other thread-local, so it is destroyed after all others.
    static LAST: Cell<Option<Arc<Turn>>> = const { Cell::new(None) };
}

/// Runs `task` on a thread with a stack of at least `size` bytes, and returns when the task has
/// ended. Returns false if there is no thread for it; the task is then still the caller's.
pub(crate) fn run(
    worker: &Owner,
    threads: &Threads,
    task: NonNull<Header>,
    size: StackSize,
) -> bool {
    let shared = worker.shared();
    let below = context::this_fiber();
    // The pooled stack provides join slots, and counts as a stack. The frames are on the thread's
    // own stack, which is no larger.
    let Some(stack) = shared.stacks.take(size) else { return false };
    let Some(fiber) = bare_fiber(worker) else {
        shared.stacks.give(stack);
        return false;
    };
    // SAFETY: the fiber does not run, so its join stack is empty and belongs to the caller. The
    // stack has a slot for each job that fits in its frames.
    unsafe { fiber.join_stack().move_to(stack.slots()) };
    // The worker uses other join stacks from now on.
    worker.publish(below);
    let ran = start(worker, threads, fiber, task, &stack);
    worker.set_current_fiber(below);
    shared.stacks.give(stack);
    worker.with_bare(|bare| bare.push(fiber));
    ran
}

/// Starts the thread, and waits until the task has ended.
fn start(
    worker: &Owner,
    threads: &Threads,
    fiber: &Fiber,
    task: NonNull<Header>,
    stack: &FiberStack,
) -> bool {
    if !threads.count_in() {
        return false;
    }
    let turn = Arc::new(Turn { lives_in: process_generation(), worker: ThreadParker::new() });
    let size = stack.size();
    let given =
        Given { worker, fiber, task, turn: Arc::clone(&turn), size: size - THREAD_OVERHEAD };
    // The worker's name, also where a task starts another's thread.
    let name = thread::current().name().map(str::to_owned);
    match os::start_thread(name, Some(size), Box::new(move || be_worker(given))) {
        Ok(thread) => {
            turn.worker.park();
            threads.ended(Ended { turn, thread });
            true
        }
        Err(_) => {
            threads.count_out();
            false
        }
    }
}

/// The thread's main function.
fn be_worker(given: Given) {
    let Given { worker, fiber, task, turn, size } = given;
    LAST.set(Some(Arc::clone(&turn)));
    // SAFETY: the starter's thread keeps both alive, and is parked. So this thread is the worker.
    let (worker, fiber) = unsafe { (&*worker, &*fiber) };
    let shared = Arc::as_ptr(worker.shared());
    context::with(|c| {
        c.enter(Some(worker));
        // This lasts to the very end of the thread, because a worker that leaves waits for it.
        c.join_runtime(shared);
    });
    worker.set_current_fiber(fiber);
    // SAFETY: nothing runs on the thread yet.
    let before = unsafe { park::install(Some(&Suspend)) };
    let signals = SignalStack::ensure();
    let here = 0u8;
    fiber.record().place_thread(std::ptr::from_ref(&here).addr(), size);
    fiber.set_clock(ThreadClock::current());
    let guard = AbortGuard::new("a panic reached the base of a task's own thread");
    worker.execute(fiber, Entry::task(task));
    guard.disarm();
    fiber.set_clock(None);
    drop(signals);
    // SAFETY: the task has ended, so this is an ordinary thread.
    unsafe {
        park::install(before);
        park::set_context_id(0);
    }
    context::with(|c| {
        c.set_fiber(None);
        c.enter(None);
    });
    if turn.lives_in != process_generation() {
        // The worker's own thread stayed in the parent process.
        forked::end_process();
    }
    turn.worker.unpark();
    // The destructors of thread-locals run after this, as on any ordinary thread.
}

/// The threads of a strict runtime's tasks.
#[derive(Debug)]
pub(crate) struct Threads {
    live: AtomicUsize,
    /// Above this number the standard library aborts instead of returning an error.
    limit: usize,
    ended: SpinLock<Vec<Ended>>,
}

/// A thread whose task has ended.
#[derive(Debug)]
struct Ended {
    turn: Arc<Turn>,
    thread: thread::JoinHandle<()>,
}

impl Ended {
    /// Whether the thread has destroyed its thread-locals. `JoinHandle::is_finished` only covers
    /// its main function.
    fn is_over(&self) -> bool {
        Arc::strong_count(&self.turn) == 1
    }

    fn join(self) {
        // It cannot have panicked: no panic leaves the task.
        drop(self.thread.join());
    }
}

impl Threads {
    pub(crate) fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            limit: os::thread_limit().unwrap_or(usize::MAX),
            ended: SpinLock::new(Vec::new()),
        }
    }

    fn count_in(&self) -> bool {
        // Ordering: Relaxed, a count that guards no data. The same holds for the others.
        let free = self.live.fetch_add(1, Ordering::Relaxed) < self.limit;
        if !free {
            self.count_out();
        }
        free
    }

    fn count_out(&self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }

    fn ended(&self, thread: Ended) {
        self.count_out();
        let over: Vec<_> = {
            let mut ended = self.ended.lock();
            ended.push(thread);
            ended.extract_if(.., |thread| thread.is_over()).collect()
        };
        over.into_iter().for_each(Ended::join);
    }

    /// Waits until the threads of ended tasks are gone. Called by a worker that has left its loop.
    pub(crate) fn join_ended(&self) {
        let threads = std::mem::take(&mut *self.ended.lock());
        threads.into_iter().for_each(Ended::join);
    }
}
