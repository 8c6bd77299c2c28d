//! How control goes from a worker's root to a fiber and back.
//!
//! There are two back ends. A *coroutine* switches stacks on the worker's thread. In a strict
//! runtime each fiber has a *thread* of its own, and the worker is a *baton*: the thread that holds
//! it, the root's or one fiber's, is the worker, and all other threads of that worker are parked.
//! The parkers' release and acquire order what one holder did before what the next one does. So the
//! holder may use whatever belongs to the worker's thread.
//!
//! | holder | hands the baton on in | to |
//! |---|---|---|
//! | root | [`Switch::resume`] | the fiber |
//! | fiber | [`Back::switch`], or its main function's return | the root |

use crate::announce::{self, Announced};
use crate::context;
use crate::fiber::{Fiber, Suspend, Switched};
use crate::forked;
use crate::stack::FiberStack;
use crate::worker::Owner;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use sateen_base::SpinLock;
use sateen_base::os::{self, SignalStack, ThreadClock, process_generation};
use sateen_base::prim::{Arc, AtomicBool, AtomicUsize, Ordering, thread};
use sateen_sync::park::{self, ThreadParker};
use std::cell::Cell;

/// A fiber's main function.
pub(crate) type Main = fn(&'static Owner, &'static Fiber);

/// Bytes that a thread needs beyond the frames of its fiber: thread-locals, its own first frames.
pub(crate) const THREAD_OVERHEAD: usize = 32 * 1024;

/// The root's side of a fiber that has a stack.
pub(crate) enum Switch {
    Coroutine(Coroutine<(), (), (), FiberStack>, Announced),
    Thread(OwnThread),
}

/// The fiber's way back to the root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Back {
    /// It has not started.
    Nowhere,
    Coroutine(*const Yielder<(), ()>),
    Thread(*const Baton),
}

impl Switch {
    /// Prepares `main` to run for `fiber` at the first [`Switch::resume`]. Neither outlives the
    /// runtime. Gives the stack back if there is no thread for it.
    pub(crate) fn new(
        stack: FiberStack,
        fiber: &Fiber,
        main: Main,
        threads: Option<&Threads>,
    ) -> Result<Self, FiberStack> {
        let fiber = FiberPtr(fiber);
        if let Some(threads) = threads {
            return OwnThread::start(stack, fiber, main, threads).map(Self::Thread);
        }
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            let fiber = fiber.get();
            fiber.set_back(Back::Coroutine(yielder));
            // SAFETY: the coroutine runs on its worker's thread.
            main(unsafe { fiber.owner() }, fiber);
            announce::back();
        });
        Ok(Self::Coroutine(coroutine, Announced::new()))
    }

    /// Runs the fiber until it switches back. Root only.
    #[inline]
    pub(crate) fn resume(&mut self) -> Switched {
        match self {
            Self::Coroutine(coroutine, known) => match known.resume(|| coroutine.resume(())) {
                CoroutineResult::Yield(()) => Switched::Suspended,
                CoroutineResult::Return(()) => Switched::Finished,
            },
            Self::Thread(own) => own.baton.to_fiber(),
        }
    }

    /// The stack of a fiber that has finished. Root only.
    pub(crate) fn into_stack(self, threads: Option<&Threads>) -> FiberStack {
        match (self, threads) {
            (Self::Coroutine(coroutine, _), _) => coroutine.into_stack(),
            (Self::Thread(own), Some(threads)) => threads.ended(own),
            (Self::Thread(own), None) => own.stack,
        }
    }
}

impl Back {
    /// Switches to the root. Returns when the root resumes the fiber.
    ///
    /// # Safety
    /// Called by the running fiber that was given this way back.
    #[inline]
    pub(crate) unsafe fn switch(self) {
        match self {
            Self::Coroutine(yielder) => {
                announce::back();
                // SAFETY: the coroutine that this stands for is running, on this stack.
                unsafe { (*yielder).suspend(()) }
            }
            // SAFETY: the thread that runs the fiber keeps its baton.
            Self::Thread(baton) => unsafe { (*baton).to_root() },
            Self::Nowhere => sateen_base::abort_with("a fiber switched before it started"),
        }
    }
}

/// A fiber's address that may travel to its thread.
#[derive(Clone, Copy)]
struct FiberPtr(*const Fiber);

// SAFETY: fibers are Sync and outlive what runs on them.
unsafe impl Send for FiberPtr {}

impl FiberPtr {
    fn get(self) -> &'static Fiber {
        // SAFETY: fibers live as long as their runtime, and nothing that runs on them outlives
        // that.
        unsafe { &*self.0 }
    }
}

/// Which of two threads, a root's or one fiber's, is the worker.
#[derive(Debug)]
pub(crate) struct Baton {
    /// The process that both threads live in.
    lives_in: u32,
    fiber: ThreadParker,
    root: ThreadParker,
    finished: AtomicBool,
}

