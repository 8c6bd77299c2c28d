//! The runtime handle: creating a runtime, and submitting work.

use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::context;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::forked;
use crate::help::{self, Under};
use crate::inspect::Listed;
use crate::join_stack::Job;
use crate::metrics::Metrics;
use crate::outside_spin;
use crate::shared::{Refused, Shared};
use crate::spawner::Spawner;
use crate::task::{JoinHandle, Running, Spawn, interrupted_after};
use crate::unwind::{Held, discard, run_and_discard};
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell, thread};
use sateen_sync::park::{self, Awaited};
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::task::Waker;

/// How long a wait sleeps after a user's blocker has unwound out of it.
const UNWOUND_NAP: Duration = Duration::from_micros(100);

/// A pool of workers on which tasks, branches and loops run.
///
/// ```
/// use sateen::{Runtime, join};
///
/// // A runtime of one's own.
/// let runtime = Runtime::builder().workers(2).build()?;
/// let (a, b) = runtime.install(|| join(|| 1, || 2));
/// assert_eq!(a + b, 3);
///
/// // The global one, which free functions use outside of any other.
/// assert_eq!(sateen::spawn(|| 1 + 1).join().unwrap(), 2);
/// assert!(Runtime::global()?.workers() >= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Several may exist at once. Dropping one waits until everything that it accepted is done.
///
/// # Cost
/// A thread for each worker, started by [`build`](Builder::build). An idle worker searches for 50
/// µs and then sleeps in the kernel. A worker keeps a stack or two, and a task that waits keeps one
/// more ([`Builder::stack_size`]). A call from outside ([`Runtime::install`]) costs two thread
/// switches, some microseconds. Nested calls on a worker are plain calls.
///
/// # Forks
/// A forked child has none of these threads. There a call that would wait for them panics, or fails
/// with an error that says so ([`JoinError::Forked`](crate::JoinError::Forked)), and a drop does
/// nothing. A new runtime works, and the [global](Runtime::global) one is new. A worker that forks
/// continues alone; if it has to wait for others, it ends the process. Locks that other threads
/// held stay locked, so the child should do little before it calls `exec`.
#[derive(Debug)]
pub struct Runtime {
    pub(crate) shared: Arc<Shared>,
    _listed: Listed,
}

