//! A runtime's trace: its rings, and whether they are being written.
//!
//! Rings are created when a trace starts, and kept until the runtime and all savers have released
//! them. A worker finds its ring through one pointer, which is null while there is no trace.

use super::outside::Outside;
use crate::metrics::Doing;
use crate::trace_ring::{Ring, WORDS};
use crate::worker::Worker;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Arc, AtomicPtr, AtomicU64, Ordering};
use sateen_base::{acquire_fence, tsc};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The ring of threads that are not workers.
pub(crate) const OUTSIDE: usize = usize::MAX;

/// Most events in a ring: 32 GiB of them, or 128 MiB with 32-bit addresses.
const MOST_EVENTS: usize = if usize::BITS < 64 { 1 << 22 } else { 1 << 30 };

const _: () = assert!(MOST_EVENTS <= isize::MAX as usize / (WORDS * size_of::<u64>()));

/// A point in time, in ticks and by the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) ticks: u64,
    pub(crate) at: Instant,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { ticks: tsc::now(), at: Instant::now() }
    }

    /// When the first trace of this process started. The times of all traces count from there.
    pub(crate) fn origin() -> Self {
        static ORIGIN: OnceLock<Moment> = OnceLock::new();
        *ORIGIN.get_or_init(Self::now)
    }
}

/// A worker's pointer to its ring.
#[derive(Debug)]
pub(crate) struct Slot {
    ring: AtomicPtr<Ring>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        Self { ring: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The ring, while a trace runs. For the worker's thread only.
    #[inline(always)]
    pub(crate) fn ring(&self) -> Option<&Ring> {
        // Ordering: Relaxed, because there usually is none.
        let ring = self.ring.load(Ordering::Relaxed);
        if ring.is_null() {
            return None;
        }
        // Ordering: Acquire pairs with the Release in `State::start`, which makes the ring visible.
        acquire_fence!(self.ring);
        // SAFETY: the runtime's state keeps the rings alive, and the runtime keeps the state as
        // long as the worker.
        unsafe { ring.as_ref() }
    }

    fn set(&self, ring: *const Ring) {
        // Ordering: Release, see `ring`.
        self.ring.store(ring.cast_mut(), Ordering::Release);
    }
}

/// A ring, and which of its events belong to the current trace.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub(crate) worker: usize,
    pub(crate) ring: Arc<Ring>,
    /// The number of the first event.
    pub(crate) from: u64,
    /// When that was set, and what the worker did then.
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
    /// Rings of former traces, to which a worker may still be writing.
    former: Vec<Arc<Ring>>,
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub(crate) struct State {
    inner: Mutex<Inner>,
    outside: Arc<Outside>,
    /// Identifies the runtime, from 1.
    number: u64,
}

/// What a saver reads.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) number: u64,
    /// `None` while the trace runs.
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
        // Nothing unwinds while the lock is held.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a trace with room for `events` events of each worker. `workers` are those created so
    /// far.
    pub(crate) fn start<'a>(&self, events: usize, workers: impl Iterator<Item = &'a Worker>) {
        Moment::origin();
        let events = events.clamp(2, MOST_EVENTS).next_power_of_two();
        let mut inner = self.lock();
        let former = std::mem::take(&mut inner.traced);
        let (same, other): (Vec<_>, _) =
            former.into_iter().partition(|traced| traced.ring.capacity() == events);
        inner.former.extend(other.into_iter().map(|traced| traced.ring));
        (inner.traced, inner.events) = (same, events);
        // All rings first, because creating them takes time.
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
        // Under the lock, so that it is consistent with the workers' rings.
        self.outside.begin(outside);
    }

    /// The worker's thread starts, and joins a running trace.
    pub(crate) fn attend(&self, worker: &Worker) {
        let mut inner = self.lock();
        if inner.running {
            let ring = inner.ring_of(worker.index());
            inner.give(worker, &ring);
        }
    }

    /// Stops the trace; its events stay until the next start.
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

    /// What there is to save; `None` before the first start.
    pub(crate) fn take(&self) -> Option<Taken> {
        let inner = self.lock();
        let (stopped, traced) = (inner.stopped, inner.traced.clone());
        inner.started.then_some(Taken { number: self.number, stopped, traced })
    }

    /// The ring of threads that are not workers.
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
    /// The ring of worker `index`, created if necessary.
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
    /// Encodes the state for an event.
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    /// Decodes it.
    pub(crate) fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Work,
            1 => Self::Search,
            2 => Self::Sleep,
            _ => Self::Nothing,
        }
    }
}
