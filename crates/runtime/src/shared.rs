//! State that the workers and handles of one runtime share.

mod exited;

use crate::aside::{Aside, WorkKind};
use crate::blocking;
use crate::cells::Cells;
#[cfg(feature = "compat")]
use crate::compat::OutsideScopes;
use crate::drain::DrainCount;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::flag::Flag;
use crate::foreign::Foreign;
use crate::foresight::Foresight;
use crate::gate::{Closed, Gate, GateGuard, Life};
use crate::hooks::Hooks;
use crate::join_stack::JoinStack;
use crate::latch::Waiter;
use crate::live::LiveFutures;
use crate::monitor::Monitor;
use crate::outside_spin::Calls;
use crate::own_stack::OwnStack;
use crate::own_thread::{THREAD_OVERHEAD, Threads};
use crate::report::{TimedWaits, Watch};
use crate::runtime::CalledJob;
use crate::sleepers::{Alarm, Sleepers};
use crate::stack::Stacks;
use crate::stall::Stall;
use crate::substitutes::Substitutes;
use crate::task::{self, FutureHead, JoinError};
use crate::timekeeper::Timekeeper;
use crate::trace::Traces;
use crate::waker::Kept;
use crate::watcher::{NEVER, Watcher};
use crate::worker::{Worker, WorkerCell};
use exited::Exited;
use sateen_base::SpinLock;
use sateen_base::os::process_generation;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU32, AtomicUsize, Ordering, fence};
use sateen_deque::{Injector, Steal};
use std::io;
use std::ptr::NonNull;
use std::sync::{Condvar, Mutex, PoisonError};

/// Why a runtime refuses work from outside.
#[derive(Debug)]
pub(crate) enum Refused {
    ShutDown,
    Forked,
}

impl Refused {
    /// The error of a refused task.
    pub(crate) fn error(&self) -> JoinError {
        match self {
            Self::ShutDown => JoinError::ShutDown,
            Self::Forked => JoinError::Forked,
        }
    }
}

/// State that the workers and handles of one runtime share.
pub(crate) struct Shared {
    /// The regular workers, then the substitutes created so far.
    pub(crate) workers: Cells,
    /// The number of regular workers.
    pub(crate) regular: usize,
    pub(crate) substitutes: Substitutes,
    /// Work from outside, for any worker.
    pub(crate) injector: Injector<Entry>,
    pub(crate) sleep: Sleepers,
    pub(crate) stacks: Stacks,
    /// In a strict runtime, the threads of tasks that ask for larger stacks.
    pub(crate) threads: Option<Threads>,
    pub(crate) hooks: Hooks,
    /// Whether the runtime is a thread: the user calls the root of its one worker, which returns.
    pub(crate) pumped: bool,
    /// Whether waits keep the worker's thread and run only what they wait for.
    pub(crate) keeps_threads: bool,
    /// Whether scopes list their spawns that have not started.
    pub(crate) lists_spawns: bool,
    /// Whether a worker that wakes on a busy core moves away; see `placement.rs`.
    pub(crate) moves_threads: bool,
    /// How long a worker searches before it sleeps, in ticks.
    pub(crate) spin_ticks: u64,
    /// Number of workers that search for that long; more do while [`Calls::go_on`].
    pub(crate) spinning_searchers: usize,
    /// Held while one piece of work is posted to each worker.
    pub(crate) posting: SpinLock<()>,
    /// Whether posted work waits until the worker's run queue is empty.
    pub(crate) posted_last: bool,
    /// Whether worker 0 is a thread that never leaves; see `resident.rs`.
    pub(crate) has_resident: Flag,
    /// Work that lacked a stack, and calls of tasks that help.
    pub(crate) aside: Aside<Entry>,
    /// Scopes that helping tasks of other runtimes have opened here.
    #[cfg(feature = "compat")]
    pub(crate) outside_scopes: OutsideScopes,
    /// Which workers can start nothing, for lack of a stack or of work.
    pub(crate) stall: Stall,
    /// Keeps all fibers until the workers are gone.
    pub(crate) fibers: SpinLock<Vec<Arc<Fiber>>>,
    /// The worker that gets the next work from outside, if workers do not steal.
    turn: AtomicUsize,
    /// The sleeper that watches timers.
    pub(crate) watcher: Watcher,
    /// Watches timers while no worker sleeps.
    pub(crate) timekeeper: Timekeeper,
    pub(crate) foresight: Foresight,
    /// What workers know of calls from outside.
    pub(crate) calls: Calls,
    pub(crate) monitor: Monitor,
    /// Reports when all tasks are blocked, if the builder asked for it.
    pub(crate) watch: Option<Watch>,
    /// Number of tasks that keep their threads and wait with a time limit.
    pub(crate) timed_waits: TimedWaits,
    /// Threads for blocking calls.
    pub(crate) blocking: blocking::Pool,
    /// Foreign wakers that are due.
    pub(crate) foreign: Foreign,
    /// Spawned futures that have not ended.
    pub(crate) futures: LiveFutures<FutureHead>,
    /// Raised when a shutdown no longer waits and everything must end.
    cancelling: Flag,
    /// The process in which it was created, and the one in which it lives: see `forked.rs`.
    pub(crate) born: u32,
    pub(crate) lives_in: AtomicU32,
    gate: Gate,
    life: Life,
    drained: DrainCount,
    /// Which threads have left their loops.
    exited: Mutex<Exited>,
    /// Notified when threads have exited, or may start.
    changed: Condvar,
    /// Keeps the rings that the workers write alive.
    #[cfg_attr(not(feature = "trace"), allow(dead_code))]
    pub(crate) traces: Traces,
}

