//! The monitor thread, which starts substitutes for workers that are blocked in the system.
//!
//! A task may block its worker where the runtime does not see it: on a lock or socket of `std`, in
//! a file, in a foreign library. The worker's queued work then waits, and the block may end only
//! after that work has run. While some worker is idle, that worker takes the work. So the monitor
//! only watches while no worker is idle: the last idle worker starts it when it finds work.
//!
//! | state | means | changed by |
//! |---|---|---|
//! | `NONE` | there is no thread; counts as drained | a worker: to `LOOKS` |
//! | `LOOKS` | checks every few milliseconds | itself, with idle workers: to `RESTS` |
//! | `RESTS` | sleeps; counts as drained | a worker: to `LOOKS` |
//! | `ENDED` | the runtime is stopped | |
//!
//! All changes but the last are under the lock. The worker that sets `LOOKS` first withdraws the
//! monitor's drained report. That worker is not drained itself, so the count cannot complete in
//! between (as in `substitutes.rs`).
//!
//! A worker counts as blocked if between two checks it has started nothing, its thread has used
//! hardly any CPU time, and the system reports that the thread sleeps. There is no monitor where
//! the system does not report this.

use crate::fiber::Fiber;
use crate::shared::Shared;
use crate::worker::Worker;
use sateen_base::SpinLock;
use sateen_base::os::{self, ThreadClock};
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicBool, AtomicU8, Ordering, fence};
use sateen_sync::park::ThreadParker;
use std::panic::Location;

const NONE: u8 = 0;
const LOOKS: u8 = 1;
const RESTS: u8 = 2;
const ENDED: u8 = 3;

/// Stack size of the thread, in bytes.
const STACK: usize = 128 << 10;
/// The time between two checks while work waits, or a worker may have just blocked.
const LOOK: Duration = Duration::from_millis(2);
/// The longest time between two checks. The time doubles with each check that finds nothing to do.
const LONGEST: Duration = Duration::from_millis(8);
/// The longest time while some workers are idle though others are blocked.
const LONGEST_IDLE: Duration = Duration::from_millis(64);
/// Consecutive checks with an idle worker before the monitor rests.
const IDLE_LOOKS: u32 = 3;
/// A blocked thread uses less than this fraction of the time.
const PART: u32 = 8;

/// See the [module's documentation](self).
pub(crate) struct Monitor {
    state: AtomicU8,
    /// Guards the changes of `state`.
    moves: SpinLock<()>,
    /// Whether it sleeps for longer than [`LONGEST`].
    is_slow: AtomicBool,
    parker: ThreadParker,
    blocked: SpinLock<Vec<BlockedWorker>>,
}

/// A worker that its task has blocked in the system, so that a substitute runs for it. In a
/// [`Report`](crate::Report).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedWorker {
    /// Its index.
    pub worker: usize,
    /// Its task's number: [`FiberInfo::id`](crate::FiberInfo).
    pub id: u64,
    /// The task's name.
    pub name: Option<std::sync::Arc<str>>,
    /// Where the task was spawned.
    pub location: Option<&'static Location<'static>>,
    /// How long it has been blocked.
    pub time: Duration,
}

impl std::fmt::Display for BlockedWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(location) = self.location {
            write!(f, " (spawned at {location})")?;
        }
        write!(f, " has blocked worker {} for {:.0?}", self.worker, self.time)
    }
}

/// What the monitor has recorded of a worker.
#[derive(Default)]
struct Sample {
    clock: Option<ThreadClock>,
    used: Duration,
    started: u64,
    /// Since when it is blocked; `None` if it is not.
    blocked: Option<Instant>,
    /// Whether a substitute runs for it.
    has_substitute: bool,
}

