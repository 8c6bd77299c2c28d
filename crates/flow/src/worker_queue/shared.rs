//! What senders and workers share, and how an item gets in.
//!
//! Any thread may access any field. Fields that are written often have a cache line of their own.
//! All threads write nothing for each item except the ends of the queues.

use super::envelope::Envelope;
use super::error::{Refusal, SendError};
use super::handled::{DeadLetter, DeadReason};
use super::later::Later;
use super::spin_limit::SpinLimit;
use super::worker_metrics::WorkerMetrics;
use crate::Rate;
use crate::attendance::LiveWorkers;
use crate::idle::Idle;
use crate::lane::Lane;
use sateen_base::prim::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering};
use sateen_base::unwind::{Held, discard, run_and_discard};
use sateen_base::{CachePadded, SpinLock, tsc};
use sateen_queue::{PushError, TrustedItems};
use sateen_sync::Event;
use sateen_sync::WaitPoint;
use sateen_sync::counter::StripedCounter;
use std::any::Any;
use std::cell::Cell;
use std::ops::ControlFlow;

/// What happens when no queue has room for an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The sender waits: it blocks the thread, or suspends the fiber.
    #[default]
    Block,
    /// The sender gets the item back.
    Error,
    /// The item that has waited longest is dropped, and counted.
    DropOldest,
    /// The new item is dropped, and counted.
    DropNewest,
}

/// Workers that serve the same lanes.
pub(crate) struct Crew<T> {
    pub(crate) lanes: Box<[usize]>,
    /// Where they sleep.
    pub(crate) sleepers: CachePadded<WaitPoint>,
    pub(crate) later: Later<T>,
    /// Without capacity: how many workers are idle.
    pub(crate) idle: Idle,
    /// The lane whose sender is told first when a worker becomes idle.
    pub(crate) next: AtomicUsize,
}

/// How many items have been sent through a handle.
pub(crate) struct Count {
    /// Only the handle's owner writes it.
    pub(crate) sent: CachePadded<AtomicU64>,
    /// Its index among the counts of all. Accessed with these locked.
    index: AtomicUsize,
}

/// How many items have been sent through each handle.
pub(crate) struct Senders {
    /// Of handles that exist.
    counts: Vec<Arc<Count>>,
    /// The sum of the others.
    retired: u64,
    /// How many handles were ever made.
    number: usize,
}

// Held, so that no destructor's panic takes the place of an error, or of another panic.
pub(crate) type OnPanic = Held<Box<dyn Fn(usize, &(dyn Any + Send)) + Send + Sync>>;
pub(crate) type OnDead<T> = Held<Box<dyn Fn(DeadLetter<T>) + Send + Sync>>;
pub(crate) type Describe<T> = Held<Box<dyn Fn(&T) -> String + Send + Sync>>;

/// The user's callbacks.
pub(crate) struct Callbacks<T> {
    pub(crate) on_panic: Option<OnPanic>,
    pub(crate) dead_letter: Option<OnDead<T>>,
    pub(crate) describe: Option<Describe<T>>,
}

pub(crate) struct Shared<T> {
    pub(crate) lanes: Box<[Lane<Envelope<T>>]>,
    pub(crate) crews: Box<[Crew<T>]>,
    pub(crate) metrics: Box<[CachePadded<WorkerMetrics>]>,
    /// Where senders wait that can use any lane.
    pub(crate) room: CachePadded<WaitPoint>,
    /// Where workers wait for their throttle.
    pub(crate) control: CachePadded<WaitPoint>,
    pub(crate) overflow: Overflow,
    /// Without capacity: an item goes to an idle worker.
    pub(crate) rendezvous: bool,
    /// The items of a lane are handled one after the other.
    pub(crate) keyed: bool,
    pub(crate) callbacks: Callbacks<T>,
    /// Handlers are not started any more.
    pub(crate) aborted: AtomicBool,
    /// Workers that have not ended.
    live: LiveWorkers,
    /// Set when all workers have ended.
    pub(crate) finished: Event,
    /// The bits of each worker's rate.
    rate: AtomicU64,
    senders: SpinLock<Senders>,
    /// Items sent without a handle.
    pub(crate) sent: StripedCounter,
    /// Items dropped by the overflow rule.
    pub(crate) dropped: CachePadded<AtomicU64>,
    /// Items that `abort` returned, or that became dead letters by it.
    pub(crate) returned: AtomicU64,
}