impl Baton {
    fn to_fiber(&self) -> Switched {
        self.check();
        self.fiber.unpark();
        self.root.park();
        // Ordering: Relaxed; the token that `park` took orders it.
        if self.finished.load(Ordering::Relaxed) { Switched::Finished } else { Switched::Suspended }
    }

    /// The other thread has to be there.
    fn check(&self) {
        if self.lives_in != process_generation() {
            forked::end_process();
        }
    }

    fn to_root(&self) {
        self.check();
        self.root.unpark();
        self.fiber.park();
    }
}

/// A fiber's thread, from the root's side.
pub(crate) struct OwnThread {
    baton: Arc<Baton>,
    thread: thread::JoinHandle<()>,
    /// Kept for its join slots, and for the count of stacks. The frames are on the thread's stack,
    /// which is no larger.
    stack: FiberStack,
}

impl OwnThread {
    fn start(
        stack: FiberStack,
        fiber: FiberPtr,
        main: Main,
        threads: &Threads,
    ) -> Result<Self, FiberStack> {
        if !threads.count_in() {
            return Err(stack);
        }
        let baton = Arc::new(Baton {
            lives_in: process_generation(),
            fiber: ThreadParker::new(),
            root: ThreadParker::new(),
            finished: AtomicBool::new(false),
        });
        let size = stack.size();
        let body = {
            let baton = Arc::clone(&baton);
            move || be_fiber(baton, fiber, main, size)
        };
        let builder = thread::Builder::new().stack_size(size);
        // The worker's name, also where a task starts another's thread.
        let builder = match thread::current().name() {
            Some(name) => builder.name(name.to_owned()),
            None => builder,
        };
        match os::before_thread().and_then(|()| builder.spawn(body)) {
            Ok(thread) => Ok(Self { baton, thread, stack }),
            Err(_) => {
                threads.count_out();
                Err(stack)
            }
        }
    }
}

std::thread_local! {
    /// The baton of the thread's fiber. The thread sets it before any other thread-local, and so
    /// destroys it after all others.
    static LAST: Cell<Option<Arc<Baton>>> = const { Cell::new(None) };
}

/// The life of a fiber's thread.
fn be_fiber(baton: Arc<Baton>, fiber: FiberPtr, main: Main, size: usize) {
    LAST.set(Some(Arc::clone(&baton)));
    baton.fiber.park();
    let fiber = fiber.get();
    // SAFETY: the root has left this thread the baton.
    let worker = unsafe { fiber.owner() };
    context::with(|c| {
        c.enter(Some(worker));
        c.set_fiber(Some((worker, fiber)));
        // This lasts to the thread's very end, because a worker that leaves waits for it.
        c.join_runtime(Arc::as_ptr(worker.shared()));
    });
    // SAFETY: nothing runs on the thread yet.
    let before = unsafe { park::install(Some(&Suspend)) };
    let signals = SignalStack::ensure();
    let here = 0u8;
    fiber.record().place_thread(std::ptr::from_ref(&here) as usize, size - THREAD_OVERHEAD);
    fiber.set_back(Back::Thread(&raw const *baton));
    fiber.set_clock(ThreadClock::current());
    main(worker, fiber);
    fiber.set_clock(None);
    drop(signals);
    // SAFETY: the fiber has ended, so this is a thread like any other.
    unsafe {
        park::install(before);
        park::set_context_id(0);
    }
    context::with(|c| {
        c.set_fiber(None);
        c.enter(None);
    });
    // Ordering: Relaxed, see `to_fiber`.
    baton.finished.store(true, Ordering::Relaxed);
    baton.root.unpark();
    // The destructors of thread-locals run after this, as on any thread that is no worker.
}

/// The threads of a strict runtime's fibers.
#[derive(Debug)]
pub(crate) struct Threads {
    live: AtomicUsize,
    /// Above this number the standard library aborts instead of reporting.
    limit: usize,
    ended: SpinLock<Vec<Ended>>,
}

/// A thread whose fiber has finished.
#[derive(Debug)]
struct Ended {
    baton: Arc<Baton>,
    thread: thread::JoinHandle<()>,
}

impl Ended {
    /// Whether the thread has destroyed its thread-locals. `JoinHandle::is_finished` tells only of
    /// its main function.
    fn is_over(&self) -> bool {
        Arc::strong_count(&self.baton) == 1
    }

    fn join(self) {
        // It cannot have panicked: no panic leaves a fiber's main function.
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

    fn ended(&self, own: OwnThread) -> FiberStack {
        self.count_out();
        let OwnThread { baton, thread, stack } = own;
        let over: Vec<_> = {
            let mut ended = self.ended.lock();
            ended.push(Ended { baton, thread });
            ended.extract_if(.., |thread| thread.is_over()).collect()
        };
        over.into_iter().for_each(Ended::join);
        stack
    }

    /// Waits until the threads of finished fibers are gone. For a worker that has left its loop.
    pub(crate) fn join_ended(&self) {
        let threads = std::mem::take(&mut *self.ended.lock());
        threads.into_iter().for_each(Ended::join);
    }
}
