//! The joiner's side of a spawned task.

use super::{Header, TaskId};
use crate::context;
use crate::fiber::Fiber;
use crate::forked;
use crate::shared::Shared;
use crate::stack::MAX_STACK;
use crate::unwind::discard;
use crate::worker::{Owner, Worker};
use sateen_base::PanicPayload;
use sateen_base::prim::thread;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park::{self, Awaited};
use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// Why a task returned no result.
#[non_exhaustive]
pub enum JoinError {
    /// The task panicked, with this payload. (With `panic = "abort"` a panic ends the process.)
    Panicked(PanicPayload),
    /// The runtime had been shut down, or lost all its workers before one took the task. The
    /// closure was dropped.
    ShutDown,
    /// There was no stack to start the task on. For 40 ms nothing ran that might free one, and no
    /// task waited with a time limit. See [`Builder::max_stacks`](crate::Builder::max_stacks).
    OutOfStacks,
    /// There is no global runtime, for this reason.
    NoRuntime(String),
    /// The task was cancelled before it returned a result.
    Cancelled,
    /// The process has forked; the task, or its runtime, stayed in the parent.
    Forked,
    /// A scheduling [policy](crate::policy::Policy) dropped it, before it started, on a thread that
    /// is not a worker.
    Lost,
    /// The task asked for a stack of this many bytes, which is more than the maximum.
    StackSize(usize),
    /// The task was to run on a worker that does not exist, or whose
    /// [`WorkerThread`](crate::WorkerThread) was dropped.
    NoWorker {
        /// The requested index.
        worker: usize,
        /// The number of workers.
        workers: usize,
    },
    /// It was spawned by a hook, a policy, a stack allocator or a callback, where there is no
    /// current runtime to spawn on.
    InHook,
}

/// Why the calling thread, which runs no task, may not spawn on the global runtime; `None` if it
/// may.
pub(super) fn no_spawns_here() -> Option<JoinError> {
    context::with(|c| match (c.is_off_fiber(), c.is_inline()) {
        (true, _) => Some(JoinError::InHook),
        (false, true) => Some(JoinError::ShutDown),
        (false, false) => None,
    })
}

impl JoinError {
    /// Returns the panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    /// The error itself, if the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self {
            Self::Panicked(payload) => Ok(payload.into_inner()),
            other => Err(other),
        }
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self, Self::Panicked(_))
    }
}

impl std::fmt::Debug for JoinError {
    /// The same text as `Display`: `unwrap`, and `main` with `?`, print what the task's panic said.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl std::fmt::Display for JoinError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Panicked(payload) => match payload.message() {
                Some(text) => write!(f, "the task panicked: {text}"),
                None => f.write_str("the task panicked"),
            },
            Self::ShutDown => f.write_str("the runtime was shut down before the task began"),
            Self::OutOfStacks => f.write_str("no stack left to start the task on"),
            Self::NoRuntime(reason) => write!(f, "there is no global runtime: {reason}"),
            Self::Cancelled => f.write_str("the task was cancelled"),
            Self::Forked => f.write_str(forked::MESSAGE),
            Self::Lost => {
                f.write_str("the scheduling policy dropped the task where nobody could run it")
            }
            Self::StackSize(size) => {
                write!(f, "cannot give a task {size} bytes of stack: {MAX_STACK} is the most")
            }
            Self::InHook => f.write_str("a hook or callback of a runtime spawned the task"),
            Self::NoWorker { worker, workers } if worker < workers => {
                write!(f, "worker {worker} has no thread: its `WorkerThread` was dropped")
            }
            Self::NoWorker { worker, workers } => {
                write!(f, "no worker {worker} to spawn on: there are {workers}, counted from 0")
            }
        }
    }
}

impl std::error::Error for JoinError {}

const TAKEN: &str = "a JoinHandle was asked again after it had given its result";

/// The handle of a spawned task, which returns its result.
///
/// [`JoinHandle::join`] blocks a thread and suspends a task; `.await` waits in async code. A
/// dropped handle detaches its task: the task runs on and its result is dropped.
///
/// ```
/// use sateen::spawn;
/// let parts: Vec<_> = (0..4).map(|i| spawn(move || i * i)).collect();
/// let sum: i32 = parts.into_iter().map(|part| part.join().unwrap()).sum();
/// assert_eq!(sum, 14);
/// ```
#[must_use = "a dropped handle detaches its task; use `drop` to say so"]
pub struct JoinHandle<T> {
    header: NonNull<Header>,
    take: unsafe fn(NonNull<Header>) -> Result<T, JoinError>,
    /// Whether the result was taken, so that only the reference is left to drop.
    taken: bool,
    owns: PhantomData<T>,
}

