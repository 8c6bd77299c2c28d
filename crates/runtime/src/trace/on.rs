//! Trace points of the runtime: one function for each kind of event.
//!
//! Each is called on the thread where the event happens. A worker writes into its own ring; other
//! threads share one, under a lock (`outside.rs`). Without the feature the same functions are empty
//! (`off.rs`).

use super::event::{Kind, NONE, head, pack, pack_place, pieces};
use super::{outside, state};
use crate::context;
use crate::fiber::Fiber;
use crate::metrics::Doing;
use crate::shared::Shared;
use crate::task::Header;
use crate::trace_ring::Ring;
use crate::worker::{Owner, Worker};
use sateen_base::trace::Told;
use sateen_base::tsc;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

pub(crate) use super::state::Slot;

/// A runtime's trace.
#[derive(Clone, Debug)]
pub(crate) struct Traces(Arc<state::State>);

impl Traces {
    pub(crate) fn new() -> Self {
        let traces = Self(Arc::new(state::State::new()));
        super::env::begin(&traces.0);
        traces
    }

    pub(crate) fn state(&self) -> &Arc<state::State> {
        &self.0
    }
}

#[inline(always)]
fn write(ring: &Ring, kind: Kind, small: u32, fiber: u32, a: u64, b: u64) {
    ring.write([tsc::now(), head(kind, small, fiber), a, b]);
}

#[inline(always)]
fn at(worker: &Worker, kind: Kind, fiber: u32, a: u64, b: u64) {
    if let Some(ring) = worker.trace.ring() {
        write(ring, kind, 0, fiber, a, b);
    }
}

/// Writes to the calling worker's ring, or to that of other threads.
#[inline]
fn here(shared: &Shared, kind: Kind, fiber: u32, a: u64, b: u64) {
    match context::thread_owner() {
        Some(owner) => at(owner, kind, fiber, a, b),
        None => shared.traces.state().outside().write(|| [tsc::now(), head(kind, 0, fiber), a, b]),
    }
}

fn write_name(ring: &Ring, name: &str) {
    let now = tsc::now();
    pieces(name, |head, low, high| ring.write([now, head, low, high]));
}

/// The worker's thread starts.
pub(crate) fn worker_begins(worker: &Owner) {
    worker.shared().traces.state().attend(worker);
}

#[inline]
pub(crate) fn spawned(shared: &Shared, task: u64) {
    here(shared, Kind::Spawn, NONE, task, 0);
}

#[inline]
pub(crate) fn started(fiber: &Fiber, task: &Header) {
    if let Some(ring) = fiber.worker().trace.ring() {
        begin(ring, Kind::Start, fiber, task);
    }
}

#[inline]
fn begin(ring: &Ring, kind: Kind, fiber: &Fiber, task: &Header) {
    if let Some(name) = task.name() {
        write_name(ring, name);
    }
    write(ring, kind, 0, fiber.number(), task.id().get(), pack_place(task.location()));
}

#[inline]
pub(crate) fn ended(fiber: &Fiber, task: u64) {
    at(fiber.worker(), Kind::End, fiber.number(), task, 0);
}

/// A running branch. Its end is recorded on drop, because it may unwind.
pub(crate) struct InBranch<'a>(&'a Fiber, u64);

/// Begins a branch, a scoped spawn, or a call from elsewhere, on behalf of `task`, which is null or
/// waits for it.
#[inline]
pub(crate) fn in_branch(
    fiber: &Fiber,
    id: u64,
    task: *const Header,
    is_branch: bool,
) -> InBranch<'_> {
    // SAFETY: by contract.
    let task = unsafe { task.as_ref() }.map_or(0, |task| task.id().get());
    if let Some(ring) = fiber.worker().trace.ring() {
        write(ring, Kind::BranchStart, u32::from(is_branch), fiber.number(), id, task);
    }
    InBranch(fiber, id)
}

impl Drop for InBranch<'_> {
    fn drop(&mut self) {
        at(self.0.worker(), Kind::BranchEnd, self.0.number(), self.1, 0);
    }
}

#[inline]
pub(crate) fn poll_began(fiber: &Fiber, task: &Header) {
    if let Some(ring) = fiber.worker().trace.ring() {
        begin(ring, Kind::PollStart, fiber, task);
    }
}

#[inline]
pub(crate) fn poll_ended(fiber: &Fiber, task: u64, over: bool) {
    if let Some(ring) = fiber.worker().trace.ring() {
        write(ring, Kind::PollEnd, u32::from(over), fiber.number(), task, 0);
    }
}

/// The fiber leaves its thread, or keeps it and sleeps.
#[inline]
pub(crate) fn suspended(fiber: &Fiber) {
    if let Some(ring) = fiber.worker().trace.ring() {
        let (kind, address) =
            fiber.wait().map_or((0, 0), |wait| (pack(wait.what.kind()), wait.what.address()));
        write(ring, Kind::Suspend, 0, fiber.number(), kind, address as u64);
    }
}

#[inline]
pub(crate) fn resumed(fiber: &Fiber) {
    at(fiber.worker(), Kind::Resume, fiber.number(), fiber.context_id(), 0);
}

/// Called before the suspended fiber is made ready.
#[inline]
pub(crate) fn woken(shared: &Shared, fiber: &Fiber) {
    here(shared, Kind::Wake, fiber.number(), fiber.context_id(), 0);
}

