//! The monitor: a thread that looks at the workers while none is idle, and has a substitute work
//! for each one that is blocked in the system.
//!
//! A task may block its worker where the runtime does not see it: at a lock or a socket of `std`,
//! in a file, in a foreign library. Then the worker's unstarted work waits, and perhaps the block
//! ends only when that work has run. While some worker is idle, that one takes the work. So the
//! worker that finds work as the last idle one arms the monitor.
//!
//! | state | means | moved on by |
//! |---|---|---|
//! | `NONE` | there is no thread; counts as drained | a worker: to `LOOKS` |
//! | `LOOKS` | looks every few milliseconds | itself, with idle workers: to `RESTS` |
//! | `RESTS` | sleeps; counts as drained | a worker: to `LOOKS` |
//! | `ENDED` | the runtime is stopped | |
//!
//! All moves but the last are under the lock. The thread that moves it on to `LOOKS` first takes
//! back the report of being drained. A worker does that, which is not drained itself, so the count
//! never completes in between (as in `substitutes.rs`).
//!
//! A worker is blocked if, from one look to the next, it has started nothing, its thread has used
//! hardly any time of a processor, and the system says that the thread sleeps. Where the system
//! does not tell such things, there is no monitor.

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

/// Bytes of stack that the thread needs.
const STACK: usize = 128 << 10;
/// The time between two looks: while work waits, or a worker may have just blocked.
const LOOK: Duration = Duration::from_millis(2);
/// The same at most. The time doubles with each look at which nothing is to be done.
const LONGEST: Duration = Duration::from_millis(8);
/// The same while some workers are idle, though others are blocked.
const LONGEST_IDLE: Duration = Duration::from_millis(64);
/// Looks that find a worker idle before the monitor rests.
const IDLE_LOOKS: u32 = 3;
/// A blocked thread uses less than one part in so many of the time.
const PART: u32 = 8;

/// See the [module's documentation](self).
pub(crate) struct Monitor {
    state: AtomicU8,
    /// Guards the moves of `state`.
    moves: SpinLock<()>,
    /// It sleeps for longer than [`LONGEST`].
    is_slow: AtomicBool,
    parker: ThreadParker,
    blocked: SpinLock<Vec<BlockedWorker>>,
}

/// A worker that its task has blocked in the system, so that a substitute works for it. In a
/// [`Report`](crate::Report).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedWorker {
    /// Its index.
    pub worker: usize,
    /// The number of its task: [`FiberInfo::id`](crate::FiberInfo).
    pub id: u64,
    /// The task's name.
    pub name: Option<std::sync::Arc<str>>,
    /// Where the task was spawned.
    pub location: Option<&'static Location<'static>>,
    /// For how long it has been blocked.
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

/// What the monitor knows of a worker.
#[derive(Default)]
struct Sample {
    clock: Option<ThreadClock>,
    used: Duration,
    started: u64,
    /// Since when it has been blocked, if it has.
    blocked: Option<Instant>,
    /// A substitute works for it.
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

    /// The calling worker was the last idle one, and has found something to do.
    #[inline]
    pub(crate) fn arm(&self, shared: &Arc<Shared>) {
        // Ordering: Relaxed; before it rests, the monitor announces that and looks, see `rest`.
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

    /// Under the lock, except for the end.
    fn move_on(&self, from: u8, to: u8, after: impl FnOnce()) {
        let moved = self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        if moved.is_ok() {
            after();
        }
    }

    /// Makes a present sleep end soon: the runtime is about to end.
    pub(crate) fn hurry(&self) {
        if self.state.load(Ordering::Relaxed) == LOOKS {
            self.parker.unpark();
        }
    }

    /// The runtime is stopped.
    pub(crate) fn end(&self) {
        self.state.store(ENDED, Ordering::Relaxed);
        self.parker.unpark();
    }

    /// The thread's life.
    fn run(&self, shared: &Arc<Shared>) {
        // It is woken by a worker that has just found work, and has time.
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
            // Work that comes wakes a worker, and the last one that is woken arms the monitor.
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

    /// Goes to rest, unless no worker is idle any more.
    fn rest(&self, shared: &Shared, samples: &mut Vec<Sample>) {
        samples.clear();
        let _moves = self.moves.lock();
        self.move_on(LOOKS, RESTS, || {
            // A worker that misses the state is seen here to be awake.
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

    /// Looks at all workers, `elapsed` after the last look. Returns whether there was something to
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
            // One that was made since is looked at next time.
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
            // Seen twice, so that a block of some microseconds is none.
            acted |= since == now - elapsed;
            if !sample.has_substitute && since < now - elapsed && shared.needs_worker(now) {
                sample.has_substitute = true;
                acted = true;
                self.tell(worker, now - since);
                tell_limit(shared);
                // A substitute whose thread is made here is to work at once.
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
    /// Whether there is something to do for a worker if all others are blocked: work that has not
    /// started, or a timer that is due. The latter may wake a future, which any worker can poll.
    fn needs_worker(&self, now: Instant) -> bool {
        let is_due = |worker: &Worker| worker.timers.earliest().is_some_and(|at| at <= now);
        self.leaves_work(usize::MAX) || self.workers.iter().any(|worker| is_due(worker))
    }
}

/// Says once that there is no substitute left.
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
        // Another thread may stand for the worker: see `own_thread.rs`.
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
            // (To ask that again and again of hundreds that are blocked would cost a core.)
            && (self.has_substitute || clock.thread_sleeps())
    }
}

impl Fiber {
    /// Whether it runs a task or work of one; a hint.
    fn is_in_task(&self) -> bool {
        self.context_id() != 0
    }
}
