//! Spawned tasks: independent work with an identity and a handle.
//!
//! A task is one heap frame: header, waker, and the closure, which is replaced by the result. Two
//! references keep it alive: the queue's entry and the handle. [`crate::task_state`] controls who
//! may do what.

mod cancel;
mod current;
mod future;
mod handle;
mod identity;
mod locals;
mod options;
mod spawn_async;
mod start;

use cancel::Delivery;
pub(crate) use cancel::unwind as cancel_unwind;
pub use cancel::{CancelToken, Cancelled, check_cancelled};
pub use current::{CurrentTask, current_task};
pub(crate) use future::{
    Head as FutureHead, is_of as is_future_of, is_waker_of as is_future_waker_of, poll_queued,
    send_home as send_future_home,
};
pub use handle::{JoinError, JoinHandle};
pub(crate) use identity::{Ids, PropertyListener, PropertyState};
pub use identity::{Priority, TaskId};
pub use locals::{FiberLocal, FiberLocalError};
pub use options::Spawn;
pub use spawn_async::spawn_async;
pub(crate) use start::{Running, in_branch, interrupted_after, run_claimed};

use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::frames;
use crate::scope;
use crate::shared::Shared;
use crate::spans;
use crate::started_on::StartedOn;
use crate::task_state::{Cancel, Claim, Completion, TaskState};
use crate::trace;
use crate::unwind::{discard, run_and_discard};
use crate::worker::{Owner, Push, Worker};
use identity::{Extra, Property};
use sateen_base::prim::{AtomicU8, Ordering, UnsafeCell};
use sateen_base::tsc;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::task::Waker;

/// The type-independent part of a task.
#[repr(C, align(8))] // For tags; see `entry.rs`.
pub(crate) struct Header {
    state: TaskState,
    priority: AtomicU8,
    actions: &'static Actions,
    /// The slot of the handle's waker; see [`TaskState::is_waiting`].
    waker: UnsafeCell<Option<Waker>>,
    /// The runtime on which the task was spawned; only compared, never dereferenced. Another
    /// runtime may have reused the address. Then the first one has freed its [`Shared`], and the
    /// task is done, or a custom policy still holds its entry. Such a task is `Send` and may run
    /// anywhere (`policy/custom.rs`). A task that is not `Send` belongs to a current-thread
    /// runtime. That has no custom policy, and frees nothing while a task is not done
    /// (`current_thread.rs`: `drop`).
    home: *const Shared,
    id: TaskId,
    location: &'static Location<'static>,
    started_on: StartedOn<Fiber>,
    /// The task's span of `tracing`.
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))]
    span: spans::OfTask,
    /// Data that only some tasks have.
    extra: Option<Box<Extra>>,
}

/// Operations on a task of any type.
struct Actions {
    /// Replaces the closure by its result. Called once, by the claimer.
    run: unsafe fn(NonNull<Header>),
    /// Replaces the closure by an error. Called once, by the claimer, instead of `run`.
    refuse: unsafe fn(NonNull<Header>, JoinError),
    /// Drops the remaining contents and frees the frame.
    free: unsafe fn(NonNull<Header>),
    /// Whether the task is a future. If so, `free` only drops its result, and the [wake
    /// word](crate::wake_word) controls who keeps the frame.
    is_future: bool,
}

impl Header {
    /// Whether the task was claimed: a hint.
    pub(crate) fn is_started(&self) -> bool {
        self.state.is_started()
    }

