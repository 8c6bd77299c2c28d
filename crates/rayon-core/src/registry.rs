//! What the threads of one pool share, and how a thread finds its pool.
//!
//! A *registry* is a pool without its handle: workers, handlers, queues for `spawn_fifo`. It is
//! kept by the handle and by each thread of the pool. The runtime inside knows nothing of it. So
//! the registry, with the user's handlers, is dropped when handle and threads are gone.
//!
//! A thread of a pool has a [`Member`] in the frame of `ThreadBuilder::run`, and its address in a
//! thread-local. Jobs run on fibers of that thread, which never leave it.

use crate::builder::{self, ExitHandler, PanicHandler, StartHandler, ThreadPoolBuilder};
use crate::error::ThreadPoolBuildError;
use crate::fifo::JobFifo;
use crate::thread_builder::{ThreadBuilder, ThreadSpawn};
use sateen_runtime::compat::{self, FirstJob, Listing, PerProcess, Pool};
use sateen_runtime::{Builder, MAX_WORKERS};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

/// The bytes of stack that the standard library gives a thread.
const DEFAULT_STACK: usize = 2 << 20;
/// The largest stack that the runtime makes.
const MAX_STACK: usize = 1 << 30;

/// The functions that a builder was given.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<PanicHandler>>,
    pub(crate) start: Option<Box<StartHandler>>,
    pub(crate) exit: Option<Box<ExitHandler>>,
}

/// See the [module's documentation](self).
// Public to the original's own tests only.
#[allow(unreachable_pub)]
pub struct Registry {
    pool: Pool,
    /// From the end of the build on, `sateen-top` sees the pool.
    listing: OnceLock<Listing>,
    handlers: Handlers,
    /// One queue for each thread.
    fifos: Box<[Arc<JobFifo<'static>>]>,
    /// How many threads have entered.
    primed: Mutex<usize>,
    all_primed: Condvar,
}

/// Names a registry in `Debug` texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegistryId {
    _address: usize,
}

/// The runtime's settings that make it behave as pools of `rayon` do.
fn mode(builder: Builder) -> Builder {
    // A substitute would have an index beyond those that programs make room for.
    builder.keep_threads(true).substitutes(0)
}

/// Bytes of stack for jobs where the builder does not say.
fn default_stack() -> usize {
    builder::number("RUST_MIN_STACK").unwrap_or(DEFAULT_STACK).min(MAX_STACK)
}

type Global = OnceLock<Option<Arc<Registry>>>;

/// The global pool of this process; none if it could not be built.
fn global() -> &'static Global {
    static GLOBAL: PerProcess<Global> = PerProcess::new();
    GLOBAL.get(OnceLock::new)
}

/// The global pool, which is built at first use.
///
/// # Panics
/// If it could not be built.
pub(crate) fn global_registry() -> &'static Arc<Registry> {
    let registry = global().get_or_init(|| Registry::new(ThreadPoolBuilder::new()).ok());
    registry.as_ref().expect("The global thread pool has not been initialized.")
}

/// Builds the global pool.
///
/// # Errors
/// If there is one already, or an attempt to build it has failed; and those of the builder.
pub(crate) fn init_global<S: ThreadSpawn>(
    builder: ThreadPoolBuilder<S>,
) -> Result<&'static Arc<Registry>, ThreadPoolBuildError> {
    let mut error = Some(ThreadPoolBuildError::already_initialized());
    let registry = global().get_or_init(|| match Registry::new(builder) {
        Ok(registry) => {
            error = None;
            Some(registry)
        }
        Err(reason) => {
            error = Some(reason);
            None
        }
    });
    match (registry, error) {
        (Some(registry), None) => Ok(registry),
        (_, error) => Err(error.unwrap_or_else(ThreadPoolBuildError::already_initialized)),
    }
}

impl Registry {
    /// Builds a pool.
    pub(crate) fn new<S: ThreadSpawn>(
        mut builder: ThreadPoolBuilder<S>,
    ) -> Result<Arc<Self>, ThreadPoolBuildError> {
        let threads = builder.wanted_threads().min(MAX_WORKERS);
        let resident = builder.wants_current_thread();
        if resident {
            if Member::current().is_some() || compat::is_worker_thread() {
                return Err(ThreadPoolBuildError::already_in_pool());
            }
            // The thread keeps the name that it has.
            drop(builder.make_thread_name(0));
        }
        let stack_size = builder.wanted_stack_size();
        let settings = mode(
            compat::builder()
                .workers(threads)
                // The threads' names are made one by one, below.
                .thread_name(|_| String::new())
                .stack_size(stack_size.unwrap_or_else(default_stack)),
        );
        let mut handlers = Some(builder.take_handlers());
        let mut around = |pool| {
            Arc::new(Self {
                pool,
                listing: OnceLock::new(),
                handlers: handlers.take().unwrap_or_default(),
                fifos: (0..threads).map(|_| Arc::default()).collect(),
                primed: Mutex::new(0),
                all_primed: Condvar::new(),
            })
        };
        let mut registry = None;
        let pool = Pool::build(settings, resident, |mut worker| {
            let registry = registry.get_or_insert_with(|| around(Pool::of(&worker)));
            Pool::run_first::<StartHere>(&mut worker);
            let name = builder.make_thread_name(worker.index());
            let registry = Arc::clone(registry);
            builder.spawn_thread(ThreadBuilder::new(name, stack_size, registry, worker))
        })?;
        let registry = registry.unwrap_or_else(|| around(pool));
        registry.listing.get_or_init(|| registry.pool.list());
        if resident {
            Member::new(Arc::clone(&registry), 0).stay();
        }
        Ok(registry)
    }

