//! What a worker does: it looks for an item, calls the handler, looks again, sleeps.

use super::envelope::Envelope;
use super::handled::{DeadReason, Handled};
use super::later::Again;
use super::shared::Shared;
use super::spin_limit::SpinLimit;
use super::worker_metrics::{Ended, WorkerMetrics};
use crate::lane::Lane;
use crate::throttle::{Clock, Throttle};
use sateen_base::prim::Arc;
use sateen_base::prim::Ordering;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::tsc;
use sateen_base::unwind::discard;
use sateen_runtime::Cancelled;
use sateen_sync::park::context_id;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Most items of a round.
const ROUND: u32 = 64;
/// How long a round should take.
const ROUND_TIME: Duration = Duration::from_micros(200);
/// Waits for a throttle longer than this can be interrupted.
const LONG: Duration = Duration::from_millis(1);
/// A worker that waits for the throttle of a closed queue looks this often whether others have done
/// the work.
const NAP: Duration = Duration::from_millis(50);
/// A worker that waits for the throttle of an open queue need not look at all; this is far from the
/// largest number.
const REST: Duration = Duration::from_secs(3600);

pub(crate) struct Worker<T, C> {
    shared: Arc<Shared<T>>,
    index: usize,
    crew: usize,
    throttle: Throttle<C>,
    /// Which of the crew's lanes it prefers, and which it works on.
    home: usize,
    at: usize,
    /// Items left of this round, and the size of a round.
    left: u32,
    round: u32,
    /// When the round began, and how many calls are noted in the metrics.
    looked: u64,
    noted: u64,
    /// The lane it visited last, and for each lane how many calls its worker had begun then.
    visited: usize,
    seen: Box<[u64]>,
    /// The lane that it has locked.
    held: Option<usize>,
    /// Without capacity: it has said that it is idle, and no item has come for it.
    offered: bool,
}

/// Its drop says that a worker has ended, however that happens.
struct Leave<T> {
    shared: Arc<Shared<T>>,
    index: usize,
}

impl<T> Drop for Leave<T> {
    fn drop(&mut self) {
        let context = &self.shared.metrics[self.index].context;
        // Also if the worker has not begun: `leave` may call user code, which must not wait for it.
        context.store(context_id(), Ordering::Relaxed);
        self.shared.leave(self.index);
        // Code that runs later on this thread or fiber is not this worker.
        context.store(0, Ordering::Relaxed);
    }
}

/// Worker `index` before it runs. If it is dropped unused, the worker counts as ended.
pub(crate) struct UnstartedWorker<T, C> {
    worker: Worker<T, C>,
    leave: Leave<T>,
}

impl<T, C: Clock> UnstartedWorker<T, C> {
    pub(crate) fn new(shared: Arc<Shared<T>>, index: usize, throttle: Throttle<C>) -> Self {
        let crew = index % shared.crews.len();
        let lanes = shared.crews[crew].lanes.len();
        // Each worker of a crew prefers another lane.
        let home = index / shared.crews.len() % lanes;
        let seen = (0..lanes).map(|_| u64::MAX).collect();
        let leave = Leave { shared: Arc::clone(&shared), index };
        let worker = Worker {
            shared,
            index,
            crew,
            throttle,
            home,
            at: home,
            left: 1,
            round: 1,
            looked: 0,
            noted: 0,
            visited: home,
            seen,
            held: None,
            offered: false,
        };
        Self { worker, leave }
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run<R: Into<Handled>>(self, handler: &impl Fn(usize, &mut T) -> R) {
        let Self { worker, leave } = self;
        // The worker is dropped first and unlocks its lane, even if a cancelled task unwinds.
        let end = catch_unwind(AssertUnwindSafe(move || {
            let mut worker = worker;
            worker.run(handler);
        }));
        // Not while it unwinds: the last worker calls the dead-letter callback, which is user code.
        drop(leave);
        if let Err(panic) = end {
            resume_unwind(panic);
        }
    }
}

impl<T, C: Clock> Worker<T, C> {
    fn run<R: Into<Handled>>(&mut self, handler: &impl Fn(usize, &mut T) -> R) {
        self.metrics().context.store(context_id(), Ordering::Relaxed);
        self.looked = tsc::now();
        while !self.is_aborted() {
            // The token first, so that the item waits in a lane, where others can take it.
            if !self.throttle.try_take(1) {
                if self.wait_for_token() {
                    break;
                }
            } else if let Some(envelope) = self.next() {
                self.handle(envelope, handler);
            } else {
                self.throttle.put_back();
                if self.idle() {
                    break;
                }
            }
        }
        self.note();
    }

