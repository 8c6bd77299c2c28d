//! Worker queues: many threads send items, which are spread over queues; workers handle them at a
//! rate.
//!
//! States and protocols: the crate's `README.md`, section *Worker queues*.

mod builder;
mod envelope;
mod error;
mod handled;
mod inspected;
mod later;
mod sender;
mod shared;
mod spin_limit;
mod stats;
#[cfg(feature = "wait_times")]
mod wait_times;
mod worker;
mod worker_metrics;

pub use builder::Builder;
pub use error::{CloseError, Hanging, Refusal, SendError, StartError};
pub use handled::{DeadLetter, DeadReason, Handled, Retry};
pub use sender::Sender;
pub use shared::Overflow;
pub use stats::{Stats, WorkerStats};
#[cfg(feature = "wait_times")]
pub use wait_times::WaitTimes;

use crate::Rate;
use crate::inspect::Listed;
use envelope::Envelope;
use sateen_base::SpinLock;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, Ordering, thread};
use sateen_base::unwind::discard;
use sateen_sync::park::context_id;
use shared::{Shared, Turn, Way};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Most workers.
const MOST_WORKERS: usize = 65_535;
/// Most queues.
const MOST_QUEUES: usize = 65_535;
/// Most items of a queue: with 32-bit addresses too, more than there is memory for.
const MOST_CAPACITY: usize = if usize::BITS < 64 { 1 << 31 } else { 1 << 48 };

/// Any thread sends items, and workers call a handler with each.
///
/// * **Spread:** items go round several bounded queues, so that senders and workers seldom meet. A
///   worker prefers its own queue. It takes from others when its own is empty, or when another
///   worker makes no progress: a handler that blocks delays only its own item. Workers take nothing
///   in advance.
/// * **Back-pressure:** with all queues full a sender waits, gets its item back, or an item is
///   dropped ([`Builder::overflow`]).
/// * **Order:** one queue with one worker keeps the order of each sender, a [keyed](Builder::keyed)
///   queue the order of each key. Otherwise items of one sender may overtake each other.
/// * **A handler** may block like any code on its thread or task, and may ask for an item to come
///   again ([`Retry`]). It may panic: the panic is counted and reported to [`Builder::on_panic`],
///   and the item goes to [`Builder::dead_letter`].
/// * **No thread spins for long:** idle workers and waiting senders sleep after a few microseconds.
///
/// When it is dropped, it is [closed](WorkerQueue::close). Source: *Even more performance
/// experiments: queues and threads*.
///
/// # Examples
/// ```
/// use sateen::flow::WorkerQueue;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// static SUM: AtomicU64 = AtomicU64::new(0);
/// let queue = WorkerQueue::builder().workers(2).start(|_worker, item: &mut u64| {
///     SUM.fetch_add(*item, Relaxed);
/// })?;
/// for item in 1..=100 {
///     queue.send(item)?;
/// }
/// queue.close();
/// assert_eq!(SUM.load(Relaxed), 5050);
/// assert!(queue.send(0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WorkerQueue<T> {
    shared: Arc<Shared<T>>,
    /// Of workers on threads of their own.
    threads: SpinLock<Vec<thread::JoinHandle<()>>>,
    _listed: Listed,
}

thread_local! {
    /// The next lane for items that this thread sends without a [`Sender`].
    static TURN: Turn = const { Turn::new(0) };
}

impl WorkerQueue<()> {
    /// Settings for a new one, of items of any type.
    pub fn builder<T>() -> Builder<T> {
        Builder::new()
    }
}

impl<T> WorkerQueue<T> {
    fn new(shared: Arc<Shared<T>>, listed: Listed) -> Self {
        Self { shared, threads: SpinLock::new(Vec::new()), _listed: listed }
    }

    /// Keeps a thread, to wait for it at the end.
    fn keep(&self, thread: thread::JoinHandle<()>) {
        self.threads.lock().push(thread);
    }

    /// A handle for sending, with a next queue and a count of its own. Batches and items with keys
    /// are sent through it.
    pub fn sender(&self) -> Sender<T> {
        Sender::new(Arc::clone(&self.shared))
    }

