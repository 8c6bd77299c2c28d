//! Settings of worker queues.

use super::envelope::Envelope;
use super::error::StartError;
use super::handled::{DeadLetter, Handled};
use super::inspected;
use super::later::Later;
use super::shared::{Callbacks, Crew, Overflow, Shared};
use super::worker::UnstartedWorker;
use super::{MOST_CAPACITY, MOST_QUEUES, MOST_WORKERS, WorkerQueue};
use crate::idle::Idle;
use crate::lane::Lane;
use crate::throttle::{Clock, Rate, RealClock, Throttle};
use sateen_base::prim::{Arc, AtomicUsize, thread};
use sateen_base::unwind::Held;
use sateen_base::{CachePadded, os};
use sateen_runtime::{Runtime, Spawn, Spawner};
use sateen_sync::WaitPoint;
use std::any::Any;
use std::fmt;

/// Settings of a new [`WorkerQueue`].
///
/// # Examples
/// ```
/// use sateen::flow::{Overflow, Rate, WorkerQueue};
/// let queue = WorkerQueue::builder()
///     .workers(4)
///     .queues(4)
///     .capacity(1000)
///     .receive_rate(Rate::per_second(1e6)?)
///     .overflow(Overflow::DropOldest)
///     .start(|_worker, item: &mut String| item.clear())?;
/// queue.send("one".to_owned())?;
/// queue.close();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "settings do nothing until `start` is called"]
pub struct Builder<T, C = RealClock> {
    workers: usize,
    queues: Option<usize>,
    capacity: usize,
    rate: Rate,
    burst: Option<u64>,
    batch: Option<u64>,
    clock: C,
    steal: bool,
    keyed: bool,
    overflow: Overflow,
    callbacks: Callbacks<T>,
    runtime: Option<(Spawner, usize)>,
    name: String,
}

impl<T> Builder<T> {
    pub(super) fn new() -> Self {
        Self {
            workers: thread::available_parallelism().map_or(1, usize::from),
            queues: None,
            capacity: 1024,
            rate: Rate::UNLIMITED,
            burst: None,
            batch: None,
            clock: RealClock::new(),
            steal: true,
            keyed: false,
            overflow: Overflow::Block,
            callbacks: Callbacks { on_panic: None, dead_letter: None, describe: None },
            runtime: None,
            name: "sateen-flow".to_owned(),
        }
    }
}

impl<T, C> Builder<T, C> {
    /// How many items are handled at the same time. Default: one for each processor.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Over how many queues the items are spread. Default: one for each worker. One queue and one
    /// worker keep the order of each sender's items.
    pub fn queues(mut self, queues: usize) -> Self {
        self.queues = Some(queues);
        self
    }

