//! Arms and fires timers of a worker, and ensures that they are watched.
//!
//! Each worker arms timers in its own queue, and any worker may fire any timer. Busy workers check
//! all queues now and then. One sleeping worker, the *watcher*, sleeps no longer than until the
//! earliest timer of all (`watcher.rs`).
//!
//! A worker that arms an earlier timer and then continues notifies the watcher. If there is none,
//! it wakes a sleeper, which becomes the watcher, or wakes the next sleeper if it has something
//! else to do. If no worker sleeps, it calls the timekeeper (`timekeeper.rs`), a thread that asks
//! the workers to check when a timer is due. A worker that falls asleep becomes the watcher if
//! there is none.

use super::{Owner, TIMER};
use crate::fiber::Fiber;
use crate::trace;
use crate::unwind::run_and_discard;
use crate::watcher::News;
use sateen_base::prim::time::{Duration, Instant};
use std::task::Waker;

impl Owner {
    /// Records that a timer was armed here that comes before all others here.
    pub(crate) fn note_timer(&self) {
        self.note(News::ARMED);
    }

    /// [`Owner::note_timer`] for a task that may run for long: its next poll announces the timer.
    pub(crate) fn note_timer_and_go_on(&self) {
        self.note_timer();
        self.request(TIMER);
    }

    fn note(&self, news: News) {
        self.timer_news.set(self.timer_news.get() | news);
    }

    /// Called before the worker continues with something that may take long. If it has watched, or
    /// armed a timer, another worker or the timekeeper must watch.
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
        // The user may want no extra thread in such a runtime, so one is started only for a task
        // that polls.
        self.timer_news.take();
        if !self.timers.is_empty() {
            self.request(TIMER);
        }
    }

    fn pass_news_on(&self) {
        let shared = self.shared();
        let own = || shared.ticks(self.timers.earliest());
        let all = || shared.earliest_timer();
        if shared.watcher.pass_on(self.timer_news.take(), &shared.sleep, own, all) {
            shared.timekeeper.call(shared);
        }
    }

    /// Answers [`TIMER`]: fires due timers, and ensures that the others are watched.
    #[cold]
    pub(super) fn mind_timers(&self, fiber: &Fiber) {
        // Clear first, then check: a request raised later stays raised.
        self.requests.clear(TIMER);
        let mut foreign = Vec::new();
        // The caller may be in the middle of a push, with a branch in its frame, so nothing may
        // unwind here.
        run_and_discard(|| self.fire_timers_with(|waker| foreign.push(waker)));
        self.note(News::LOOKED);
        self.pass_news_on();
        // All workers may be as busy as the caller.
        self.call_now(fiber, foreign);
    }

    /// Fires due timers of all workers. Returns whether there were any.
    pub(crate) fn fire_timers(&self) -> bool {
        self.fire_timers_with(|waker| self.call_later(waker))
    }

    /// [`Owner::fire_timers`] that passes to `foreign` the wakers that must not be called here.
    fn fire_timers_with(&self, mut foreign: impl FnMut(Waker)) -> bool {
        let mut now = None;
        let mut fired = 0;
        for worker in self.shared().workers.iter() {
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
        trace::timers_fired(self, fired);
        fired > 0
    }

    /// How long this worker may sleep: until the earliest timer if it watches. Called after it
    /// announced its sleep. [`Owner::stop_watching`] follows when it is awake.
    pub(crate) fn watch_timers(&self) -> Option<Duration> {
        let shared = self.shared();
        if !shared.watcher.watch(self.index()) {
            // A notification tells the watcher of this worker's news.
            self.announce_timer();
            return None;
        }
        self.timer_news.take();
        let earliest = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
        earliest.map(|earliest| earliest.saturating_duration_since(Instant::now()))
    }

    /// The worker is awake. [`Owner::announce_timer`] follows before it continues with something
    /// else.
    pub(crate) fn stop_watching(&self) {
        self.shared().watcher.leave(self.index());
        self.note(News::LOOKED);
    }
}