impl Runtime {
    /// Settings for a new runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(shared: Arc<Shared>, listed: Listed) -> Self {
        Self { shared, _listed: listed }
    }

    /// The runtime that free functions use outside of any other. It is built on first use with
    /// default settings, and again in a forked process.
    ///
    /// # Errors
    /// The error of the failed build, at every call.
    pub fn global() -> Result<&'static Self, &'static BuildError> {
        static GLOBAL: PerProcess<OnceLock<Result<Runtime, BuildError>>> = PerProcess::new();
        GLOBAL.get(OnceLock::new).get_or_init(|| Self::builder().build()).as_ref()
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.shared.regular
    }

    /// Runs `f` on a worker and returns its result. Inside `f`, `join`, `scope` and the others use
    /// this runtime. On one of its own workers this is a plain call. After shutdown, `f` and its
    /// nested work run on the calling thread.
    ///
    /// If the caller is a task of another runtime and is cancelled meanwhile, it still waits for
    /// `f`, and then unwinds.
    ///
    /// # Panics
    /// With the panic of `f`. Also in a process that has forked, if the runtime was created before.
    ///
    /// # Cost
    /// From outside, two thread switches, some microseconds.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if self.is_own_thread() {
            return f();
        }
        let job = Installed::new(f);
        let submitted = match job.called.is_of_task() {
            true => self.shared.submit_call(job.as_called()),
            false => self.shared.submit(job.entry()),
        };
        match submitted {
            Ok(()) => job.wait(&self.shared),
            // SAFETY: here and below, it was not submitted, so we still own the closure.
            Err(Refused::ShutDown) => context::run_inline(unsafe { job.take() }),
            Err(Refused::Forked) => {
                // SAFETY: as above.
                discard(unsafe { job.take() });
                panic!("{}", forked::MESSAGE)
            }
        }
    }

    /// Spawns on this runtime; see [`spawn`](crate::spawn()).
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Spawn::new().spawn_on(&self.shared, f, Location::caller())
    }

    /// Spawns on this runtime with settings, such as a name or a priority.
    #[track_caller]
    pub fn spawn_with<F, T>(&self, settings: Spawn, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        settings.spawn_on(&self.shared, f, Location::caller())
    }

    /// A handle for spawning on this runtime where the runtime cannot be borrowed. It does not keep
    /// the runtime alive: after shutdown its spawns are refused.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let spawner = runtime.spawner();
    /// assert_eq!(spawner.spawn(|| 1).join().unwrap(), 1);
    /// drop(runtime);
    /// assert!(spawner.spawn(|| 2).join().is_err());
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn spawner(&self) -> Spawner {
        Spawner::new(&self.shared)
    }

    /// Runs `f` once on each worker, with its index, and returns the results by index.
    ///
    /// A worker runs `f` between two tasks. After shutdown the result is empty. If the caller is a
    /// task of another runtime and is cancelled meanwhile, it waits for all, and then unwinds.
    ///
    /// # Panics
    /// With the first panic by index, once all are done.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(3).build()?;
    /// assert_eq!(runtime.broadcast(|index| index * 10), [0, 10, 20]);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(usize) -> R + Sync,
        R: Send,
    {
        // If refused, `f` is dropped here.
        let f = Held::new(f);
        let inside = self.is_own_thread();
        // In a hook, nothing else would run the worker's own share.
        assert!(!inside || context::fiber().is_some(), "broadcast in a worker's hook");
        assert!(!self.shared.is_orphan(), "{}", forked::MESSAGE);
        let gate = match inside {
            true => None,
            false => match self.shared.enter_gate() {
                Ok(gate) => Some(gate),
                Err(_) => return Vec::new(),
            },
        };
        let f = &*f;
        let jobs: Vec<_> = (0..self.workers()).map(|i| Installed::new(move || f(i))).collect();
        let entries: Vec<_> = jobs.iter().map(Installed::entry_here).collect();
        let put = || self.shared.post_each(&entries);
        let announce = |posted: Vec<usize>| {
            self.shared.announce_posted(&posted);
            posted
        };
        let posted = match gate {
            Some(gate) => gate.submit(put, announce),
            None => announce(put()),
        };
        let shares = Under::shares(&jobs);
        let wait = |at: usize| jobs[at].wait_under("broadcast", &shares, Some(&self.shared));
        let results: Vec<_> = posted.into_iter().map(wait).collect();
        let (mut values, mut panic) = (Vec::with_capacity(results.len()), None);
        for result in results {
            match result {
                Ok(value) if panic.is_none() => values.push(value),
                Err(first) if panic.is_none() => panic = Some(first),
                other => discard(other),
            }
        }
        let cancelled = |fiber: &Fiber| interrupted_after(fiber, ()).err();
        let panic = panic.or_else(|| context::fiber().and_then(cancelled));
        let Some(panic) = panic else { return values };
        // Each is dropped separately, because a destructor may panic.
        values.into_iter().for_each(discard);
        resume_unwind(panic)
    }

    /// Counters, times and queue lengths of the workers, for dashboards and alarms.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(2).build()?;
    /// runtime.spawn(|| ()).join().unwrap();
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.workers.len(), 2);
    /// assert_eq!(metrics.total().started, 1);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    ///
    /// # Cost
    /// Some loads for each worker, and a short lock for its table of [names](crate::Spawn::name).
    /// Counting costs the workers a few instructions per task.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.shared)
    }

    fn is_own_thread(&self) -> bool {
        context::thread_owner().is_some_and(|w| w.is_of(&self.shared))
    }
}