    /// [`Sender::send`], to the calling thread's next queue.
    ///
    /// # Errors
    /// [`SendError`], with the item, if the queue is closed, or if it is full and
    /// [`Overflow::Error`] is set.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let (lane, sent) = self.step();
        self.shared.send(lane, Envelope::new(item, sent), true)?;
        self.shared.sent.increment();
        Ok(())
    }

    /// [`Sender::try_send`], to the calling thread's next queue.
    ///
    /// # Errors
    /// [`SendError`], with the item, if the queue is closed, or full and nothing is dropped.
    pub fn try_send(&self, item: T) -> Result<(), SendError<T>> {
        let (lane, sent) = self.step();
        self.shared.send(lane, Envelope::new(item, sent), false)?;
        self.shared.sent.increment();
        Ok(())
    }

    /// [`send`](WorkerQueue::send) as a future. If it is dropped early, it drops the item.
    ///
    /// ```
    /// use sateen::flow::WorkerQueue;
    /// let queue = WorkerQueue::builder().workers(1).capacity(1).start(|_, _: &mut u32| ())?;
    /// sateen::sync::block_on(async {
    ///     for i in 0..10 {
    ///         queue.send_async(i).await?;
    ///     }
    ///     Ok::<(), sateen::flow::SendError<u32>>(())
    /// })?;
    /// queue.close();
    /// assert_eq!(queue.stats().received, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_async(
        &self,
        item: T,
    ) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        send_async_to(&self.shared, anywhere(self.step(), item))
    }

    fn step(&self) -> (usize, u64) {
        TURN.with(|turn| self.shared.step(turn))
    }

    /// From now on each worker takes at most this many items a second. A rate of [`Rate::LEAST`]
    /// means that workers take none.
    pub fn set_receive_rate(&self, rate: Rate) {
        self.shared.set_rate(rate);
    }

    /// What the queue has done so far.
    ///
    /// # Cost
    /// Holds locks that workers seldom take for some microseconds, and allocates.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Accepts no more items, and waits until all are handled, including those that are to come
    /// again. If a handler calls it, it does not wait.
    pub fn close(&self) {
        self.shared.close();
        if self.is_inside() {
            return;
        }
        self.shared.finished.wait();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // A handler that owns the queue is dropped by its worker's thread.
            if thread.thread().id() != thread::current().id() {
                // Panics of handlers are caught; the panic hook has reported any other.
                discard(thread.join());
            }
        }
    }

    /// [`close`](WorkerQueue::close) that waits at most for `limit`. The queue goes on closing
    /// after that.
    ///
    /// # Errors
    /// [`CloseError`] if the time was not enough: which workers hang in which items, and how many
    /// items wait.
    ///
    /// # Examples
    /// ```
    /// use sateen::flow::WorkerQueue;
    /// use sateen::sync::Event;
    /// use std::time::Duration;
    /// static BEGUN: Event = Event::new();
    /// static GO: Event = Event::new();
    /// let queue = WorkerQueue::builder()
    ///     .workers(1)
    ///     .describe(|item: &u32| format!("number {item}"))
    ///     .start(|_, _: &mut u32| {
    ///         BEGUN.set();
    ///         GO.wait();
    ///     })?;
    /// queue.send(7)?;
    /// BEGUN.wait();
    /// let error = queue.close_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(error.hanging[0].item.as_deref(), Some("number 7"));
    /// GO.set();
    /// queue.close();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close_timeout(&self, limit: Duration) -> Result<(), CloseError> {
        self.shared.close();
        let metrics = &self.shared.metrics;
        let finished = |limit| !self.is_inside() && self.shared.finished.wait_timeout(limit);
        let mut before = Vec::new();
        let done = finished(limit / 2) || {
            before.extend(metrics.iter().map(|metrics| metrics.calls.running()));
            finished(limit - limit / 2)
        };
        if done {
            self.close();
            return Ok(());
        }
        let hanging = |(worker, before): (usize, Option<u64>)| {
            let metrics = &metrics[worker];
            let call = before.filter(|_| metrics.calls.still_runs(before))?;
            Some(Hanging { worker, call, item: metrics.item() })
        };
        Err(CloseError {
            hanging: before.into_iter().enumerate().filter_map(hanging).collect(),
            waiting: self.shared.in_queues(),
            waited: limit,
        })
    }

    /// Accepts no more items and starts no more handler calls. Returns the items that no handler
    /// was called for, and those that were to come again.
    ///
    /// It does not wait for handlers that run. [`close`](WorkerQueue::close) does; dropping the
    /// queue does not wait any more. If the handler of such an item asks for it to come again, it
    /// is a [dead letter](Builder::dead_letter).
    pub fn abort(&self) -> Vec<T> {
        self.shared.abort()
    }

    /// Whether the caller is one of its handlers.
    fn is_inside(&self) -> bool {
        let context = context_id();
        self.shared.metrics.iter().any(|metrics| metrics.context.load(Ordering::Relaxed) == context)
    }
}

