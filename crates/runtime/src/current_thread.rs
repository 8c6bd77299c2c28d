//! A runtime that consists of the thread that created it.
//!
//! It has one worker without a thread of its own. The worker's root is the owning thread, in
//! [`CurrentThread::run`] and its siblings. While none of these runs, the worker appears to sleep:
//! it is announced in the event count, and waking it means calling the arrival callback. Fibers
//! stay suspended in between.

use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::context;
use crate::entry::Entry;
use crate::fiber::Suspend;
use crate::join_stack::Job;
use crate::metrics::{Doing, Metrics};
use crate::panic_count::Hidden;
use crate::root;
use crate::shared::Shared;
use crate::shutdown::GRACE;
use crate::spawner::Spawner;
use crate::starve::STUCK_NAPS;
use crate::task::{self, Birth, Header, JoinHandle};
use crate::trace;
use crate::unwind::{CAN_UNWIND, Held};
use crate::worker::{Owner, Push};
use sateen_base::AbortGuard;
use sateen_base::os::{self, SignalStack, ThreadEnd};
use sateen_base::prim::Arc;
use sateen_base::prim::time::{Duration, Instant};
use std::cell::{Cell, RefCell};
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;

/// How many turns the tasks are guaranteed to get if the drop cannot unwind them.
const LAST_TURNS: u32 = 1 << 16;

/// A runtime that is the calling thread. Tasks take turns on it while the thread calls
/// [`run`](CurrentThread::run), [`poll`](CurrentThread::poll) or one of their siblings. In between
/// they stay suspended.
///
/// It is for a thread that has other duties, or that alone may do something, such as a GUI thread.
/// Its tasks may wait like all others, and need not be `Send` ([`CurrentThread::spawn_local`]).
/// Other threads send it work through a [`Spawner`]. Primitives without atomics are in
/// `sync::local`, with the feature `local`.
///
/// # Drop
/// Dropping it drops the tasks that have not started. It cancels the tasks that wait and lets them
/// unwind. A task that still waits then, such as an uninterruptible one or a spawned future, is
/// leaked. [`CurrentThread::shutdown`] waits for all tasks.
///
/// In a program built with `panic = "abort"` nothing unwinds. Tasks that can run have at least 250
/// ms to end by themselves. The others are leaked, and their handles never return a result.
///
/// While the thread's thread-locals are destroyed no task resumes, because it may borrow one that
/// is gone. A runtime that is dropped at that time, for example because it is stored in a
/// thread-local itself, leaks the tasks that wait and reports it on stderr. Running it at that time
/// panics.
///
/// Not every system tells when thread-locals are being destroyed. Linux with glibc does, except on
/// a thread that has run such runtimes 16,384 times and left tasks waiting each time. On other
/// systems each drop leaks the tasks that wait, and the runtime must not be run in a destructor of
/// a thread-local.
///
/// # Examples
///
/// ```
/// use sateen::{Runtime, spawn_local};
/// use sateen::sync::local::unbounded;
///
/// let runtime = Runtime::current_thread()?;
/// let (sender, receiver) = unbounded();
/// let sum = runtime.run(move || {
///     let task = spawn_local(move || receiver.recv().unwrap() + receiver.recv().unwrap());
///     sender.send(20).unwrap();
///     sender.send(22).unwrap();
///     task.join().unwrap()
/// });
/// assert_eq!(sum, 42);
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub struct CurrentThread {
    shared: Arc<Shared>,
    running: Cell<bool>,
    /// Whether tasks have run since the thread was last marked; they may have borrowed new
    /// thread-locals.
    ran: Cell<bool>,
    /// Whether the worker is announced as a sleeper.
    asleep: Cell<bool>,
    naps: Cell<u32>,
    _signals: Option<SignalStack>,
    _listed: crate::inspect::Listed,
    not_send: PhantomData<*const ()>,
}

/// The result of [`CurrentThread::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Polled {
    /// Whether more could run at once.
    pub ready: bool,
    /// When the next timer is due, if there is one.
    pub next_timer: Option<Instant>,
}

impl crate::Runtime {
    /// Makes the calling thread a runtime with default settings; see [`Builder::current_thread`].
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn current_thread() -> Result<CurrentThread, BuildError> {
        Builder::default().current_thread()
    }
}

