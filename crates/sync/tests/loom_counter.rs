//! Models of the counters: stripes change hands, and sums keep their promises.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use loom::thread;
use sateen_base::SpinWord;
use sateen_sync::counter::{LocalCounter, StripedCounter};
use sateen_testkit::model;

/// Gives out thread numbers as `sateen_base::thread_number` does, under a lock with this word. The
/// only number is 0.
struct Numbers {
    word: SpinWord,
    free: AtomicBool,
}

impl Numbers {
    fn change(&self, from: bool) -> bool {
        // A thread that finds the lock taken gets no number, because a model cannot wait by
        // spinning.
        if !self.word.take() {
            return false;
        }
        let changed = self.free.load(Relaxed) == from;
        if changed {
            self.free.store(!from, Relaxed);
        }
        self.word.give();
        changed
    }
}

/// A thread ends and gives its number back. Another thread gets it, or gets none. Nothing is lost.
#[test]
fn a_stripe_changes_hands() {
    model(3, || {
        let counter = Arc::new(StripedCounter::<1>::with_stripes());
        let numbers = Arc::new(Numbers { word: SpinWord::new(), free: AtomicBool::new(true) });
        let once = {
            let (counter, numbers) = (counter.clone(), numbers.clone());
            move || {
                if numbers.change(true) {
                    counter.add_as(0, 1);
                    numbers.change(false);
                } else {
                    counter.add(1);
                }
            }
        };
        let others = [thread::spawn(once.clone()), thread::spawn(once.clone())];
        once();
        others.map(|other| other.join().unwrap());
        assert_eq!(counter.sum(), 3);
    });
}

/// Two threads have no stripe of their own.
#[test]
fn the_shared_stripe() {
    model(3, || {
        let counter = Arc::new(StripedCounter::<1>::with_stripes());
        let others = [1, 2].map(|n| {
            let counter = counter.clone();
            thread::spawn(move || counter.add(n))
        });
        others.map(|other| other.join().unwrap());
        assert_eq!(counter.sum(), 3);
    });
}

/// A sum runs beside additions. It contains the first few of each thread, and the next sum is no
/// smaller.
#[test]
fn a_sum_lies_between() {
    model(3, || {
        let counter = Arc::new(StripedCounter::<2>::with_stripes());
        counter.add_as(0, 100);
        let others = [0, 1].map(|number| {
            let counter = counter.clone();
            thread::spawn(move || {
                counter.add_as(number, 1);
                counter.add_as(number, 10);
            })
        });
        let first = counter.sum();
        let second = counter.sum();
        assert!([100, 101, 102, 111, 112, 122].contains(&first), "{first}");
        assert!(first <= second && second <= 122, "{first} {second}");
        others.map(|other| other.join().unwrap());
        assert_eq!(counter.sum(), 122);
    });
}

/// Two threads have a handle each, and one of them flushes in between.
#[test]
fn local_handles() {
    model(3, || {
        let total = Arc::new(AtomicU64::new(0));
        let other = thread::spawn({
            let total = total.clone();
            move || {
                let mine = LocalCounter::new(&total);
                mine.increment();
                mine.flush();
                mine.add(2);
            }
        });
        let mine = LocalCounter::new(&total);
        mine.add(10);
        drop(mine);
        other.join().unwrap();
        assert_eq!(total.load(Relaxed), 13);
    });
}
