//! Models of the threads that mind the timers. The time to fire comes once all threads are quiet.
//! Then some sleeper must have seen the timer. If no worker sleeps, the timekeeper must have seen
//! it.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::{AtomicBool, AtomicU64};
use sateen_runtime::models::request_word::{RequestWord, TIMER};
use sateen_runtime::models::sleepers::Sleepers;
use sateen_runtime::models::watcher::{NEVER, News, Watcher};
use sateen_sync::park::ThreadParker;
use sateen_testkit::model;

/// The slots of the workers that sleep.
const A: usize = 0;
const B: usize = 1;
/// The times of the timers.
const SOON: u64 = 5;
const LATER: u64 = 7;

struct Model {
    sleepers: Sleepers,
    watcher: Watcher,
    /// The time of the earliest timer.
    timer: AtomicU64,
    fired: AtomicBool,
    /// The parker of the timekeeper.
    parker: ThreadParker,
    requests: RequestWord,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sleepers: Sleepers::new(2, None),
            watcher: Watcher::new(),
            timer: AtomicU64::new(NEVER),
            fired: AtomicBool::new(false),
            parker: ThreadParker::new(),
            requests: RequestWord::new(0),
        })
    }

    /// Arms a timer as a worker that stays busy afterwards.
    fn arm(&self) {
        self.timer.store(LATER, Relaxed);
        self.pass_on(News::ARMED);
    }

    fn earliest(&self) -> u64 {
        self.timer.load(Relaxed)
    }

    fn has_timer(&self) -> bool {
        self.earliest() != NEVER
    }

    fn call(&self, calls: bool) {
        if calls {
            self.parker.unpark();
        }
    }

    /// The timekeeper looked at a time that came, and the timer of that time is gone.
    fn looked_before(&self) {
        self.timer.store(SOON, Relaxed);
        assert_eq!(self.watcher.look(|| self.earliest()), SOON);
        self.timer.store(NEVER, Relaxed);
    }

    /// The timekeeper looks when it is called, until it has seen the timer.
    fn look_until_seen(&self) {
        while self.watcher.look(|| self.earliest()) != LATER {
            self.parker.park();
        }
    }

    /// A worker falls asleep. Returns whether it will be awake for the timer.
    fn fall_asleep(&self, me: usize) -> bool {
        assert!(self.sleepers.announce(me, || false));
        self.watcher.watch(me) && self.has_timer()
    }

    /// The worker sleeps until it has seen the timer.
    fn watch_until_seen(&self, me: usize) {
        while !self.fall_asleep(me) {
            self.sleepers.sleep(me, None);
            self.watcher.leave(me);
        }
    }

    /// The worker sleeps until it or another worker has seen the timer.
    fn watch_until_fired(&self, me: usize, other: usize) {
        while self.sleepers.announce(me, || self.fired.load(Relaxed)) {
            if self.watcher.watch(me) && self.has_timer() {
                self.sleepers.cancel(me);
                self.fired.store(true, Relaxed);
                self.sleepers.wake_owner(other);
                return;
            }
            self.sleepers.sleep(me, None);
            self.watcher.leave(me);
        }
    }

    /// A worker is awake and has something to do.
    fn get_busy(&self, me: usize) {
        self.watcher.leave(me);
        self.pass_on(News::LOOKED);
    }

    /// A worker goes on with something else, or leaves for good.
    fn pass_on(&self, news: News) {
        let earliest = || self.earliest();
        self.call(self.watcher.pass_on(news, &self.sleepers, earliest, earliest));
    }
}

/// The only sleeper sees the timer before it sleeps for good, or is told of it.
#[test]
fn a_timer_is_not_slept_through() {
    model(3, || {
        let model = Model::new();
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.watch_until_seen(A)
        });
        model.arm();
        sleeper.join().unwrap();
    });
}

/// Two workers fall asleep. One of them watches, and either may be notified.
#[test]
fn a_timer_is_not_slept_through_by_two() {
    model(2, || {
        let model = Model::new();
        let sleepers = [(A, B), (B, A)].map(|(me, other)| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.watch_until_fired(me, other))
        });
        model.arm();
        sleepers.map(|sleeper| sleeper.join().unwrap());
    });
}

/// The watcher wakes for something else while a timer is armed. The worker that sleeps on takes
/// over.
#[test]
fn a_busy_watcher_hands_on() {
    model(3, || {
        let model = Model::new();
        assert!(!model.fall_asleep(A));
        assert!(!model.fall_asleep(B));
        assert!(model.sleepers.notify(A));
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                assert!(model.sleepers.sleep(A, None));
                model.get_busy(A);
            }
        });
        model.arm();
        other.join().unwrap();
        assert!(!model.sleepers.has_sleepers(), "nobody minds the timer");
    });
}