    /// How many items wait in each queue at most. Default: 1,024.
    ///
    /// With 0 no item waits: it goes to an idle worker, and its sender waits for one. (A worker is
    /// not idle before its thread or task has begun, a moment after the start.)
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = items;
        self
    }

    /// How many items a second each worker takes at most. Default: unlimited. See [`Throttle`].
    pub fn receive_rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// The [burst](Throttle::burst) of the workers' throttles.
    pub fn receive_burst(mut self, items: u64) -> Self {
        self.burst = Some(items);
        self
    }

    /// The [batch](Throttle::batch) of the workers' throttles: with 1 they read the clock for each
    /// item.
    pub fn receive_batch(mut self, tokens: u64) -> Self {
        self.batch = Some(tokens);
        self
    }

    /// The clock of the workers' throttles; each has a clone. Default: [`RealClock`].
    pub fn clock<D>(self, clock: D) -> Builder<T, D> {
        let Self { workers, queues, capacity, rate, burst, batch, .. } = self;
        let Self { steal, keyed, overflow, callbacks, runtime, name, .. } = self;
        Builder {
            workers,
            queues,
            capacity,
            rate,
            burst,
            batch,
            clock,
            steal,
            keyed,
            overflow,
            callbacks,
            runtime,
            name,
        }
    }

    /// Whether a worker takes from other workers' queues when it finds nothing in its own, or when
    /// the others are stuck. Default: yes.
    ///
    /// Without stealing worker *i* serves queue *i* modulo the number of queues. If there are more
    /// queues than workers, it serves those whose number modulo the number of workers is *i*. While
    /// its handler blocks no worker takes the items there, unless several workers serve that queue.
    pub fn steal(mut self, steal: bool) -> Self {
        self.steal = steal;
        self
    }

    /// Whether the items of a queue are handled in order, one at a time, so that
    /// [`Sender::send_keyed`](crate::Sender::send_keyed) can be used. Default: no.
    ///
    /// While the handler blocks, or an item waits for another try, the items behind it in its queue
    /// wait, too. So set many queues.
    pub fn keyed(mut self, keyed: bool) -> Self {
        self.keyed = keyed;
        self
    }

    /// What happens to an item for which there is no room. Default: its sender waits.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// The callback for a handler that panicked. It gets the worker's index and the payload. A
    /// panic of the callback goes no further.
    pub fn on_panic(
        mut self,
        on_panic: impl Fn(usize, &(dyn Any + Send)) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.on_panic = Some(Held::new(Box::new(on_panic)));
        self
    }

    /// Receives the items that no handler will see again. Without it they are dropped, and counted.
    ///
    /// * Items whose handlers panicked.
    /// * Items whose handlers asked for another try after the queue was aborted. (`abort` itself
    ///   returns items that wait for another try.)
    /// * The rest, if all workers have been made to end: by a runtime that ended by force, or by a
    ///   clock that panicked. Without this callback `abort` returns them.
    pub fn dead_letter(
        mut self,
        dead_letter: impl Fn(DeadLetter<T>) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.dead_letter = Some(Held::new(Box::new(dead_letter)));
        self
    }

    /// Describes an item, for the error of [`WorkerQueue::close_timeout`].
    ///
    /// Is called before each handler call, and the text is kept under a lock: this is for items
    /// whose handling takes longer than that.
    pub fn describe(mut self, describe: impl Fn(&T) -> String + Send + Sync + 'static) -> Self {
        self.callbacks.describe = Some(Held::new(Box::new(describe)));
        self
    }

    /// Runs the workers as tasks of `runtime`, spread over its workers, instead of on threads of
    /// their own.
    ///
    /// A handler that waits suspends its task. Close the queue before the runtime ends, because the
    /// end of a runtime waits for its tasks.
    pub fn on(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some((runtime.spawner(), runtime.workers()));
        self
    }

    /// The name of the workers' threads or tasks, to which each adds its number. Default:
    /// `sateen-flow`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Starts the workers. Each calls `handler` with its index and an item, until the queue is
    /// closed.
    ///
    /// The handler returns nothing, or whether the item should come again (see
    /// [`Retry`](crate::Retry)). It borrows the item, so that the item can come again, or go to the
    /// [dead letters](Builder::dead_letter) if the handler panics; `std::mem::take` moves it out.
    ///
    /// # Errors
    /// [`StartError`]: settings out of range, and threads or tasks that could not be started.
    pub fn start<R: Into<Handled>>(
        self,
        handler: impl Fn(usize, &mut T) -> R + Send + Sync + 'static,
    ) -> Result<WorkerQueue<T>, StartError>
    where
        T: Send + 'static,
        C: Clock + Clone + Send + 'static,
    {
        let handler = Arc::new(Held::new(handler));
        let (workers, queues) = (self.workers, self.queues.unwrap_or(self.workers));
        match (workers, queues, self.capacity) {
            (0, ..) => return Err(StartError::ZeroWorkers),
            (n, ..) if n > MOST_WORKERS => return Err(StartError::TooManyWorkers(n)),
            (_, 0, _) => return Err(StartError::ZeroQueues),
            (_, n, _) if n > MOST_QUEUES => return Err(StartError::TooManyQueues(n)),
            (.., n) if n > MOST_CAPACITY => return Err(StartError::TooMuchCapacity(n)),
            _ if self.name.contains('\0') => return Err(StartError::Name(self.name)),
            _ => {}
        }
        let mut throttle = Throttle::new(self.rate, self.clock);
        if let Some(burst) = self.burst {
            throttle = throttle.burst(burst).map_err(StartError::Throttle)?;
        }
        if let Some(batch) = self.batch {
            throttle = throttle.batch(batch).map_err(StartError::Throttle)?;
        }
        let crews = if self.steal { 1 } else { workers.min(queues) };
        let rendezvous = self.capacity == 0;
        // Without capacity there are never more items than idle workers.
        let capacity = if rendezvous { workers } else { self.capacity };
        let lanes = make_lanes(queues, capacity, crews).ok_or_else(|| {
            let bytes = capacity.saturating_mul(size_of::<Envelope<T>>() + 1);
            StartError::NoMemory(queues.saturating_mul(bytes))
        })?;
        let crew = |crew| Crew {
            lanes: (crew..queues).step_by(crews).collect(),
            sleepers: CachePadded::new(WaitPoint::asymmetric()),
            later: Later::new(),
            idle: Idle::new(),
            next: AtomicUsize::new(0),
        };
        let shared = Arc::new(Shared::new(
            lanes.into(),
            (0..crews).map(crew).collect(),
            workers,
            (self.overflow, rendezvous, self.keyed, self.rate),
            self.callbacks,
        ));
        // Made before any worker starts, so that workers that cannot be started count as ended.
        let unstarted: Vec<_> = (0..workers)
            .map(|index| UnstartedWorker::new(Arc::clone(&shared), index, throttle.clone()))
            .collect();
        // If a worker cannot be started, this is dropped, and closes the queue for the others.
        let queue = WorkerQueue::new(Arc::clone(&shared), inspected::list(&shared, &self.name));
        for (index, worker) in unstarted.into_iter().enumerate() {
            let handler = Arc::clone(&handler);
            let name = format!("{}-{index}", self.name);
            let work = move || worker.run(&**handler);
            match &self.runtime {
                Some((spawner, count)) => {
                    let settings = Spawn::new().name(name).on_worker(index % count);
                    let task = spawner.spawn_with(settings, work);
                    if task.is_finished()
                        && let Err(error) = task.join()
                    {
                        return Err(StartError::NoRuntime(error.to_string()));
                    }
                }
                None => {
                    let started = os::start_thread(Some(name), None, Box::new(work));
                    queue.keep(started.map_err(|error| StartError::NoThread(index, error))?);
                }
            }
        }
        Ok(queue)
    }
}

/// Lanes that `crews` take turns to serve; `None` if there is no memory for them. Nothing here ends
/// the process, as an allocation that fails does elsewhere: the sizes are the user's.
fn make_lanes<I>(queues: usize, capacity: usize, crews: usize) -> Option<Vec<Lane<I>>> {
    let mut lanes = Vec::new();
    lanes.try_reserve_exact(queues).ok()?;
    for lane in 0..queues {
        lanes.push(Lane::new(capacity, lane % crews)?);
    }
    Some(lanes)
}

impl<T, C> fmt::Debug for Builder<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("queues", &self.queues)
            .field("capacity", &self.capacity)
            .field("rate", &self.rate)
            .field("steal", &self.steal)
            .field("keyed", &self.keyed)
            .field("overflow", &self.overflow)
            .finish_non_exhaustive()
    }
}