// SAFETY: the handle gives access to the result, a `T: Send`, and to a state word, which is Sync.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle only tells whether the task is done.
unsafe impl<T: Send> Sync for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(super) fn new(
        header: NonNull<Header>,
        take: unsafe fn(NonNull<Header>) -> Result<T, JoinError>,
    ) -> Self {
        Self { header, take, taken: false, owns: PhantomData }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the frame.
        unsafe { self.header.as_ref() }
    }

    /// Whether the task has ended or was refused, so that [`JoinHandle::join`] does not wait.
    pub fn is_finished(&self) -> bool {
        self.header().state.is_done()
    }

    /// The task's number.
    pub fn id(&self) -> TaskId {
        self.header().id()
    }

    /// Changes the number that the task was spawned with for the scheduling policy
    /// ([`Spawn::property`](super::Spawn::property)), wherever the task is queued or suspended. A
    /// custom policy is told ([`Policy::property_change`](crate::policy::Policy::property_change)).
    /// Returns false if the task was spawned without a number.
    ///
    /// # Cost
    /// A short lock for each worker.
    ///
    /// ```
    /// use sateen::{Spawn, spawn};
    /// let task = Spawn::new().property(5).spawn(|| ());
    /// assert!(task.set_property(1));
    /// assert!(!spawn(|| ()).set_property(1));
    /// ```
    pub fn set_property(&self, property: u64) -> bool {
        self.header().set_property(property)
    }

    /// Asks the task to end. A task that has not started never will. A task that reaches a wait, a
    /// yield or another cancellation point unwinds from there with [`Cancelled`](super::Cancelled),
    /// on its own worker. The handle then returns [`JoinError::Cancelled`]. A task that never waits
    /// runs to its end.
    ///
    /// In a program built with `panic = "abort"` nothing unwinds, and a started task runs to its
    /// end ([`check_cancelled`](crate::check_cancelled) tells it). The guide's page `panic_abort`
    /// has a table.
    ///
    /// These are not cancellation points:
    ///
    /// * `join`, `fork` and `scope`: they cancel their branches with the task, wait for them, and
    ///   then unwind;
    /// * relocking after a condition wait;
    /// * an `RwLock`, a `ReentrantMutex` or a raw mutex without a time limit;
    /// * anything while the task is already unwinding.
    ///
    /// ```
    /// use sateen::{JoinError, spawn};
    /// let event = std::sync::Arc::new(sateen::sync::Event::new());
    /// let task = spawn({ let event = event.clone(); move || event.wait() });
    /// task.cancel();
    /// assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    /// ```
    pub fn cancel(&self) {
        // SAFETY: the handle keeps the frame.
        unsafe { Header::cancel(self.header) };
    }

    /// Waits for the task's end and returns its result.
    ///
    /// A plain thread blocks. A task of the same runtime runs an unstarted task in place. Otherwise
    /// the caller is suspended.
    ///
    /// # Errors
    /// [`JoinError`]: the task panicked, or never ran.
    ///
    /// # Panics
    /// If the result was already taken by polling the handle.
    pub fn join(mut self) -> Result<T, JoinError> {
        assert!(!self.taken, "{TAKEN}");
        if !self.is_finished() && !self.run_in_place() {
            if self.is_left_in_parent() {
                return Err(JoinError::Forked);
            }
            self.wait();
        }
        self.take_result()
    }

    /// Waits like [`JoinHandle::join`], but no longer than `limit`. It never runs the task in
    /// place.
    ///
    /// # Errors
    /// The handle, if the task has not ended by then; the task continues. (The inner error is the
    /// task's.)
    ///
    /// # Panics
    /// As [`JoinHandle::join`].
    ///
    /// ```
    /// use std::time::Duration;
    /// let event = std::sync::Arc::new(sateen::sync::Event::new());
    /// let task = sateen::spawn({ let event = event.clone(); move || event.wait() });
    /// let task = task.join_timeout(Duration::from_millis(1)).unwrap_err();
    /// event.set();
    /// task.join()?;
    /// # Ok::<(), sateen::JoinError>(())
    /// ```
    pub fn join_timeout(mut self, limit: Duration) -> Result<Result<T, JoinError>, Self> {
        assert!(!self.taken, "{TAKEN}");
        let Some(deadline) = Instant::now().checked_add(limit) else { return Ok(self.join()) };
        self.wait_with(|| {
            let waits = Instant::now() < deadline;
            if waits {
                park::park_until(deadline);
            }
            waits
        });
        if self.is_finished() { Ok(self.take_result()) } else { Err(self) }
    }

    #[cold]
    fn wait(&self) {
        self.wait_with(|| {
            park::park();
            true
        });
    }

    /// Calls `park` until the task is done, or `park` returns false because it no longer waits.
    fn wait_with(&self, park: impl Fn() -> bool) {
        let waker = park::current_waker();
        /// # Safety
        /// The place is the address of a header.
        unsafe fn owner(place: *const ()) -> u64 {
            // SAFETY: by contract.
            unsafe { (*place.cast::<Header>()).id().get() }
        }
        let task = Awaited::new("task", self.header.as_ptr().cast());
        // SAFETY: called while the handle waits, which keeps the frame alive.
        let task = unsafe { task.with_owner(owner) };
        park::waiting_for(task, || while self.poll_with(&waker).is_pending() && park() {});
    }

    /// Whether no thread of this process will ever end the task. (A worker that has forked may, and
    /// so may a current-thread runtime on the forking thread.)
    #[cold]
    fn is_left_in_parent(&self) -> bool {
        let survives = || {
            let worker = context::owner();
            worker.is_some_and(|worker| worker.shared().is_older_than_fork())
        };
        forked::is_older(self.id()) && !survives()
    }

    /// Runs the task in place if the caller is a task of the same runtime, there is enough stack,
    /// and no worker was faster. Returns whether the task is done.
    fn run_in_place(&mut self) -> bool {
        let Some((worker, fiber)) = context::here() else { return false };
        Owner::poll();
        let shared: &Shared = worker.shared();
        // The task may need nearly all of the stack that it was promised. So a chain of tasks, each
        // of which joins the next, must not use up this stack: suspended, each costs one stack.
        let roomy = fiber.stack_left() > shared.stacks.most_of_default();
        // A time limit would apply to the task too. Under a mask no caller could cancel it. During
        // unwinding it would appear to panic.
        if !std::ptr::eq(self.header().home, shared)
            || !roomy
            || !fiber.limit().is_null()
            || fiber.is_masked()
            || thread::panicking()
        {
            return false;
        }
        // The youngest entry is often this task's. Taking it saves the exchange of a claim, and
        // removing stale entries keeps them from piling up.
        if self.header().extra.is_some() && !self.fits(worker, fiber) {
            return false;
        }
        if worker.pop_task(self.header) {
            self.header().state.claim_alone(self.header().extra.is_some());
        } else if worker.custom_policy().is_some() && !fiber.keeps_thread() {
            // The custom policy decides what runs next.
            return false;
        } else if !self.header().state.claim_inline() {
            return false;
        } else {
            worker.leaves_stale_entry();
        }
        // SAFETY: claimed.
        unsafe { super::run_claimed(self.header) };
        true
    }

    /// Whether the task, which has more than a closure, can run here.
    #[cold]
    fn fits(&self, worker: &Worker, fiber: &Fiber) -> bool {
        // Branches below would be taken for the task's own, so a task with an identity needs a bare
        // join stack.
        fiber.join_stack().is_bare()
            && self.header().stack_size().is_none_or(|size| size < fiber.stack_left())
            && self.header().worker().is_none_or(|index| index == worker.index())
    }

    /// Ready when the task is done; otherwise `waker` is registered.
    fn poll_with(&self, waker: &Waker) -> Poll<()> {
        let header = self.header();
        if header.state.is_done() {
            return Poll::Ready(());
        }
        if header.state.is_waiting() {
            // SAFETY: while WAITING is set the slot is only read, by us and by the runner.
            let same =
                header.waker.with(|w| unsafe { (*w).as_ref().is_some_and(|w| w.will_wake(waker)) });
            if same {
                return Poll::Pending;
            }
            if !header.state.unregister() {
                return Poll::Ready(());
            }
        }
        let new = Some(waker.clone());
        // SAFETY: WAITING is not set, so the handle owns the slot.
        let old = header.waker.with_mut(|slot| unsafe { std::mem::replace(&mut *slot, new) });
        if !header.state.register() || old.is_some_and(|old| self.is_done_without(old)) {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Drops an earlier waker, now that the slot is consistent. Its destructor is foreign: it may
    /// panic, or wait and so consume the wake-up that the new waker has just got. So the caller
    /// learns whether the task is done.
    #[cold]
    fn is_done_without(&self, old: Waker) -> bool {
        discard(old);
        self.is_finished()
    }

    fn take_result(&mut self) -> Result<T, JoinError> {
        self.taken = true;
        // SAFETY: done, or claimed and run by us: the handle owns the result.
        unsafe { (self.take)(self.header) }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// If polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.taken, "{TAKEN}");
        let polled = self.poll_with(cx.waker());
        if polled.is_pending() && self.is_left_in_parent() {
            self.taken = true;
            return Poll::Ready(Err(JoinError::Forked));
        }
        polled.map(|()| self.take_result())
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let actions = self.header().actions;
        if self.header().state.drop_handle() {
            // SAFETY: both references are gone.
            unsafe { (actions.free)(self.header) };
        }
        if actions.is_future {
            // SAFETY: a future's wake word has kept the frame alive until now.
            unsafe { super::future::drop_handle(self.header) };
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").field("finished", &self.is_finished()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Birth, new, run_queued};
    use crate::{Runtime, context};
    use std::panic::Location;

    /// As one of a former runtime whose address this one has, and whose policy has kept the entry.
    #[test]
    fn a_task_that_is_in_no_queue_of_this_runtime_is_run_by_its_joiner() {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        runtime.install(|| {
            let (worker, _) = context::here().expect("a worker");
            let birth = Birth::plain(worker.ids().draw(), Location::caller());
            let (header, handle) = new(|| 7, worker.shared(), birth);
            assert_eq!(handle.join().ok(), Some(7));
            // SAFETY: the entry, which the policy gives back now.
            unsafe { run_queued(header) };
        });
    }
}
