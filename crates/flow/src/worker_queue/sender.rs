//! A handle for sending often.

use super::envelope::Envelope;
use super::error::SendError;
use super::shared::{Count, Shared, Turn};
use super::{anywhere, keyed, send_async_to, send_batch_to};
use sateen_base::prim::{Arc, Ordering};
use std::fmt;
use std::hash::Hash;

/// Sends to a [`WorkerQueue`](super::WorkerQueue), with a next queue and a count of its own: the
/// cheapest way for threads that send much.
///
/// It goes round the queues and passes over full ones. While a worker is idle it goes to the next
/// queue with each item, and with every 32nd otherwise: then all workers have work, and staying
/// with a queue keeps its cache lines on one processor.
///
/// Clones have a count of their own. A sender does not keep the workers running: once the queue is
/// closed, it gets its items back.
///
/// # Cost
/// A send costs one locked instruction, and two loads to see whether a worker sleeps (about 10 ns).
///
/// # Examples
/// ```
/// use sateen::flow::WorkerQueue;
/// let queue = WorkerQueue::builder().workers(2).start(|_, _: &mut u64| ())?;
/// std::thread::scope(|s| {
///     for _ in 0..2 {
///         let sender = queue.sender();
///         s.spawn(move || (0..1000).for_each(|i| sender.send(i).unwrap()));
///     }
/// });
/// queue.close();
/// assert_eq!(queue.stats().received, 2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each thread has its own sender: a sender is not `Sync`.
///
/// ```compile_fail
/// fn shared<S: Sync>() {}
/// shared::<sateen::flow::Sender<u8>>();
/// ```
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    turn: Turn,
    count: Arc<Count>,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let (count, number) = shared.enlist();
        // Senders begin at different queues.
        let turn = Turn::new(number % shared.lanes.len());
        Self { shared, turn, count }
    }

    /// Sends an item. The [overflow rule](super::Builder::overflow) says what happens when there is
    /// no room.
    ///
    /// # Errors
    /// [`SendError`], with the item, if the queue is closed, or if it is full and
    /// [`Overflow::Error`](super::Overflow::Error) is set.
    #[inline]
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let (lane, sent) = self.shared.step(&self.turn);
        self.shared.send(lane, Envelope::new(item, sent), true)?;
        self.count(1);
        Ok(())
    }

    /// [`send`](Sender::send) without waiting.
    ///
    /// # Errors
    /// [`SendError`], with the item, if the queue is closed, or full and nothing is dropped.
    #[inline]
    pub fn try_send(&self, item: T) -> Result<(), SendError<T>> {
        let (lane, sent) = self.shared.step(&self.turn);
        self.shared.send(lane, Envelope::new(item, sent), false)?;
        self.count(1);
        Ok(())
    }

    /// Sends all of `items`, as many at once as there is room for. Returns how many. The iterator
    /// is consumed first.
    ///
    /// # Errors
    /// As [`send`](Sender::send), with the items that were not sent.
    ///
    /// ```
    /// use sateen::flow::WorkerQueue;
    /// let queue = WorkerQueue::builder().workers(1).start(|_, _: &mut u32| ())?;
    /// let sender = queue.sender();
    /// assert_eq!(sender.send_batch(0..5000)?, 5000);
    /// queue.close();
    /// assert_eq!(sender.send_batch(0..3).unwrap_err().item, [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_batch(
        &self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendError<Vec<T>>> {
        send_batch_to(&self.shared, &self.turn, items, |n| self.count(n))
    }

    /// Sends an item, to be handled after all earlier ones with that key: see
    /// [`Builder::keyed`](super::Builder::keyed).
    ///
    /// # Errors
    /// As [`send`](Sender::send), or if the queue is not keyed.
    ///
    /// ```
    /// use sateen::flow::WorkerQueue;
    /// use std::sync::{Arc, Mutex};
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let queue = WorkerQueue::builder().workers(4).queues(16).keyed(true).start({
    ///     let seen = Arc::clone(&seen);
    ///     move |_, item: &mut u32| seen.lock().unwrap().push(*item)
    /// })?;
    /// let sender = queue.sender();
    /// (0..100).try_for_each(|i| sender.send_keyed("a key", i))?;
    /// queue.close();
    /// assert!(seen.lock().unwrap().is_sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_keyed(&self, key: &(impl Hash + ?Sized), item: T) -> Result<(), SendError<T>> {
        let (way, envelope) = keyed(&self.shared, key, self.shared.step(&self.turn), item)?;
        self.shared.send_slow(way, envelope, true)?;
        self.count(1);
        Ok(())
    }

    /// [`send`](Sender::send) as a future. If it is dropped early, it drops the item.
    pub fn send_async(
        &self,
        item: T,
    ) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        send_async_to(&self.shared, anywhere(self.shared.step(&self.turn), item))
    }

    /// [`send_keyed`](Sender::send_keyed) as a future. If it is dropped early, it drops the item.
    ///
    /// ```
    /// use sateen::flow::WorkerQueue;
    /// let queue = WorkerQueue::builder().workers(2).keyed(true).start(|_, _: &mut u32| ())?;
    /// let sender = queue.sender();
    /// sateen::sync::block_on(sender.send_keyed_async("a key", 1))?;
    /// queue.close();
    /// assert_eq!(queue.stats().received, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_keyed_async<K: Hash + ?Sized>(
        &self,
        key: &K,
        item: T,
    ) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, K, T> {
        let step = self.shared.step(&self.turn);
        send_async_to(&self.shared, keyed(&self.shared, key, step, item))
    }

    fn count(&self, n: u64) {
        // Relaxed, and no exchange: only this handle writes it.
        let sent = &self.count.sent;
        sent.store(sent.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.shared))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.retire(&self.count);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = self.count.sent.load(Ordering::Relaxed);
        f.debug_struct("Sender").field("sent", &sent).finish_non_exhaustive()
    }
}