    /// The registry of the calling thread's pool, or of the global one.
    pub(crate) fn current() -> Arc<Self> {
        match Member::current() {
            Some(member) => Arc::clone(&member.registry),
            None => Arc::clone(global_registry()),
        }
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn id(&self) -> RegistryId {
        RegistryId { _address: ptr::from_ref(self).addr() }
    }

    /// The number of threads.
    #[inline]
    #[allow(unreachable_pub)]
    pub fn num_threads(&self) -> usize {
        self.pool.workers()
    }

    /// The calling thread, if it is one of this pool's.
    #[inline]
    pub(crate) fn member(&self) -> Option<&Member> {
        Member::current().filter(|member| ptr::eq(Arc::as_ptr(&member.registry), self))
    }

    /// Runs `f` on a thread of this pool, which may be the caller's.
    #[inline]
    pub(crate) fn in_worker<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        match self.member() {
            Some(_) => f(),
            None => self.pool.install(f),
        }
    }

    /// Passes a panic to the panic handler. Without one, or if that panics too, the process ends.
    #[cold]
    fn handle(&self, panic: Box<dyn Any + Send>) {
        let Some(handler) = &self.handlers.panic else {
            compat::abort_with("rayon-core: a job panicked, and its pool has no panic handler");
        };
        if catch_unwind(AssertUnwindSafe(|| handler(panic))).is_err() {
            compat::abort_with("rayon-core: a panic handler panicked");
        }
    }

    /// Waits until all threads have entered.
    pub(crate) fn wait_until_primed(&self) {
        let mut primed = self.primed.lock().unwrap_or_else(PoisonError::into_inner);
        while *primed < self.num_threads() {
            primed = self.all_primed.wait(primed).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn note_primed(&self) {
        *self.primed.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.all_primed.notify_all();
    }

    /// Waits until all threads have left their loops: for tests.
    #[cfg(sateen_rayon_tests)]
    pub fn wait_until_stopped(&self) {
        self.pool.wait_ended();
    }
}

/// Runs `f` on a thread of the calling thread's pool, or of the global one.
#[inline]
pub(crate) fn in_current<R: Send>(f: impl FnOnce(&Arc<Registry>) -> R + Send) -> R {
    match Member::current() {
        Some(member) => f(&member.registry),
        None => {
            let registry = global_registry();
            registry.in_worker(|| f(registry))
        }
    }
}

/// Runs `f`, a job that nobody waits for. Its panic goes to the panic handler of the thread's pool.
pub(crate) fn run_detached(f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        match Member::current() {
            Some(member) => member.registry.handle(panic),
            None => compat::abort_with("rayon-core: a job panicked outside of its pool"),
        }
    }
}

/// A thread of a pool, as it knows itself.
pub(crate) struct Member {
    registry: Arc<Registry>,
    index: usize,
    /// The start handler has been called.
    started: Cell<bool>,
}

thread_local! {
    static MEMBER: Cell<*const Member> = const { Cell::new(ptr::null()) };
}

/// The thread belongs to a pool until this is dropped.
pub(crate) struct Inside<'a>(&'a Member);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        debug_assert!(ptr::eq(MEMBER.get(), self.0), "a thread left a pool that it is not in");
        MEMBER.set(ptr::null());
    }
}

impl Member {
    pub(crate) fn new(registry: Arc<Registry>, index: usize) -> Self {
        Self { registry, index, started: Cell::new(false) }
    }

    /// The calling thread, if it belongs to a pool. The reference is good for as long as the
    /// caller's frame is there.
    #[inline]
    pub(crate) fn current<'a>() -> Option<&'a Self> {
        // SAFETY: null, or in a frame below the caller's on this thread: `Inside` sees to that. The
        // callers do not keep the reference beyond their own frames.
        unsafe { MEMBER.get().as_ref() }
    }

    /// Makes the calling thread this member.
    ///
    /// # Panics
    /// If it belongs to a pool already.
    pub(crate) fn enter(&self) -> Inside<'_> {
        assert!(MEMBER.get().is_null(), "a thread can work for one pool only");
        MEMBER.set(self);
        self.registry.note_primed();
        Inside(self)
    }

    /// Makes the calling thread this member for ever. Its start is not the pool's.
    ///
    /// # Panics
    /// As [`Member::enter`].
    fn stay(self) {
        self.started.set(true);
        let member: &'static Self = Box::leak(Box::new(self));
        std::mem::forget(member.enter());
    }

    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The registry of the thread's pool.
    #[inline]
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The thread's queue for `spawn_fifo`.
    pub(crate) fn fifo(&self) -> &Arc<JobFifo<'static>> {
        &self.registry.fifos[self.index]
    }

    /// Calls the start handler, unless that was done.
    pub(crate) fn start(&self) {
        if !self.started.replace(true)
            && let Some(handler) = &self.registry.handlers.start
        {
            run_detached(|| handler(self.index));
        }
    }

    /// Calls the exit handler.
    pub(crate) fn exit(&self) {
        if let Some(handler) = &self.registry.handlers.exit {
            run_detached(|| handler(self.index));
        }
    }
}

/// The first job of each worker: there the start handler may use the pool in full.
struct StartHere;

impl FirstJob for StartHere {
    fn run() {
        if let Some(member) = Member::current() {
            member.start();
        }
    }
}
