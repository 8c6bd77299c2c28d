//! Cancellation: a mark on the task, and a wake-up for the fibers that wait in it.

use super::future::Woken;
use super::{FutureHead, Header};
use crate::context;
use crate::fiber::Fiber;
use crate::flag::Flag;
use crate::latch::Waiter;
use crate::live::LiveFutures;
use crate::unwind::CAN_UNWIND;
use sateen_base::SpinLock;
use sateen_base::os;
use sateen_base::prim::{AtomicBool, Ordering};
use sateen_base::unwind::FirstPanic;
pub use sateen_sync::park::Cancelled;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Whether the calling task, or the task of the calling branch, was cancelled.
pub(super) fn is_cancelled() -> bool {
    context::fiber().is_some_and(Fiber::is_cancelled)
}

/// A cancellation point for loops that never block. It is the only one in a program built with
/// `panic = "abort"`, where waits continue.
///
/// # Errors
/// [`Cancelled`] if the calling task was cancelled. Propagate it by `?`, or end in another way.
///
/// ```
/// let task = sateen::spawn(|| {
///     loop {
///         if sateen::check_cancelled().is_err() {
///             return "stopped";
///         }
///         sateen::yield_now();
///     }
/// });
/// task.cancel();
/// assert!(matches!(task.join(), Ok("stopped") | Err(sateen::JoinError::Cancelled)));
/// ```
pub fn check_cancelled() -> Result<(), Cancelled> {
    if is_cancelled() { Err(Cancelled) } else { Ok(()) }
}

/// Unwinds with [`Cancelled`]. Returns if nothing can unwind; the caller then runs on.
#[cold]
pub(crate) fn unwind() {
    if CAN_UNWIND {
        resume_unwind(Box::new(Cancelled));
    }
    say_that_tasks_run_on();
}

/// Reports, once, on stderr what happens to a task that would have unwound.
fn say_that_tasks_run_on() {
    static SAID: AtomicBool = AtomicBool::new(false);
    // Ordering: Relaxed, a flag that guards no data.
    if !SAID.load(Ordering::Relaxed) && !SAID.swap(true, Ordering::Relaxed) {
        os::say(format_args!(
            "this program is built with panic = \"abort\": what is cancelled, or runs out of time, \
             is not unwound but runs on to its end (see the guide, panic_abort)"
        ));
    }
}

/// Cancels any number of tasks at once, and those of its child tokens, like
/// [`JoinHandle::cancel`](crate::JoinHandle::cancel).
///
/// A task gets its token when it is spawned ([`Spawn::token`](super::Spawn::token)). A clone is
/// another handle to the same token.
///
/// ```
/// use sateen::{CancelToken, JoinError, Spawn};
/// let token = CancelToken::new();
/// let tasks: Vec<_> = (0..3)
///     .map(|_| Spawn::new().token(&token).spawn(|| loop { sateen::yield_now() }))
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
    cancelled: Flag,
    /// Set together with the flag.
    event: sateen_sync::Event,
    attached: SpinLock<Attached>,
    /// A token keeps its ancestors alive, because they can cancel it.
    parent: Option<Arc<Inner>>,
}

#[derive(Debug, Default)]
struct Attached {
    tasks: std::collections::HashSet<Task>,
    children: Vec<Weak<Inner>>,
    /// Dead children are removed when there are this many: twice as many as were alive last time.
    tidy_at: usize,
}

/// The minimum of `tidy_at`.
const TIDY_LEAST: usize = 16;

impl Attached {
    fn add_child(&mut self, child: Weak<Inner>) {
        if self.children.len() >= self.tidy_at.max(TIDY_LEAST) {
            self.children.retain(|child| child.strong_count() > 0);
            self.tidy_at = 2 * self.children.len();
        }
        self.children.push(child);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Iteratively: nested drops of a long chain would overflow the stack.
        let mut parent = self.parent.take();
        while let Some(mut last) = parent.and_then(Arc::into_inner) {
            parent = last.parent.take();
        }
    }
}

/// A task that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Task(NonNull<Header>);

// SAFETY: an address, used under the lock that the task takes before it ends.
unsafe impl Send for Task {}

