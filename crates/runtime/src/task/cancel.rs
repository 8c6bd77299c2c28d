//! Cancellation: a mark on the task, and a wake-up for whatever waits in it.

use super::Header;
use crate::context;
use crate::fiber::Fiber;
use sateen_base::SpinLock;
use sateen_base::prim::{AtomicBool, Ordering};
pub use sateen_sync::park::Cancelled;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Whether the calling task, or the one whose branch the caller is, has been cancelled.
pub(super) fn is_cancelled() -> bool {
    context::with(context::Context::fiber).is_some_and(Fiber::is_cancelled)
}

/// A cancellation point for loops that never block.
///
/// # Errors
/// [`Cancelled`], if the calling task has been: give it to `?`, or end in another way.
///
/// ```
/// let task = sateen_runtime::spawn(|| {
///     loop {
///         if sateen_runtime::check_cancelled().is_err() {
///             return "stopped";
///         }
///         sateen_runtime::yield_now();
///     }
/// });
/// task.cancel();
/// assert!(matches!(task.join(), Ok("stopped") | Err(sateen_runtime::JoinError::Cancelled)));
/// ```
pub fn check_cancelled() -> Result<(), Cancelled> {
    if is_cancelled() { Err(Cancelled) } else { Ok(()) }
}

/// Unwinds with [`Cancelled`].
#[cold]
pub(crate) fn unwind() -> ! {
    resume_unwind(Box::new(Cancelled))
}

/// Cancels any number of tasks at once, and the tasks of its children.
///
/// Given to tasks when they are spawned ([`Spawn::token`](super::Spawn::token)). Cloning gives another
/// handle to the same token.
///
/// ```
/// use sateen_runtime::{CancelToken, JoinError, Spawn};
/// let token = CancelToken::new();
/// let tasks: Vec<_> = (0..3)
///     .map(|_| Spawn::new().token(&token).spawn(|| loop { sateen_runtime::yield_now() }))
///     .collect();
/// token.cancel();
/// for task in tasks {
///     assert!(matches!(task.join(), Err::<(), _>(JoinError::Cancelled)));
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    cancelled: AtomicBool,
    /// Set together with the flag.
    event: sateen_sync::Event,
    attached: SpinLock<Attached>,
}

#[derive(Debug, Default)]
struct Attached {
    tasks: std::collections::HashSet<Task>,
    children: Vec<Weak<Inner>>,
}

/// A task that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Task(NonNull<Header>);

// SAFETY: an address, used under the lock that the task takes before it ends.
unsafe impl Send for Task {}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, or alone.
    pub fn child(&self) -> Self {
        let child = Self::new();
        let cancelled = {
            let mut attached = self.0.attached.lock();
            attached.children.retain(|child| child.strong_count() > 0);
            attached.children.push(Arc::downgrade(&child.0));
            self.is_cancelled()
        };
        if cancelled {
            child.cancel();
        }
        child
    }

    /// Cancels all tasks that have this token or a child of it, now and later. A second time does
    /// nothing.
    pub fn cancel(&self) {
        let children = {
            let attached = self.0.attached.lock();
            // Ordering: Release pairs with the Acquire in `is_cancelled`; under the lock, so that a task
            // that attaches later sees it.
            if self.0.cancelled.swap(true, Ordering::Release) {
                return;
            }
            for task in &attached.tasks {
                // SAFETY: a task detaches itself, under this lock, before it ends.
                unsafe { Header::cancel(task.0) };
            }
            attached.children.clone()
        };
        self.0.event.set();
        children.iter().filter_map(Weak::upgrade).for_each(|child| Self(child).cancel());
    }

    /// Whether it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `cancel`.
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Waits until it is cancelled: blocks a thread, suspends a task.
    pub fn wait(&self) {
        self.0.event.wait();
    }

    /// [`CancelToken::wait`] for async code.
    pub async fn cancelled(&self) {
        self.0.event.wait_async().await;
    }

    pub(super) fn attach(&self, task: NonNull<Header>) {
        let mut attached = self.0.attached.lock();
        if self.is_cancelled() {
            // SAFETY: new, so nobody else has it yet.
            unsafe { Header::cancel(task) };
        } else {
            attached.tasks.insert(Task(task));
        }
    }

    pub(super) fn detach(&self, task: NonNull<Header>) {
        self.0.attached.lock().tasks.remove(&Task(task));
    }
}
