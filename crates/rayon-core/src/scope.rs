//! Scopes: any number of jobs that borrow, all done when the scope ends.

use crate::broadcast::BroadcastContext;
use crate::fifo::JobFifo;
use crate::registry::{Registry, in_current};
use sateen_runtime::compat::RawScope;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Spawns jobs that borrow from the frames around it; see [`scope()`].
pub struct Scope<'scope> {
    raw: RawScope<'scope>,
    registry: Arc<Registry>,
}

/// Spawns jobs that borrow, and that start in order; see [`scope_fifo`].
pub struct ScopeFifo<'scope> {
    raw: RawScope<'scope>,
    registry: Arc<Registry>,
    /// One queue for each thread of the pool, made when the first of them spawns.
    fifos: OnceLock<Box<[JobFifo<'scope>]>>,
}

/// The address of a scope, which travels with its jobs.
struct ScopePtr<T>(*const T);

// SAFETY: what is behind it is Sync, and outlives the scope's jobs.
unsafe impl<T: Sync> Send for ScopePtr<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for ScopePtr<T> {}

impl<T> ScopePtr<T> {
    /// # Safety
    /// The caller is a job of the scope that has not given back its count.
    unsafe fn get(&self) -> &T {
        // SAFETY: by contract, the scope waits for the caller.
        unsafe { &*self.0 }
    }
}

/// Runs `op` with a scope, and returns when `op` and all jobs of the scope are done.
///
/// Jobs may borrow what outlives the scope, and may spawn in turn. They run in the caller's pool,
/// or in the global one, in which `op` runs then, too. On a thread of the pool the youngest job
/// starts first, unless another thread steals the oldest.
///
/// # Panics
/// With the panic of `op`, or else with the first one of a job, after all are done.
///
/// ```
/// let mut parts = [1, 2, 3];
/// rayon_core::scope(|s| {
///     for part in &mut parts {
///         s.spawn(move |_| *part *= 10);
///     }
/// });
/// assert_eq!(parts, [10, 20, 30]);
/// ```
///
/// A job cannot borrow what lives inside the scope:
///
/// ```compile_fail
/// rayon_core::scope(|s| {
///     let inside = 1;
///     s.spawn(|_| println!("{}", inside));
/// });
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_current(|registry| Scope::run(registry, op))
}

/// [`scope()`] whose jobs start in the order in which a thread spawns them.
///
/// The order holds among the jobs that one thread spawns in this scope. Between threads there is
/// none.
///
/// # Panics
/// As [`scope()`].
///
/// ```
/// use std::sync::Mutex;
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let order = Mutex::new(Vec::new());
/// pool.scope_fifo(|s| {
///     for i in 0..3 {
///         let order = &order;
///         s.spawn_fifo(move |_| order.lock().unwrap().push(i));
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_current(|registry| ScopeFifo::run(registry, op))
}

/// [`scope()`] that runs `op` on the calling thread, whatever thread that is. So `op` need not be
/// `Send`. The jobs run in the caller's pool, or in the global one.
///
/// # Panics
/// As [`scope()`].
///
/// ```
/// let local = std::rc::Rc::new(1);
/// let mut sum = 0;
/// rayon_core::in_place_scope(|s| {
///     let number = *local;
///     let sum = &mut sum;
///     s.spawn(move |_| *sum = number + 1);
/// });
/// assert_eq!(sum, 2);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    Scope::run(&Registry::current(), op)
}

/// [`scope_fifo`] that runs `op` on the calling thread, whatever thread that is; see
/// [`in_place_scope`].
///
/// # Panics
/// As [`scope()`].
///
/// ```
/// let mut sum = 0;
/// rayon_core::in_place_scope_fifo(|s| s.spawn_fifo(|_| sum += 1));
/// assert_eq!(sum, 1);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    ScopeFifo::run(&Registry::current(), op)
}

impl<'scope> Scope<'scope> {
    pub(crate) fn run<R>(registry: &Arc<Registry>, op: impl FnOnce(&Self) -> R) -> R {
        let scope = Self { raw: RawScope::new(registry.pool()), registry: Arc::clone(registry) };
        // SAFETY: once, where it was made.
        unsafe { scope.raw.complete(|| op(&scope)) }
    }

