//! Who minds the timers.
//!
//! Each worker arms in a queue of its own, and anybody may fire any. Busy workers look at all queues now
//! and then; among the sleeping ones a single *watcher* sleeps no longer than until the earliest timer of
//! all. A worker that arms an earlier one and then goes on with something else tells the watcher, or
//! makes a sleeper the watcher; one that goes to sleep next becomes the watcher itself.

use super::Worker;
use sateen_base::prim::Ordering;
use sateen_base::prim::time::{Duration, Instant};

impl Worker {
    /// A timer was armed here that comes before all others here.
    pub(crate) fn note_timer(&self) {
        self.own.timer_news.set(true);
    }

    /// The worker goes on with something that may take long: somebody else has to mind the new timer.
    #[inline]
    pub(super) fn announce_timer(&self) {
        if self.own.timer_news.get() {
            self.announce_timer_slow();
        }
    }

    #[cold]
    fn announce_timer_slow(&self) {
        self.own.timer_news.set(false);
        let shared = self.shared();
        // Ordering: SeqCst with the fence below: either we see the watcher, or it sees the timer.
        sateen_base::prim::fence(Ordering::SeqCst);
        match shared.watcher.load(Ordering::Relaxed) {
            0 => {
                shared.sleep.notify_one();
            }
            slot => {
                shared.sleep.notify(slot - 1);
            }
        }
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
    /// Called after it announced its sleep; [`Worker::stop_watching`] follows.
    pub(crate) fn watch_timers(&self) -> Option<Duration> {
        let shared = self.shared();
        let me = self.index + 1;
        // Whoever watches already learns of our news by a notification.
        let free = shared.watcher.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire);
        if let Err(other) = free
            && other != me
        {
            self.announce_timer();
            return None;
        }
        self.own.timer_news.set(false);
        // Ordering: see `announce_timer_slow`.
        sateen_base::prim::fence(Ordering::SeqCst);
        let earliest = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
        earliest.map(|earliest| earliest.saturating_duration_since(Instant::now()))
    }

    /// The worker is awake. If it watched and has something else to do, another takes over.
    pub(crate) fn stop_watching(&self, busy: bool) {
        let shared = self.shared();
        let me = self.index + 1;
        if shared.watcher.load(Ordering::Relaxed) != me {
            return;
        }
        shared.watcher.store(0, Ordering::Release);
        if busy && shared.workers.iter().any(|worker| !worker.timers.is_empty()) {
            shared.sleep.notify_one();
        }
    }
}
