//! A look at a runtime: what any thread may read at any time without the workers' help.
//!
//! The buffers are reused, so a look allocates only when there is more to see than ever before. It
//! never allocates under a lock.

use crate::fiber::Fiber;
use crate::metrics::{Doing, WorkerMetrics};
use crate::shared::Shared;
use crate::worker::Worker;
use sateen_base::prim::time::Instant;
use sateen_base::tsc;
use std::panic::Location;

use super::registry::patiently;

/// Fibers visited under one hold of the runtime's list.
const CHUNK: usize = 256;
/// Most waits reported; the longest ones.
const WAITS: usize = 100;
/// Most places reported where several wait; those with the longest queues.
const PLACES: usize = 50;
/// When this many waits have been seen, all but the longest are dropped.
const MOST_WAITS: usize = 2048;
/// The most bytes of a name; the rest is cut off.
const NAME: usize = 64;

/// The beginning of a name.
#[derive(Clone, Copy)]
pub(super) struct Name {
    bytes: [u8; NAME],
    len: usize,
    cut: bool,
}

impl Name {
    const NONE: Self = Self { bytes: [0; NAME], len: 0, cut: false };

    fn of(name: &str) -> Self {
        let len = (0..=NAME.min(name.len())).rev().find(|&at| name.is_char_boundary(at));
        let len = len.unwrap_or(0);
        let mut bytes = [0; NAME];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self { bytes, len, cut: len < name.len() }
    }

    /// None for no name.
    pub(super) fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes[..self.len]).ok()?;
        (!text.is_empty() || self.cut).then_some(text)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }
}

/// The task or scope that a fiber works for.
#[derive(Clone, Copy)]
pub(super) struct Who {
    pub(super) id: u64,
    pub(super) name: Name,
    pub(super) spawned_at: Option<&'static Location<'static>>,
}

impl Who {
    fn of(fiber: &Fiber, id: u64) -> Self {
        let (mut name, mut spawned_at) = (Name::NONE, None);
        if fiber.has_task() {
            fiber.try_name(|text| name = Name::of(text));
            spawned_at = fiber.spawned_at();
        }
        Self { id, name, spawned_at }
    }
}

/// A waiter, and what it waits for.
#[derive(Clone, Copy)]
pub(super) struct WaitLook {
    pub(super) who: Who,
    pub(super) worker: usize,
    pub(super) kind: &'static str,
    pub(super) address: usize,
    /// In ticks, never 0.
    since: u64,
}

impl WaitLook {
    pub(super) fn nanos(&self) -> u64 {
        tsc::nanos(tsc::now().saturating_sub(self.since))
    }
}

/// A place where several wait.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) kind: &'static str,
    pub(super) address: usize,
    pub(super) waiters: usize,
    since: u64,
}

impl Place {
    pub(super) fn longest_nanos(&self) -> u64 {
        tsc::nanos(tsc::now().saturating_sub(self.since))
    }
}

/// A worker's counters, and what it runs.
pub(super) struct WorkerLook {
    pub(super) index: usize,
    pub(super) doing: Doing,
    /// Without what lies behind a lock.
    pub(super) metrics: WorkerMetrics,
    pub(super) pinned: Option<usize>,
    pub(super) runs: Option<Who>,
    /// The least time for which that has been so.
    pub(super) runs_nanos: u64,
}

impl WorkerLook {
    /// A number that changes when the worker turns to something else.
    pub(super) fn turns(&self) -> u64 {
        self.metrics.taken.wrapping_add(self.metrics.resumptions)
    }
}

/// The last that was seen of a worker, to tell for how long it has been so.
#[derive(Clone, Copy)]
struct Before {
    runtime: u64,
    worker: usize,
    id: u64,
    /// [`WorkerLook::turns`].
    turns: u64,
    since: Instant,
    /// Whether it was seen in the current round.
    seen: bool,
}

/// Counts over all fibers.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) running: usize,
    pub(super) ready: usize,
    pub(super) waiting: usize,
}

/// Buffers, and the result of the last look.
pub(super) struct Look {
    pub(super) workers: Vec<WorkerLook>,
    pub(super) waits: Vec<WaitLook>,
    pub(super) places: Vec<Place>,
    pub(super) counts: Counts,
    /// Whether the fibers could be visited.
    pub(super) has_fibers: bool,
    /// The awaited places, once per wait.
    waited_for: Vec<(usize, u64, &'static str)>,
    before: Vec<Before>,
}

impl Look {
    pub(super) fn new() -> Self {
        Self {
            workers: Vec::with_capacity(64),
            waits: Vec::with_capacity(MOST_WAITS + CHUNK),
            places: Vec::with_capacity(4096),
            counts: Counts::default(),
            has_fibers: true,
            waited_for: Vec::with_capacity(1 << 16),
            before: Vec::with_capacity(256),
        }
    }

    /// Begins a round, in which each runtime is visited once.
    pub(super) fn begin_round(&mut self) {
        self.before.iter_mut().for_each(|before| before.seen = false);
    }

    /// Forgets what was not seen in this round.
    pub(super) fn end_round(&mut self) {
        self.before.retain(|before| before.seen);
    }