/// As above, but the other worker is just falling asleep, and finds the first one watching.
#[test]
fn a_busy_watcher_hands_on_to_one_who_falls_asleep() {
    model(3, || {
        let model = Model::new();
        assert!(!model.fall_asleep(A));
        assert!(model.sleepers.notify(A));
        model.timer.store(LATER, Relaxed);
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || model.watch_until_seen(B)
        });
        assert!(model.sleepers.sleep(A, None));
        model.get_busy(A);
        other.join().unwrap();
    });
}

/// A worker that was woken to watch has found something else to do. It wakes the next worker.
#[test]
fn one_who_was_to_watch_hands_on() {
    model(3, || {
        let model = Model::new();
        for slot in [A, B] {
            assert!(model.sleepers.announce(slot, || false));
        }
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                assert!(model.sleepers.sleep(A, None));
                model.get_busy(A);
            }
        });
        model.arm();
        assert!(!model.sleepers.notify(A), "another worker was woken");
        other.join().unwrap();
        assert!(!model.sleepers.has_sleepers(), "nobody minds the timer");
    });
}

/// All workers are awake. The timekeeper, which is just looking for another reason, sees the timer
/// or is called.
#[test]
fn the_stand_in_learns_of_a_timer() {
    model(3, || {
        let model = Model::new();
        model.looked_before();
        let timekeeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.look_until_seen()
        });
        model.arm();
        timekeeper.join().unwrap();
    });
}

/// The watcher goes on with something else, as the last sleeper. The timekeeper may just have seen
/// it watch.
#[test]
fn a_busy_watcher_hands_on_to_the_stand_in() {
    model(3, || {
        let model = Model::new();
        model.looked_before();
        assert!(!model.fall_asleep(A));
        model.timer.store(LATER, Relaxed);
        let timekeeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.look_until_seen()
        });
        model.sleepers.cancel(A);
        model.get_busy(A);
        timekeeper.join().unwrap();
    });
}

/// A substitute watches, or has just armed a timer, and is not needed any more: it lies down. The
/// worker that it stood for stays awake, so the timekeeper takes over. It may just have seen the
/// substitute watch.
fn a_substitute_lies_down(news: News) {
    model(3, move || {
        let model = Model::new();
        model.looked_before();
        if news == News::LOOKED {
            assert!(!model.fall_asleep(A));
            model.sleepers.cancel(A);
        }
        let timekeeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.look_until_seen()
        });
        model.timer.store(LATER, Relaxed);
        model.watcher.leave(A);
        model.pass_on(news);
        timekeeper.join().unwrap();
    });
}

#[test]
fn a_substitute_that_watched_lies_down() {
    a_substitute_lies_down(News::LOOKED);
}

#[test]
fn a_substitute_that_armed_lies_down() {
    a_substitute_lies_down(News::ARMED);
}

/// The timekeeper raises the request for one timer, and the worker fires it. The timekeeper learns
/// of the next timer.
#[test]
fn one_who_answers_calls_for_the_rest() {
    model(3, || {
        let model = Model::new();
        model.timer.store(SOON, Relaxed);
        let timekeeper = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while model.watcher.look(|| model.earliest()) == SOON {
                    model.watcher.raise([&model.requests].into_iter());
                    model.parker.park();
                }
            }
        });
        while !model.requests.has(TIMER) {
            thread::yield_now();
        }
        model.requests.clear(TIMER);
        model.timer.store(LATER, Relaxed);
        model.get_busy(A);
        timekeeper.join().unwrap();
    });
}

/// A worker falls asleep while another one arms a timer. The sleeper or the timekeeper sees it.
#[test]
fn one_who_falls_asleep_or_the_stand_in_learns_of_a_timer() {
    model(2, || {
        let model = Model::new();
        let timekeeper = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while model.watcher.look(|| model.earliest()) == NEVER {
                    if model.fired.load(Relaxed) {
                        return;
                    }
                    model.parker.park();
                }
                model.fired.store(true, Relaxed);
                model.sleepers.wake_owner(A);
            }
        });
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while model.sleepers.announce(A, || model.fired.load(Relaxed)) {
                    if model.watcher.watch(A) && model.has_timer() {
                        model.sleepers.cancel(A);
                        model.fired.store(true, Relaxed);
                        model.parker.unpark();
                        return;
                    }
                    model.sleepers.sleep(A, None);
                    model.watcher.leave(A);
                }
            }
        });
        model.arm();
        timekeeper.join().unwrap();
        sleeper.join().unwrap();
    });
}
