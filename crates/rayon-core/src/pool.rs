//! Pools, and what a thread can learn of its own.

use crate::broadcast::BroadcastContext;
use crate::registry::{Member, Registry, global_registry};
use crate::scope::{Scope, ScopeFifo};
use crate::{ThreadPoolBuildError, ThreadPoolBuilder};
use sateen_runtime::compat;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A pool of threads of its own.
///
/// Dropped, it takes no more work from outside. The drop does not wait: the threads run what was
/// accepted, and what that spawns, and end.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
/// assert_eq!(pool.current_num_threads(), 2);
/// ```
pub struct ThreadPool {
    /// Public for the original's own tests.
    #[cfg(sateen_rayon_tests)]
    #[doc(hidden)]
    pub registry: Arc<Registry>,
    #[cfg(not(sateen_rayon_tests))]
    registry: Arc<Registry>,
}

impl ThreadPool {
    /// [`ThreadPoolBuilder::build`] under its old name.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`].
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: crate::Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }

    pub(crate) fn of(registry: Arc<Registry>) -> Self {
        Self { registry }
    }

    /// Runs `op` on a thread of the pool and returns its result. Inside, free functions use this
    /// pool. On a thread of the pool this is a plain call.
    ///
    /// The caller waits. If it is a thread of another pool, that pool has one thread fewer
    /// meanwhile.
    ///
    /// # Panics
    /// With the panic of `op`.
    ///
    /// ```
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.install(rayon_core::current_num_threads), 2);
    /// ```
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.in_worker(op)
    }

    /// [`broadcast`](crate::broadcast()) in this pool.
    ///
    /// # Panics
    /// With the panic of one `op`, once all are done.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        self.registry.broadcast(op)
    }

    /// The number of threads of the pool.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.registry.num_threads()
    }

    /// The caller's index in this pool; none if the calling thread is not one of its threads.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.registry.member().map(Member::index)
    }

    /// [`current_thread_has_pending_tasks`] for threads of this pool; none for others.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.registry.member().map(|_| compat::has_local_work())
    }

    /// [`join`](crate::join()) in this pool.
    ///
    /// # Panics
    /// As [`join`](crate::join()).
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(oper_a, oper_b))
    }

    /// [`scope`](crate::scope()) in this pool.
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope(op))
    }

    /// [`scope_fifo`](crate::scope_fifo()) in this pool.
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope_fifo(op))
    }

    /// [`in_place_scope`](crate::in_place_scope()) whose jobs go to this pool.
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        Scope::run(&self.registry, op)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo()) whose jobs go to this pool.
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        ScopeFifo::run(&self.registry, op)
    }

    /// [`spawn`](crate::spawn()) in this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.registry.spawn(op);
    }

    /// [`spawn_fifo`](crate::spawn_fifo()) in this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.registry.spawn_fifo(op);
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast()) in this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.registry.spawn_broadcast(op);
    }

    /// [`yield_now`] for threads of this pool; none for others.
    pub fn yield_now(&self) -> Option<Yield> {
        self.registry.member().map(|_| Yield::of(compat::run_other(false)))
    }

    /// [`yield_local`] for threads of this pool; none for others.
    pub fn yield_local(&self) -> Option<Yield> {
        self.registry.member().map(|_| Yield::of(compat::run_other(true)))
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.registry.pool().close();
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("id", &self.registry.id())
            .finish()
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: crate::thread_builder::ThreadSpawn,
{
    /// Makes the pool, and does not wait for its threads.
    ///
    /// # Errors
    /// If a thread could not be made, or its stack, or the [spawn handler] fails.
    ///
    /// # Panics
    /// With the panic of the spawn handler or of the function that makes names. The threads that
    /// exist then end.
    ///
    /// [spawn handler]: ThreadPoolBuilder::spawn_handler
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        Registry::new(self).map(ThreadPool::of)
    }
}

/// The most threads that a pool may have. A builder that is asked for more makes so many.
///
/// ```
/// assert!(rayon_core::max_num_threads() >= 255);
/// ```
pub fn max_num_threads() -> usize {
    sateen_runtime::MAX_WORKERS
}

/// The number of threads of the caller's pool. On a thread that belongs to none, that of the
/// global pool, which is built if need be.
///
/// # Panics
/// If the global pool is needed and cannot be built.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(rayon_core::current_num_threads), 3);
/// ```
pub fn current_num_threads() -> usize {
    match Member::current() {
        Some(member) => member.registry().num_threads(),
        None => global_registry().num_threads(),
    }
}

/// The caller's index in its pool, from 0; none on a thread that belongs to no pool. It does not
/// change for as long as the thread belongs to the pool. Handlers for start and exit have it, too.
///
/// ```
/// assert_eq!(rayon_core::current_thread_index(), None);
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// assert_eq!(pool.install(rayon_core::current_thread_index), Some(0));
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    Member::current().map(Member::index)
}

/// Whether the calling thread's own queue holds jobs that have not started, or its caller has
/// offered a branch that no thread has taken; none on a thread that belongs to no pool. A hint:
/// other threads take these at any time.
///
/// ```
/// assert_eq!(rayon_core::current_thread_has_pending_tasks(), None);
/// ```
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Member::current().map(|_| compat::has_local_work())
}

/// Runs one job of the pool, if there is any, and says whether it did; none on a thread that
/// belongs to no pool. Own jobs come first, then other threads', then those from outside.
///
/// The job runs on top of the caller. So it must not need a lock that the caller holds.
///
/// ```
/// assert_eq!(rayon_core::yield_now(), None);
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let done = pool.install(|| {
///     let (sender, receiver) = std::sync::mpsc::channel();
///     rayon_core::spawn(move || sender.send(()).unwrap());
///     while receiver.try_recv().is_err() {
///         rayon_core::yield_now();
///     }
///     true
/// });
/// assert!(done);
/// ```
pub fn yield_now() -> Option<Yield> {
    Member::current().map(|_| Yield::of(compat::run_other(false)))
}

/// [`yield_now`] for the calling thread's own jobs only.
///
/// ```
/// assert_eq!(rayon_core::yield_local(), None);
/// ```
pub fn yield_local() -> Option<Yield> {
    Member::current().map(|_| Yield::of(compat::run_other(true)))
}

/// What a [`yield_now`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

impl Yield {
    fn of(executed: bool) -> Self {
        if executed { Self::Executed } else { Self::Idle }
    }
}