    /// Reads only what the workers run.
    pub(super) fn glance(&mut self, number: u64, shared: &Shared) {
        self.workers.clear();
        for worker in shared.workers.iter() {
            self.workers.push(figures(worker));
        }
        self.what_runs(shared);
        self.for_how_long(number);
    }

    /// Visits the runtime with this number.
    pub(super) fn at(&mut self, number: u64, shared: &Shared) {
        self.glance(number, shared);
        self.fibers(shared);
        // Longest first.
        self.waits.sort_unstable_by_key(|wait| wait.since);
        self.waits.truncate(WAITS);
        self.group();
    }

    /// Reads what the workers run. Reads nothing if a worker holds the list of fibers, or if that
    /// is empty: fibers stay valid while the list is held and not empty.
    fn what_runs(&mut self, shared: &Shared) {
        let Some(fibers) = patiently(|| shared.fibers.try_lock()) else { return };
        if fibers.is_empty() {
            return;
        }
        for (look, worker) in self.workers.iter_mut().zip(shared.workers.iter()) {
            let fiber = worker.current_fiber();
            let id = fiber.map_or(0, Fiber::context_id);
            look.runs = fiber.filter(|_| id != 0).map(|fiber| Who::of(fiber, id));
        }
    }

    fn for_how_long(&mut self, number: u64) {
        let now = Instant::now();
        for worker in &mut self.workers {
            let id = worker.runs.map_or(0, |who| who.id);
            let turns = worker.turns();
            let key =
                |before: &&mut Before| before.runtime == number && before.worker == worker.index;
            match self.before.iter_mut().find(key) {
                Some(before) => {
                    if (before.id, before.turns) != (id, turns) {
                        (before.id, before.turns, before.since) = (id, turns, now);
                    }
                    before.seen = true;
                    worker.runs_nanos = (now - before.since).as_nanos() as u64;
                }
                None => self.before.push(Before {
                    runtime: number,
                    worker: worker.index,
                    id,
                    turns,
                    since: now,
                    seen: true,
                }),
            }
        }
    }

    fn fibers(&mut self, shared: &Shared) {
        self.waits.clear();
        self.waited_for.clear();
        self.counts = Counts::default();
        self.has_fibers = true;
        let mut at = 0;
        loop {
            // Before taking the lock, because an allocator may wait.
            self.waits.reserve(CHUNK);
            self.waited_for.reserve(CHUNK);
            let rest = {
                let Some(fibers) = patiently(|| shared.fibers.try_lock()) else {
                    self.has_fibers = false;
                    return;
                };
                // The list only grows until the last worker has left.
                let rest = fibers.get(at..).unwrap_or(&[]);
                rest.iter().take(CHUNK).for_each(|fiber| self.fiber(fiber));
                rest.len()
            };
            if self.waits.len() >= MOST_WAITS {
                self.waits.select_nth_unstable_by_key(WAITS, |wait| wait.since);
                self.waits.truncate(WAITS);
            }
            if rest <= CHUNK {
                return;
            }
            at += CHUNK;
        }
    }

    /// Visits one fiber. There is room for one more wait.
    fn fiber(&mut self, fiber: &Fiber) {
        let id = fiber.context_id();
        if id == 0 {
            return;
        }
        // Parked is checked first: in `no_suspend` the current fiber may wait too.
        if !fiber.is_parked() {
            match fiber.worker().is_running(fiber) {
                true => self.counts.running += 1,
                false => self.counts.ready += 1,
            }
            return;
        }
        self.counts.waiting += 1;
        let Some(wait) = fiber.wait() else { return };
        let (kind, address, since) = (wait.what.kind(), wait.what.address(), wait.since);
        let worker = fiber.worker().index();
        self.waits.push(WaitLook { who: Who::of(fiber, id), worker, kind, address, since });
        if address != 0 {
            self.waited_for.push((address, since, kind));
        }
    }

    /// Counts the waiters at each place.
    fn group(&mut self) {
        self.places.clear();
        // Sorted so that the longest waiter comes first.
        self.waited_for.sort_unstable();
        for &(address, since, kind) in &self.waited_for {
            match self.places.last_mut() {
                Some(last) if (last.address, last.kind) == (address, kind) => last.waiters += 1,
                _ => self.places.push(Place { kind, address, waiters: 1, since }),
            }
        }
        self.places.sort_unstable_by_key(|place| (std::cmp::Reverse(place.waiters), place.since));
        self.places.truncate(PLACES);
    }
}

fn figures(worker: &Worker) -> WorkerLook {
    let metrics = WorkerMetrics {
        busy: worker.times.of(Doing::Work),
        idle: worker.times.of(Doing::Search),
        asleep: worker.times.of(Doing::Sleep),
        queued: worker.policy_view.len(),
        ready: worker.ready_len(),
        suspended: worker.suspended_len(),
        ..WorkerMetrics::counted(&worker.counters)
    };
    WorkerLook {
        index: worker.index(),
        doing: worker.times.doing(),
        metrics,
        pinned: worker.try_pinned_len(),
        runs: None,
        runs_nanos: 0,
    }
}
