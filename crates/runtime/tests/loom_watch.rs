//! Models of who minds the timers. A timer is a flag here, and the time to fire it comes once all is quiet:
//! then some sleeper must have seen it, or nobody sleeps.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicBool;
use sateen_runtime::sleepers::Sleepers;
use sateen_runtime::watcher::Watcher;

/// Slots of the workers that sleep.
const A: usize = 0;
const B: usize = 1;

struct Model {
    sleepers: Sleepers,
    watcher: Watcher,
    timer: AtomicBool,
    fired: AtomicBool,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sleepers: Sleepers::new(2, None),
            watcher: Watcher::new(),
            timer: AtomicBool::new(false),
            fired: AtomicBool::new(false),
        })
    }

    /// A worker that is busy afterwards.
    fn arm(&self) {
        self.timer.store(true, Relaxed);
        self.watcher.tell(&self.sleepers);
    }

    /// A worker falls asleep; whether it will be awake for the timer.
    fn fall_asleep(&self, me: usize) -> bool {
        assert!(self.sleepers.announce(me, || false));
        self.watcher.watch(me) && self.timer.load(Relaxed)
    }

    /// Sleeps until it has seen the timer.
    fn watch_until_seen(&self, me: usize) {
        while !self.fall_asleep(me) {
            self.sleepers.sleep(me, None);
            self.watcher.leave(me);
        }
    }

    /// Sleeps until it has seen the timer, or somebody has.
    fn watch_until_fired(&self, me: usize, other: usize) {
        while self.sleepers.announce(me, || self.fired.load(Relaxed)) {
            if self.watcher.watch(me) && self.timer.load(Relaxed) {
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
        self.watcher.hand_on(&self.sleepers, || self.timer.load(Relaxed));
    }
}

fn check(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// The only sleeper sees the timer before it sleeps for good, or is told.
#[test]
fn a_timer_is_not_slept_through() {
    check(3, || {
        let model = Model::new();
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.watch_until_seen(A)
        });
        model.arm();
        sleeper.join().unwrap();
    });
}

/// Two fall asleep: one watches, and the other may be the one who is told.
#[test]
fn a_timer_is_not_slept_through_by_two() {
    check(2, || {
        let model = Model::new();
        let sleepers = [(A, B), (B, A)].map(|(me, other)| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.watch_until_fired(me, other))
        });
        model.arm();
        sleepers.map(|sleeper| sleeper.join().unwrap());
    });
}

/// The watcher wakes for something else while a timer is armed: the one who sleeps on takes over.
#[test]
fn a_busy_watcher_hands_on() {
    check(3, || {
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

/// As above, but the other one is just falling asleep, and finds the first one watching.
#[test]
fn a_busy_watcher_hands_on_to_one_who_falls_asleep() {
    check(3, || {
        let model = Model::new();
        assert!(!model.fall_asleep(A));
        assert!(model.sleepers.notify(A));
        model.timer.store(true, Relaxed);
        let other = thread::spawn({
            let model = Arc::clone(&model);
            move || model.watch_until_seen(B)
        });
        assert!(model.sleepers.sleep(A, None));
        model.get_busy(A);
        other.join().unwrap();
    });
}

/// A worker that was woken in order to watch, and has found something else to do, wakes the next.
#[test]
fn one_who_was_to_watch_hands_on() {
    check(3, || {
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
        other.join().unwrap();
        assert!(!model.sleepers.has_sleepers(), "nobody minds the timer");
    });
}
