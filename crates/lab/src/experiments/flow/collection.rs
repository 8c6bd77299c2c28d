//! The two candidates. One is a queue with workers, as the loops here use it. The other is the
//! blocking collection of a mutex and a condition variable, whose workers are bound to their queue.

use crate::error::{Error, input};
use sateen_base::CachePadded;
use sateen_flow::{Clock, Rate, Throttle};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The size and the rate of what is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) workers: usize,
    pub(super) queues: usize,
    /// Rate of each worker.
    pub(super) rate: Rate,
}

/// What each worker has handled, on lines of its own.
#[derive(Debug)]
pub(super) struct Tally(Box<[CachePadded<[AtomicU64; 2]>]>);

impl Tally {
    pub(super) fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self((0..workers).map(|_| CachePadded::default()).collect()))
    }

    /// Counts `item` for `worker`. No other thread counts for that worker.
    #[inline(always)]
    pub(super) fn add(&self, worker: usize, item: u64) {
        let [count, sum] = &*self.0[worker];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        sum.store(sum.load(Ordering::Relaxed).wrapping_add(item), Ordering::Relaxed);
    }

    /// Returns count and sum of all handled items.
    pub(super) fn total(&self) -> [u64; 2] {
        let of = |i: usize| {
            let all = self.0.iter().map(|own| own[i].load(Ordering::Relaxed));
            all.fold(0, u64::wrapping_add)
        };
        [of(0), of(1)]
    }
}

/// A clock; each sender and each worker has its own.
pub(super) trait Ticks: Clock + Clone + Send + 'static {}
impl<C: Clock + Clone + Send + 'static> Ticks for C {}

/// Queues and their workers.
pub(super) trait Collection: Sized + Sync + 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// A sender's own handle.
    type Sender<'a>: Send
    where
        Self: 'a;

    /// Starts the workers. Each keeps to its rate by a clock of its own, and counts what it handles
    /// in `tally`.
    ///
    /// # Errors
    /// A thread cannot be started.
    fn start<C: Ticks>(shape: Shape, clock: &C, tally: &Arc<Tally>) -> Result<Self, Error>;

    fn sender(&self) -> Self::Sender<'_>;

    /// Sends `item`. Returns whether it was accepted.
    fn send(sender: &mut Self::Sender<'_>, item: u64) -> bool;

    /// Waits until all items are handled, and ends the workers.
    fn finish(self);
}

/// One blocking collection for each queue.
pub(super) struct Blocking {
    queues: Arc<[Queue]>,
    workers: Vec<JoinHandle<()>>,
}

/// Items, and the condition for which workers wait.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    items: VecDeque<u64>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<u64> {
        let empty = |state: &mut State| state.items.is_empty() && !state.closed;
        let state = self.filled.wait_while(self.lock(), empty);
        state.unwrap_or_else(PoisonError::into_inner).items.pop_front()
    }

    fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    fn work(&self, worker: usize, rate: Rate, clock: impl Clock, tally: &Tally) {
        // The rates were checked before: a batch of one is always possible.
        let Ok(mut throttle) = Throttle::new(rate, clock).batch(1) else { return };
        while let Some(item) = self.take() {
            throttle.wait();
            tally.add(worker, item);
        }
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        self.queues.iter().for_each(Queue::close);
        for worker in self.workers.drain(..) {
            // The worker only counts, and does not panic.
            let _ = worker.join();
        }
    }
}

impl Collection for Blocking {
    const NAME: &'static str = "mutex-condvar";
    /// The queue that gets the next item.
    type Sender<'a> = (&'a [Queue], usize);

    fn start<C: Ticks>(shape: Shape, clock: &C, tally: &Arc<Tally>) -> Result<Self, Error> {
        let Shape { workers, queues, rate } = shape;
        let queues = (0..queues).map(|_| Queue::default()).collect();
        // Workers that exist end when the collections are dropped.
        let mut this = Self { queues, workers: Vec::with_capacity(workers) };
        for worker in 0..workers {
            let (queues, tally, clock) =
                (Arc::clone(&this.queues), Arc::clone(tally), clock.clone());
            let builder = thread::Builder::new().name(format!("worker {worker}"));
            let started = builder.spawn(move || {
                let queue = &queues[worker % queues.len()];
                queue.work(worker, rate, clock, &tally);
            });
            let started = started.map_err(|e| input(format!("cannot start worker {worker}: {e}")));
            this.workers.push(started?);
        }
        Ok(this)
    }

    fn sender(&self) -> (&[Queue], usize) {
        (&self.queues, 0)
    }

    #[inline(always)]
    fn send((queues, next): &mut (&[Queue], usize), item: u64) -> bool {
        let queue = &queues[*next];
        *next = if *next + 1 == queues.len() { 0 } else { *next + 1 };
        let mut state = queue.lock();
        state.items.push_back(item);
        drop(state);
        queue.filled.notify_one();
        true
    }

    fn finish(self) {}
}