/// The builder's settings besides workers and stacks.
pub(crate) struct Setup {
    pub(crate) threads: Option<Threads>,
    pub(crate) keeps_threads: bool,
    /// Whether workers take work from each other.
    pub(crate) moves_work: bool,
    pub(crate) hooks: Hooks,
    pub(crate) spin: Duration,
    pub(crate) moves_threads: bool,
    pub(crate) alarm: Option<Alarm>,
    pub(crate) watch: Option<Watch>,
    pub(crate) blocking: blocking::Limits,
    pub(crate) substitutes: Substitutes,
}

impl Shared {
    pub(crate) fn new(workers: Cells, stacks: Stacks, setup: Setup) -> Self {
        let Setup {
            threads,
            keeps_threads,
            moves_work,
            hooks,
            spin,
            moves_threads,
            alarm,
            watch,
            blocking,
            substitutes,
        } = setup;
        let regular = workers.regular().len();
        let cores = sateen_base::os::usable_cores();
        let drained = DrainCount::new();
        // The monitor has no thread at first.
        drained.absent();
        // Substitutes have no thread at first.
        for _ in 0..substitutes.count() {
            drained.absent();
            watch.as_ref().inspect(|watch| watch.absent());
        }
        let exited =
            Exited { count: substitutes.count(), helpers: 0, done: false, wakers: Vec::new() };
        Self {
            regular,
            substitutes,
            injector: Injector::new(),
            sleep: Sleepers::new(workers.possible(), alarm).with_cores(regular, cores),
            stacks,
            threads,
            hooks,
            pumped: false,
            keeps_threads,
            lists_spawns: keeps_threads && moves_work,
            moves_threads,
            spin_ticks: sateen_base::tsc::ticks(spin),
            spinning_searchers: (regular.min(cores) / 2).max(1),
            posting: SpinLock::new(()),
            posted_last: false,
            has_resident: Flag::new(),
            aside: Aside::new(),
            #[cfg(feature = "compat")]
            outside_scopes: OutsideScopes::new(),
            stall: Stall::new(regular),
            fibers: SpinLock::new(Vec::new()),
            turn: AtomicUsize::new(0),
            watch,
            timed_waits: TimedWaits::default(),
            blocking: blocking::Pool::new(blocking),
            watcher: Watcher::new(),
            timekeeper: Timekeeper::new(),
            foresight: Foresight::new(),
            calls: Calls::new(regular >= cores),
            monitor: Monitor::new(),
            foreign: Foreign::new(),
            futures: LiveFutures::new(regular),
            cancelling: Flag::new(),
            born: process_generation(),
            lives_in: AtomicU32::new(process_generation()),
            gate: Gate::new(),
            life: Life::new(),
            drained,
            exited: Mutex::new(exited),
            changed: Condvar::new(),
            traces: Traces::new(),
            workers,
        }
    }