    /// Whether the task must end at its next cancellation point.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.is_cancelled()
    }

    /// Called when a fiber other than the starter's, published as a runner of this task, takes over
    /// a branch.
    pub(crate) fn share(&self) {
        self.state.share();
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn span(&self) -> &spans::OfTask {
        &self.span
    }

    pub(crate) fn id(&self) -> TaskId {
        self.id
    }

    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    #[inline]
    pub(crate) fn has_extra(&self) -> bool {
        self.extra.is_some()
    }

    /// Records that the task runs on `worker`, for the first time or, if it is a future, again. A
    /// named task also records how long it was ready.
    #[inline]
    pub(crate) fn note_running(&self, worker: &Worker) {
        if let Some(extra) = &self.extra {
            extra.note_running(worker);
        }
    }

    /// Records that the task, a future, was woken.
    #[inline]
    fn note_ready(&self) {
        if let Some(extra) = self.extra.as_ref().filter(|extra| extra.name.is_some()) {
            // Ordering: Relaxed; the queue orders it.
            extra.ready_at.store(tsc::now(), Ordering::Relaxed);
        }
    }

    pub(crate) fn name(&self) -> Option<&std::sync::Arc<str>> {
        self.extra.as_ref().and_then(|extra| extra.name.as_ref())
    }

    /// The task's requested stack size, if any.
    pub(crate) fn stack_size(&self) -> Option<usize> {
        self.extra.as_ref().and_then(|extra| extra.stack_size)
    }

    /// The only worker that may run the task, if any.
    pub(crate) fn worker(&self) -> Option<usize> {
        self.extra.as_ref().and_then(|extra| extra.worker)
    }

    pub(crate) fn priority(&self) -> Priority {
        // Ordering: Relaxed; it guards no data.
        Priority::from_index(self.priority.load(Ordering::Relaxed))
    }

    pub(crate) fn property(&self) -> u64 {
        self.extra.as_ref().and_then(|extra| extra.property.as_ref()).map_or(0, Property::get)
    }

    /// Changes the property, if it has one.
    pub(crate) fn set_property(&self, value: u64) -> bool {
        let property = self.extra.as_ref().and_then(|extra| extra.property.as_ref());
        property.inspect(|property| property.set(self.id, value)).is_some()
    }

    /// Called before the frame is freed, when no other thread refers to it.
    #[inline]
    fn drop_waker(&self) {
        // SAFETY: by the contract of the callers, which free the frame.
        if let Some(waker) = self.waker.with_mut(|waker| unsafe { (*waker).take() }) {
            discard(waker);
        }
    }

    /// Marks the task as cancelled and wakes the fibers that run it, so that they check. The caller
    /// holds no lock: delivery may call a policy, or an arrival callback.
    ///
    /// # Safety
    /// The caller holds the handle, or the entry.
    pub(crate) unsafe fn cancel(header: NonNull<Self>) {
        // SAFETY: by contract.
        unsafe { Self::mark_cancelled(header) }.deliver();
    }

    /// The part of [`Header::cancel`] that calls no user code.
    ///
    /// # Safety
    /// The caller keeps the task from ending. It holds the handle, or a lock that the task must
    /// take before it ends, to leave its token or the list of live futures. (A count of the frame
    /// is not enough: an end that no thread waits for is not marked, and the fibers may be gone
    /// after it.)
    unsafe fn mark_cancelled(header: NonNull<Self>) -> Delivery {
        // SAFETY: by contract.
        let this = unsafe { header.as_ref() };
        let Cancel::Deliver { started, shared } = this.state.cancel() else {
            return Delivery::default();
        };
        let delivery = if this.actions.is_future {
            // SAFETY: by contract; the future does not end before `cancel_delivered`.
            unsafe { future::interrupt(header, shared) }
        } else if started {
            // SAFETY: null, or a fiber. The run does not end before `cancel_delivered` (or before
            // the token's lock is free). Until then its runtime lives, and all fibers with it.
            let fiber = unsafe { this.started_on.wait().as_ref() };
            Delivery { fibers: fiber.map_or(Vec::new(), |f| f.runners(this, shared)), entry: None }
        } else {
            Delivery::default()
        };
        this.state.cancel_delivered();
        delivery
    }
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Header").field("id", &self.id).field("state", &self.state).finish()
    }
}

/// A whole task.
#[repr(C)]
struct Frame<F, T> {
    header: Header,
    body: UnsafeCell<Body<F, T>>,
}

enum Body<F, T> {
    Closure(F),
    Result(Result<T, JoinError>),
    Empty,
}

impl<F: FnOnce() -> T, T> Frame<F, T> {
    const ACTIONS: Actions =
        Actions { run: Self::run, refuse: Self::refuse, free: Self::free, is_future: false };

    #[inline(always)]
    fn alloc(
        state: TaskState,
        body: Body<F, T>,
        home: *const Shared,
        birth: Birth,
    ) -> NonNull<Header> {
        let frame = Self {
            header: Header {
                state,
                priority: AtomicU8::new(birth.priority.index()),
                actions: &Self::ACTIONS,
                waker: UnsafeCell::new(None),
                home,
                id: birth.id,
                location: birth.location,
                started_on: StartedOn::new(),
                span: spans::OfTask::new(),
                extra: birth.extra,
            },
            body: UnsafeCell::new(body),
        };
        frames::place(frame).cast()
    }

    /// # Safety
    /// `header` starts a `Frame<F, T>` and the caller has claimed it.
    unsafe fn run(header: NonNull<Header>) {
        // SAFETY: the claim gives us the body until `complete`.
        unsafe { header.cast::<Self>().as_ref() }.body.with_mut(|body| unsafe {
            if let Body::Closure(f) = std::mem::replace(&mut *body, Body::Empty) {
                *body = Body::Result(catch_unwind(AssertUnwindSafe(f)).map_err(start::caught));
            }
        });
    }

    /// # Safety
    /// As [`Frame::run`].
    unsafe fn refuse(header: NonNull<Header>, error: JoinError) {
        // SAFETY: the caller's claim keeps the frame alive.
        let frame = unsafe { header.cast::<Self>().as_ref() };
        let result = Body::Result(Err(error));
        // SAFETY: the claim gives us the body until `complete`.
        let closure = frame.body.with_mut(|body| unsafe { std::mem::replace(&mut *body, result) });
        // Its panic is discarded, because no joiner would resume it.
        discard(closure);
    }

