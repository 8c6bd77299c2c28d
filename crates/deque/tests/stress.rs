//! Conservation: every item comes out exactly once, with 1, 2, 4 and 8 thieves, in each stage and
//! flavour.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_deque::{Asymmetric, Cached, Injector, Padded, Plain, Stage, Stealer, Worker};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

const ITEMS: usize = if cfg!(miri) { 250 } else { 60_000 };
/// Numbers of thieves.
const CREWS: &[usize] = if cfg!(miri) { &[1, 3] } else { &[1, 2, 4, 8] };

/// A tick for each item.
struct Ledger {
    seen: Vec<AtomicU8>,
    count: AtomicUsize,
}

/// An item with drop glue that is larger than a word, so that torn or doubled items are noticed.
struct Item {
    id: usize,
    copy: Box<usize>,
    inverse: usize,
}

impl Ledger {
    fn new() -> Self {
        let seen = (0..ITEMS).map(|_| AtomicU8::new(0)).collect();
        Self { seen, count: AtomicUsize::new(0) }
    }

    fn tick(&self, item: &Item) {
        assert!(*item.copy == item.id && item.inverse == !item.id, "torn");
        assert_eq!(self.seen[item.id].fetch_add(1, Ordering::Relaxed), 0, "twice: {}", item.id);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        self.count.load(Ordering::Relaxed) == ITEMS
    }
}

fn rob<S: Stage>(s: &Stealer<Item, S>, ledger: &Ledger, over: &AtomicBool, seed: u64) {
    let mut rng = XorShift::new(seed);
    let own: Worker<Item, S> = Worker::for_tests(seed.is_multiple_of(2), 0, seed as u32, true);
    while !over.load(Ordering::Relaxed) {
        let found = match rng.below(4) {
            0 => s.steal_batch_with_limit(&own, 1 + rng.below(40)).is_success(),
            1 => s.steal_batch_and_pop(&own).success().inspect(|i| ledger.tick(i)).is_some(),
            _ => s.steal().success().inspect(|i| ledger.tick(i)).is_some(),
        };
        while let Some(item) = own.pop() {
            ledger.tick(&item);
        }
        if !found {
            std::thread::yield_now();
        }
    }
}

fn conserve<S: Stage>(lifo: bool, thieves: usize, split: bool) {
    let ledger = Ledger::new();
    let over = AtomicBool::new(false);
    let start = Barrier::new(thieves + 1);
    let w: Worker<Item, S> = Worker::for_tests(lifo, u32::MAX - 2, u32::MAX - 5_000, split);
    std::thread::scope(|scope| {
        for seed in 0..thieves as u64 {
            let (s, ledger, over, start) = (w.stealer(), &ledger, &over, &start);
            scope.spawn(move || {
                start.wait();
                rob(&s, ledger, over, seed);
            });
        }
        start.wait();
        let mut rng = XorShift::new(thieves as u64);
        let mut next = 0;
        while next < ITEMS {
            // The owner pushes in bursts, so that the deque is sometimes empty and sometimes large.
            let burst = [1, 2, 3, 10, 100, 700][rng.below(6)];
            for id in next..(next + burst).min(ITEMS) {
                w.push(Item { id, copy: Box::new(id), inverse: !id });
            }
            next += burst;
            for _ in 0..rng.below(burst + 2) {
                w.pop().inspect(|i| ledger.tick(i));
            }
            if rng.below(200) == 0 {
                // On one core the thieves would otherwise start only when the owner is done.
                std::thread::yield_now();
            }
        }
        while !ledger.is_full() {
            match w.pop() {
                Some(item) => ledger.tick(&item),
                None => std::thread::yield_now(),
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(ledger.seen.iter().all(|s| s.load(Ordering::Relaxed) == 1));
    assert!(w.is_empty());
}

fn all<S: Stage>(split: bool) {
    for &thieves in CREWS {
        conserve::<S>(true, thieves, split);
        conserve::<S>(false, thieves, split);
    }
}

#[test]
fn plain() {
    all::<Plain>(true);
}

#[test]
fn padded() {
    all::<Padded>(true);
}

#[test]
fn cached() {
    all::<Cached>(true);
}

#[test]
fn asymmetric() {
    all::<Asymmetric>(true);
}

#[test]
fn asymmetric_without_an_asymmetric_fence() {
    all::<Asymmetric>(false);
}

/// Workers that take from the injector and from each other.
#[test]
fn injector_and_workers() {
    for &workers in CREWS {
        let ledger = Ledger::new();
        let injector = Injector::new();
        let deques: Vec<Worker<Item>> = (0..workers).map(|_| Worker::new_lifo()).collect();
        let thieves: Vec<Stealer<Item>> = deques.iter().map(Worker::stealer).collect();
        let (ledger_ref, injector_ref, thieves) = (&ledger, &injector, &thieves);
        std::thread::scope(|scope| {
            for own in deques {
                scope.spawn(move || {
                    while !ledger_ref.is_full() {
                        let found = own.pop().or_else(|| {
                            let steal = || thieves.iter().map(Stealer::steal).collect();
                            injector_ref.steal_batch_and_pop(&own).or_else(steal).success()
                        });
                        match found {
                            Some(item) => ledger_ref.tick(&item),
                            None => std::thread::yield_now(),
                        }
                    }
                });
            }
            for id in 0..ITEMS {
                injector_ref.push(Item { id, copy: Box::new(id), inverse: !id });
            }
        });
        assert!(ledger.is_full() && injector.is_empty());
    }
}
