//! Who minds the timers.
//!
//! Each worker arms in a queue of its own, and anybody may fire any. Busy workers look at all queues now
//! and then; among the sleeping ones a single *watcher* sleeps no longer than until the earliest timer of
//! all (`watcher.rs`). A worker that arms an earlier one and then goes on with something else tells the
//! watcher, or wakes a sleeper, who becomes the watcher or, with something else to do, wakes the next;
//! one that goes to sleep next becomes the watcher itself. If nobody sleeps, a thread that is no worker is
//! called (`timekeeper.rs`), which asks the workers to look when it is time.

use super::{Owner, TIMER};
use crate::fiber::Fiber;
use crate::unwind::run_and_discard;
use sateen_base::prim::time::{Duration, Instant};
use std::task::Waker;

/// What a worker knows and whoever minds the timers may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News(u8);

impl News {
    /// A timer was armed here that comes before all others here.
    const ARMED: u8 = 1;
    /// The worker has slept, or looked at all timers, and has not gone on with anything since.
    const LOOKED: u8 = 2;

    fn has(self, what: u8) -> bool {
        self.0 & what != 0
    }
}

impl Owner {
    /// A timer was armed here that comes before all others here.
    pub(crate) fn note_timer(&self) {
        self.note(News::ARMED);
    }

    /// [`Owner::note_timer`], by a task that may go on for long: at its next poll it says so.
    pub(crate) fn note_timer_and_go_on(&self) {
        self.note_timer();
        self.request(TIMER);
    }

    fn note(&self, what: u8) {
        self.timer_news.set(News(self.timer_news.get().0 | what));
    }

    /// The worker goes on with something that may take long: if it has watched, or armed a timer, somebody
    /// else has to mind the timers.
    #[inline]
    pub(crate) fn announce_timer(&self) {
        if self.timer_news.get() != News::default() {
            self.announce_timer_slow();
        }
    }

    #[cold]
    fn announce_timer_slow(&self) {
        if !self.shared().pumped {
            return self.pass_news_on();
        }
        // Such a runtime may be meant to have no other thread: one is made only for a task that polls.
        self.timer_news.take();
        if !self.timers.is_empty() {
            self.request(TIMER);
        }
    }

    fn pass_news_on(&self) {
        let shared = self.shared();
        let news = self.timer_news.take();
        let mut calls = false;
        if news.has(News::ARMED) {
            calls |= shared.watcher.tell(&shared.sleep, || shared.ticks(self.timers.earliest()));
        }
        if news.has(News::LOOKED) {
            calls |= shared.watcher.hand_on(&shared.sleep, || shared.earliest_timer());
        }
        if calls {
            shared.timekeeper.call(shared);
        }
    }

    /// Answers [`TIMER`]: fires what is due, and sees to it that somebody minds the rest.
    #[cold]
    pub(super) fn mind_timers(&self, fiber: &Fiber) {
        // First clear, then look: what is raised later stands.
        self.requests.clear(TIMER);
        let mut foreign = Vec::new();
        // The caller may be in the middle of a push, with a branch in its frame: nothing unwinds here.
        run_and_discard(|| self.fire_timers_with(|waker| foreign.push(waker)));
        self.note(News::LOOKED);
        self.pass_news_on();
        // Everybody may be busy, as the caller is.
        self.call_now(fiber, foreign);
    }

    /// Fires what is due, at every worker. Whether anything was.
    pub(crate) fn fire_timers(&self) -> bool {
        self.fire_timers_with(|waker| self.call_later(waker))
    }

    /// [`Owner::fire_timers`], giving `foreign` the wakers that may not be called here.
    fn fire_timers_with(&self, mut foreign: impl FnMut(Waker)) -> bool {
        let mut now = None;
        let mut fired = 0;
        for worker in &self.shared().workers {
            if let Some(earliest) = worker.timers.earliest() {
                let now = *now.get_or_insert_with(Instant::now);
                if earliest <= now {
                    fired += worker.timers.fire_with(now, |waker| match self.owns(&waker) {
                        true => waker.wake(),
                        false => foreign(waker),
                    });
                }
            }
        }
        fired > 0
    }

    /// How long this worker may sleep: no longer than until the earliest timer, if it is to watch.
    /// Called after it announced its sleep; [`Owner::stop_watching`] follows when it is awake.
    pub(crate) fn watch_timers(&self) -> Option<Duration> {
        let shared = self.shared();
        if !shared.watcher.watch(self.index()) {
            // Whoever watches learns of our news by a notification.
            self.announce_timer();
            return None;
        }
        self.timer_news.take();
        let earliest = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
        earliest.map(|earliest| earliest.saturating_duration_since(Instant::now()))
    }

    /// The worker is awake. Before it goes on with something else, [`Owner::announce_timer`] follows.
    pub(crate) fn stop_watching(&self) {
        self.shared().watcher.leave(self.index());
        self.note(News::LOOKED);
    }
}