    /// # Safety
    /// `header` starts a `Frame<F, T>` that no other thread refers to.
    unsafe fn free(header: NonNull<Header>) {
        let place = header.cast::<Self>();
        // SAFETY: made by `alloc`; ours alone.
        let frame = unsafe { place.as_ref() };
        // The waker of a polled handle, and a detached task's result, may panic in their
        // destructors. Nobody would catch such a panic.
        frame.header.drop_waker();
        // SAFETY: as above.
        let empty = frame.body.with(|body| matches!(unsafe { &*body }, Body::Empty));
        if !empty {
            // SAFETY: as above; no thread reads it again.
            discard(frame.body.with(|body| unsafe { body.read() }));
        }
        // SAFETY: as above. Only names and tokens are left to drop, and this thread owns them.
        unsafe { (&raw mut (*place.as_ptr()).header).drop_in_place() };
        // SAFETY: `alloc` placed it, and the frame is dropped.
        unsafe { frames::give(place) };
    }
}

/// What a task is created with.
pub(crate) struct Birth {
    pub(crate) id: TaskId,
    pub(crate) priority: Priority,
    pub(crate) location: &'static Location<'static>,
    pub(crate) extra: Option<Box<Extra>>,
}

impl Birth {
    #[inline]
    pub(crate) fn plain(id: TaskId, location: &'static Location<'static>) -> Self {
        Self { id, priority: Priority::Normal, location, extra: None }
    }
}

/// Creates a task and returns its header, for its queue entry, and its handle.
#[inline(always)]
pub(crate) fn new<F, T>(f: F, home: &Shared, birth: Birth) -> (NonNull<Header>, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: `F` and `T` are `Send`, so it may go anywhere.
    unsafe { new_local(f, home, birth) }
}

/// [`new`] for a task that does not go to other threads.
///
/// # Safety
/// Only the calling thread will take the entry, unless `F` and `T` are `Send`.
#[inline(always)]
pub(crate) unsafe fn new_local<F, T>(
    f: F,
    home: &Shared,
    birth: Birth,
) -> (NonNull<Header>, JoinHandle<T>)
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    trace::spawned(home, birth.id.get());
    let header = Frame::alloc(TaskState::new(), Body::Closure(f), home, birth);
    identity::attach(header);
    (header, JoinHandle::new(header, take_result::<F, T>))
}

/// [`new`] without a handle.
#[inline(always)]
pub(crate) fn new_detached<F, T>(f: F, home: &Shared, birth: Birth) -> NonNull<Header>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    trace::spawned(home, birth.id.get());
    let header = Frame::alloc(TaskState::detached(), Body::Closure(f), home, birth);
    identity::attach(header);
    header
}

/// A handle that returns `error`; the closure is dropped.
pub(crate) fn refused<F, T>(
    f: F,
    error: JoinError,
    location: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // Its panic would replace the handle's error.
    discard(f);
    let body = Body::<F, T>::Result(Err(error));
    let birth = Birth::plain(Ids::outside(), location);
    let header = Frame::alloc(TaskState::refused(), body, std::ptr::null(), birth);
    JoinHandle::new(header, take_result::<F, T>)
}

/// # Safety
/// `header` starts a `Frame<F, T>` that is done, and the caller is its handle.
unsafe fn take_result<F, T>(header: NonNull<Header>) -> Result<T, JoinError> {
    // SAFETY: done, so the handle owns the body.
    unsafe { header.cast::<Frame<F, T>>().as_ref() }.body.with_mut(|body| unsafe {
        match std::mem::replace(&mut *body, Body::Empty) {
            Body::Result(result) => result,
            _ => sateen_base::abort_with("a finished task without a result"),
        }
    })
}

/// Claims a task for the worker that took its entry.
///
/// # Safety
/// The caller owns the entry's reference.
#[inline]
unsafe fn claim(header: NonNull<Header>) -> Claim {
    // SAFETY: the reference keeps the frame alive.
    let header = unsafe { header.as_ref() };
    header.state.claim_from_queue(header.extra.is_some())
}

/// Runs the task of a taken entry, unless it was claimed before.
///
/// # Safety
/// The caller owns the entry's reference and gives it up.
pub(crate) unsafe fn run_queued(header: NonNull<Header>) {
    // SAFETY: the reference keeps the frame alive until `conclude`.
    unsafe {
        match claim(header) {
            Claim::Run => {
                run_claimed(header);
                conclude(header);
            }
            Claim::Stale => {}
            Claim::Free => (header.as_ref().actions.free)(header),
        }
    }
}