    fn metrics(&self) -> &WorkerMetrics {
        &self.shared.metrics[self.index]
    }

    #[inline(always)]
    fn is_aborted(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `abort`.
        self.shared.aborted.load(Ordering::Acquire)
    }

    fn lane(&self, at: usize) -> &Lane<Envelope<T>> {
        &self.shared.lanes[self.shared.crews[self.crew].lanes[at]]
    }

    // ---- Finding an item ----

    /// An item, if there is one for it.
    #[inline]
    fn next(&mut self) -> Option<Envelope<T>> {
        if self.left == 0 {
            self.look_around();
            // Items that come again have their turn however many new ones arrive.
            if let Some(envelope) = self.take_again() {
                return Some(envelope);
            }
        }
        match self.take(self.at) {
            Some(envelope) => {
                self.left = self.left.saturating_sub(1);
                Some(envelope)
            }
            None => self.next_slow(),
        }
    }

    /// The front item of a lane, unless another worker holds it.
    #[inline]
    fn take(&mut self, at: usize) -> Option<Envelope<T>> {
        if self.shared.rendezvous {
            return self.meet(at);
        }
        if self.shared.keyed && !self.lock(at) {
            return None;
        }
        let envelope = self.lane(at).queue.pop().ok()?;
        self.shared.room.notify_one();
        if self.shared.keyed {
            self.lane(at).room.notify_one();
        }
        Some(envelope)
    }

    #[cold]
    fn next_slow(&mut self) -> Option<Envelope<T>> {
        if let Some(envelope) = self.take_again() {
            return Some(envelope);
        }
        let lanes = self.seen.len();
        for i in 0..lanes {
            let at = (self.home + i) % lanes;
            if let Some(envelope) = self.take(at) {
                self.at = at;
                return Some(envelope);
            }
        }
        None
    }

    /// An item that is to be tried again now.
    fn take_again(&mut self) -> Option<Envelope<T>> {
        let Again { envelope, held } = self.shared.crews[self.crew].later.pop()?;
        if self.is_drained() {
            // The other workers were waiting for this last item.
            self.shared.crews[self.crew].sleepers.notify_all();
        } else {
            self.pass_time_on();
        }
        if held.is_some() {
            self.release();
            self.held = held;
        }
        if self.shared.rendezvous && self.offered {
            // An item that was sent for this worker meanwhile waits for the next idle worker.
            self.withdraw();
        }
        Some(envelope)
    }

    /// Begins a round: updates the metrics and chooses the lane. That is its own lane, or another
    /// one whose worker has begun nothing since the last look.
    #[cold]
    fn look_around(&mut self) {
        let now = tsc::now();
        let took = now.saturating_sub(self.looked).max(1);
        self.looked = now;
        self.note();
        self.follow_rate();
        // Rounds take about the same time: with slow handlers a round is one item.
        let wanted = u64::from(self.round) * tsc::ticks(ROUND_TIME) / took;
        self.round = (wanted as u32).clamp(1, (2 * self.round).min(ROUND));
        self.left = self.round;
        let lanes = self.seen.len();
        self.visited = (self.visited + 1) % lanes;
        let at = self.visited;
        self.at = self.home;
        if at == self.home {
            return;
        }
        let owner = self.crew + at % self.crew_size() * self.shared.crews.len();
        let begun = self.shared.metrics[owner].begun();
        if owner == self.index || begun == self.seen[at] {
            self.at = at;
        }
        self.seen[at] = begun;
    }

    /// How many workers its crew has.
    fn crew_size(&self) -> usize {
        (self.shared.metrics.len() - self.crew).div_ceil(self.shared.crews.len())
    }

    /// Adds the calls since the last time to the metrics.
    fn note(&mut self) {
        let ended = self.metrics().ended();
        if ended > self.noted {
            self.metrics().note(ended - self.noted);
            self.noted = ended;
        }
    }

    // ---- Order ----

    /// Locks a lane if it can, and unlocks the one it had. Returns whether it has this one.
    fn lock(&mut self, at: usize) -> bool {
        let lane = self.shared.crews[self.crew].lanes[at];
        if self.held == Some(lane) {
            return true;
        }
        self.release();
        // Looks first: an empty lane is not locked.
        let free =
            !self.shared.lanes[lane].queue.is_empty() && self.shared.lanes[lane].lock.try_lock();
        if free {
            self.held = Some(lane);
        }
        free
    }

