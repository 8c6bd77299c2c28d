//! Tracks which workers sleep and which search, and chooses whom to wake for new work.
//!
//! In an oversubscribed runtime, one of the sleepers is the *lookout*. It periodically checks
//! whether work waits that no awake worker takes. So a publisher need not wake a worker that would
//! have no core.
//!
//! This file has the steps of the sleep protocol on both sides of each fence. The caller supplies
//! what to check in between, and which workers to ask. Order and proof: `README.md`, "Sleeping".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Ordering, fence as full_fence};
use sateen_base::{CachePadded, fence};
use sateen_sync::EventCount;

/// See the [module's documentation](self).
pub struct Sleepers {
    slots: EventCount,
    awake: CachePadded<Awake>,
    /// The number of workers that are awake when none sleeps.
    workers: usize,
    /// The number of workers that can run at once.
    cores: usize,
    alarm: Option<Alarm>,
    /// How often a thread that is not a worker woke one. A statistic.
    #[cfg(not(loom))]
    outside: sateen_base::prim::AtomicU64,
}

/// In place of a worker's number: none.
const NOBODY: usize = usize::MAX;

/// What a publisher reads before it wakes a worker.
struct Awake {
    /// Workers that search and have found nothing yet.
    searching: AtomicUsize,
    /// Workers that were notified and have not noticed yet. Publishers rely on them.
    coming: AtomicUsize,
    /// The number of the lookout, or [`NOBODY`].
    lookout: AtomicUsize,
    /// Workers whose threads sleep in a wait and that no substitute replaces.
    blocked: AtomicUsize,
}

/// Called with the number of a notified worker, if a policy replaces the default sleep.
#[cfg(not(loom))]
pub type Alarm = Box<dyn Fn(usize) + Send + Sync>;
/// Models have no policies.
#[cfg(loom)]
pub type Alarm = fn(usize);

impl Sleepers {
    /// Creates a slot for each of `workers`, none of which sleeps or searches. Each has a core.
    pub fn new(workers: usize, alarm: Option<Alarm>) -> Self {
        let zero = || AtomicUsize::new(0);
        let awake = Awake {
            searching: zero(),
            coming: zero(),
            lookout: AtomicUsize::new(NOBODY),
            blocked: zero(),
        };
        let (slots, awake) = (EventCount::new(workers), CachePadded::new(awake));
        Self {
            slots,
            awake,
            workers,
            cores: workers,
            alarm,
            #[cfg(not(loom))]
            outside: Default::default(),
        }
    }

    /// Sets the number of `workers` that run at once, and of `cores`.
    pub fn with_cores(self, workers: usize, cores: usize) -> Self {
        Self { workers, cores, ..self }
    }