/// Called before the future is queued again.
#[inline]
pub(crate) fn future_woken(shared: &Shared, task: u64) {
    here(shared, Kind::WakeFuture, NONE, task, 0);
}

/// A channel sends or receives an item through `address`. Listens to `sateen_base::trace` while a
/// trace runs.
pub(super) fn told(what: Told, address: usize) {
    let kind = match what {
        Told::Sent => Kind::Send,
        Told::Received => Kind::Receive,
    };
    match context::thread_owner() {
        Some(owner) => at(owner, kind, NONE, address as u64, 0),
        // A thread without a runtime writes to all traces.
        None => outside::write_to_all([tsc::now(), head(kind, 0, NONE), address as u64, 0]),
    }
}

#[inline]
pub(crate) fn stole_task(worker: &Worker, victim: usize) {
    at(worker, Kind::StealTask, NONE, victim as u64, 0);
}

#[inline]
pub(crate) fn stole_branch(worker: &Worker, victim: usize) {
    at(worker, Kind::StealBranch, NONE, victim as u64, 0);
}

#[inline]
pub(crate) fn worker_woken(by: &Worker, index: usize) {
    at(by, Kind::WakeWorker, NONE, index as u64, 0);
}

#[inline]
pub(crate) fn turned(worker: &Worker, before: Doing, now: Doing) {
    sampled(worker);
    at(worker, Kind::Turn, NONE, before.number(), now.number());
}

#[inline]
pub(crate) fn timers_fired(worker: &Worker, count: usize) {
    if count > 0 {
        at(worker, Kind::Timers, NONE, count as u64, 0);
    }
}

#[inline]
pub(crate) fn waits_for_stolen() {
    if let Some(fiber) = context::fiber() {
        at(fiber.worker(), Kind::JoinStolen, fiber.number(), 0, 0);
    }
}

/// Records the worker's queue lengths.
#[inline]
pub(crate) fn sampled(worker: &Worker) {
    if let Some(ring) = worker.trace.ring() {
        let pair = |high: usize, low: usize| (high as u64) << 32 | low as u64 & 0xffff_ffff;
        let queued = worker.policy_view.len();
        let waits = pair(queued, worker.ready_len());
        let fibers = pair(worker.stacks().0, worker.suspended_len());
        write(ring, Kind::Sample, 0, NONE, waits, fibers);
    }
}

/// A slice within what runs on the calling fiber. It ends on drop.
#[derive(Debug)]
pub struct Slice(*const Fiber);

/// Begins a slice: `kind` is "item" or similar, `name` may be empty, `arrow` is one that ends here,
/// or 0.
#[inline]
pub fn slice(kind: &'static str, name: &str, arrow: u64) -> Slice {
    let Some(fiber) = context::fiber() else { return Slice(ptr::null()) };
    let Some(ring) = fiber.worker().trace.ring() else { return Slice(ptr::null()) };
    if !name.is_empty() {
        write_name(ring, name);
    }
    write(ring, Kind::SliceStart, 0, fiber.number(), pack(kind), arrow);
    Slice(fiber)
}

/// Begins the slice of a shed's task: its name, or else the location where the shed was built, and
/// its number in the shed.
#[inline]
pub fn shed_task(name: &str, place: &'static Location<'static>, number: u64) -> Slice {
    let Some(fiber) = context::fiber() else { return Slice(ptr::null()) };
    let Some(ring) = fiber.worker().trace.ring() else { return Slice(ptr::null()) };
    if !name.is_empty() {
        write_name(ring, name);
    }
    write(ring, Kind::ShedTask, 0, fiber.number(), pack_place(place), number);
    Slice(fiber)
}

impl Drop for Slice {
    #[inline]
    fn drop(&mut self) {
        // Only compared, because the slice may have been sent elsewhere.
        if let Some(fiber) = context::fiber().filter(|fiber| ptr::eq(*fiber, self.0)) {
            at(fiber.worker(), Kind::SliceEnd, fiber.number(), 0, 0);
        }
    }
}

/// The calling fiber's task has entered a span.
#[cfg(feature = "tracing")]
#[inline]
pub(crate) fn span_entered(name: &'static str) {
    if let Some(fiber) = context::fiber() {
        at(fiber.worker(), Kind::SliceStart, fiber.number(), pack(name), 0);
    }
}

/// It has left one.
#[cfg(feature = "tracing")]
#[inline]
pub(crate) fn span_left() {
    if let Some(fiber) = context::fiber() {
        at(fiber.worker(), Kind::SliceEnd, fiber.number(), 0, 0);
    }
}

/// Whether the calling worker is being traced.
#[inline]
pub fn is_running() -> bool {
    context::thread_owner().is_some_and(|owner| owner.trace.ring().is_some())
}

/// Begins an arrow, which a [`slice`] with the same number ends. Returns the number; 0 if there is
/// no trace.
#[inline]
pub fn arrow(kind: &'static str) -> u64 {
    let Some(owner) = context::thread_owner() else { return outside::arrow(pack(kind)) };
    let Some(ring) = owner.trace.ring() else { return 0 };
    let number = owner.ids().draw().get();
    write(ring, Kind::ArrowStart, 0, NONE, number, pack(kind));
    number
}