    /// Makes `body` a job of the scope. It may run at any time until the scope ends, on any thread
    /// of the pool.
    ///
    /// # Panics
    /// A panic in `body` goes on where the scope ends.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// let count = AtomicU32::new(0);
    /// rayon_core::scope(|s| {
    ///     s.spawn(|s| {
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///         s.spawn(|_| _ = count.fetch_add(1, Ordering::Relaxed));
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = ScopePtr(self);
        let job = move || {
            // SAFETY: this is a job of the scope.
            body(unsafe { scope.get() });
        };
        // SAFETY: the caller has the scope, so it is in the body, in a job, or in a frame that one
        // of them waits for. The scope lies still until it has ended.
        unsafe { self.raw.spawn(job) }
    }

    /// Makes `body` a job for each thread of the pool. A thread runs it when it has no other job
    /// of its own.
    ///
    /// # Panics
    /// As [`Scope::spawn`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// let sum = AtomicUsize::new(0);
    /// pool.scope(|s| {
    ///     s.spawn_broadcast(|_, context| _ = sum.fetch_add(context.index(), Ordering::Relaxed));
    /// });
    /// assert_eq!(sum.into_inner(), 0 + 1 + 2);
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = ScopePtr(self);
        let threads = self.registry.num_threads();
        let share = move |index| {
            // SAFETY: this is a job of the scope.
            body(unsafe { scope.get() }, BroadcastContext::new(index, threads));
        };
        // SAFETY: as for `spawn`.
        unsafe { self.raw.spawn_broadcast(share) }
    }
}

impl<'scope> ScopeFifo<'scope> {
    pub(crate) fn run<R>(registry: &Arc<Registry>, op: impl FnOnce(&Self) -> R) -> R {
        let scope = Self {
            raw: RawScope::new(registry.pool()),
            registry: Arc::clone(registry),
            fifos: OnceLock::new(),
        };
        // SAFETY: once, where it was made.
        unsafe { scope.raw.complete(|| op(&scope)) }
    }

    fn fifo(&self, index: usize) -> &JobFifo<'scope> {
        let make = || (0..self.registry.num_threads()).map(|_| JobFifo::default()).collect();
        &self.fifos.get_or_init(make)[index]
    }

    /// Makes `body` a job of the scope. Of the jobs that this thread spawns in the scope, the
    /// oldest starts first.
    ///
    /// # Panics
    /// A panic in `body` goes on where the scope ends.
    ///
    /// ```
    /// let mut numbers = [0; 2];
    /// rayon_core::scope_fifo(|s| {
    ///     for number in &mut numbers {
    ///         s.spawn_fifo(move |_| *number = 1);
    ///     }
    /// });
    /// assert_eq!(numbers, [1, 1]);
    /// ```
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let scope = ScopePtr(self);
        let job = move || {
            // SAFETY: this is a job of the scope: its entry's count is given back after it.
            body(unsafe { scope.get() });
        };
        let Some(index) = self.registry.member().map(|member| member.index()) else {
            // SAFETY: the caller has the scope, so it is in the body, in a job, or in a frame that
            // one of them waits for. The scope lies still until it has ended.
            return unsafe { self.raw.spawn(job) };
        };
        self.fifo(index).push(Box::new(job));
        let scope = ScopePtr(self);
        let entry = move || {
            // SAFETY: this is a job of the scope.
            unsafe { scope.get() }.fifo(index).run_oldest();
        };
        // SAFETY: as above.
        unsafe { self.raw.spawn(entry) }
    }

    /// Makes `body` a job for each thread of the pool; see [`Scope::spawn_broadcast`].
    ///
    /// # Panics
    /// As [`ScopeFifo::spawn_fifo`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let count = AtomicUsize::new(0);
    /// pool.scope_fifo(|s| s.spawn_broadcast(|_, _| _ = count.fetch_add(1, Ordering::Relaxed)));
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = ScopePtr(self);
        let threads = self.registry.num_threads();
        let share = move |index| {
            // SAFETY: this is a job of the scope.
            body(unsafe { scope.get() }, BroadcastContext::new(index, threads));
        };
        // SAFETY: as for `spawn_fifo`.
        unsafe { self.raw.spawn_broadcast(share) }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pool_id", &self.registry.id()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").field("pool_id", &self.registry.id()).finish_non_exhaustive()
    }
}
