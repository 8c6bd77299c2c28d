//! The watcher word: which sleeping worker watches timers, and when the timekeeper checks them
//! next.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | 0 | no worker watches | a worker that falls asleep: to its own |
//! | i + 1 | worker i watches: it sleeps until the earliest timer, or is awake again | it, awake |
//!
//! | until | meaning | set by |
//! |---|---|---|
//! | a time | the timekeeper checks then, without a call | it, after a check |
//! | [`NEVER`] | the timekeeper checks when called, or is checking | it, before each check |
//!
//! Each timer that a worker has announced is watched in one of these ways:
//!
//! * the watcher has seen it; or
//! * an awake worker will check before it sleeps or continues with something else; or
//! * the timekeeper will check in time, or is called, or has raised a request at all workers.
//!
//! Proof: `README.md`, "Timers".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::request_word::{RequestWord, TIMER};
use crate::sleepers::Sleepers;
use sateen_base::prim::searched::{AtomicU64, AtomicUsize};
use sateen_base::prim::{Ordering, fence};

/// What a worker knows of the timers that the watcher may not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News(u8);

impl News {
    /// A timer was armed at the worker that comes before all others there.
    pub const ARMED: Self = Self(1);
    /// The worker has slept, or checked all timers, and has not continued with anything since.
    pub const LOOKED: Self = Self(2);

    fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }
}

impl std::ops::BitOr for News {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Later than all times, which are nanoseconds since some moment.
pub const NEVER: u64 = u64::MAX;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Watcher {
    word: AtomicUsize,
    until: AtomicU64,
}

impl Watcher {
    /// Starts without a watcher.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { word: AtomicUsize::new(0), until: AtomicU64::new(NEVER) }
    }

    /// Makes worker `me`, which has announced its sleep, the watcher unless there is one. Returns
    /// whether it is; it then checks all timers, and sleeps no longer than until the earliest.
    pub fn watch(&self, me: usize) -> bool {
        // Ordering: Relaxed; ordered by the fence below and the one after the announcement.
        let before = self.word.compare_exchange(0, me + 1, Ordering::Relaxed, Ordering::Relaxed);
        let watches = before.map_or_else(|other| other == me + 1, |_| true);
        if watches {
            // Partner: the fence in `tell`. Either we see the timer, or the arming worker sees us.
            fence(Ordering::SeqCst);
        }
        watches
    }

    /// A worker with `news` continues with something that may take long, or leaves. `own` and `all`
    /// return when its own earliest timer, and the earliest of all workers, is due. Returns true if
    /// no worker will watch it, so that the caller must call the timekeeper.
    pub fn pass_on(
        &self,
        news: News,
        sleepers: &Sleepers,
        own: impl FnOnce() -> u64,
        all: impl FnOnce() -> u64,
    ) -> bool {
        // Do both, because the word may change in between.
        let told = news.has(News::ARMED) && self.tell(sleepers, own);
        let handed_on = news.has(News::LOOKED) && self.hand_on(sleepers, all);
        told || handed_on
    }

    /// A worker has armed a timer that comes before all others of its own, whose time `earliest`
    /// returns. Result as in [`Watcher::pass_on`].
    fn tell(&self, sleepers: &Sleepers, earliest: impl FnOnce() -> u64) -> bool {
        // Partners: the fences in `watch`, `hand_on` and `look`.
        fence(Ordering::SeqCst);
        match self.word.load(Ordering::Relaxed) {
            0 => self.pass(sleepers, earliest),
            watcher => {
                // If the watcher is awake, it will check.
                sleepers.notify(watcher - 1);
                false
            }
        }
    }

    /// Worker `me` is awake. [`Watcher::pass_on`] with [`News::LOOKED`] follows before it continues
    /// with something that may take long.
    pub fn leave(&self, me: usize) {
        // Ordering: Relaxed, see `watch`.
        if self.word.load(Ordering::Relaxed) == me + 1 {
            self.word.store(0, Ordering::Relaxed);
        }
    }

    /// The caller has been awake, perhaps to watch, and continues with something else. If there are
    /// timers, another worker must watch. `earliest` covers all workers. Result as in
    /// [`Watcher::pass_on`].
    fn hand_on(&self, sleepers: &Sleepers, earliest: impl FnOnce() -> u64) -> bool {
        // Partners: the fences in `tell` and `look`, and the fence after the announcement of a
        // sleeper that found us watching.
        fence(Ordering::SeqCst);
        self.word.load(Ordering::Relaxed) == 0 && self.pass(sleepers, earliest)
    }

    /// No worker watches. Chooses another one, or the timekeeper if all are awake.
    fn pass(&self, sleepers: &Sleepers, earliest: impl FnOnce() -> u64) -> bool {
        let at = earliest();
        // Ordering: Relaxed; the caller's fence and the one in `look` order it.
        at != NEVER && !sleepers.notify_one() && at < self.until.load(Ordering::Relaxed)
    }

    /// The timekeeper checks `earliest` of all, unless a worker watches. Returns until when it may
    /// sleep, unless it is called.
    pub fn look(&self, earliest: impl FnOnce() -> u64) -> u64 {
        self.unset_until();
        // Partners: the fences in `tell` and `hand_on`. Either we see the timer, and that the
        // worker no longer watches, or the worker sees that it must call.
        fence(Ordering::SeqCst);
        if self.word.load(Ordering::Relaxed) != 0 {
            return NEVER;
        }
        let at = earliest();
        self.until.store(at, Ordering::Relaxed);
        at
    }

    /// The timekeeper's time has come. Raises [`TIMER`] at all workers. A worker that answers fires
    /// due timers, and calls the timekeeper for the rest. So the timekeeper may sleep until it is
    /// called.
    pub fn raise<'a>(&self, workers: impl Iterator<Item = &'a RequestWord>) {
        // Before the requests, so that a worker that answers one sees that it must call.
        self.unset_until();
        workers.for_each(|requests| _ = requests.insist(TIMER));
    }

    fn unset_until(&self) {
        // Ordering: Relaxed; the fence in `look`, or raising a request, makes it visible.
        self.until.store(NEVER, Ordering::Relaxed);
    }
}
