//! A runtime's trace: its rings, and whether they are written.
//!
//! Rings are made when a trace starts and kept until the runtime and whoever saves have let go of
//! them. A worker finds its ring through one pointer, null while no trace is taken.

use super::outside::Outside;
use crate::metrics::Doing;
use crate::trace_ring::{Ring, WORDS};
use crate::worker::Worker;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Arc, AtomicPtr, AtomicU64, Ordering};
use sateen_base::{acquire_fence, tsc};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Where the events of threads that are no workers go.
pub(crate) const OUTSIDE: usize = usize::MAX;

/// Most events that a ring keeps: 32 GiB of them, or 128 MiB where addresses have 32 bits.
const MOST_EVENTS: usize = if usize::BITS < 64 { 1 << 22 } else { 1 << 30 };

const _: () = assert!(MOST_EVENTS <= isize::MAX as usize / (WORDS * size_of::<u64>()));

/// A moment in ticks and by the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) ticks: u64,
    pub(crate) at: Instant,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { ticks: tsc::now(), at: Instant::now() }
    }

    /// When the first trace of this process started. All traces count from there.
    pub(crate) fn origin() -> Self {
        static ORIGIN: OnceLock<Moment> = OnceLock::new();
        *ORIGIN.get_or_init(Self::now)
    }
}

/// A worker's way to its ring.
#[derive(Debug)]
pub(crate) struct Slot {
    ring: AtomicPtr<Ring>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        Self { ring: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The ring, while a trace is taken. The worker's thread only.
    #[inline(always)]
    pub(crate) fn ring(&self) -> Option<&Ring> {
        // Ordering: Relaxed, for there is mostly none.
        let ring = self.ring.load(Ordering::Relaxed);
        if ring.is_null() {
            return None;
        }
        // Ordering: Acquire pairs with the Release in `State::start`: the ring is seen whole.
        acquire_fence!(self.ring);
        // SAFETY: the runtime's state keeps the rings, and the runtime keeps the state
        // for as long as the worker.
        unsafe { ring.as_ref() }
    }

    fn set(&self, ring: *const Ring) {
        // Ordering: Release, see `ring`.
        self.ring.store(ring.cast_mut(), Ordering::Release);
    }
}

/// A ring, and which of its events are of the present trace.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub(crate) worker: usize,
    pub(crate) ring: Arc<Ring>,
    /// The number of the first event.
    pub(crate) from: u64,
    /// When it was set, and what the worker did then.
    pub(crate) since: u64,
    pub(crate) doing: Doing,
}

#[derive(Debug, Default)]
struct Inner {
    running: bool,
    events: usize,
    started: bool,
    stopped: Option<Moment>,
    traced: Vec<Traced>,
    /// Rings of former traces: a worker may be about to write.
    former: Vec<Arc<Ring>>,
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub(crate) struct State {
    inner: Mutex<Inner>,
    outside: Arc<Outside>,
    /// Tells runtimes apart, from 1.
    number: u64,
}

/// What a saver takes.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) number: u64,
    /// None while it runs.
    pub(crate) stopped: Option<Moment>,
    pub(crate) traced: Vec<Traced>,
}

impl State {
    pub(crate) fn new() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        // Ordering: Relaxed; only uniqueness counts.
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Self { inner: Mutex::default(), outside: Outside::new(), number }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing unwinds while it is held.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a trace with room for `events` events of each worker. `workers` are
    /// those that have been made.
    pub(crate) fn start<'a>(&self, events: usize, workers: impl Iterator<Item = &'a Worker>) {
        Moment::origin();
        let events = events.clamp(2, MOST_EVENTS).next_power_of_two();
        let mut inner = self.lock();
        let former = std::mem::take(&mut inner.traced);
        let (same, other): (Vec<_>, _) =
            former.into_iter().partition(|traced| traced.ring.capacity() == events);
        inner.former.extend(other.into_iter().map(|traced| traced.ring));
        (inner.traced, inner.events) = (same, events);
        // All rings first: to make them takes time.
        let workers: Vec<(&Worker, Arc<Ring>)> =
            workers.map(|worker| (worker, inner.ring_of(worker.index()))).collect();
        let outside = inner.ring_of(OUTSIDE);
        (inner.running, inner.started, inner.stopped) = (true, true, None);
        let since = tsc::now();
        for traced in &mut inner.traced {
            (traced.from, traced.since) = (traced.ring.written(), since);
        }
        for (worker, ring) in workers {
            inner.give(worker, &ring);
        }
        // Under the lock, so that it fits what the others see.
        self.outside.begin(outside);
    }

    /// The worker's thread begins: it takes part if a trace runs.
    pub(crate) fn attend(&self, worker: &Worker) {
        let mut inner = self.lock();
        if inner.running {
            let ring = inner.ring_of(worker.index());
            inner.give(worker, &ring);
        }
    }

    /// Ends the trace; its events stay until the next starts.
    pub(crate) fn stop<'a>(&self, workers: impl Iterator<Item = &'a Worker>) {
        let mut inner = self.lock();
        if inner.running {
            inner.running = false;
            inner.stopped = Some(Moment::now());
            workers.for_each(|worker| worker.trace.set(std::ptr::null()));
            self.outside.end();
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lock().running
    }

    /// What there is to save; none before the first start.
    pub(crate) fn take(&self) -> Option<Taken> {
        let inner = self.lock();
        let (stopped, traced) = (inner.stopped, inner.traced.clone());
        inner.started.then_some(Taken { number: self.number, stopped, traced })
    }

    /// Where threads that are no workers write.
    #[inline]
    pub(crate) fn outside(&self) -> &Outside {
        &self.outside
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.outside.end();
    }
}

impl Inner {
    /// The ring of worker `index`, which is made if need be.
    fn ring_of(&mut self, worker: usize) -> Arc<Ring> {
        if let Some(traced) = self.traced.iter().find(|traced| traced.worker == worker) {
            return Arc::clone(&traced.ring);
        }
        let ring = Arc::new(Ring::new(self.events));
        let (since, doing) = (tsc::now(), Doing::Nothing);
        self.traced.push(Traced { worker, ring: Arc::clone(&ring), from: 0, since, doing });
        ring
    }

    fn give(&mut self, worker: &Worker, ring: &Arc<Ring>) {
        let index = worker.index();
        if let Some(traced) = self.traced.iter_mut().find(|traced| traced.worker == index) {
            traced.doing = worker.times.doing();
        }
        worker.trace.set(Arc::as_ptr(ring));
    }
}

impl Doing {
    /// For an event.
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    /// The reverse.
    pub(crate) fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Work,
            1 => Self::Search,
            2 => Self::Sleep,
            _ => Self::Nothing,
        }
    }
}