impl CurrentThread {
    pub(crate) fn new(shared: Arc<Shared>, listed: crate::inspect::Listed) -> Self {
        // SAFETY: the calling thread is the worker.
        let worker = unsafe { shared.workers[0].owner() };
        worker.set_shared(Some(Arc::clone(&shared)));
        trace::worker_begins(worker);
        shared.open();
        os::mark_thread();
        let this = Self {
            shared,
            running: Cell::new(false),
            ran: Cell::new(false),
            asleep: Cell::new(false),
            naps: Cell::new(0),
            _signals: SignalStack::ensure().ok(),
            _listed: listed,
            not_send: PhantomData,
        };
        this.fall_asleep();
        this
    }

    fn worker(&self) -> &Owner {
        // SAFETY: the runtime is not Send, so the caller is on the worker's thread.
        unsafe { self.shared.workers[0].owner() }
    }

    // ---- running ----

    /// Runs `f` and other tasks on this runtime until `f` is done. The thread sleeps while nothing
    /// can run. `f` runs as a task: its waits suspend, and `join`, `spawn` and the others use this
    /// runtime.
    ///
    /// # Panics
    /// With the panic of `f`. Also if the runtime is running already, that is, in one of its own
    /// tasks.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let f = Held::new(f);
        let entered = self.enter();
        let call = Call::new(f.release());
        self.worker().push(call.entry(), Push::Other);
        // The frame must stay until the call has returned: `drive` never unwinds.
        self.drive(|| call.is_done());
        drop(entered);
        call.result()
    }

    /// Runs tasks until `future` is ready, for example the handle of a task.
    ///
    /// # Panics
    /// As [`CurrentThread::run`].
    ///
    /// ```
    /// let runtime = sateen::Runtime::current_thread()?;
    /// let task = runtime.spawn_local(|| 6 * 7);
    /// assert_eq!(runtime.run_until(task).unwrap(), 42);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn run_until<F: IntoFuture>(&self, future: F) -> F::Output {
        self.run(|| sateen_sync::block_on(future))
    }

    /// Runs tasks until none can run. Returns when the next timer is due, if there is one.
    ///
    /// # Panics
    /// If the runtime is running already.
    pub fn run_until_idle(&self) -> Option<Instant> {
        let _entered = self.enter();
        self.pump(|| false);
        self.next_timer()
    }

    /// Runs tasks until none can run, but starts or resumes none after `budget` has passed. Runs at
    /// least one task if one can run.
    ///
    /// A thread with other work calls this now and then, and when the arrival callback or
    /// [`Polled::next_timer`] asks for it.
    ///
    /// # Panics
    /// If the runtime is running already.
    ///
    /// ```
    /// use std::time::Duration;
    /// let runtime = sateen::Runtime::current_thread()?;
    /// for _ in 0..2 {
    ///     drop(runtime.spawn_local(|| ()));
    /// }
    /// assert!(runtime.poll(Duration::ZERO).ready);
    /// assert!(!runtime.poll(Duration::MAX).ready);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn poll(&self, budget: Duration) -> Polled {
        let _entered = self.enter();
        let end = Instant::now().checked_add(budget);
        let mut first = true;
        let over = || !std::mem::take(&mut first) && end.is_some_and(|end| Instant::now() >= end);
        Polled { ready: self.pump(over), next_timer: self.next_timer() }
    }

    /// When the next timer is due, if there is one. The thread should run the runtime then.
    pub fn next_timer(&self) -> Option<Instant> {
        self.worker().timers.earliest()
    }

    /// Runs tasks until `over`, which is called before each step, returns true, or until nothing
    /// can run. Returns whether more could run.
    fn pump(&self, mut over: impl FnMut() -> bool) -> bool {
        let guard = AbortGuard::new("a panic reached a worker's root");
        let worker = self.worker();
        let more = loop {
            worker.fire_timers();
            let more = self.can_go_on();
            if !more || over() {
                break more;
            }
            self.ran.set(true);
            self.naps.set(root::step(worker, self.naps.get()));
        };
        guard.disarm();
        more
    }

    /// Runs and sleeps until `done`.
    fn drive(&self, mut done: impl FnMut() -> bool) {
        loop {
            self.pump(&mut done);
            if done() {
                return;
            }
            self.sleep();
        }
    }

    /// Sleeps until something arrives or a timer is due.
    fn sleep(&self) {
        let (sleep, worker) = (&self.shared.sleep, self.worker());
        if !sleep.announce(0, || self.can_go_on()) {
            return;
        }
        worker.counters.parks.bump();
        let left = worker.watch_timers();
        if !worker.while_doing(Doing::Sleep, || sleep.sleep(0, left)) {
            sleep.cancel(0);
        }
        worker.stop_watching();
        // Newly arrived work may be refused if it cannot start either.
        self.naps.set(0);
    }

    /// Whether something can run, perhaps after a few more naps.
    fn can_go_on(&self) -> bool {
        let worker = self.worker();
        worker.has_ready() || (worker.has_runnable() && self.naps.get() < STUCK_NAPS)
    }

    // ---- at its edges ----

    fn enter(&self) -> Entered<'_> {
        assert!(
            os::thread_end() != ThreadEnd::Begun,
            "a runtime cannot run while its thread's locals are destroyed"
        );
        self.enter_anyway()
    }

    /// [`CurrentThread::enter`], for a caller that resumes nothing if the thread is exiting.
    fn enter_anyway(&self) -> Entered<'_> {
        assert!(!self.running.replace(true), "a runtime was run by one of its own tasks");
        self.shared.survive();
        self.naps.set(0);
        if self.asleep.replace(false) {
            self.shared.sleep.cancel(0);
        }
        self.worker().stop_watching();
        let saved = context::with(context::Context::step_out);
        context::with(|c| c.enter(Some(self.worker())));
        // SAFETY: the caller runs, so it waits for nothing. Its own blocker is restored before it
        // continues.
        let (blocker, id) = unsafe {
            (sateen_sync::park::install(Some(&Suspend)), sateen_sync::park::set_context_id(0))
        };
        // The caller may be a destructor of the thread's own unwinding, which is not a task's.
        let panics = Some(Hidden::take());
        self.worker().turn_to(Doing::Work);
        Entered { runtime: self, saved, blocker, id, panics }
    }

    /// Announces the worker as a sleeper until the runtime is entered again. An arrival calls back.
    fn fall_asleep(&self) {
        // The owning thread watches timers: `next_timer` tells until when it may sleep.
        self.worker().watch_timers();
        self.asleep.set(self.shared.sleep.announce(0, || self.can_go_on()));
        if !self.asleep.get() {
            self.shared.sleep.sound(0);
        }
    }

    /// Called when this thread, which may not be running the runtime, has queued something.
    fn nudge(&self) {
        if self.asleep.get() && self.shared.sleep.notify(0) {
            self.asleep.set(false);
            // Consumes the notification.
            self.shared.sleep.cancel(0);
        }
    }

    // ---- work ----

    /// Spawns a task that need not be `Send`. It starts when the runtime runs.
    ///
    /// Outside of this runtime's tasks, wait for it with [`CurrentThread::run_until`].
    #[track_caller]
    pub fn spawn_local<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        // SAFETY: the runtime is not Send, so this is its thread.
        let handle = unsafe { spawn_here(self.worker(), f, Location::caller()) };
        self.nudge();
        handle
    }

    /// A handle for other threads to spawn on this runtime.
    pub fn spawner(&self) -> Spawner {
        self.shared.survive();
        Spawner::new(&self.shared)
    }

    #[cfg(feature = "trace")]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Statistics of this runtime; see [`Runtime::metrics`](crate::Runtime::metrics). Its times
    /// count only while it runs.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.shared)
    }

    // ---- the end ----

    /// Refuses new work from other threads, and runs all tasks to their end.
    ///
    /// # Panics
    /// If the runtime is running already.
    pub fn shutdown(self) {
        self.shared.close();
        let entered = self.enter();
        self.drive(|| self.is_empty() && !self.worker().has_runnable());
        drop(entered);
    }

    /// Whether no suspended task is left that others could wake.
    fn is_empty(&self) -> bool {
        self.worker().suspended() == 0 && self.shared.futures.count() == 0
    }

    /// Ends all tasks that can be ended.
    fn end_tasks(&self) {
        // Tasks that nothing can unwind may yield for ever. The turns ensure progress for tasks
        // that end by themselves if the machine is busy meanwhile.
        let (mut turns, end) = (LAST_TURNS, Instant::now() + GRACE);
        loop {
            self.cancel_started();
            let mut ran = false;
            self.pump(|| {
                root::cancel_queued(self.worker());
                turns = turns.saturating_sub(u32::from(!CAN_UNWIND));
                let over = !self.can_go_on() || (turns == 0 && Instant::now() >= end);
                ran |= !over;
                over
            });
            if !ran {
                return;
            }
        }
    }

    fn cancel_started(&self) {
        self.shared.futures.cancel();
        let tasks: Vec<NonNull<Header>> = {
            let fibers = self.shared.fibers.lock();
            fibers.iter().filter_map(|fiber| NonNull::new(fiber.task().cast_mut())).collect()
        };
        for task in tasks {
            // SAFETY: a fiber suspended in the task keeps it alive. Only this thread could resume
            // the fiber, and does not in between.
            unsafe { Header::cancel(task) };
        }
    }
}

