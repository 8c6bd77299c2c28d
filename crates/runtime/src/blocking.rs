//! A thread pool for calls that block the operating system's thread.
//!
//! The pool is elastic. A call takes an idle thread, or a new one below the limit, or waits in a
//! queue. An idle thread exits after a while. The closure stays in the frame of its caller, who
//! waits for it.
//!
//! Only a few threads are started at a time. If there are more calls than threads for them, each
//! new thread starts another before it takes a call. So a burst of short calls needs few threads,
//! and workers rarely start one. (Each call without an idle thread used to start one. A burst of
//! calls that took microseconds then made hundreds of threads, which contended for the kernel's
//! lock on the address space, as did the worker.)
//!
//! A forked child has none of these threads, and one of them may have held the lock. So the child
//! never takes the lock of a pool that was created in its parent.

use crate::context;
use crate::join_stack::Job;
use crate::runtime::Installed;
use crate::shared::Shared;
use crate::unwind::run_and_discard;
use sateen_base::os;
use sateen_base::os::process_generation;
use sateen_base::prim::Arc;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The most threads, and how long one waits for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) threads: usize,
    pub(crate) keep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { threads: 512, keep: Duration::from_secs(10) }
    }
}

/// The most threads that are being started at once.
const STARTING: usize = 4;

/// A runtime's handle to its pool. Dropping it lets the threads exit.
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    limits: Limits,
    /// The process in which it was created.
    born: u32,
    state: Mutex<State>,
    /// Something is queued, or the pool is closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Shipped>,
    threads: usize,
    /// Threads that wait, notified or not. Each accounts for one entry of the queue.
    idle: usize,
    /// Threads that are being started. Each takes an entry and checks whether more are needed.
    starting: usize,
    closed: bool,
}

/// A job and its runtime. The caller waits for the job and keeps the runtime alive. A null runtime
/// marks a job that frees itself.
struct Shipped(*const Job, *const Shared);

// SAFETY: the closure is Send, and the thread that takes it from the queue runs it, once.
unsafe impl Send for Shipped {}

impl Shipped {
    fn run(self) {
        // A job without a runtime may run on a worker all the same. That worker's runtime cannot
        // end before the job does.
        let before = (!self.1.is_null()).then(|| context::with(|c| c.join_runtime(self.1)));
        // SAFETY: taken from the queue, so ours to run. Its caller waits until it has run.
        unsafe { ((*self.0).run)(self.0) };
        if let Some(before) = before {
            context::with(|c| c.join_runtime(before));
        }
    }
}

/// A closure that no caller waits for.
#[repr(C)]
struct Sent<F> {
    job: Job,
    f: F,
}

impl<F: FnOnce() + Send + 'static> Sent<F> {
    fn alloc(f: F) -> Shipped {
        let sent = Box::into_raw(Box::new(Self { job: Job { run: Self::run }, f }));
        Shipped(sent.cast(), std::ptr::null())
    }

    /// # Safety
    /// `job` starts a `Sent<F>` made by `alloc`; called once.
    unsafe fn run(job: *const Job) {
        // SAFETY: by contract.
        let this = unsafe { Box::from_raw(job.cast::<Self>().cast_mut()) };
        apart(this.f);
    }
}

/// Calls `f` on this thread as if the thread belonged to no runtime.
fn apart(f: impl FnOnce()) {
    let saved = context::with(context::Context::step_out);
    // SAFETY: `f` gets none of the frames below, so it cannot take part in a wait of this context.
    // It returns before those frames continue with their own blocker and id. With id 0 the thread
    // draws a new one.
    let (blocker, id) = unsafe { (park::install(None), park::set_context_id(0)) };
    run_and_discard(f);
    // SAFETY: as they were.
    unsafe {
        park::set_context_id(id);
        park::install(blocker);
    }
    context::with(|c| c.restore(&saved));
}

impl Pool {
    /// Calls `f` on one of the threads, or here if there are none. Discards its result or panic.
    pub(crate) fn send(&self, f: impl FnOnce() + Send + 'static) {
        self.ship(Sent::alloc(f));
    }

    /// The current number of threads.
    pub(crate) fn threads(&self) -> usize {
        if self.0.is_older_than_fork() { 0 } else { self.0.lock().threads }
    }

    pub(crate) fn new(limits: Limits) -> Self {
        let (state, changed) = (Mutex::new(State::default()), Condvar::new());
        Self(Arc::new(Inner { limits, born: process_generation(), state, changed }))
    }