impl Monitor {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU8::new(NONE),
            moves: SpinLock::new(()),
            is_slow: AtomicBool::new(false),
            parker: ThreadParker::new(),
            blocked: SpinLock::new(Vec::new()),
        }
    }

    /// The workers that are blocked in the system.
    pub(crate) fn blocked(&self) -> Vec<BlockedWorker> {
        self.blocked.lock().clone()
    }

    /// Called by a worker that was the last idle one and has found something to do.
    #[inline]
    pub(crate) fn arm(&self, shared: &Arc<Shared>) {
        // Ordering: Relaxed; before it rests, the monitor announces that and checks, see `rest`.
        let looks = self.state.load(Ordering::Relaxed) == LOOKS;
        if !looks || self.is_slow.load(Ordering::Relaxed) {
            self.arm_slow(shared);
        }
    }

    #[cold]
    fn arm_slow(&self, shared: &Arc<Shared>) {
        if shared.substitutes.count() == 0 || ThreadClock::current().is_none() {
            return;
        }
        let before = {
            let _moves = self.moves.lock();
            let before = self.state.load(Ordering::Relaxed);
            if before == NONE || before == RESTS {
                shared.undrain();
                self.state.store(LOOKS, Ordering::Relaxed);
            }
            before
        };
        match before {
            NONE => self.start(shared),
            LOOKS | RESTS => self.parker.unpark(),
            _ => {}
        }
    }

    #[cold]
    fn start(&self, shared: &Arc<Shared>) {
        shared.helper_starts();
        let body = Arc::clone(shared);
        let run = move || {
            body.monitor.run(&body);
            body.helper_left();
        };
        let name = Some("sateen-monitor".to_owned());
        if os::start_thread(name, Some(STACK), Box::new(run)).is_err() {
            // Without it, work may wait until a worker is blocked no more.
            {
                let _moves = self.moves.lock();
                self.move_on(LOOKS, NONE, || _ = shared.drain());
            }
            shared.helper_left();
        }
    }

    /// Under the lock, except at the end.
    fn move_on(&self, from: u8, to: u8, after: impl FnOnce()) {
        let moved = self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        if moved.is_ok() {
            after();
        }
    }

    /// Shortens a current sleep, because the runtime is about to end.
    pub(crate) fn hurry(&self) {
        if self.state.load(Ordering::Relaxed) == LOOKS {
            self.parker.unpark();
        }
    }

    /// Called when the runtime is stopped.
    pub(crate) fn end(&self) {
        self.state.store(ENDED, Ordering::Relaxed);
        self.parker.unpark();
    }

    /// The thread's main function.
    fn run(&self, shared: &Arc<Shared>) {
        // A worker that has just found work wakes this thread, which is not urgent.
        os::wait_for_cores();
        let mut samples: Vec<Sample> = Vec::new();
        let (mut idle_looks, mut nap) = (0, LOOK);
        let mut before = Instant::now();
        loop {
            match self.state.load(Ordering::Relaxed) {
                LOOKS => {}
                RESTS => {
                    self.parker.park();
                    (idle_looks, nap) = (0, LOOK);
                    continue;
                }
                _ => break,
            }
            self.is_slow.store(nap > LONGEST, Ordering::Relaxed);
            if self.parker.park_timeout(nap) {
                nap = LOOK;
            }
            let some = samples.iter().any(|sample| sample.has_substitute);
            // New work wakes a worker, and the last idle worker starts the monitor.
            if !some && shared.sleep.sleepers() >= shared.regular {
                self.rest(shared, &mut samples);
                continue;
            }
            let now = Instant::now();
            let acted = self.look(shared, &mut samples, now, now - before);
            before = now;
            let idle = shared.sleep.has_sleepers() || shared.sleep.searching() > 0;
            idle_looks = if idle { idle_looks + 1 } else { 0 };
            let some = samples.iter().any(|sample| sample.has_substitute);
            let longest = if idle { LONGEST_IDLE } else { LONGEST };
            nap = if acted { LOOK } else { (nap * 2).min(longest) };
            if !some && (idle_looks >= IDLE_LOOKS || idle && shared.is_closing()) {
                self.rest(shared, &mut samples);
            }
        }
        self.blocked.lock().clear();
    }

    /// Rests, unless no worker is idle any more.
    fn rest(&self, shared: &Shared, samples: &mut Vec<Sample>) {
        samples.clear();
        let _moves = self.moves.lock();
        self.move_on(LOOKS, RESTS, || {
            // If a worker has missed the state, its being awake is seen here.
            // Partner: the fence in `Owner::leave_idle`.
            fence(Ordering::SeqCst);
            let idle = shared.sleep.has_sleepers() || shared.sleep.searching() > 0;
            if idle || shared.is_closing() {
                shared.drain();
            } else {
                self.move_on(RESTS, LOOKS, || ());
            }
        });
    }

    /// Checks all workers, `elapsed` after the last check. Returns whether there was something to
    /// do, or may soon be.
    fn look(
        &self,
        shared: &Arc<Shared>,
        samples: &mut Vec<Sample>,
        now: Instant,
        elapsed: Duration,
    ) -> bool {
        samples.resize_with(shared.workers.len(), Sample::default);
        let mut acted = false;
        for worker in shared.workers.iter() {
            // A worker created since then is checked next time.
            let Some(sample) = samples.get_mut(worker.index()) else { break };
            let blocked = sample.update(worker, elapsed) && !shared.stall.any_starved();
            if !blocked {
                sample.blocked = None;
                if std::mem::take(&mut sample.has_substitute) {
                    self.blocked.lock().retain(|blocked| blocked.worker != worker.index());
                    shared.substitutes.unblock(shared);
                }
                continue;
            }
            let since = *sample.blocked.get_or_insert(now - elapsed);
            // Seen twice, so that a block of some microseconds does not count.
            acted |= since == now - elapsed;
            if !sample.has_substitute && since < now - elapsed && shared.needs_worker(now) {
                sample.has_substitute = true;
                acted = true;
                self.tell(worker, now - since);
                tell_limit(shared);
                // A substitute whose thread is started here must run at once.
                os::wait_no_longer();
                shared.substitutes.block(shared);
                os::wait_for_cores();
            }
            for blocked in &mut *self.blocked.lock() {
                if blocked.worker == worker.index() {
                    blocked.time = now - since;
                }
            }
        }
        acted
    }

    fn tell(&self, worker: &Worker, time: Duration) {
        static SAID: AtomicBool = AtomicBool::new(false);
        let Some(fiber) = worker.current_fiber() else { return };
        let (name, location) = fiber.described();
        let id = fiber.context_id();
        let blocked = BlockedWorker { worker: worker.index(), id, name, location, time };
        if !SAID.swap(true, Ordering::Relaxed) {
            os::say(format_args!(
                "{blocked} while work waits; a substitute takes over (calls that \
                 block are best made in `blocking`; this is said once)"
            ));
        }
        self.blocked.lock().push(blocked);
    }
}