/// Like [`run_queued`], but the task fails with `error` instead of running.
///
/// # Safety
/// As [`run_queued`].
pub(crate) unsafe fn refuse_queued(header: NonNull<Header>, error: JoinError) {
    // SAFETY: as in `run_queued`.
    unsafe {
        match claim(header) {
            Claim::Run => {
                start::refuse_claimed(header, error);
                conclude(header);
            }
            Claim::Stale => {}
            Claim::Free => (header.as_ref().actions.free)(header),
        }
    }
}

/// Ends work meant only for worker `index` of `home`, when that worker takes nothing. Tasks fail;
/// jobs, whose posters wait for them, run here.
///
/// # Safety
/// The caller owns the entry, and is not a task.
#[cold]
pub(crate) unsafe fn refuse_posted(home: &Shared, index: usize, entry: Entry) {
    // SAFETY: by contract.
    unsafe {
        refuse_outside(home, JoinError::NoWorker { worker: index, workers: home.regular }, entry)
    }
}

/// Ends work from outside, or posted, that must not run at `home`. Tasks fail with `error`; jobs,
/// whose posters wait for them, run here.
///
/// # Safety
/// The caller owns the entry, and is not a task.
#[cold]
pub(crate) unsafe fn refuse_outside(home: &Shared, error: JoinError, entry: Entry) {
    // SAFETY: by contract.
    unsafe {
        match entry.decode() {
            Work::Task(header) => refuse_queued(header, error),
            Work::Future(head) => future::refuse_queued(head, home, error),
            Work::Job(job) | Work::Here(job) | Work::Survey(job) => ((*job).run)(job),
            Work::Scoped(job) => scope::run_here(job),
            // No other work comes from outside.
            _ => sateen_base::abort_with("posted what belongs to no worker"),
        }
    }
}

/// Ends unstarted work that a policy has dropped where no worker could run it. Tasks fail; jobs,
/// whose posters wait for them, run here.
///
/// # Safety
/// The caller owns the entry, which does not belong to a fiber, a future or a scope. The caller
/// runs no task.
#[cold]
pub(crate) unsafe fn refuse_lost(entry: Entry) {
    // SAFETY: by contract.
    unsafe {
        match entry.decode() {
            Work::Task(header) => refuse_queued(header, JoinError::Lost),
            Work::Job(job) => context::run_inline(|| ((*job).run)(job)),
            _ => sateen_base::abort_with("a policy was given what belongs to no policy"),
        }
    }
}

/// Delivers the written result: wakes the joiner, or frees the frame if there is none.
///
/// # Safety
/// The caller claimed the task through its entry.
unsafe fn conclude(header: NonNull<Header>) {
    // SAFETY: this thread owns the entry's reference until the matching arm gives it up.
    unsafe {
        match header.as_ref().state.complete() {
            Completion::Left => {}
            Completion::Free => (header.as_ref().actions.free)(header),
            Completion::Wake => {
                header.as_ref().waker.with(|waker| {
                    if let Some(waker) = (*waker).as_ref() {
                        // A foreign waker may panic; the task is done nevertheless.
                        run_and_discard(|| waker.wake_by_ref());
                    }
                });
                if header.as_ref().state.drop_entry() {
                    (header.as_ref().actions.free)(header);
                }
            }
        }
    }
}

/// Spawns on the calling worker's runtime, or on the global one from anywhere else.
///
/// The handle returns the closure's result. A dropped handle detaches the task. The task may block:
/// it is then suspended, and its worker runs other work.
///
/// # Cost
/// One allocation and a push, about 35 ns with the join. While it blocks, a task holds a stack. A
/// program with 100,000 such tasks sets a smaller size by
/// [`Builder::stack_size`](crate::Builder::stack_size) or
/// [`Spawn::stack_size`](crate::Spawn::stack_size):
///
/// | Size | Memory of the stack | Page tables |
/// |---|---|---|
/// | 64 KiB | 4 KiB, if it uses no more | 0.2 KiB |
/// | 192 KiB | the same | 0.5 KiB |
/// | 1 MiB | the same | 2.3 KiB |
/// | 2 MiB, the default | the same | 4.5 KiB |
///
/// Source: launch policy `post` of Boost.Fiber.
///
/// # Examples
///
/// ```
/// let handle = sateen::spawn(|| 6 * 7);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
///
/// A closure that borrows does not compile; use [`scope`](crate::scope) for that:
///
/// ```compile_fail
/// let x = 1;
/// sateen::spawn(|| println!("{}", x));
/// ```
#[track_caller]
#[inline]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let location = Location::caller();
    if let Some(worker) = context::owner() {
        let (header, handle) = new(f, worker.shared(), Birth::plain(worker.ids().draw(), location));
        worker.push(Entry::task(header), Push::New);
        Owner::poll();
        return handle;
    }
    Spawn::new().spawn_outside(f, location)
}