    /// Ensures that the job runs. The caller waits for it afterwards.
    fn ship(&self, job: Shipped) {
        let inner = &self.0;
        if inner.is_older_than_fork() {
            return job.run();
        }
        {
            let mut state = inner.lock();
            state.queue.push_back(job);
            if state.queue.len() <= state.idle {
                drop(state);
                inner.changed.notify_one();
                return;
            }
            if !state.claims_start(inner.limits.threads) {
                // A thread takes the job when it is free. Without threads, nobody would.
                let left = if state.threads == 0 { state.take_all() } else { VecDeque::new() };
                drop(state);
                return left.into_iter().for_each(Shipped::run);
            }
        }
        Inner::start(inner);
    }
}

impl State {
    /// Whether the caller must start a thread. If so, the thread is counted from now on.
    fn claims_start(&mut self, most: usize) -> bool {
        let starts = self.queue.len() > self.idle + self.starting
            && self.threads < most
            && self.starting < STARTING;
        if starts {
            self.starting += 1;
            self.threads += 1;
        }
        starts
    }

    fn take_all(&mut self) -> VecDeque<Shipped> {
        std::mem::take(&mut self.queue)
    }
}

impl Inner {
    /// Whether its threads, and perhaps its lock, stayed in the parent process.
    fn is_older_than_fork(&self) -> bool {
        self.born != process_generation()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing unwinds while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that the caller has claimed.
    fn start(this: &Arc<Self>) {
        let pool = Arc::clone(this);
        let name = Some("sateen-blocking".to_owned());
        if os::start_thread(name, None, Box::new(move || Self::serve(&pool))).is_err() {
            let left = {
                let mut state = this.lock();
                state.starting -= 1;
                state.threads -= 1;
                // Other callers may have relied on this thread too.
                if state.threads == 0 { state.take_all() } else { VecDeque::new() }
            };
            left.into_iter().for_each(Shipped::run);
        }
    }

    /// A thread's life.
    fn serve(this: &Arc<Self>) {
        let mut state = this.lock();
        state.starting -= 1;
        let first = state.queue.pop_front();
        if state.claims_start(this.limits.threads) {
            drop(state);
            Self::start(this);
        } else {
            drop(state);
        }
        first.into_iter().for_each(Shipped::run);
        this.serve_more();
    }

    fn serve_more(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                drop(state);
                job.run();
                state = self.lock();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let until = Instant::now().checked_add(self.limits.keep);
            while state.queue.is_empty() && !state.closed {
                let left = until.map(|until| until.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    break;
                }
                let left = left.unwrap_or(Duration::MAX);
                let waited = self.changed.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            state.idle -= 1;
            if state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.0.is_older_than_fork() {
            return;
        }
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

/// Runs `f`, which may block the operating system's thread, on a thread reserved for such calls.
///
/// Use it for files, foreign libraries and `std` locks. The calling task is suspended meanwhile,
/// and its worker runs other work. `f` may borrow.
///
/// Outside of tasks, and on the pool's own threads, `f` runs on the calling thread, which may
/// block. To `f`, its thread belongs to no runtime: what it spawns goes to the global one.
///
/// Each runtime has its own pool. [`Builder::blocking_threads`](crate::Builder::blocking_threads)
/// limits it, and calls beyond the limit wait. So `f` should not wait for another `blocking` call
/// to begin. If the system provides no new thread, `f` waits for an existing one; if there is none,
/// it runs on the calling thread.
///
/// This is not a cancellation point: a task that is cancelled meanwhile notices at the next one.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cost
/// Two thread switches, which take some microseconds, and starting a thread if none is idle.
///
/// # Examples
///
/// ```
/// let path = std::env::temp_dir();
/// let is_dir = sateen::spawn(move || {
///     sateen::blocking(|| path.is_dir()) // borrowed
/// });
/// assert!(is_dir.join().unwrap());
/// ```
pub fn blocking<F, R>(f: F) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let Some(worker) = context::owner() else { return f() };
    if worker.shared().is_older_than_fork() {
        // The pool's threads stayed in the parent process.
        return f();
    }
    #[cfg(feature = "trace")]
    let _slice = crate::trace::slice("blocking call", "", 0);
    let job = Installed::new(f);
    worker.shared().blocking.ship(Shipped(job.as_job(), Arc::as_ptr(worker.shared())));
    job.wait_caught("blocking", None).unwrap_or_else(|panic| resume_unwind(panic))
}