    /// Whether there is a core for each regular worker.
    pub(crate) fn has_cores_for_all(&self) -> bool {
        self.regular <= self.sleep.cores()
    }

    /// Prepares for a worker 0 that never leaves. No other thread exists yet.
    pub(crate) fn expect_resident(&mut self) {
        self.drained.absent();
        // Without other threads the runtime never ends.
        if self.regular > 1 {
            self.exited.get_mut().unwrap_or_else(PoisonError::into_inner).count += 1;
        }
    }

    /// Whether each task has its own thread; see [`Builder::strict`](crate::Builder::strict).
    #[inline]
    pub(crate) fn is_strict(&self) -> bool {
        self.threads.is_some()
    }

    /// The stack size of worker threads, if tasks run on it.
    pub(crate) fn thread_size(&self) -> Option<usize> {
        self.is_strict().then(|| self.stacks.default_size().bytes() + THREAD_OVERHEAD)
    }

    /// The calling thread's stack, if tasks run on it.
    pub(crate) fn own_stack(&self) -> io::Result<Option<OwnStack>> {
        self.is_strict().then(OwnStack::prepare).transpose()
    }

    /// Reserves what a worker's future thread needs, if tasks run on its stack.
    pub(crate) fn reserve_own_stack(&self) -> io::Result<Option<OwnStack>> {
        self.thread_size().map(OwnStack::reserve).transpose()
    }

    /// Submits work from a thread that is not a worker of this runtime.
    pub(crate) fn submit(&self, entry: Entry) -> Result<(), Refused> {
        let inside = self.enter_gate()?;
        self.submit_through(inside, entry);
        Ok(())
    }

    /// [`Shared::submit`] for a caller whose own work keeps the runtime from ending.
    pub(crate) fn submit_inside(&self, entry: Entry) {
        self.announce(self.queue(entry));
    }

    /// [`Shared::submit`] for a caller inside the gate. It leaves before any worker is notified,
    /// because a notification may call a policy, which may end the runtime.
    pub(crate) fn submit_through(&self, inside: GateGuard<'_>, entry: Entry) {
        inside.submit(|| self.queue(entry), |at| self.announce(at));
    }

    /// [`Shared::submit`] for a call of another runtime's task that [helps](crate::help). The call
    /// is taken by a task of this runtime whose wait it is under, or by an idle worker.
    pub(crate) fn submit_call(&self, call: NonNull<CalledJob>) -> Result<(), Refused> {
        let call = Entry::job(call.cast());
        if self.workers[0].policy_view.is_alone() {
            return self.submit(call);
        }
        let put = || {
            self.aside.put(call, WorkKind::Called, None, || ());
            None
        };
        self.enter_gate()?.submit(put, |at| self.announce(at));
        Ok(())
    }

    /// Queues work from outside, at one worker or for any. [`Shared::announce`] follows.
    fn queue(&self, entry: Entry) -> Option<usize> {
        if self.workers[0].policy_view.is_alone() {
            return self.deal_out(entry);
        }
        self.injector.push(entry);
        None
    }

    /// Wakes a worker for work that was queued.
    fn announce(&self, at: Option<usize>) {
        if let Some(index) = at {
            self.sleep.wake_owner(index);
            return;
        }
        // The frequent side of the handshake with sleepers, with a full fence: no worker may sleep
        // through work from outside. Partner: the full fence in `Sleepers::announce`.
        fence(Ordering::SeqCst);
        self.sleep.wake_searcher();
    }

    /// Deals entries out to the workers in turn. Returns the worker, or `None` if no worker will
    /// ever come; then the end of the runtime refuses the entry.
    fn deal_out(&self, entry: Entry) -> Option<usize> {
        let count = self.regular;
        // Ordering: Relaxed, a number that guards no data.
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % count;
        let taker = (0..count).map(|i| (first + i) % count).find(|&at| self.workers[at].put(entry));
        if taker.is_none() {
            self.injector.push(entry);
        }
        taker
    }