    /// Whether any worker sleeps, or is about to. The caller has fenced after it published.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        self.slots.has_sleepers()
    }

    /// Approximate number of sleepers.
    pub fn sleepers(&self) -> usize {
        self.slots.sleepers()
    }

    /// Number of sleepers that were not notified. Each is read once, so one that was notified since
    /// may still be counted.
    pub fn announced(&self) -> usize {
        self.slots.announced()
    }

    /// Approximate number of searchers.
    pub fn searching(&self) -> usize {
        // Ordering: Relaxed, a statistic.
        self.awake.searching.load(Ordering::Relaxed)
    }

    /// Wakes worker `index` if it sleeps. Returns whether it did. The caller has fenced.
    pub fn notify(&self, index: usize) -> bool {
        let woken = self.slots.notify(index);
        if woken {
            self.will_come();
            self.sound(index);
        }
        woken
    }

    /// Wakes one sleeper, if there is one: the lookout last, and of the others the one with the
    /// lowest number. Returns whether there was one. The caller has fenced.
    ///
    /// | Caller | Wakes for | Which worker it needs |
    /// |---|---|---|
    /// | [`wake_searcher`](Self::wake_searcher) | work that each worker may take | any |
    /// | [`pass_on`](Self::pass_on) | the same, seen by a worker that leaves it | any |
    /// | [`wake_ahead`](Self::wake_ahead) | work that may come | any |
    /// | `Watcher::tell`, `hand_on` | a timer that no worker watches | any |
    ///
    /// No caller needs the lowest number. A woken worker that leaves the work, such as a substitute
    /// that rests, calls [`pass_on`](Self::pass_on), and for a timer `Watcher::pass_on`. The caller
    /// is awake, so it is never the one that is woken. What only one worker may take is announced
    /// by [`wake_owner`](Self::wake_owner).
    ///
    /// Models in which one certain worker is woken assert that: in `loom_sleep`, `loom_stall` and
    /// `loom_watch`.
    #[cold]
    pub fn notify_one(&self) -> bool {
        // Without the lookout, the next publisher would wake a worker that has no core.
        // Ordering: Relaxed, a preference.
        let woken = match self.awake.lookout.load(Ordering::Relaxed) {
            NOBODY => self.slots.notify_one(),
            lookout => self.slots.notify_one_but(lookout),
        };
        if let Some(index) = woken {
            self.will_come();
            self.sound(index);
        }
        woken.is_some()
    }

    /// How often threads that are not workers woke a worker.
    #[cfg(not(loom))]
    pub fn woken_from_outside(&self) -> u64 {
        // Ordering: Relaxed, a figure.
        self.outside.load(Ordering::Relaxed)
    }

    /// Counts a wake-up, and calls the alarm if there is one.
    pub fn sound(&self, index: usize) {
        #[cfg(not(loom))]
        if !crate::metrics::count_worker_woken(index) {
            // Ordering: Relaxed, a figure.
            self.outside.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(alarm) = &self.alarm {
            alarm(index);
        }
    }

    /// Wakes worker `index` if it sleeps, for something that only that worker checks. Returns
    /// whether it slept. If not, it is awake, and checks before it sleeps.
    pub fn wake_owner(&self, index: usize) -> bool {
        // Partner: the fence in `announce`. Either this sees the sleeper, or the sleeper sees what
        // was added.
        full_fence(Ordering::SeqCst);
        self.notify(index)
    }

    // ---- for publishers ----

    /// Wakes one sleeper for work that was just published. Wakes none if a worker searches, which
    /// will wake the next, or if all cores are busy and the lookout checks soon. Returns whether it
    /// woke one. The caller has fenced after it published.
    #[inline]
    pub fn wake_searcher(&self) -> bool {
        // Ordering: Relaxed; the caller's fence orders these after its publication. Work that is
        // public by now is not missed. A searcher that gives up checks again after it has announced
        // its sleep, and the last searcher that found something checks for more. A lookout checks
        // again after it has stopped being one.
        self.slots.has_sleepers()
            && self.awake.searching.load(Ordering::Relaxed) == 0
            && !self.is_looked_out_for()
            && self.notify_one()
    }

    fn has_lookout(&self) -> bool {
        // Ordering: Relaxed, as in `wake_searcher`.
        self.awake.lookout.load(Ordering::Relaxed) != NOBODY
    }

    /// Whether another worker would have no core, and a lookout ensures that no work is left.
    #[inline]
    fn is_looked_out_for(&self) -> bool {
        self.has_lookout() && self.is_crowded()
    }

    /// Whether a notified worker has not noticed yet, or a worker searches. It then checks for
    /// work, or has [`Sleepers::pass_on`] check. The caller has fenced after it published.
    #[inline]
    pub fn are_coming(&self) -> bool {
        // Ordering: Relaxed, as in `wake_searcher`.
        (self.awake.coming.load(Ordering::Relaxed) as isize) > 0 || self.searching() > 0
    }

    /// Counts a worker that was notified. It may have noticed already, so the count may briefly be
    /// negative. While the count is positive, at least one worker has not noticed.
    fn will_come(&self) {
        // Ordering: Relaxed; the owner that reads it most often is the caller.
        self.awake.coming.fetch_add(1, Ordering::Relaxed);
    }

    /// The calling worker has noticed its notification.
    fn has_come(&self) {
        // Ordering: SeqCst as in `begin_search`. A publisher that relies on this worker has
        // published before it read the count, and the worker checks for work after this.
        self.awake.coming.fetch_sub(1, Ordering::SeqCst);
    }

    // ---- for searchers ----

    /// The caller begins to search. Returns the number of other searchers.
    pub fn begin_search(&self) -> usize {
        // Ordering: SeqCst as part of the handshake with `wake_searcher`. That function relies on a
        // searcher to see earlier pushes, or to check again when it gives up.
        self.awake.searching.fetch_add(1, Ordering::SeqCst)
    }

    /// The caller stops searching. Returns whether it was the last searcher, which must call
    /// [`Sleepers::pass_on`] if it does something else.
    pub fn end_search(&self) -> bool {
        // Ordering: as in `begin_search`.
        self.awake.searching.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Wakes a sleeper if there is work that it could take. Called by a worker that others have
    /// relied on and that does something else. Returns whether it woke one.
    pub fn pass_on(&self, has_stealable: impl FnOnce() -> bool) -> bool {
        // Partner: the fence between publication and `wake_searcher`.
        full_fence(Ordering::SeqCst);
        self.slots.has_sleepers()
            && !self.is_looked_out_for()
            && has_stealable()
            && self.notify_one()
    }

    /// Wakes a sleeper early, for work that may come, if it would have a core and no worker
    /// searches. Returns whether it woke one.
    #[cfg(not(loom))]
    pub fn wake_ahead(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.awake.searching.load(Ordering::Relaxed) == 0
            && self.slots.has_sleepers()
            && !self.is_crowded()
            && self.notify_one()
    }

    // ---- for sleepers ----

    /// The first step of worker `me`: announces its sleep, then checks. Returns false, with the
    /// announcement withdrawn, if it `sees_work`. After true it may sleep for a limited time only.
    pub fn announce(&self, me: usize, sees_work: impl FnOnce() -> bool) -> bool {
        self.slots.announce(me);
        // Partner: the full fences in `submit` and `wake_owner`.
        full_fence(Ordering::SeqCst);
        self.unless(me, sees_work)
    }

    /// The second step of an announced worker: asks all others, by [`RequestWord::insist`], for
    /// what they have, then checks what is still private. Returns false as [`Sleepers::announce`]
    /// does. After true it can miss nothing.
    ///
    /// [`RequestWord::insist`]: crate::request_word::RequestWord::insist
    pub fn ask(&self, me: usize, insist: impl FnOnce(), sees_work: impl FnOnce() -> bool) -> bool {
        // From now on a worker that pushes a private job publishes it and checks for sleepers.
        insist();
        // Earlier pushes are visible after this.
        fence::heavy();
        self.unless(me, sees_work)
    }

    /// How many workers can run at once.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// Approximate number of workers that want a core.
    fn awake(&self) -> usize {
        // Ordering: Relaxed, a statistic. A wrong one costs a needless wake-up, or leaves work to
        // the lookout.
        let resting = self.slots.sleepers() + self.awake.blocked.load(Ordering::Relaxed);
        self.workers.saturating_sub(resting)
    }

    /// Whether about as many workers are awake as there are cores.
    pub fn is_crowded(&self) -> bool {
        self.awake() >= self.cores
    }

    /// Whether about more workers are awake than there are cores.
    pub fn lacks_cores(&self) -> bool {
        self.awake() > self.cores
    }

    /// Whether more workers are awake than there are cores, and there is no lookout.
    pub fn lacks_lookout(&self) -> bool {
        self.lacks_cores() && !self.has_lookout()
    }

    /// The caller's thread is about to sleep in a wait, and leaves its core to a sleeper.
    /// [`Sleepers::pass_on`] follows.
    pub fn begin_block(&self) {
        self.awake.blocked.fetch_add(1, Ordering::Relaxed);
    }

    /// The wait is over.
    pub fn end_block(&self) {
        self.awake.blocked.fetch_sub(1, Ordering::Relaxed);
    }

    /// Makes announced worker `me` the lookout if all cores are busy and there is no other. Returns
    /// whether it does. It then sleeps for short times only, until [`Sleepers::end_lookout`].
    pub fn begin_lookout(&self, me: usize) -> bool {
        let lookout = &self.awake.lookout;
        // Ordering: Relaxed: a publisher that misses this wakes a worker.
        self.workers > self.cores
            && self.is_crowded()
            && !self.has_lookout()
            && lookout.compare_exchange(NOBODY, me, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The caller stops being the lookout. Publishers have relied on it until now. So before it
    /// sleeps again, it searches, announces itself anew, or calls [`Sleepers::ask`].
    pub fn end_lookout(&self) {
        // Ordering: SeqCst as in `end_search`.
        self.awake.lookout.swap(NOBODY, Ordering::SeqCst);
    }

    fn unless(&self, me: usize, sees_work: impl FnOnce() -> bool) -> bool {
        let nothing = !sees_work();
        if !nothing {
            self.cancel(me);
        }
        nothing
    }

    /// Sleeps until notified, or for `limit` at most. Returns whether it was notified.
    pub fn sleep(&self, me: usize, limit: Option<Duration>) -> bool {
        let notified = self.slots.sleep(me, limit);
        if notified {
            self.has_come();
        }
        notified
    }

    /// Withdraws the announcement. Returns false if it had received a notification.
    pub fn cancel(&self, me: usize) -> bool {
        let withdrawn = self.slots.cancel(me);
        if !withdrawn {
            self.has_come();
        }
        withdrawn
    }
}

impl std::fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleepers").field("slots", &self.slots).finish_non_exhaustive()
    }
}