/// What remains to be done for marked tasks: waking the fibers that run them. That may call user
/// code (a policy, an arrival callback), so no lock is held, and the tasks may end meanwhile.
#[derive(Default)]
#[must_use]
pub(super) struct Delivery {
    /// Each count keeps its runtime's memory alive. A fiber that has ended the task meanwhile is
    /// woken needlessly.
    pub(super) fibers: Vec<sateen_base::prim::Arc<Fiber>>,
    pub(super) entry: Option<Woken>,
}

impl Delivery {
    pub(super) fn deliver(self) {
        if let Some(entry) = self.entry {
            entry.enqueue();
        }
        self.fibers.iter().for_each(|fiber| fiber.unpark());
    }
}

impl LiveFutures<FutureHead> {
    /// Cancels all futures. No lock is held while pending futures are queued, which may call a
    /// policy.
    #[cold]
    pub(crate) fn cancel(&self) {
        // SAFETY: a future is marked while it is listed, so neither it nor its runtime has ended.
        let marked = self.mark_all(|head| unsafe { Header::mark_cancelled(head.cast()) });
        marked.into_iter().for_each(Delivery::deliver);
    }
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a token that is cancelled with this one, or alone.
    ///
    /// # Cost
    /// An allocation and a short lock. Now and then all children are checked, to remove those that
    /// are gone.
    pub fn child(&self) -> Self {
        let mut child = Inner::default();
        child.parent = Some(Arc::clone(&self.0));
        let child = Self(Arc::new(child));
        let cancelled = {
            let mut attached = self.0.attached.lock();
            let cancelled = self.is_cancelled();
            if !cancelled {
                attached.add_child(Arc::downgrade(&child.0));
            }
            cancelled
        };
        if cancelled {
            child.cancel();
        }
        child
    }

    /// Cancels all tasks that have this token or a child of it, now and later. A second call does
    /// nothing.
    ///
    /// # Panics
    /// With the first panic of a waker that waits for a token, after everything is cancelled.
    pub fn cancel(&self) {
        let mut deliveries = Vec::new();
        let (mut found, mut left) = (Vec::new(), vec![Arc::clone(&self.0)]);
        // All are marked before any user code is called.
        while let Some(token) = left.pop() {
            let Some(children) = token.mark(&mut deliveries) else { continue };
            left.extend(children.iter().filter_map(Weak::upgrade));
            found.push(token);
        }
        deliveries.into_iter().for_each(Delivery::deliver);
        let mut panics = FirstPanic::new();
        for token in found {
            panics.catch(|| token.event.set());
        }
        panics.resume();
    }

    /// Whether the token was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.is_raised()
    }

    /// Waits until the token is cancelled: blocks a thread, suspends a task.
    pub fn wait(&self) {
        self.0.event.wait();
    }

    /// Waits until the token is cancelled, in async code.
    pub async fn cancelled(&self) {
        self.0.event.wait_async().await;
    }

    pub(super) fn attach(&self, task: NonNull<Header>) {
        let delivery = {
            let mut attached = self.0.attached.lock();
            if !self.is_cancelled() {
                attached.tasks.insert(Task(task));
                return;
            }
            // SAFETY: the token is new, so no other thread has it yet.
            unsafe { Header::mark_cancelled(task) }
        };
        delivery.deliver();
    }

    pub(super) fn detach(&self, task: NonNull<Header>) {
        self.0.attached.lock().tasks.remove(&Task(task));
    }
}

impl Inner {
    /// Marks the token and its tasks, and returns its children, to be marked next. `None` if it was
    /// marked before.
    fn mark(&self, deliveries: &mut Vec<Delivery>) -> Option<Vec<Weak<Self>>> {
        let mut attached = self.attached.lock();
        // Under the lock, so that a task that attaches later sees it.
        if !self.cancelled.raise() {
            return None;
        }
        // SAFETY: a task detaches itself, under this lock, before it ends.
        deliveries
            .extend(attached.tasks.iter().map(|task| unsafe { Header::mark_cancelled(task.0) }));
        Some(std::mem::take(&mut attached.children))
    }
}