impl Shared {
    /// Whether a worker is needed if all others are blocked, because unstarted work or a due timer
    /// waits. The timer may wake a future, which any worker can poll.
    fn needs_worker(&self, now: Instant) -> bool {
        let is_due = |worker: &Worker| worker.timers.earliest().is_some_and(|at| at <= now);
        self.leaves_work(usize::MAX) || self.workers.iter().any(|worker| is_due(worker))
    }
}

/// Reports, once, that all substitutes are in use.
fn tell_limit(shared: &Shared) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let most = shared.substitutes.count();
    if shared.substitutes.active() == most && !SAID.swap(true, Ordering::Relaxed) {
        os::say(format_args!(
            "{most} workers are blocked, and each has a substitute; others wait until one \
             goes on, unless `Builder::substitutes` is raised (this is said once)"
        ));
    }
}

impl Sample {
    /// Whether `worker` seems to have been blocked for the last `elapsed`.
    fn update(&mut self, worker: &Worker, elapsed: Duration) -> bool {
        // Another thread may stand in for the worker: see `own_thread.rs`.
        let own = worker.current_fiber().and_then(Fiber::clock);
        let Some(clock) = own.or_else(|| worker.clock.get().copied()) else { return false };
        let (used, started) = (clock.time().unwrap_or_default(), worker.started());
        let first = self.clock.replace(clock) != Some(clock);
        let rests = used.saturating_sub(std::mem::replace(&mut self.used, used)) < elapsed / PART
            && std::mem::replace(&mut self.started, started) == started
            && !first;
        rests
            && worker
                .current_fiber()
                .is_some_and(|fiber| fiber.is_in_task() && !fiber.is_blocking())
            // (Asking this again and again of hundreds of blocked threads would cost a core.)
            && (self.has_substitute || clock.thread_sleeps())
    }
}

impl Fiber {
    /// Whether it runs a task or a task's branch; a hint.
    fn is_in_task(&self) -> bool {
        self.context_id() != 0
    }
}
