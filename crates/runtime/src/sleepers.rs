//! Which workers sleep, which search, and which one is woken for new work.
//!
//! Where workers outnumber cores, one of the sleepers is the *lookout*. It looks now and then
//! whether work waits that no awake worker takes. So a publisher need not wake a worker for which
//! there is no core.
//!
//! Holds the steps of the sleep protocol that lie on both sides of a fence. The caller says in
//! between what to look at and which workers to ask. Order and proof: `README.md`, "Sleeping".

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
    /// As many workers are awake when none sleeps.
    workers: usize,
    /// As many run at once.
    cores: usize,
    alarm: Option<Alarm>,
    /// How often a thread that is no worker woke one. Guards nothing.
    #[cfg(not(loom))]
    outside: sateen_base::prim::AtomicU64,
}

/// No worker's number.
const NOBODY: usize = usize::MAX;

/// What a publisher reads before it wakes a worker.
struct Awake {
    /// Workers that look for work and have found none yet.
    searching: AtomicUsize,
    /// Workers that were notified and have not noticed yet, for which publishers wait.
    coming: AtomicUsize,
    /// The number of the lookout, or [`NOBODY`].
    lookout: AtomicUsize,
    /// Workers whose threads sleep in a wait, and that nobody replaces.
    blocked: AtomicUsize,
}

/// Called with the number of a worker that has been notified, where a policy sleeps in its own way.
#[cfg(not(loom))]
pub type Alarm = Box<dyn Fn(usize) + Send + Sync>;
/// Models have no policies.
#[cfg(loom)]
pub type Alarm = fn(usize);

impl Sleepers {
    /// A slot for each of `workers`, none of which sleeps or searches. Each has a core.
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

    /// The same where `workers` of them work at once, on `cores`.
    pub fn with_cores(self, workers: usize, cores: usize) -> Self {
        Self { workers, cores, ..self }
    }