    // ---- Without capacity ----

    /// Takes an item that was sent for an idle worker: for this one, or for one that is still idle.
    /// The lock of its lane comes with it.
    #[cold]
    fn meet(&mut self, at: usize) -> Option<Envelope<T>> {
        let envelope = self.lane(at).queue.pop().ok()?;
        if self.shared.keyed {
            self.release();
            self.held = Some(self.shared.crews[self.crew].lanes[at]);
        }
        if !std::mem::take(&mut self.offered) {
            self.shared.add_idle(self.crew);
        }
        Some(envelope)
    }

    /// Says that it is idle.
    fn offer(&mut self) {
        if !std::mem::replace(&mut self.offered, true) {
            self.shared.add_idle(self.crew);
        }
    }

    // ---- Handling it ----

    #[inline]
    fn handle<R: Into<Handled>>(
        &mut self,
        envelope: Envelope<T>,
        handler: &impl Fn(usize, &mut T) -> R,
    ) {
        let _slice = envelope.slice();
        let Envelope { mut item, sent, .. } = envelope;
        if cfg!(feature = "wait_times") && sent != 0 {
            self.metrics().waited(tsc::now().saturating_sub(sent));
        }
        if self.shared.callbacks.describe.is_some() {
            self.describe(&item);
        }
        self.metrics().begin();
        let index = self.index;
        match catch_unwind(AssertUnwindSafe(|| handler(index, &mut item).into())) {
            Ok(Handled::Done) => {
                self.metrics().end(Ended::Done);
                self.drop_item(item);
            }
            Ok(Handled::Again(after)) => self.again(item, after),
            Err(panic) => self.panicked(item, panic),
        }
        // A fiber that has waited long for this thread gets it.
        sateen_runtime::poll_requests();
    }

