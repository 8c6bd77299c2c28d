//! What handlers return, and what becomes of items that they could not handle.

use sateen_base::panic_payload::message;
use sateen_base::prim::time::Duration;
use std::any::Any;
use std::fmt;

/// What a handler returns to be called again with the same item, after this duration.
///
/// # Examples
/// ```
/// use sateen::flow::{Retry, WorkerQueue};
/// use std::time::Duration;
/// let queue = WorkerQueue::builder().workers(1).start(|_, left: &mut u32| {
///     *left -= 1;
///     if *left > 0 { Err(Retry(Duration::from_millis(1))) } else { Ok(()) }
/// })?;
/// queue.send(3)?;
/// queue.close();
/// assert_eq!((queue.stats().received, queue.stats().retried), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry(pub Duration);

/// What a handler may return: nothing, [`Retry`], an `Option` of it, or a `Result` with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// The item is finished.
    Done,
    /// The item comes again.
    Again(Duration),
}

impl From<()> for Handled {
    fn from((): ()) -> Self {
        Self::Done
    }
}

impl From<Retry> for Handled {
    fn from(Retry(after): Retry) -> Self {
        Self::Again(after)
    }
}

impl From<Option<Retry>> for Handled {
    fn from(retry: Option<Retry>) -> Self {
        retry.map_or(Self::Done, Self::from)
    }
}

impl From<Result<(), Retry>> for Handled {
    fn from(result: Result<(), Retry>) -> Self {
        result.err().into()
    }
}

/// An item that no handler will see again.
pub struct DeadLetter<T> {
    /// The item, as the handler left it.
    pub item: T,
    /// The worker that had it, or that ended last.
    pub worker: usize,
    /// Why no handler will see it again.
    pub reason: DeadReason,
}

/// Why an item is a [`DeadLetter`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadReason {
    /// Its handler panicked, with this message.
    Panicked(String),
    /// It was to come again, but the queue was aborted meanwhile.
    Aborted,
    /// All workers were made to end before any of them had it.
    Ended,
}

impl DeadReason {
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self::Panicked(message(payload).unwrap_or("no message").to_owned())
    }
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(message) => write!(f, "its handler panicked: {message}"),
            Self::Aborted => f.write_str("the queue was aborted"),
            Self::Ended => f.write_str("all workers had ended"),
        }
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for DeadLetter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLetter")
            .field("worker", &self.worker)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}