    /// Whether any worker sleeps, or is about to. The caller has fenced after what it published.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        self.slots.has_sleepers()
    }

    /// How many sleep, about.
    pub fn sleepers(&self) -> usize {
        self.slots.sleepers()
    }

    /// How many sleep and were not notified. Each is looked at once, so one that was notified since
    /// may still be counted.
    pub fn announced(&self) -> usize {
        self.slots.announced()
    }

    /// How many search, about.
    pub fn searching(&self) -> usize {
        // Ordering: Relaxed, a figure.
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
        // Without the lookout the next publisher would wake a worker for which there is no core.
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

    /// How many workers were woken by threads that are no workers.
    #[cfg(not(loom))]
    pub fn woken_from_outside(&self) -> u64 {
        // Ordering: Relaxed, a figure.
        self.outside.load(Ordering::Relaxed)
    }

    /// A worker was woken: counts that, and calls the alarm, if there is one.
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

    /// Wakes worker `index` if it sleeps: something was put where that worker alone looks. Returns
    /// whether it slept. If not, it is awake, and will look before it sleeps.
    pub fn wake_owner(&self, index: usize) -> bool {
        // Partner: the fence in `announce`. Either this sees the sleeper, or the sleeper sees
        // what was put.
        full_fence(Ordering::SeqCst);
        self.notify(index)
    }

    // ---- for publishers ----

    /// Wakes one sleeper for what was just published. It wakes none if some worker searches anyway,
    /// which will wake the next; nor if all cores have workers, and a lookout looks soon. Returns
    /// whether it woke one. The caller has fenced after it published.
    #[inline]
    pub fn wake_searcher(&self) -> bool {
        // Ordering: Relaxed; the caller's fence orders these after its publication. Work that is
        // public by now is not missed. A searcher that gives up looks again after it announced its
        // sleep, and the last searcher that found something looks for more. A lookout looks again
        // after it has ceased to be one.
        self.slots.has_sleepers()
            && self.awake.searching.load(Ordering::Relaxed) == 0
            && !self.is_looked_out_for()
            && self.notify_one()
    }

    fn has_lookout(&self) -> bool {
        // Ordering: Relaxed, as in `wake_searcher`.
        self.awake.lookout.load(Ordering::Relaxed) != NOBODY
    }

    /// Whether a worker more would have no core, and a lookout sees to it that no work is left.
    #[inline]
    fn is_looked_out_for(&self) -> bool {
        self.has_lookout() && self.is_crowded()
    }

    /// Whether a worker was notified that has not noticed yet, or one searches. It then looks for
    /// work, or has [`Sleepers::pass_on`] look. The caller has fenced after it published.
    #[inline]
    pub fn are_coming(&self) -> bool {
        // Ordering: Relaxed, as in `wake_searcher`.
        (self.awake.coming.load(Ordering::Relaxed) as isize) > 0 || self.searching() > 0
    }

    /// A worker was notified. It may have noticed already: the count is below zero for a moment
    /// then. While it is above, at least one worker has not noticed.
    fn will_come(&self) {
        // Ordering: Relaxed; the owner that reads it most is the caller.
        self.awake.coming.fetch_add(1, Ordering::Relaxed);
    }

    /// The calling worker has noticed that it was notified.
    fn has_come(&self) {
        // Ordering: SeqCst as in `begin_search`. A publisher that counts on this worker has
        // published before it read the count; the worker looks for work after this.
        self.awake.coming.fetch_sub(1, Ordering::SeqCst);
    }

    // ---- for searchers ----

    /// The caller begins to search. Returns how many others do.
    pub fn begin_search(&self) -> usize {
        // Ordering: SeqCst as part of the handshake with `wake_searcher`. That call trusts a
        // searcher to see what was pushed before, or to look again when it gives up.
        self.awake.searching.fetch_add(1, Ordering::SeqCst)
    }

    /// The caller searches no more. Returns whether it was the last searcher. The last one calls
    /// [`Sleepers::pass_on`] if it goes on to do something.
    pub fn end_search(&self) -> bool {
        // Ordering: as in `begin_search`.
        self.awake.searching.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Wakes a sleeper if there is work that it could take. For a worker that others have relied on
    /// and that has something else to do.
    /// Returns whether it did.
    pub fn pass_on(&self, has_stealable: impl FnOnce() -> bool) -> bool {
        // Partner: the fence between publication and `wake_searcher`.
        full_fence(Ordering::SeqCst);
        self.slots.has_sleepers()
            && !self.is_looked_out_for()
            && has_stealable()
            && self.notify_one()
    }

    /// Wakes a sleeper for work that may come, if it would have a core, and no worker searches.
    /// Returns whether it did.
    #[cfg(not(loom))]
    pub fn wake_ahead(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.awake.searching.load(Ordering::Relaxed) == 0
            && self.slots.has_sleepers()
            && !self.is_crowded()
            && self.notify_one()
    }

    // ---- for sleepers ----

    /// First step of worker `me`: announces it, then looks. False: it `sees_work`, and the
    /// announcement is taken back. After true it may sleep for a while, but not for good.
    pub fn announce(&self, me: usize, sees_work: impl FnOnce() -> bool) -> bool {
        self.slots.announce(me);
        // Partner: the full fences in `submit` and `wake_owner`.
        full_fence(Ordering::SeqCst);
        self.unless(me, sees_work)
    }

    /// Second step, of an announced worker: asks all others, by [`RequestWord::insist`], for what
    /// they have, then looks at what is still private. False as in [`Sleepers::announce`]. After
    /// true it can miss nothing.
    ///
    /// [`RequestWord::insist`]: crate::request_word::RequestWord::insist
    pub fn ask(&self, me: usize, insist: impl FnOnce(), sees_work: impl FnOnce() -> bool) -> bool {
        // From now on a worker that pushes a private job publishes it and looks for sleepers ...
        insist();
        // ... and what was pushed without that is visible after this.
        fence::heavy();
        self.unless(me, sees_work)
    }

    /// How many workers run at once.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// How many workers want a core, about.
    fn awake(&self) -> usize {
        // Ordering: Relaxed, a figure. A wrong one costs a wake-up for nothing, or leaves work to
        // the lookout.
        let resting = self.slots.sleepers() + self.awake.blocked.load(Ordering::Relaxed);
        self.workers.saturating_sub(resting)
    }

    /// Whether as many workers are awake as there are cores, about.
    pub fn is_crowded(&self) -> bool {
        self.awake() >= self.cores
    }

    /// Whether more workers are awake than there are cores, about.
    pub fn lacks_cores(&self) -> bool {
        self.awake() > self.cores
    }

    /// Whether more workers are awake than there are cores, and none looks out.
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

    /// Worker `me`, announced, becomes the lookout, if all cores have workers and no other is.
    /// Returns whether it does. It sleeps for short times only, until [`Sleepers::end_lookout`].
    pub fn begin_lookout(&self, me: usize) -> bool {
        let lookout = &self.awake.lookout;
        // Ordering: Relaxed: a publisher that misses this wakes a worker.
        self.workers > self.cores
            && self.is_crowded()
            && !self.has_lookout()
            && lookout.compare_exchange(NOBODY, me, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The caller is the lookout no more. It searches, announces itself anew, or calls
    /// [`Sleepers::ask`] before it sleeps again: publishers have relied on it until now.
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

    /// Sleeps until notified (true), for `limit` at most.
    pub fn sleep(&self, me: usize, limit: Option<Duration>) -> bool {
        let notified = self.slots.sleep(me, limit);
        if notified {
            self.has_come();
        }
        notified
    }

    /// Takes the announcement back. Returns false if a notification had been given to it.
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