    /// Keeps the runtime from closing while the guard lives.
    pub(crate) fn enter_gate(&self) -> Result<GateGuard<'_>, Refused> {
        if self.is_orphan() {
            return Err(Refused::Forked);
        }
        self.gate.enter().map_err(|Closed| Refused::ShutDown)
    }

    /// Makes the fibers selected by `which` check whether they were cancelled. Returns how many.
    pub(crate) fn interrupt(&self, which: impl Fn(&Fiber) -> bool) -> usize {
        // Outside of the lock, because this may call a policy, which may do anything.
        let named = self.fibers_that(which);
        named.iter().for_each(|fiber| fiber.unpark());
        named.len()
    }

    /// The fibers selected by `which`.
    pub(crate) fn fibers_that(&self, which: impl Fn(&Fiber) -> bool) -> Vec<Arc<Fiber>> {
        self.fibers.lock().iter().filter(|fiber| which(fiber)).cloned().collect()
    }

    /// Makes every task and future count as cancelled from now on.
    pub(crate) fn start_cancelling(&self) {
        self.cancelling.raise();
        // Tasks that do not end may stay for ever, and need no idle stacks.
        self.stacks.tighten();
    }

    /// Whether everything must end.
    #[inline]
    pub(crate) fn is_cancelling(&self) -> bool {
        // A fiber that parks without having seen the flag is woken after it was raised.
        self.cancelling.is_raised()
    }

    /// Takes an entry from the injector.
    pub(crate) fn take_injected(&self) -> Option<Entry> {
        loop {
            match self.injector.steal() {
                Steal::Success(entry) => return Some(entry),
                Steal::Empty => return None,
                Steal::Retry => sateen_base::prim::spin_loop(),
            }
        }
    }

    /// Puts back what [`Shared::take_injected`] has taken, in order.
    #[cold]
    pub(crate) fn put_back_injected(&self, entries: Vec<Entry>) {
        let none = entries.is_empty();
        entries.into_iter().for_each(|entry| self.injector.push(entry));
        if !none {
            self.announce(None);
        }
    }

    /// Called when all threads are started and may run.
    pub(crate) fn open(&self) {
        self.leave_starting(Life::open);
    }

    /// Called when a thread could not be started: the others exit at once.
    pub(crate) fn abandon(&self) {
        self.leave_starting(Life::stop);
    }

    fn leave_starting(&self, leave: fn(&Life)) {
        let guard = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        leave(&self.life);
        drop(guard);
        self.changed.notify_all();
    }

    /// Makes a worker's thread wait until it may run.
    pub(crate) fn wait_started(&self) {
        let mut guard = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        while self.life.is_starting() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether threads wait for others to be started.
    pub(crate) fn is_starting(&self) -> bool {
        let _guard = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        self.life.is_starting()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.life.is_closing()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.life.is_stopped()
    }

    /// Refuses further work from outside, and lets the workers end when no work is left.
    pub(crate) fn close(&self) {
        self.gate.shut();
        self.life.close();
        fence(Ordering::SeqCst);
        self.wake_all();
    }

    /// Makes workers leave their loops.
    pub(crate) fn stop(&self) {
        self.life.stop();
        self.timekeeper.end();
        self.monitor.end();
    }

    /// Drops the runtime's counts of all fibers. No worker runs any more.
    pub(crate) fn forget_fibers(&self) {
        let fibers = std::mem::take(&mut *self.fibers.lock());
        fibers.iter().for_each(Kept::give_back);
        drop(fibers);
    }

    /// Called when the thread of worker `index` will never run.
    pub(crate) fn leave_out(&self, index: usize) {
        self.stall.goes();
        // Work that was posted before this was known.
        for entry in self.workers[index].leave_out() {
            // SAFETY: taken from the pinned queue, so ours; no worker will take it.
            unsafe { task::refuse_posted(self, index, entry) };
        }
        self.drain_absent();
    }

    /// Approximate number of regular threads that have left.
    pub(crate) fn exited(&self) -> usize {
        let count = self.exited.lock().unwrap_or_else(PoisonError::into_inner).count;
        count.saturating_sub(self.substitutes.count()).min(self.regular)
    }

    /// The list of [`Shared::futures`] for futures that `worker` spawns.
    pub(crate) fn list_of_futures(&self, worker: &Worker) -> usize {
        worker.index() % self.regular
    }

    /// Wakes every sleeping worker.
    pub(crate) fn wake_all(&self) {
        for index in 0..self.workers.len() {
            self.sleep.notify(index);
        }
        self.substitutes.wake_all();
    }

    /// A worker reports that it is idle and has no suspended fiber, while the runtime closes. The
    /// last such worker stops the runtime. Returns whether the runtime is stopped. If not,
    /// [`Shared::undrain`] must follow before the worker takes work again.
    pub(crate) fn drain(&self) -> bool {
        self.monitor.hurry();
        // One more, for the monitor.
        let all = self.workers.possible() + 1;
        if self.drained.drain(all, || self.has_work() || self.futures.count() != 0) {
            self.stop();
            fence(Ordering::SeqCst);
            self.wake_all();
            return true;
        }
        self.is_stopped()
    }

    pub(crate) fn undrain(&self) {
        self.drained.undrain();
    }

    /// Dismisses substitute `slot`, which is idle and empty, unless work came at the last moment.
    /// Returns whether it was dismissed.
    pub(crate) fn dismiss(&self, slot: usize) -> bool {
        let leaves = self.workers[self.regular + slot].leave_empty();
        if leaves {
            self.stall.goes();
            self.drain();
        }
        leaves
    }

    /// A dismissed substitute rests until it is recalled.
    pub(crate) fn rest_dismissed(&self) {
        if let Some(watch) = &self.watch
            && watch.rests(self)
        {
            // The survey has asked all workers except absent ones.
            watch.absent();
        }
    }

    /// Recalls substitute `slot`, which is about to work, perhaps for the first time. The caller is
    /// a worker that works.
    pub(crate) fn recall(&self, slot: usize) {
        self.stall.comes();
        self.undrain();
        if let Some(watch) = &self.watch {
            watch.wakes();
        }
        // A substitute that is created later starts as attending.
        if let Some(worker) = self.workers.get(self.regular + slot) {
            worker.attend();
        }
    }

    /// Counts a worker that will never run as drained for good.
    pub(crate) fn drain_absent(&self) {
        self.drained.absent();
        if let Some(watch) = &self.watch {
            watch.absent();
        }
        fence(Ordering::SeqCst);
        // Workers that drained before must count themselves again.
        self.wake_all();
    }

    /// A number that changes when any worker starts something.
    pub(crate) fn started(&self) -> u64 {
        self.workers.iter().fold(0, |sum, worker| sum.wrapping_add(worker.started()))
    }

    /// Whether there is work that any worker could take.
    pub(crate) fn has_stealable(&self) -> bool {
        !self.injector.is_empty()
            || self.aside.count() != 0
            || self.workers.iter().any(|worker| worker.has_stealable())
    }

    /// Whether a worker other than `except` has work that it has not started.
    pub(crate) fn leaves_work(&self, except: usize) -> bool {
        let has_private =
            |other: &WorkerCell| other.current_join_stack().is_some_and(JoinStack::has_private);
        let others = || self.workers.iter().filter(|other| other.index() != except);
        self.has_stealable() || others().any(has_private)
    }

    /// When the earliest of all timers is due, in the [`Timekeeper`]'s ticks.
    pub(crate) fn earliest_timer(&self) -> u64 {
        self.ticks(self.workers.iter().filter_map(|worker| worker.timers.earliest()).min())
    }

    /// `at` in the [`Timekeeper`]'s ticks.
    pub(crate) fn ticks(&self, at: Option<Instant>) -> u64 {
        at.map_or(NEVER, |at| self.timekeeper.ticks(at))
    }

    /// Whether any queue looks non-empty.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty()
            || self.aside.count() != 0
            || self.workers.iter().any(|worker| worker.has_queued())
    }

    /// [`Shared::has_work`] for a thread that is not a worker: the last worker may leave meanwhile.
    pub(crate) fn has_work_from_outside(&self) -> bool {
        // Fibers are removed under this lock before they are freed. While any is listed, the
        // workers' pointers to them are valid.
        let fibers = self.fibers.lock();
        !fibers.is_empty() && self.has_work()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("workers", &self.workers.len()).finish_non_exhaustive()
    }
}
