//! Who minds the timers.
//!
//! Each worker arms in a queue of its own, and anybody may fire any. Busy workers look at all queues now
//! and then; among the sleeping ones a single *watcher* sleeps no longer than until the earliest timer of
//! all (`watcher.rs`). A worker that arms an earlier one and then goes on with something else tells the
//! watcher, or wakes a sleeper, who becomes the watcher or, with something else to do, wakes the next;
//! one that goes to sleep next becomes the watcher itself.

use super::Worker;
use sateen_base::prim::time::{Duration, Instant};

impl Worker {
    /// A timer was armed here that comes before all others here.
    pub(crate) fn note_timer(&self) {
        self.own.timer_news.set(true);
    }

    /// The worker goes on with something that may take long: somebody else has to mind the new timer.
    #[inline]
    pub(crate) fn announce_timer(&self) {
        if self.own.timer_news.get() {
            self.announce_timer_slow();
        }
    }

    #[cold]
    fn announce_timer_slow(&self) {
        self.own.timer_news.set(false);
        self.shared().watcher.tell(&self.shared().sleep);
    }

    /// Fires what is due, at every worker. Whether anything was.
    pub(crate) fn fire_timers(&self) -> bool {
        let mut now = None;
        let mut fired = 0;
        for worker in &self.shared().workers {
            if let Some(earliest) = worker.timers.earliest() {
                let now = *now.get_or_insert_with(Instant::now);
                if earliest <= now {
                    fired += worker.timers.fire(now);
                }
            }
        }
        fired > 0
    }

    /// How long this worker may sleep: no longer than until the earliest timer, if it is to watch.
    /// Called after it announced its sleep; [`Worker::stop_watching`] follows when it is awake.
    pub(crate) fn watch_timers(&self) -> Option<Duration> {
        let shared = self.shared();
        if !shared.watcher.watch(self.index) {
            // Whoever watches learns of our news by a notification.
            self.announce_timer();
            return None;
        }
        self.own.timer_news.set(false);
        let earliest = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
        earliest.map(|earliest| earliest.saturating_duration_since(Instant::now()))
    }

    /// The worker is awake. Before it goes on with something else, [`Worker::hand_watch_on`] follows.
    pub(crate) fn stop_watching(&self) {
        self.shared().watcher.leave(self.index);
        self.own.was_asleep.set(true);
    }

    /// The worker has something to do. Should it have been woken in order to watch, another has to.
    #[inline]
    pub(crate) fn hand_watch_on(&self) {
        if self.own.was_asleep.replace(false) {
            let shared = self.shared();
            let has_timers = || shared.workers.iter().any(|worker| !worker.timers.is_empty());
            shared.watcher.hand_on(&shared.sleep, has_timers);
        }
    }
}