    /// Drops an item whose handler has ended; its destructor is user code.
    #[inline(always)]
    fn drop_item(&self, item: T) {
        if std::mem::needs_drop::<T>()
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(item)))
        {
            // The panic hook has reported it; the item was handled.
            discard(panic);
        }
    }

    #[cold]
    fn describe(&self, item: &T) {
        let describe = self.shared.callbacks.describe.as_ref();
        let said = catch_unwind(AssertUnwindSafe(|| describe.map(|describe| describe(item))));
        self.metrics().describe(said.map_err(discard).ok().flatten());
    }

    #[cold]
    fn again(&mut self, item: T, after: Duration) {
        let held = if self.shared.keyed { self.held.take() } else { None };
        let crew = &self.shared.crews[self.crew];
        let again = Again { envelope: Envelope::again(item), held };
        let refused = crew.later.push(again, after);
        // Last, so that the item is counted somewhere at every moment.
        self.metrics().end(Ended::Retried);
        match refused {
            // A worker may have to wake earlier than it would.
            Ok(()) => crew.sleepers.notify_one(),
            Err(Again { envelope, .. }) => {
                self.shared.returned.fetch_add(1, Ordering::Relaxed);
                let tell = |shared: &Shared<T>| {
                    shared.dead_letter(envelope.item, self.index, DeadReason::Aborted);
                };
                if let Some(cancelled) = self.call(tell) {
                    resume_unwind(cancelled);
                }
            }
        }
    }

    #[cold]
    fn panicked(&mut self, item: T, panic: Box<dyn std::any::Any + Send>) {
        self.metrics().end(Ended::Panicked);
        let index = self.index;
        let on_panic = self.shared.callbacks.on_panic.as_ref();
        let told = on_panic.and_then(|on_panic| self.call(|_| on_panic(index, &*panic)));
        let reason = DeadReason::panicked(&*panic);
        let told_of_item = self.call(|shared| shared.dead_letter(item, index, reason));
        // The task may have to end, but only after the item has become a dead letter.
        let cancelled = if panic.is::<Cancelled>() {
            Some(panic)
        } else {
            discard(panic);
            told.or(told_of_item)
        };
        if let Some(cancelled) = cancelled {
            resume_unwind(cancelled);
        }
    }

    /// Calls a user's callback. The panic hook reports a panic in it, which goes no further.
    /// Returns the payload if the task was cancelled in it.
    fn call(&self, f: impl FnOnce(&Shared<T>)) -> Option<Box<dyn std::any::Any + Send>> {
        let panic = catch_unwind(AssertUnwindSafe(|| f(&self.shared))).err()?;
        if panic.is::<Cancelled>() {
            return Some(panic);
        }
        discard(panic);
        None
    }

    // ---- Waiting ----

    /// Waits for an item. Returns true if there will never be one.
    #[cold]
    fn idle(&mut self) -> bool {
        self.release();
        self.note();
        if self.shared.rendezvous {
            self.offer();
        }
        self.left = self.round;
        let mut spin_limit = SpinLimit::new();
        while spin_limit.spin() {
            if self.has_work() {
                return false;
            }
        }
        if self.is_drained() {
            return true;
        }
        let crew = &self.shared.crews[self.crew];
        let keeper = crew.later.time.keep();
        let deadline = keeper.as_ref().and_then(|keeper| crew.later.deadline(keeper.until()));
        crew.sleepers.wait(deadline, || {
            let awake = self.has_work() || self.is_drained() || self.is_aborted();
            awake || crew.later.time.needs_keeper()
        });
        drop(keeper);
        if self.has_new() {
            self.pass_time_on();
        }
        self.looked = tsc::now();
        false
    }

    /// Whether there is an item for it.
    fn has_work(&self) -> bool {
        self.has_new() || self.shared.crews[self.crew].later.is_due()
    }

    /// Whether there is an item in its lanes.
    fn has_new(&self) -> bool {
        let waits = |&lane: &usize| {
            let Lane { queue, lock, .. } = &self.shared.lanes[lane];
            // Without capacity the lock comes with the item.
            let others = self.shared.keyed && !self.shared.rendezvous && lock.is_locked();
            !(queue.is_empty() || others)
        };
        self.shared.crews[self.crew].lanes.iter().any(waits)
    }

    /// Whether there will never be an item for it. (Other workers take care of the items that they
    /// handle.)
    fn is_drained(&self) -> bool {
        let crew = &self.shared.crews[self.crew];
        let drained = |&lane: &usize| self.shared.lanes[lane].is_drained();
        crew.lanes.iter().all(drained) && crew.later.is_empty()
    }

    /// No token is due: waits for one, or for an item if there is none. Returns true if there will
    /// never be one.
    #[cold]
    fn wait_for_token(&mut self) -> bool {
        self.release();
        if self.follow_rate() {
            return false;
        }
        if self.is_drained() {
            return true;
        }
        // Without capacity only a worker that may handle an item at once asks for one.
        if !self.shared.rendezvous && !self.has_work() {
            return self.idle();
        }
        let gap = self.throttle.gap();
        if gap < LONG || !self.throttle.clock().takes_time() {
            self.throttle.delay();
        } else {
            let rate = self.throttle.rate();
            let shared = &self.shared;
            let closed = shared.is_closed();
            let until = Instant::now() + (gap - LONG / 2).min(if closed { NAP } else { REST });
            shared.control.wait(Some(until), || {
                self.is_aborted() || shared.rate() != rate || shared.is_closed() != closed
            });
        }
        false
    }

    /// Adopts the rate of [`set_rate`](Shared::set_rate). Returns whether it is new.
    fn follow_rate(&mut self) -> bool {
        let wanted = self.shared.rate();
        let new = wanted != self.throttle.rate();
        if new {
            self.throttle.set_rate(wanted);
        }
        new
    }
}

impl<T, C> Worker<T, C> {
    /// The worker goes on to other work. If items are to come again, another one must keep the
    /// time.
    fn pass_time_on(&self) {
        let crew = &self.shared.crews[self.crew];
        crew.later.time.pass_on(&crew.sleepers);
    }

    /// Unlocks its lane, and tells workers if items came meanwhile.
    fn release(&mut self) {
        let Some(lane) = self.held.take() else { return };
        if self.shared.rendezvous {
            return self.shared.free(lane);
        }
        let Lane { queue, lock, .. } = &self.shared.lanes[lane];
        lock.unlock();
        let sleepers = &self.shared.crews[self.crew].sleepers;
        if queue.is_closed() {
            sleepers.notify_all();
        } else if !queue.is_empty() {
            sleepers.notify_one();
        }
    }
}

impl<T, C> Worker<T, C> {
    /// The worker is not idle any more, but takes no item.
    fn withdraw(&mut self) {
        if std::mem::take(&mut self.offered) {
            self.shared.crews[self.crew].idle.withdraw();
        }
    }
}

impl<T, C> Drop for Worker<T, C> {
    fn drop(&mut self) {
        self.release();
        self.withdraw();
        // A cancelled worker may have kept the time.
        self.pass_time_on();
    }
}