impl Drop for CurrentThread {
    fn drop(&mut self) {
        if self.running.get() {
            return;
        }
        let worker = self.worker();
        self.shared.close();
        let entered = self.enter_anyway();
        if os::thread_end() == ThreadEnd::NotBegun {
            self.end_tasks();
        } else {
            // A task may be waiting inside a thread-local that is gone.
            root::cancel_queued(worker);
        }
        // A task that still waits keeps everything alive: its worker holds a count of the shared
        // part.
        let all = self.is_empty() && !worker.has_runnable();
        if !all && os::thread_end() != ThreadEnd::NotBegun {
            os::say(format_args!(
                "tasks that wait are leaked: their runtime may have ended with its thread"
            ));
        }
        if all {
            self.shared.stop();
            root::end_idle(worker);
        }
        drop(entered);
        self.shared.timekeeper.end();
        if all {
            worker.set_shared(None);
            self.shared.thread_exited();
        } else {
            self.shared.stacks.close();
            self.shared.close_timers();
        }
    }
}

impl std::fmt::Debug for CurrentThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CurrentThread").field("running", &self.running).finish_non_exhaustive()
    }
}

/// The thread is the worker while this lives.
struct Entered<'a> {
    runtime: &'a CurrentThread,
    saved: context::Saved,
    blocker: Option<&'static dyn sateen_sync::park::Blocker>,
    id: u64,
    panics: Option<Hidden>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(panics) = self.panics.take() {
            panics.put_back();
        }
        // SAFETY: the caller of the runtime continues.
        unsafe {
            sateen_sync::park::set_context_id(self.id);
            sateen_sync::park::install(self.blocker);
        }
        self.runtime.worker().turn_to(Doing::Nothing);
        context::with(|c| c.restore(&self.saved));
        if self.runtime.worker().has_started() && self.runtime.ran.replace(false) {
            os::mark_thread();
        }
        self.runtime.running.set(false);
        if !self.runtime.shared.is_stopped() {
            self.runtime.fall_asleep();
        }
    }
}