/// Which lanes an item may go to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Any lane, beginning with this one.
    From(usize),
    /// This lane only.
    Only(usize),
}

impl Way {
    fn lane(self) -> usize {
        let (Self::From(lane) | Self::Only(lane)) = self;
        lane
    }
}

/// How many consecutive items go to the same lane while no worker is idle.
const RUN: u32 = 32;

/// The lane of one sender's next item.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    lane: Cell<usize>,
    left: Cell<u32>,
}

impl Turn {
    pub(crate) const fn new(lane: usize) -> Self {
        Self { lane: Cell::new(lane), left: Cell::new(0) }
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(
        lanes: Box<[Lane<Envelope<T>>]>,
        crews: Box<[Crew<T>]>,
        workers: usize,
        settings: (Overflow, bool, bool, Rate),
        callbacks: Callbacks<T>,
    ) -> Self {
        let (overflow, rendezvous, keyed, rate) = settings;
        Self {
            lanes,
            crews,
            metrics: (0..workers).map(|_| CachePadded::new(WorkerMetrics::new())).collect(),
            room: CachePadded::new(WaitPoint::asymmetric()),
            control: CachePadded::new(WaitPoint::new()),
            overflow,
            rendezvous,
            keyed,
            callbacks,
            aborted: AtomicBool::new(false),
            live: LiveWorkers::new(workers),
            finished: Event::new(),
            rate: AtomicU64::new(rate.bits()),
            senders: SpinLock::new(Senders { counts: Vec::new(), retired: 0, number: 0 }),
            sent: StripedCounter::new(),
            dropped: CachePadded::new(AtomicU64::new(0)),
            returned: AtomicU64::new(0),
        }
    }

    // ---- Sending ----

    /// The lane for the next item, and a time-stamp if its waiting is to be measured. It is
    /// measured for each item while workers are idle, otherwise for the first of a run.
    #[inline]
    pub(crate) fn step(&self, turn: &Turn) -> (usize, u64) {
        let mut lane = turn.lane.get();
        let next = if lane + 1 >= self.lanes.len() { 0 } else { lane + 1 };
        let left = turn.left.get();
        if left > 0 && lane < self.lanes.len() && !self.crew_of(next).sleepers.has_waiters() {
            turn.left.set(left - 1);
            return (lane, 0);
        }
        lane = next;
        turn.lane.set(lane);
        turn.left.set(RUN - 1);
        (lane, tsc::now())
    }

    /// The next lane, for a batch.
    pub(crate) fn skip(&self, turn: &Turn) -> (usize, u64) {
        turn.left.set(0);
        self.step(turn)
    }

    /// Pushes as many of `envelopes` as `lane` has room for. Returns how many.
    pub(crate) fn push_from(
        &self,
        lane: usize,
        envelopes: &mut impl TrustedItems<Item = Envelope<T>>,
    ) -> usize {
        if self.rendezvous {
            return 0;
        }
        let pushed = self.lanes[lane].queue.push_from(envelopes).unwrap_or(0);
        let sleepers = &self.crew_of(lane).sleepers;
        sleepers.notify_one();
        for _ in 1..pushed.min(self.metrics.len()) {
            if !sleepers.has_waiters() {
                break;
            }
            sleepers.notify_one();
        }
        pushed
    }

    #[inline(always)]
    pub(crate) fn crew_of(&self, lane: usize) -> &Crew<T> {
        &self.crews[self.lanes[lane].crew]
    }

    /// Sends to `lane`, or if it is full to another one. `wait` allows waiting, if the overflow
    /// rule asks for it.
    #[inline]
    pub(crate) fn send(
        &self,
        lane: usize,
        envelope: Envelope<T>,
        wait: bool,
    ) -> Result<(), SendError<T>> {
        if self.rendezvous {
            return self.send_slow(Way::From(lane), envelope, wait);
        }
        match self.lanes[lane].push(envelope, &self.crew_of(lane).sleepers) {
            Ok(()) => Ok(()),
            Err(PushError::Full(envelope)) => self.send_slow(Way::From(lane), envelope, wait),
            Err(closed) => Err(refused(closed.into_inner(), Refusal::Closed)),
        }
    }

    /// Sends where there is room. `wait` allows waiting, if the overflow rule asks for it.
    #[cold]
    pub(crate) fn send_slow(
        &self,
        way: Way,
        mut envelope: Envelope<T>,
        wait: bool,
    ) -> Result<(), SendError<T>> {
        let mut spin_limit = SpinLimit::new();
        loop {
            envelope = match self.attempt(way, envelope, wait) {
                ControlFlow::Continue(envelope) => envelope,
                ControlFlow::Break(result) => return result,
            };
            if !spin_limit.spin() {
                self.room_of(way).wait(None, || self.has_room(way));
            }
        }
    }

    /// [`send_slow`](Self::send_slow) as a future.
    pub(crate) async fn send_async(
        &self,
        way: Way,
        mut envelope: Envelope<T>,
    ) -> Result<(), SendError<T>> {
        loop {
            envelope = match self.attempt(way, envelope, true) {
                ControlFlow::Continue(envelope) => envelope,
                ControlFlow::Break(result) => return result,
            };
            self.room_of(way).wait_async(|| self.has_room(way)).await;
        }
    }

    /// One attempt to send. Returns its result, or the envelope if it is to wait.
    fn attempt(
        &self,
        way: Way,
        envelope: Envelope<T>,
        wait: bool,
    ) -> ControlFlow<Result<(), SendError<T>>, Envelope<T>> {
        let tried = match way {
            Way::From(lane) => self.try_lanes(lane, envelope),
            Way::Only(lane) => self.try_lane(lane, envelope),
        };
        ControlFlow::Break(match tried {
            Err(SendError { item, reason: Refusal::Full }) => {
                if wait && self.overflow == Overflow::Block {
                    return ControlFlow::Continue(item);
                }
                self.overflows(way.lane(), item)
            }
            other => other.map_err(|SendError { item, reason }| refused(item, reason)),
        })
    }

    /// Pushes into `lane`, or into the first lane after it that has room.
    fn try_lanes(
        &self,
        lane: usize,
        mut envelope: Envelope<T>,
    ) -> Result<(), SendError<Envelope<T>>> {
        for i in 0..self.lanes.len() {
            let lane =
                if lane + i < self.lanes.len() { lane + i } else { lane + i - self.lanes.len() };
            envelope = match self.try_lane(lane, envelope) {
                Err(SendError { item, reason: Refusal::Full }) => item,
                other => return other,
            };
        }
        Err(SendError { item: envelope, reason: Refusal::Full })
    }

    /// Pushes into `lane` if there is room, or without capacity if a worker is idle.
    fn try_lane(&self, lane: usize, envelope: Envelope<T>) -> Result<(), SendError<Envelope<T>>> {
        if self.rendezvous && !self.lanes[lane].queue.is_closed() && !self.appoint(lane) {
            return Err(SendError { item: envelope, reason: Refusal::Full });
        }
        self.lanes[lane].push(envelope, &self.crew_of(lane).sleepers).map_err(|error| {
            let reason = if error.is_full() { Refusal::Full } else { Refusal::Closed };
            SendError { item: error.into_inner(), reason }
        })
    }

    /// There is no room, and the sender does not wait for it.
    fn overflows(&self, lane: usize, envelope: Envelope<T>) -> Result<(), SendError<T>> {
        match self.overflow {
            Overflow::DropNewest => {
                self.count_dropped();
                discard(envelope);
                Ok(())
            }
            Overflow::DropOldest if !self.rendezvous => {
                match self.lanes[lane].queue.force_push(envelope) {
                    Ok(oldest) => {
                        self.crew_of(lane).sleepers.notify_one();
                        if let Some(oldest) = oldest {
                            self.count_dropped();
                            discard(oldest);
                        }
                        Ok(())
                    }
                    Err(closed) => Err(refused(closed.into_inner(), Refusal::Closed)),
                }
            }
            // Without capacity no older item is queued.
            Overflow::DropOldest => {
                self.count_dropped();
                discard(envelope);
                Ok(())
            }
            Overflow::Block | Overflow::Error => Err(refused(envelope, Refusal::Full)),
        }
    }

    /// Where a sender waits.
    fn room_of(&self, way: Way) -> &WaitPoint {
        match way {
            Way::From(_) => &self.room,
            Way::Only(lane) => &self.lanes[lane].room,
        }
    }

    /// Whether a sender that waits should look again.
    fn has_room(&self, way: Way) -> bool {
        let has_room = |lane: &Lane<_>| {
            if self.rendezvous { self.can_meet(lane) } else { lane.is_open_to_try() }
        };
        match way {
            Way::From(_) => self.lanes.iter().any(has_room),
            Way::Only(lane) => has_room(&self.lanes[lane]),
        }
    }

    // ---- Without capacity ----

    /// Whether `lane` might accept an item.
    fn can_meet(&self, lane: &Lane<Envelope<T>>) -> bool {
        let is_free = || !(self.keyed && lane.lock.is_locked());
        lane.queue.is_closed() || self.crews[lane.crew].idle.is_any() && is_free()
    }

    /// Takes an idle worker for an item of a lane. If the order counts, it takes the lane's lock,
    /// too, which goes with the item.
    fn appoint(&self, index: usize) -> bool {
        let lane = &self.lanes[index];
        let idle = &self.crews[lane.crew].idle;
        // Looks first, so that no other sender is blocked by what we cannot use.
        if !idle.is_any() || self.keyed && !lane.lock.try_lock() {
            return false;
        }
        if !idle.try_take() {
            if self.keyed {
                self.free(index);
            }
            return false;
        }
        true
    }

    /// Without capacity: unlocks a lane, and tells senders.
    pub(crate) fn free(&self, lane: usize) {
        self.lanes[lane].lock.unlock();
        self.lanes[lane].room.notify_one();
        self.room.notify_one();
    }

    /// A worker of `crew` is idle that no sender has sent an item for.
    pub(crate) fn add_idle(&self, crew: usize) {
        let Crew { idle, lanes, next, .. } = &self.crews[crew];
        idle.add();
        self.room.notify_one();
        if self.keyed {
            // One sender of each lane, because all but one may find their lane locked. Another
            // lane is first each time.
            let start = next.fetch_add(1, Ordering::Relaxed) % lanes.len();
            for &lane in lanes[start..].iter().chain(&lanes[..start]) {
                self.lanes[lane].room.notify_one();
            }
        }
    }

    fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    // ---- Counting what was sent ----

    /// A count for a handle, and the handle's number.
    pub(crate) fn enlist(&self) -> (Arc<Count>, usize) {
        let sent = CachePadded::new(AtomicU64::new(0));
        let count = Arc::new(Count { sent, index: AtomicUsize::new(0) });
        let mut senders = self.senders.lock();
        count.index.store(senders.counts.len(), Ordering::Relaxed);
        senders.counts.push(Arc::clone(&count));
        senders.number += 1;
        (count, senders.number - 1)
    }

    /// The handle with this count was dropped.
    pub(crate) fn retire(&self, count: &Count) {
        let mut senders = self.senders.lock();
        senders.retired += count.sent.load(Ordering::Relaxed);
        let index = count.index.load(Ordering::Relaxed);
        // The last count moves to its index: the time under the lock does not depend on their
        // number.
        let own = senders.counts.swap_remove(index);
        if let Some(moved) = senders.counts.get(index) {
            moved.index.store(index, Ordering::Relaxed);
        }
        drop(senders);
        drop(own);
    }

    /// All items that were sent, with a handle or without.
    pub(crate) fn total_sent(&self) -> u64 {
        self.sent_through(&self.senders.lock())
    }

    /// [`total_sent`](Self::total_sent) for a thread that must not wait for another.
    #[cfg(all(feature = "inspect", unix))]
    pub(crate) fn try_total_sent(&self) -> Option<u64> {
        let senders = crate::inspect::patiently(|| self.senders.try_lock());
        senders.map(|senders| self.sent_through(&senders))
    }

    fn sent_through(&self, senders: &Senders) -> u64 {
        let live: u64 = senders.counts.iter().map(|count| count.sent.load(Ordering::Relaxed)).sum();
        self.sent.sum() + senders.retired + live
    }

    // ---- Ending ----

    /// Accepts no more items.
    pub(crate) fn close(&self) {
        for lane in &self.lanes {
            lane.queue.close();
        }
        for crew in &self.crews {
            crew.sleepers.notify_all();
        }
        for lane in &self.lanes {
            lane.room.notify_all();
        }
        self.room.notify_all();
        self.control.notify_all();
    }

    /// Whether it accepts no more items.
    pub(crate) fn is_closed(&self) -> bool {
        self.lanes[0].queue.is_closed()
    }

    /// Starts no more handlers. Returns the items that were not handled.
    pub(crate) fn abort(&self) -> Vec<T> {
        // Ordering: Release pairs with the Acquire in `Worker::is_aborted`. A worker that misses it
        // takes one more item.
        self.aborted.store(true, Ordering::Release);
        let mut items = Vec::new();
        self.take_all(|item| items.push(item));
        self.returned.fetch_add(items.len() as u64, Ordering::Relaxed);
        self.close();
        items
    }

    /// Worker `index` has ended.
    pub(crate) fn leave(&self, index: usize) {
        if self.live.leave() {
            // Also after workers that were made to end: no sender may wait for them.
            self.close();
            if self.callbacks.dead_letter.is_some() {
                self.take_all(|item| {
                    self.returned.fetch_add(1, Ordering::Relaxed);
                    run_and_discard(|| self.dead_letter(item, index, DeadReason::Ended));
                });
            }
            self.finished.set();
        }
    }

    /// Takes out all items that no handler works on, and closes the queue for good.
    fn take_all(&self, mut take: impl FnMut(T)) {
        for lane in &self.lanes {
            lane.empty(|envelope| take(envelope.item));
        }
        for crew in &self.crews {
            crew.later.close().into_iter().for_each(|envelope| take(envelope.item));
        }
    }

    // ---- Settings ----

    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bits(self.rate.load(Ordering::Relaxed))
    }

    /// Sets the rate of each worker, from now on.
    pub(crate) fn set_rate(&self, rate: Rate) {
        self.rate.store(rate.bits(), Ordering::Relaxed);
        self.control.notify_all();
    }

    /// Gives the item to the dead-letter callback, or drops it.
    pub(crate) fn dead_letter(&self, item: T, worker: usize, reason: DeadReason) {
        if let Some(dead_letter) = &self.callbacks.dead_letter {
            dead_letter(DeadLetter { item, worker, reason });
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // One by one: two destructors that panic together would end the process.
        self.take_all(discard);
    }
}

fn refused<T>(envelope: Envelope<T>, reason: Refusal) -> SendError<T> {
    SendError { item: envelope.item, reason }
}
