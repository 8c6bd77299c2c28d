//! Settings of a pool.

use crate::error::ThreadPoolBuildError;
use crate::pool::ThreadPool;
use crate::registry::{self, Handlers};
use crate::thread_builder::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn, std_builder};
use sateen_runtime::compat;
use std::any::Any;
use std::fmt;
use std::io;

/// A function that a panic without a joiner is passed to.
pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;
/// A function that is called when a thread starts.
pub(crate) type StartHandler = dyn Fn(usize) + Send + Sync;
/// A function that is called when a thread ends.
pub(crate) type ExitHandler = dyn Fn(usize) + Send + Sync;
type NameFn = dyn FnMut(usize) -> String;

/// Settings of a pool.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("worker {index}"))
///     .build()
///     .unwrap();
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.unwrap().starts_with("worker "));
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    name: Option<Box<NameFn>>,
    stack_size: Option<usize>,
    handlers: Handlers,
    spawn: S,
    breadth_first: bool,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            name: None,
            stack_size: None,
            handlers: Handlers::default(),
            spawn: DefaultSpawn,
            breadth_first: false,
        }
    }
}

impl ThreadPoolBuilder {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool of scoped threads, whose jobs may use what only lives for a while: for example
    /// a thread-local that `wrapper` sets around [`ThreadBuilder::run`]. Calls `with_pool` with
    /// the pool, then drops the pool and waits for its threads.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`].
    ///
    /// # Panics
    /// With the panic of `with_pool`, or if `wrapper` has panicked on a thread.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2);
    /// let sum = pool.build_scoped(|thread| thread.run(), |pool| pool.install(|| 1 + 1)).unwrap();
    /// assert_eq!(sum, 2);
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        let wrapper = &wrapper;
        std::thread::scope(|scope| {
            let spawn = |thread: ThreadBuilder| {
                std_builder(&thread)?.spawn_scoped(scope, move || wrapper(thread)).map(drop)
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: ThreadSpawn,
{
    /// Makes this the global pool, which free functions use on threads that belong to no pool. It
    /// can be made once, and the first use of the global pool makes it with the default settings.
    /// Waits until all threads have started.
    ///
    /// # Errors
    /// If there is a global pool already; and those of [`ThreadPoolBuilder::build`].
    ///
    /// ```
    /// rayon_core::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    /// assert_eq!(rayon_core::current_num_threads(), 2);
    /// assert!(rayon_core::ThreadPoolBuilder::new().build_global().is_err());
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        registry::init_global(self)?.wait_until_primed();
        Ok(())
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// The number of threads. Default, also for 0: the environment variable `RAYON_NUM_THREADS`,
    /// or else as many as can run at once. A number above
    /// [`max_num_threads`](crate::max_num_threads) is cut to that.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the calling thread the pool's first, for as long as it lives. It goes on with what it
    /// does, and runs jobs of the pool only while it waits for what they are part of, in `join`, a
    /// scope, `install` elsewhere or a broadcast, or when it [gives way](crate::yield_now). So a
    /// pool of one thread runs everything right there.
    ///
    /// The pool's memory is never given back. Handlers for start and exit are not called for the
    /// thread, and its name stays.
    ///
    /// # Errors
    /// [`ThreadPoolBuilder::build`] fails if the thread belongs to a pool already, and where the
    /// system does not tell where its stack lies: on others than Linux and Windows.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).use_current_thread();
    /// let pool = pool.build().unwrap();
    /// assert_eq!(rayon_core::current_thread_index(), Some(0));
    /// assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Names a thread by its index; called right before the thread is made. By default threads
    /// have no names.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.name = Some(Box::new(closure));
        self
    }

    /// Bytes of stack for jobs. Default: the environment variable `RUST_MIN_STACK`, or 2 MiB. More
    /// than 1 GiB is an error.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Calls `panic_handler` with each panic that no caller waits for: of spawned jobs, and of the
    /// handlers for start and exit. It may be called by several threads at once. Without it, or if
    /// it panics, such a panic ends the process.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// let (sender, receiver) = channel();
    /// let pool = rayon_core::ThreadPoolBuilder::new()
    ///     .panic_handler(move |_| sender.send("a job panicked").unwrap())
    ///     .build()
    ///     .unwrap();
    /// pool.spawn(|| panic!("on purpose"));
    /// assert_eq!(receiver.recv(), Ok("a job panicked"));
    /// ```
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.handlers.panic = Some(Box::new(panic_handler));
        self
    }

    /// Calls `start_handler` with each thread's index on that thread, before any other job. It may
    /// use the pool.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.start = Some(Box::new(start_handler));
        self
    }

    /// Calls `exit_handler` with each thread's index on that thread, after the last job. What it
    /// joins or spawns runs at once, on that thread.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.exit = Some(Box::new(exit_handler));
        self
    }

    /// Makes the threads by `spawn`, which gets one [`ThreadBuilder`] for each and calls
    /// [`ThreadBuilder::run`] on a thread that it provides. The threads' own stacks hardly matter:
    /// see [`ThreadPoolBuilder::stack_size`].
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .spawn_handler(|thread| std::thread::Builder::new().spawn(|| thread.run()).map(drop))
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(pool.install(|| 1), 1);
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            name: self.name,
            stack_size: self.stack_size,
            handlers: self.handlers,
            spawn: CustomSpawn::new(spawn),
            breadth_first: self.breadth_first,
        }
    }

    /// A hint that does nothing here.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    // ---- for the build ----

    pub(crate) fn wanted_threads(&self) -> usize {
        match self.num_threads {
            0 => default_threads(),
            threads => threads,
        }
    }

    pub(crate) fn wants_current_thread(&self) -> bool {
        self.use_current_thread
    }

    pub(crate) fn wanted_stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    pub(crate) fn take_handlers(&mut self) -> Handlers {
        std::mem::take(&mut self.handlers)
    }

    pub(crate) fn make_thread_name(&mut self, index: usize) -> Option<String> {
        self.name.as_mut().map(|name| name(index))
    }

    pub(crate) fn spawn_thread(&mut self, thread: ThreadBuilder) -> io::Result<()>
    where
        S: ThreadSpawn,
    {
        self.spawn.spawn(thread)
    }
}

/// The number in an environment variable. What is no number is ignored.
pub(crate) fn number(variable: &str) -> Option<usize> {
    compat::variable(variable)?.to_str()?.parse().ok()
}

/// The number of threads where the builder does not say.
fn default_threads() -> usize {
    let usable = || std::thread::available_parallelism().map_or(1, usize::from);
    match (number("RAYON_NUM_THREADS"), number("RAYON_RS_NUM_CPUS")) {
        (Some(0), _) => usable(),
        (Some(threads), _) => threads,
        (None, Some(threads @ 1..)) => threads,
        (None, _) => usable(),
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Stands for a function.
        struct Closure;
        impl fmt::Debug for Closure {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<closure>")
            }
        }
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("get_thread_name", &self.name.as_ref().map(|_| Closure))
            .field("panic_handler", &self.handlers.panic.as_ref().map(|_| Closure))
            .field("stack_size", &self.stack_size)
            .field("start_handler", &self.handlers.start.as_ref().map(|_| Closure))
            .field("exit_handler", &self.handlers.exit.as_ref().map(|_| Closure))
            .field("breadth_first", &self.breadth_first)
            .finish()
    }
}
