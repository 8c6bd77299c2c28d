//! What the workers of one runtime share.

use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::hooks::Hooks;
use crate::stack::Stacks;
use crate::unwind::run_and_discard;
use crate::worker::Worker;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use sateen_base::{CachePadded, SpinLock};
use sateen_deque::{Injector, Steal};
use sateen_sync::EventCount;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Waker;

/// Threads are being made. Those that exist wait: were they to take memory for their first stacks now,
/// a thread that cannot be made for want of memory could not even be reported.
const STARTING: u32 = 3;
/// Workers run; work is accepted.
const OPEN: u32 = 0;
/// No more work from outside; workers end once nothing is left.
const CLOSING: u32 = 1;
/// Workers leave their loops.
const STOPPED: u32 = 2;

/// One bit of the gate says closed, the others count submissions that are under way.
const GATE_CLOSED: usize = 1;
const GATE_ENTER: usize = 2;

/// The word `drained`: a worker more, and a return to work (see [`Shared::drain`]).
const DRAINED_ONE: u64 = 1;
const UNDRAINED_ONE: u64 = 1 << 32;

pub(crate) struct Shared {
    pub(crate) workers: Box<[Worker]>,
    pub(crate) injector: Injector<Entry>,
    pub(crate) sleep: EventCount,
    /// Workers that look for work and have found none yet.
    pub(crate) searching: CachePadded<AtomicUsize>,
    pub(crate) stacks: Stacks,
    pub(crate) hooks: Hooks,
    /// Ticks a worker searches before it sleeps.
    pub(crate) spin_ticks: u64,
    /// So many workers search for that long; more than the cores can run would only be in the way.
    pub(crate) patient_searchers: usize,
    /// Workers that wait for a stack to start work on.
    pub(crate) starved: AtomicUsize,
    /// Keeps every fiber until the workers are gone.
    pub(crate) fibers: SpinLock<Vec<Arc<Fiber>>>,
    gate: AtomicUsize,
    life: AtomicU32,
    /// Low half: idle workers without suspended fibers. High half: how often one of them woke again.
    drained: AtomicU64,
    /// Threads that have left their loops.
    exited: Mutex<Exited>,
    /// Threads have exited, or may start.
    changed: Condvar,
}

/// The runtime takes no more work.
#[derive(Debug)]
pub(crate) struct Closed;

impl Shared {
    pub(crate) fn new(
        workers: Box<[Worker]>,
        stacks: Stacks,
        hooks: Hooks,
        spin: Duration,
    ) -> Self {
        Self {
            injector: Injector::new(),
            sleep: EventCount::new(workers.len()),
            searching: CachePadded::new(AtomicUsize::new(0)),
            stacks,
            hooks,
            spin_ticks: sateen_base::tsc::ticks(spin),
            patient_searchers: (workers.len().min(sateen_base::os::usable_cores()) / 2).max(1),
            starved: AtomicUsize::new(0),
            fibers: SpinLock::new(Vec::new()),
            gate: AtomicUsize::new(0),
            life: AtomicU32::new(STARTING),
            drained: AtomicU64::new(0),
            exited: Mutex::new(Exited::default()),
            changed: Condvar::new(),
            workers,
        }
    }

    /// Hands work in from a thread that is no worker of this runtime.
    pub(crate) fn submit(&self, entry: Entry) -> Result<(), Closed> {
        let _inside = self.enter_gate()?;
        self.submit_inside(entry);
        Ok(())
    }

    /// [`Shared::submit`] for those whose own work keeps the runtime from ending.
    pub(crate) fn submit_inside(&self, entry: Entry) {
        self.injector.push(entry);
        // The frequent side of the sleepers' handshake, at its full price: nobody may sleep through
        // work from outside. Partner: the fences between announcement and rescan in `idle.rs`.
        fence(Ordering::SeqCst);
        self.wake_searcher();
    }