/// Spawns a task that need not be `Send`, on the [`CurrentThread`] whose task the caller is.
///
/// # Panics
/// Outside of the tasks of a [`CurrentThread`].
///
/// See [`CurrentThread`] for an example.
#[track_caller]
pub fn spawn_local<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Held::new(f);
    let worker = context::owner().filter(|worker| worker.shared().pumped);
    let worker = worker.expect("spawn_local outside of a current-thread runtime's tasks");
    // SAFETY: a task of the runtime runs here, so this is its thread.
    unsafe { spawn_here(worker, f.release(), Location::caller()) }
}

/// # Safety
/// The caller is on the thread of the current-thread runtime that owns `worker`.
unsafe fn spawn_here<F, T>(
    worker: &Owner,
    f: F,
    location: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let birth = Birth::plain(worker.ids().draw(), location);
    // SAFETY: the runtime has no other thread, so what is queued here stays here.
    let (header, handle) = unsafe { task::new_local(f, worker.shared(), birth) };
    worker.push(Entry::task(header), Push::Other);
    handle
}

/// A closure in the frame of [`CurrentThread::run`].
#[repr(C)]
struct Call<F, R> {
    job: Job,
    f: Cell<Option<F>>,
    result: RefCell<Option<std::thread::Result<R>>>,
}

impl<F: FnOnce() -> R, R> Call<F, R> {
    fn new(f: F) -> Self {
        Self { job: Job { run: Self::run }, f: Cell::new(Some(f)), result: RefCell::new(None) }
    }

    fn entry(&self) -> Entry {
        const { assert!(offset_of!(Self, job) == 0) };
        // A pointer to the whole call, from which `run` recovers it.
        Entry::job(NonNull::from(self).cast())
    }

    /// # Safety
    /// `job` starts a `Call<F, R>`, whose frame waits on this thread.
    unsafe fn run(job: *const Job) {
        // SAFETY: by contract.
        let this = unsafe { &*job.cast::<Self>() };
        if let Some(f) = this.f.take() {
            let result = catch_unwind(AssertUnwindSafe(f));
            *this.result.borrow_mut() = Some(result);
        }
    }

    fn is_done(&self) -> bool {
        self.result.borrow().is_some()
    }

    fn result(self) -> R {
        match self.result.into_inner() {
            Some(Ok(value)) => value,
            Some(Err(panic)) => resume_unwind(panic),
            None => sateen_base::abort_with("a call ended without a result"),
        }
    }
}