/// The number of workers for loops that the caller runs: those of its runtime, or else of the
/// global one. It is 1 if the global runtime could not be built, or if the caller's runtime was
/// shut down. rayon has a function of the same name.
///
/// ```
/// let runtime = sateen::Runtime::builder().workers(3).build()?;
/// assert_eq!(runtime.install(sateen::current_num_threads), 3);
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub fn current_num_threads() -> usize {
    match context::thread_owner() {
        Some(owner) => owner.shared().regular,
        None if context::with(context::Context::is_inline) => 1,
        None => Runtime::global().map_or(1, Runtime::workers),
    }
}

/// The index of the caller's worker, if it runs on one.
#[doc(alias = "current_thread_index")]
pub fn worker_index() -> Option<usize> {
    context::thread_owner().map(|owner| owner.index())
}

/// Reports, once, on stderr why work runs only on the calling thread.
#[cold]
pub(crate) fn warn_once(error: &BuildError) {
    static SAID: AtomicBool = AtomicBool::new(false);
    // Ordering: Relaxed, a flag that guards no data.
    if !SAID.swap(true, Ordering::Relaxed) {
        os::say(format_args!("{error}; running on the calling thread alone"));
    }
}

/// The head of a call from elsewhere, and of a job for one worker alone. A task that
/// [helps](crate::help) reads the caller of both while they are queued, so both must begin with
/// this.
#[repr(C)]
pub(crate) struct CalledJob {
    job: Job,
    /// The activation that waits, if its task helps, or null.
    caller: *const Running,
    /// The piece of the caller's work that it is; null for the one at its own address.
    what: *const (),
}

const _: () = assert!(offset_of!(CalledJob, job) == 0, "a called job begins as a job");

impl CalledJob {
    /// For the calling activation, which waits for it.
    fn of_caller(run: unsafe fn(*const Job)) -> Self {
        Self { job: Job { run }, caller: caller(), what: std::ptr::null() }
    }

    /// For the piece `what` of the work of `caller`, which is null or an activation that
    /// [helps](crate::help) and waits for it.
    #[cfg(feature = "compat")]
    pub(crate) fn of(run: unsafe fn(*const Job), caller: *const Running, what: *const ()) -> Self {
        Self { job: Job { run }, caller, what }
    }

    fn is_of_task(&self) -> bool {
        !self.caller.is_null()
    }

    /// The caller of a queued call.
    ///
    /// # Safety
    /// `job` starts a valid `CalledJob`.
    pub(crate) unsafe fn caller_of(job: *const Job) -> *const Running {
        // SAFETY: by contract.
        unsafe { (*job.cast::<Self>()).caller }
    }

    /// The address of the piece of its caller's work.
    ///
    /// # Safety
    /// As [`CalledJob::caller_of`].
    pub(crate) unsafe fn piece_of(job: *const Job) -> usize {
        // SAFETY: by contract.
        let what = unsafe { (*job.cast::<Self>()).what };
        if what.is_null() { job.addr() } else { what.addr() }
    }
}

/// The caller's activation, if its task [helps](crate::help) while it waits, or null.
pub(crate) fn caller() -> *const Running {
    let fiber = context::fiber().filter(|fiber| fiber.helps());
    fiber.map_or(std::ptr::null(), Fiber::running)
}

/// A job in the frame of a thread, or of another runtime's task, which waits for it.
#[repr(C)]
pub(crate) struct Installed<F, R> {
    called: CalledJob,
    /// 1 once the result is written.
    done: AtomicUsize,
    /// Taken by the thread that runs the job.
    waker: UnsafeCell<Option<Waker>>,
    f: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<std::thread::Result<R>>>,
}

// SAFETY: the closure goes to one worker, the result comes back; `done` orders the two.
unsafe impl<F: Send, R: Send> Sync for Installed<F, R> {}