impl<T> Drop for WorkerQueue<T> {
    fn drop(&mut self) {
        if self.shared.aborted.load(Ordering::Relaxed) {
            self.shared.close();
        } else {
            self.close();
        }
    }
}

impl<T> fmt::Debug for WorkerQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerQueue")
            .field("workers", &self.shared.metrics.len())
            .field("queues", &self.shared.lanes.len())
            .field("closed", &self.shared.is_closed())
            .finish_non_exhaustive()
    }
}

/// The lane of a key: the same in every run of the program.
fn hash_lane(key: &(impl Hash + ?Sized), lanes: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    ((u128::from(hasher.finish()) * lanes as u128) >> 64) as usize
}

/// Where an item goes, and the item; or an error with the item.
type Addressed<T> = Result<(Way, Envelope<T>), SendError<T>>;

fn anywhere<T>((lane, sent): (usize, u64), item: T) -> Addressed<T> {
    Ok((Way::From(lane), Envelope::new(item, sent)))
}

/// The lane of a key only.
fn keyed<T>(
    shared: &Shared<T>,
    key: &(impl Hash + ?Sized),
    (_, sent): (usize, u64),
    item: T,
) -> Addressed<T> {
    if !shared.keyed {
        return Err(SendError { item, reason: Refusal::NotKeyed });
    }
    Ok((Way::Only(hash_lane(key, shared.lanes.len())), Envelope::new(item, sent)))
}

/// Counts for no handle, as it may be polled on any thread.
async fn send_async_to<T>(shared: &Shared<T>, addressed: Addressed<T>) -> Result<(), SendError<T>> {
    let (way, envelope) = addressed?;
    shared.send_async(way, envelope).await?;
    shared.sent.increment();
    Ok(())
}

/// Sends as many at once as there is room for, up to [`BATCH`] a queue, and the rest one by one, so
/// that the overflow rule holds for each. Returns how many went in; `count` is told that in any
/// case.
fn send_batch_to<T>(
    shared: &Shared<T>,
    turn: &Turn,
    items: impl IntoIterator<Item = T>,
    count: impl Fn(u64),
) -> Result<usize, SendError<Vec<T>>> {
    /// Counts at the end, also if the sender is cancelled while it waits for room.
    struct Went<F: Fn(u64)>(usize, F);
    impl<F: Fn(u64)> Drop for Went<F> {
        fn drop(&mut self) {
            (self.1)(self.0 as u64);
        }
    }
    let envelope = |item| Envelope::new(item, 0);
    let envelopes: Vec<_> = items.into_iter().map(envelope).collect();
    let mut envelopes = envelopes.into_iter();
    let mut went = Went(0, count);
    while envelopes.len() > 0 {
        let (lane, _) = shared.skip(turn);
        let pushed = shared.push_from(lane, &mut (&mut envelopes).take(BATCH));
        went.0 += pushed;
        if pushed > 0 {
            continue;
        }
        let Some(envelope) = envelopes.next() else { break };
        if let Err(SendError { item, reason }) = shared.send(lane, envelope, true) {
            let item =
                std::iter::once(item).chain(envelopes.map(|envelope| envelope.item)).collect();
            return Err(SendError { item, reason });
        }
        went.0 += 1;
    }
    Ok(went.0)
}

/// Items of a batch that go to one queue.
const BATCH: usize = 64;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sateen_base::prim::thread;

    /// Unlike a caller, this test sees whether the worker waits for its throttle.
    #[test]
    fn a_worker_that_waits_learns_of_a_new_rate() {
        let rate = Rate::per_second(Rate::LEAST).expect("a rate");
        let queue = WorkerQueue::builder().workers(1).receive_rate(rate);
        let queue = queue.start(|_, _: &mut u64| ()).expect("a queue");
        (0..3).for_each(|item| assert!(queue.send(item).is_ok()));
        while !queue.shared.control.has_waiters() {
            thread::yield_now();
        }
        queue.set_receive_rate(Rate::UNLIMITED);
        while queue.stats().received < 3 {
            thread::yield_now();
        }
        queue.close();
    }
}
