//! Spawned tasks: independent work with an identity and a handle.
//!
//! A task is one heap frame: header, waker, and the closure, which gives way to the result. Two
//! references keep it, the queue's entry and the handle; [`crate::task_state`] says who may do what.

mod handle;

pub use handle::{JoinError, JoinHandle};

use crate::context;
use crate::entry::Entry;
use crate::shared::Shared;
use crate::task_state::{Claim, Completion, TaskState};
use crate::unwind::{discard, run_and_discard};
use crate::worker::Worker;
use sateen_base::prim::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::task::Waker;

/// The part of a task that does not depend on its types.
#[repr(C)]
pub(crate) struct Header {
    state: TaskState,
    /// Turns the closure into the result. Called once, by the claimer.
    run: unsafe fn(NonNull<Header>),
    /// Replaces the closure by an error. Called once, by the claimer, instead of `run`.
    refuse: unsafe fn(NonNull<Header>, JoinError),
    /// Drops what is left and frees the frame.
    free: unsafe fn(NonNull<Header>),
    /// The handle's place for a waker; see [`TaskState::is_waiting`].
    waker: UnsafeCell<Option<Waker>>,
    /// The runtime it was spawned on; only compared, never followed.
    home: *const Shared,
}

impl Header {
    /// Whether somebody has claimed the task: a hint.
    pub(crate) fn is_started(&self) -> bool {
        self.state.is_started()
    }
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Header").field(&self.state).finish()
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
    fn alloc(state: TaskState, body: Body<F, T>, home: *const Shared) -> NonNull<Header> {
        let frame = Box::new(Self {
            header: Header {
                state,
                run: Self::run,
                refuse: Self::refuse,
                free: Self::free,
                waker: UnsafeCell::new(None),
                home,
            },
            body: UnsafeCell::new(body),
        });
        NonNull::from(Box::leak(frame)).cast()
    }

    /// # Safety
    /// `header` starts a `Frame<F, T>` and the caller has claimed it.
    unsafe fn run(header: NonNull<Header>) {
        // SAFETY: the claim makes the body ours until `complete`.
        unsafe { header.cast::<Self>().as_ref() }.body.with_mut(|body| unsafe {
            if let Body::Closure(f) = std::mem::replace(&mut *body, Body::Empty) {
                *body =
                    Body::Result(catch_unwind(AssertUnwindSafe(f)).map_err(JoinError::Panicked));
            }
        });
    }

    /// # Safety
    /// As [`Frame::run`].
    unsafe fn refuse(header: NonNull<Header>, error: JoinError) {
        // SAFETY: the caller's claim keeps the frame.
        let frame = unsafe { header.cast::<Self>().as_ref() };
        let result = Body::Result(Err(error));
        // SAFETY: the claim makes the body ours until `complete`.
        let closure = frame.body.with_mut(|body| unsafe { std::mem::replace(&mut *body, result) });
        // Its panic is swallowed, for there is nobody to carry it to.
        discard(closure);
    }

    /// # Safety
    /// `header` starts a `Frame<F, T>` that nobody else refers to.
    unsafe fn free(header: NonNull<Header>) {
        // SAFETY: made by `alloc`; ours alone.
        let frame = unsafe { Box::from_raw(header.cast::<Self>().as_ptr()) };
        // A detached task's result may panic in its destructor; that is nobody's business.
        discard(frame);
    }
}

/// Makes a task and returns its queue entry and its handle.
pub(crate) fn new<F, T>(f: F, home: &Shared) -> (Entry, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let header = Frame::alloc(TaskState::new(), Body::Closure(f), home);
    (Entry::task(header), JoinHandle::new(header, take_result::<F, T>))
}

/// A handle that yields `error`; the closure is dropped.
pub(crate) fn refused<F, T>(f: F, error: JoinError) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    drop(f);
    let body = Body::<F, T>::Result(Err(error));
    let header = Frame::alloc(TaskState::refused(), body, std::ptr::null());
    JoinHandle::new(header, take_result::<F, T>)
}

/// # Safety
/// `header` starts a `Frame<F, T>` that is done, and the caller is its handle.
unsafe fn take_result<F, T>(header: NonNull<Header>) -> Result<T, JoinError> {
    // SAFETY: done, so the body is the handle's.
    unsafe { header.cast::<Frame<F, T>>().as_ref() }.body.with_mut(|body| unsafe {
        match std::mem::replace(&mut *body, Body::Empty) {
            Body::Result(result) => result,
            _ => sateen_base::abort_with("a finished task without a result"),
        }
    })
}

/// Whoever took the entry runs the task, unless it was claimed before.
///
/// # Safety
/// The caller owns the entry's reference and gives it up.
pub(crate) unsafe fn run_queued(header: NonNull<Header>) {
    // SAFETY: the reference keeps the frame until `settle`.
    unsafe {
        match header.as_ref().state.claim_from_queue() {
            Claim::Run => {
                (header.as_ref().run)(header);
                settle(header);
            }
            Claim::Stale => {}
            Claim::Free => (header.as_ref().free)(header),
        }
    }
}

/// As [`run_queued`], but the task fails with `error` instead of running.
///
/// # Safety
/// As [`run_queued`].
pub(crate) unsafe fn refuse_queued(header: NonNull<Header>, error: JoinError) {
    // SAFETY: as in `run_queued`.
    unsafe {
        match header.as_ref().state.claim_from_queue() {
            Claim::Run => {
                (header.as_ref().refuse)(header, error);
                settle(header);
            }
            Claim::Stale => {}
            Claim::Free => (header.as_ref().free)(header),
        }
    }
}

/// The result is written: pass it on.
///
/// # Safety
/// The caller claimed the task through its entry.
unsafe fn settle(header: NonNull<Header>) {
    // SAFETY: the entry's reference is ours until the matching arm gives it up.
    unsafe {
        match header.as_ref().state.complete() {
            Completion::Left => {}
            Completion::Free => (header.as_ref().free)(header),
            Completion::Wake => {
                header.as_ref().waker.with(|waker| {
                    if let Some(waker) = (*waker).as_ref() {
                        // A foreign waker may panic; the task is done all the same.
                        run_and_discard(|| waker.wake_by_ref());
                    }
                });
                if header.as_ref().state.drop_entry() {
                    (header.as_ref().free)(header);
                }
            }
        }
    }
}

/// Spawns on the calling worker's runtime, or on the global one from anywhere else.
///
/// The handle yields the closure's result; dropped, it leaves the task to itself. The task may block:
/// it is then suspended and its worker goes on with other work.
///
/// Cost: one allocation and a push, about 35 ns with the join. Source: seed "fibers", launch policy
/// *post*.
///
/// ```
/// let handle = sateen_runtime::spawn(|| 6 * 7);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
///
/// What is borrowed does not compile; for that there is [`scope`](crate::scope):
///
/// ```compile_fail
/// let x = 1;
/// sateen_runtime::spawn(|| println!("{}", x));
/// ```
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if let Some(worker) = context::with(context::Context::worker) {
        let (entry, handle) = new(f, worker.shared());
        worker.push_entry(entry);
        Worker::poll();
        return handle;
    }
    if context::with(context::Context::is_inline) {
        return refused(f, JoinError::ShutDown);
    }
    match crate::runtime::Runtime::global() {
        Ok(runtime) => runtime.spawn(f),
        Err(error) => refused(f, JoinError::NoRuntime(error.to_string())),
    }
}