impl<F: FnOnce() -> R + Send, R: Send> Installed<F, R> {
    pub(crate) fn new(f: F) -> Self {
        const { assert!(offset_of!(Self, called) == 0) };
        Self {
            called: CalledJob::of_caller(Self::run),
            done: AtomicUsize::new(0),
            waker: UnsafeCell::new(Some(park::current_waker())),
            f: UnsafeCell::new(ManuallyDrop::new(f)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// The job, to be run once.
    pub(crate) fn as_job(&self) -> *const Job {
        (&raw const *self).cast()
    }

    fn as_called(&self) -> NonNull<CalledJob> {
        NonNull::from(self).cast()
    }

    fn entry(&self) -> Entry {
        Entry::job(self.as_called().cast())
    }

    /// [`Installed::entry`] for one worker.
    fn entry_here(&self) -> Entry {
        Entry::here(self.as_called())
    }

    /// # Safety
    /// Called once, by the thread that owns the job.
    unsafe fn take(&self) -> F {
        // SAFETY: by contract.
        self.f.with_mut(|f| unsafe { ManuallyDrop::take(&mut *f) })
    }

    /// # Safety
    /// `job` starts an `Installed<F, R>`; called once.
    unsafe fn run(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: the waiter's frame stays until `done` is set, and only this thread takes the
        // waker, before that. The waker may be the user's, and cloning it might panic, so it is not
        // cloned.
        unsafe {
            let f = (*this).take();
            let caller = (*this).called.caller;
            let result = catch_unwind(AssertUnwindSafe(|| match context::fiber() {
                Some(fiber) if !caller.is_null() => Running::called(fiber, caller, job.cast(), f),
                _ => f(),
            }));
            (*this).result.with_mut(|place| (*place).write(result));
            let waker = (*this).waker.with_mut(|waker| (*waker).take());
            // Ordering: Release publishes the result to `wait_caught`.
            (*this).done.store(1, Ordering::Release);
            run_and_discard(|| waker.map(Waker::wake));
        }
    }

    /// Waits for the result in any case, because the frame must stay until the job is done. `kind`
    /// is for reports. The job runs on `target`, or else on a thread that is not a worker.
    pub(crate) fn wait_caught(
        &self,
        kind: &'static str,
        target: Option<&Shared>,
    ) -> std::thread::Result<R> {
        self.wait_under(kind, &Under::piece(self), target)
    }

    fn wait_under(
        &self,
        kind: &'static str,
        under: &Under,
        target: Option<&Shared>,
    ) -> std::thread::Result<R> {
        let mut unwound = None;
        let what = Awaited::new(kind, std::ptr::null());
        // Masked, because a cancelled task could not suspend here otherwise. A user's blocker may
        // still unwind.
        let wait =
            || park::waiting_for(what, || park::uninterrupted(|| self.wait_done(under, target)));
        while let Err(panic) = catch_unwind(AssertUnwindSafe(wait)) {
            match unwound {
                None => unwound = Some(panic),
                Some(_) => discard(panic),
            }
            // The blocker may unwind before it has waited.
            if self.is_done() {
                break;
            }
            if !help::once(under) {
                thread::sleep(UNWOUND_NAP);
            }
        }
        // SAFETY: it is done, and each caller waits once, so the result is taken once.
        let result = self.result.with(|place| unsafe { (*place).assume_init_read() });
        match unwound {
            None => result,
            Some(panic) => {
                discard(result);
                Err(panic)
            }
        }
    }

    fn is_done(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `run`.
        self.done.load(Ordering::Acquire) != 0
    }

    fn wait_done(&self, under: &Under, target: Option<&Shared>) {
        help::begin();
        let wait = || {
            while !self.is_done() {
                if !help::once(under) {
                    help::park(target);
                }
            }
        };
        match context::fiber() {
            None => {
                let calls = target.map(|target| &target.calls);
                outside_spin::spin_or(calls, || self.is_done(), wait);
            }
            Some(_) => wait(),
        }
    }

    fn wait(&self, home: &Shared) -> R {
        self.wait_caught("install", Some(home))
            .map_or_else(|panic| resume_unwind(panic), unless_cancelled)
    }
}

/// Returns the result of finished work elsewhere, or drops it if the calling task was cancelled
/// meanwhile.
fn unless_cancelled<T>(value: T) -> T {
    match context::fiber() {
        None => value,
        Some(fiber) => {
            interrupted_after(fiber, value).unwrap_or_else(|cancelled| resume_unwind(cancelled))
        }
    }
}
