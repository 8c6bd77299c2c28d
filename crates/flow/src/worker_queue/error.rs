//! What can go wrong with worker queues.

use sateen_base::prim::time::Duration;
use std::error::Error;
use std::fmt;

/// Why an item was not sent; it holds the item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T> {
    /// The item, or the items of a batch.
    pub item: T,
    /// Why it was not sent.
    pub reason: Refusal,
}

/// Why a [`WorkerQueue`](super::WorkerQueue) does not take an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The queue was closed: it will never take an item.
    Closed,
    /// There is no room now; or, without capacity, no idle worker.
    Full,
    /// The item has a key, and the queue was not built [`keyed`](super::Builder::keyed).
    NotKeyed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the worker queue is closed",
            Self::Full => "the worker queue has no room, or no idle worker",
            Self::NotKeyed => "the worker queue does not keep the order of keys",
        })
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<T> Error for SendError<T> {}

/// Why a [`WorkerQueue`](super::WorkerQueue) could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A number of workers of 0.
    ZeroWorkers,
    /// More workers than a queue can have.
    TooManyWorkers(usize),
    /// A number of queues of 0.
    ZeroQueues,
    /// More queues than there can be.
    TooManyQueues(usize),
    /// More items than a queue can hold.
    TooMuchCapacity(usize),
    /// There is no memory for queues of this many bytes.
    NoMemory(usize),
    /// The name for the workers contains a NUL, which ends names.
    Name(String),
    /// An invalid setting of the receive rate.
    Throttle(crate::ThrottleError),
    /// The system gave no thread for a worker.
    NoThread(usize, std::io::Error),
    /// The runtime that the workers were to run on does not accept tasks.
    NoRuntime(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use super::{MOST_CAPACITY, MOST_QUEUES, MOST_WORKERS};
        match self {
            Self::ZeroWorkers => f.write_str("a worker queue with 0 workers"),
            Self::TooManyWorkers(n) => write!(f, "{n} workers: at most {MOST_WORKERS}"),
            Self::ZeroQueues => f.write_str("a worker queue with 0 queues"),
            Self::TooManyQueues(n) => write!(f, "{n} queues: at most {MOST_QUEUES}"),
            Self::TooMuchCapacity(n) => write!(f, "a capacity of {n}: at most {MOST_CAPACITY}"),
            Self::NoMemory(bytes) => write!(f, "no memory for queues of {bytes} bytes"),
            Self::Name(name) => write!(f, "cannot name workers {name:?}: it contains a NUL"),
            Self::Throttle(error) => error.fmt(f),
            Self::NoThread(worker, error) => write!(f, "no thread for worker {worker}: {error}"),
            Self::NoRuntime(why) => write!(f, "no runtime for the workers: {why}"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Throttle(error) => Some(error),
            Self::NoThread(_, error) => Some(error),
            _ => None,
        }
    }
}

/// What was left to do when the time of [`close_timeout`](super::WorkerQueue::close_timeout) was
/// over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseError {
    /// Workers that were in the same handler call after half of the time and at its end.
    pub hanging: Vec<Hanging>,
    /// Items that no handler was called for, or that are to be tried again.
    pub waiting: usize,
    /// How long the call waited.
    pub waited: Duration,
}

/// A handler call that does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hanging {
    /// The worker's index.
    pub worker: usize,
    /// The number of the call, counted for each worker from 1.
    pub call: u64,
    /// The item, as [`describe`](super::Builder::describe) describes it, if that is set.
    pub item: Option<String>,
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not closed after {:?}: {} items wait", self.waited, self.waiting)?;
        for Hanging { worker, call, item } in &self.hanging {
            write!(f, "; worker {worker} hangs in its item {call}")?;
            if let Some(item) = item {
                write!(f, " ({item})")?;
            }
        }
        Ok(())
    }
}

impl Error for CloseError {}