    /// Keeps the runtime from closing while the answer lives.
    pub(crate) fn enter_gate(&self) -> Result<GateGuard<'_>, Closed> {
        // Ordering: Relaxed, a look that keeps newcomers from holding up the closer for ever.
        if self.gate.load(Ordering::Relaxed) & GATE_CLOSED != 0 {
            return Err(Closed);
        }
        // Ordering: Acquire pairs with the Release in `close`; Release on leaving makes what was
        // submitted visible to the closer.
        let before = self.gate.fetch_add(GATE_ENTER, Ordering::Acquire);
        let guard = GateGuard(&self.gate);
        if before & GATE_CLOSED == 0 { Ok(guard) } else { Err(Closed) }
    }

    /// Wakes one sleeping worker unless some worker searches anyway; that one will wake the next.
    #[inline]
    pub(crate) fn wake_searcher(&self) {
        // Ordering: Relaxed; the caller's fence orders these after its publication. A searcher that
        // gives up rescans after announcing itself as a sleeper, so it cannot miss what is out by now.
        if self.sleep.has_sleepers() && self.searching.load(Ordering::Relaxed) == 0 {
            self.sleep.notify_one();
        }
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

    /// All threads are made: they may run.
    pub(crate) fn open(&self) {
        self.leave_starting(OPEN);
    }

    /// Not all threads could be made: the others end at once.
    pub(crate) fn abandon(&self) {
        self.leave_starting(STOPPED);
    }

    fn leave_starting(&self, life: u32) {
        let guard = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        // Ordering: Release as in `drain`; the lock orders it for the waiting threads.
        self.life.store(life, Ordering::Release);
        drop(guard);
        self.changed.notify_all();
    }

    /// A worker's thread waits for its first turn.
    pub(crate) fn wait_started(&self) {
        let mut guard = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        // Ordering: Relaxed, under the lock.
        while self.life.load(Ordering::Relaxed) == STARTING {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `close`.
        self.life.load(Ordering::Acquire) != OPEN
    }

    pub(crate) fn is_stopped(&self) -> bool {
        // Ordering: Acquire pairs with the exchange in `try_stop`.
        self.life.load(Ordering::Acquire) == STOPPED
    }

    /// Accepts no more work from outside and lets the workers end when they have run dry.
    pub(crate) fn close(&self) {
        // Ordering: AcqRel; see `enter_gate`. Whoever was let in before is waited for: that is short,
        // nobody runs user code inside.
        self.gate.fetch_or(GATE_CLOSED, Ordering::AcqRel);
        let mut backoff = sateen_base::Backoff::new();
        while self.gate.load(Ordering::Acquire) != GATE_CLOSED {
            backoff.snooze();
        }
        // Ordering: Release: what was submitted is visible to whoever sees the runtime closing. A
        // second closer changes nothing.
        let _ = self.life.compare_exchange(OPEN, CLOSING, Ordering::Release, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.wake_all();
    }

    /// Lets go of all fibers. No worker runs any more.
    pub(crate) fn forget_fibers(&self) {
        let fibers = std::mem::take(&mut *self.fibers.lock());
        drop(fibers);
    }

    /// The thread of worker `index` will never run.
    pub(crate) fn leave_out(&self, index: usize) {
        for entry in self.workers[index].leave_out() {
            // Posted before that was known; its poster waits, so it runs here.
            if let Work::Job(job) = entry.decode() {
                // SAFETY: taken from the mail, so ours to run, once.
                unsafe { ((*job).run)(job) };
            }
        }
        self.drain_absent();
    }

    /// How many threads have left.
    pub(crate) fn exited(&self) -> usize {
        self.exited.lock().unwrap_or_else(PoisonError::into_inner).count
    }

    /// Wakes every sleeping worker.
    pub(crate) fn wake_all(&self) {
        for index in 0..self.workers.len() {
            self.sleep.notify(index);
        }
    }

    /// A worker reports that it is idle and owns no suspended fiber, while the runtime closes. The last
    /// one stops it. Returns whether the runtime is stopped; if not, [`Shared::undrain`] must follow
    /// before the worker takes work again.
    pub(crate) fn drain(&self) -> bool {
        // Ordering: AcqRel: the last worker sees everything the others pushed before they drained.
        let word = self.drained.fetch_add(DRAINED_ONE, Ordering::AcqRel) + DRAINED_ONE;
        // Everyone is idle and nothing comes from outside. If nothing is queued either, and nobody has
        // woken while we looked, then nothing can happen any more.
        if (word % UNDRAINED_ONE) as usize == self.workers.len() && !self.has_work() && {
            // Keeps the look above before the check; partner: the exchange in `undrain`.
            fence(Ordering::SeqCst);
            self.drained.load(Ordering::Acquire) == word
        } {
            // Ordering: Release pairs with `is_stopped`.
            self.life.store(STOPPED, Ordering::Release);
            fence(Ordering::SeqCst);
            self.wake_all();
            return true;
        }
        self.is_stopped()
    }

    pub(crate) fn undrain(&self) {
        // Ordering: AcqRel: comes before the worker takes anything, so that whoever misses the taken
        // entry sees this.
        self.drained.fetch_add(UNDRAINED_ONE - DRAINED_ONE, Ordering::AcqRel);
    }

    /// A worker that will never run counts as drained for good.
    pub(crate) fn drain_absent(&self) {
        // Ordering: AcqRel as in `drain`.
        self.drained.fetch_add(DRAINED_ONE, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        // Whoever drained before has to count again.
        self.wake_all();
    }

    /// Whether anything waits that any worker could take.
    pub(crate) fn has_stealable(&self) -> bool {
        !self.injector.is_empty() || self.workers.iter().any(Worker::has_stealable)
    }

    /// Whether any queue looks non-empty.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.workers.iter().any(Worker::has_queued)
    }

    /// A worker thread has left its loop, or will never run.
    pub(crate) fn thread_exited(&self) {
        let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        exited.count += 1;
        let all = exited.count == self.workers.len();
        let wakers = if all { std::mem::take(&mut exited.wakers) } else { Vec::new() };
        drop(exited);
        if all {
            // Fibers keep this part, and it keeps them: cut the circle. No worker is left to need them.
            self.forget_fibers();
        }
        self.changed.notify_all();
        wakers.into_iter().for_each(|waker| run_and_discard(|| waker.wake()));
    }

    /// Waits until all threads have left: blocks a thread, suspends a task (of another runtime).
    pub(crate) fn wait_all_exited(&self) {
        loop {
            {
                let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
                if exited.count == self.workers.len() {
                    return;
                }
                exited.wakers.push(sateen_sync::park::current_waker());
            }
            sateen_sync::park::park();
        }
    }

    /// Blocks the thread until `count` threads have left, or until `deadline`; says whether they have.
    pub(crate) fn wait_exited(&self, count: usize, deadline: Instant) -> bool {
        let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        while exited.count < count {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            exited =
                self.changed.wait_timeout(exited, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// Threads that have left their loops, and who waits for that.
#[derive(Default)]
struct Exited {
    count: usize,
    wakers: Vec<Waker>,
}

/// See [`Shared::enter_gate`].
pub(crate) struct GateGuard<'a>(&'a AtomicUsize);

impl Drop for GateGuard<'_> {
    fn drop(&mut self) {
        // Ordering: Release, see `enter_gate`.
        self.0.fetch_sub(GATE_ENTER, Ordering::Release);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("workers", &self.workers.len()).finish_non_exhaustive()
    }
}
