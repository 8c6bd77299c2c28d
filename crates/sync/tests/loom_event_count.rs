//! Models of the eventcount: the Dekker handshake of its callers, and the conservation of
//! notifications.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use sateen_base::fence::{heavy, light};
use sateen_sync::EventCount;
use sateen_testkit::model;
use std::time::Duration;

/// Work is a number. A publisher raises it, and each worker takes one from it.
struct Shop {
    sleepers: EventCount,
    work: AtomicUsize,
    done: AtomicUsize,
}

impl Shop {
    fn new(slots: usize) -> Arc<Self> {
        let (work, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { sleepers: EventCount::new(slots), work, done })
    }

    fn take(&self) -> bool {
        // As in a real worker, a scan begins with a plain read, which is why the fence is needed.
        if self.work.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let taken = self
            .work
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |n| n.checked_sub(1))
            .is_ok();
        if taken {
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    fn publish(&self) {
        self.work.fetch_add(1, Ordering::Release);
        light();
        if self.sleepers.has_sleepers() {
            self.sleepers.notify_one();
        }
    }

    /// Runs until it has taken one piece of work.
    fn work_once(&self, slot: usize) {
        while !self.take() {
            self.sleepers.announce(slot);
            heavy();
            if self.work.load(Ordering::Relaxed) != 0 {
                self.sleepers.cancel(slot);
            } else {
                self.sleepers.sleep(slot, None);
            }
        }
    }
}

/// A worker never sleeps for ever while work is there. Loom reports the deadlock.
#[test]
fn no_wake_up_is_lost() {
    model(3, || {
        let shop = Shop::new(1);
        let worker = thread::spawn({
            let shop = shop.clone();
            move || shop.work_once(0)
        });
        shop.publish();
        worker.join().unwrap();
        assert_eq!(shop.done.load(Ordering::Relaxed), 1);
        assert_eq!(shop.sleepers.sleepers(), 0);
    });
}

/// Two workers and two pieces of work. Each publication wakes a worker that is needed.
#[test]
fn two_workers_two_pieces() {
    model(2, || {
        let shop = Shop::new(2);
        let workers = [0, 1].map(|slot| {
            let shop = shop.clone();
            thread::spawn(move || shop.work_once(slot))
        });
        shop.publish();
        shop.publish();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(shop.done.load(Ordering::Relaxed), 2);
        assert_eq!(shop.sleepers.sleepers(), 0);
    });
}

/// A notification goes to exactly one of `sleep` and `cancel`, at whatever moment it comes.
#[test]
fn a_notification_is_given_once() {
    model(3, || {
        let count = Arc::new(EventCount::new(1));
        count.announce(0);
        let notifier = thread::spawn({
            let count = count.clone();
            move || count.notify_one().is_some()
        });
        let notified = count.sleep(0, Some(Duration::from_millis(1))) || !count.cancel(0);
        let given = notifier.join().unwrap();
        assert_eq!(notified, given);
        // The slot can be used as if it were new.
        count.announce(0);
        assert_eq!(count.sleepers(), 1);
        assert!(count.cancel(0));
        assert_eq!(count.sleepers(), 0);
    });
}

/// Two notifiers never both claim one announcement.
#[test]
fn an_announcement_is_claimed_once() {
    model(3, || {
        let count = Arc::new(EventCount::new(1));
        count.announce(0);
        let notifiers = [false, true].map(|direct| {
            let count = count.clone();
            thread::spawn(
                move || {
                    if direct { count.notify(0) } else { count.notify_one().is_some() }
                },
            )
        });
        assert!(count.sleep(0, None));
        let given: usize = notifiers.map(|n| usize::from(n.join().unwrap())).iter().sum();
        assert_eq!(given, 1);
    });
}

/// The notified thread sees what happened before the notification.
#[test]
fn a_notification_publishes() {
    model(3, || {
        let count = Arc::new(EventCount::new(1));
        let data = Arc::new(UnsafeCell::new(0));
        count.announce(0);
        let notifier = thread::spawn({
            let (count, data) = (count.clone(), data.clone());
            move || {
                // SAFETY: the model checks that the sleeper reads only after the notification.
                data.with_mut(|d| unsafe { *d = 1 });
                assert!(count.notify(0));
            }
        });
        assert!(count.sleep(0, None));
        // SAFETY: as above.
        assert_eq!(data.with(|d| unsafe { *d }), 1);
        notifier.join().unwrap();
    });
}
