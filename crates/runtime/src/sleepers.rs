//! Who sleeps, who searches, and who is sent for new work.
//!
//! The steps of the sleep protocol that lie on both sides of a fence; in between the caller says what to
//! look at and whom to ask. Order and proof: `README.md`, "Sleeping".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Ordering, fence as full_fence};
use sateen_base::{CachePadded, fence};
use sateen_sync::EventCount;

/// See the [module's documentation](self).
pub struct Sleepers {
    slots: EventCount,
    /// Workers that look for work and have found none yet.
    searching: CachePadded<AtomicUsize>,
    alarm: Option<Alarm>,
}

/// Called with the number of a worker that has been notified, where its sleep is a policy's own.
#[cfg(not(loom))]
pub type Alarm = Box<dyn Fn(usize) + Send + Sync>;
/// Models have no policies.
#[cfg(loom)]
pub type Alarm = fn(usize);

impl Sleepers {
    /// A slot for each of `workers`, none of which sleeps or searches.
    pub fn new(workers: usize, alarm: Option<Alarm>) -> Self {
        let searching = CachePadded::new(AtomicUsize::new(0));
        Self { slots: EventCount::new(workers), searching, alarm }
    }

    /// Whether anybody sleeps, or is about to. The caller has fenced after what it published.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        self.slots.has_sleepers()
    }

    /// How many sleep, about.
    pub fn sleepers(&self) -> usize {
        self.slots.sleepers()
    }

    /// How many sleep and were not notified; each is looked at once. Those that have been since may
    /// still be counted.
    pub fn announced(&self) -> usize {
        self.slots.announced()
    }

    /// How many search, about.
    pub fn searching(&self) -> usize {
        // Ordering: Relaxed, a figure.
        self.searching.load(Ordering::Relaxed)
    }

    /// Wakes worker `index` if it sleeps; whether it did. The caller has fenced.
    pub fn notify(&self, index: usize) -> bool {
        let woken = self.slots.notify(index);
        if woken {
            self.sound(index);
        }
        woken
    }

    /// Wakes one sleeper, if there is one; whether there was. The caller has fenced.
    #[cold]
    pub fn notify_one(&self) -> bool {
        let woken = self.slots.notify_one();
        if let Some(index) = woken {
            self.sound(index);
        }
        woken.is_some()
    }

    /// Calls the alarm, if there is one.
    pub fn sound(&self, index: usize) {
        if let Some(alarm) = &self.alarm {
            alarm(index);
        }
    }

    /// Wakes worker `index`, for which alone something was put where it looks, if it sleeps; whether it
    /// did. If not it is awake, and will look before it sleeps.
    pub fn wake_owner(&self, index: usize) -> bool {
        if !canary!("sleep_wake_owner_no_fence") {
            // Partner: the fence in `announce`: either we see the sleeper, or it sees what is there.
            full_fence(Ordering::SeqCst);
        }
        self.notify(index)
    }

    // ---- who publishes ----

    /// Wakes one sleeper for what was just published, unless some worker searches anyway; that one will
    /// wake the next. The caller has fenced in between.
    #[inline]
    pub fn wake_searcher(&self) {
        // Ordering: Relaxed; the caller's fence orders these after its publication. A searcher that
        // gives up rescans after announcing itself as a sleeper, and the last one that found something
        // looks for more, so what is out by now is not missed.
        if self.slots.has_sleepers() && self.searching.load(Ordering::Relaxed) == 0 {
            self.notify_one();
        }
    }

    // ---- who searches ----

    /// The caller begins to search; how many others do.
    pub fn begin_search(&self) -> usize {
        // Ordering: SeqCst as part of the handshake with `wake_searcher`: it trusts a searcher to see
        // what was pushed before, or, giving up, to rescan.
        self.searching.fetch_add(1, Ordering::SeqCst)
    }

    /// The caller searches no more; whether it was the last. One who was, and goes on to do something,
    /// calls [`Sleepers::pass_on`].
    pub fn end_search(&self) -> bool {
        // Ordering: as in `begin_search`.
        self.searching.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Sends a sleeper if there is work that it could take: for those that others have relied on and that
    /// have something else to do.
    pub fn pass_on(&self, has_stealable: impl FnOnce() -> bool) {
        if !canary!("sleep_pass_on_no_fence") {
            // Partner: the fence between publication and `wake_searcher`.
            full_fence(Ordering::SeqCst);
        }
        if self.slots.has_sleepers() && has_stealable() {
            self.notify_one();
        }
    }

    // ---- who sleeps ----

    /// First step of worker `me`: announces it and looks. False: `sees_work`, and the announcement is
    /// taken back. After true it may sleep for a while, but not for good.
    pub fn announce(&self, me: usize, sees_work: impl FnOnce() -> bool) -> bool {
        self.slots.announce(me);
        if !canary!("sleep_announce_no_fence") {
            // Partner: the full fences in `submit` and `wake_owner`.
            full_fence(Ordering::SeqCst);
        }
        self.unless(me, sees_work)
    }

    /// Second step, of an announced worker: asks everyone else, by [`RequestWord::insist`], for what they
    /// have, and looks at what they have not answered with. False as in [`Sleepers::announce`]. After true
    /// nothing can be missed.
    ///
    /// [`RequestWord::insist`]: crate::request_word::RequestWord::insist
    pub fn ask(&self, me: usize, insist: impl FnOnce(), sees_work: impl FnOnce() -> bool) -> bool {
        // From now on a worker that pushes a private job publishes it and looks for sleepers ...
        if canary!("sleep_ask_after_look") {
            fence::heavy();
            let quiet = self.unless(me, sees_work);
            insist();
            return quiet;
        }
        insist();
        // ... and what was pushed without that is visible after this.
        if !canary!("sleep_ask_no_fence") {
            fence::heavy();
        }
        self.unless(me, sees_work)
    }

    fn unless(&self, me: usize, sees_work: impl FnOnce() -> bool) -> bool {
        let quiet = !sees_work();
        if !quiet {
            self.slots.cancel(me);
        }
        quiet
    }

    /// Sleeps until notified (true), at most for `limit`.
    pub fn sleep(&self, me: usize, limit: Option<Duration>) -> bool {
        self.slots.sleep(me, limit)
    }

    /// Takes the announcement back.
    pub fn cancel(&self, me: usize) {
        self.slots.cancel(me);
    }
}

impl std::fmt::Debug for Sleepers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleepers").field("slots", &self.slots).finish_non_exhaustive()
    }
}
