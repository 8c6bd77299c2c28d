//! Each stage and flavour beside a `VecDeque`, from starts near every wrap-around.
#![cfg(not(loom))]

mod beside_twin;

use beside_twin::{Item, Pair, STARTS};
use sateen_base::XorShift;
use sateen_deque::{Asymmetric, Cached, Padded, Plain, Stage, Worker};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn beside_a_twin<T: Item, S: Stage>(lifo: bool, start: (u32, u32), split: bool, seed: u64) {
    let mut rng = XorShift::new(seed);
    let mut a = Pair::<T, S>::new(lifo, start, split);
    let mut b = Pair::<T, Cached>::new(seed.is_multiple_of(2), start, false);
    let mut next = 0;
    let rounds = if cfg!(miri) { 15 } else { 6_000 };
    for round in 0..rounds {
        // Long phases that fill the deque, so that buffers grow and shrink, and short phases.
        let weight = [9, 2, 5, 1][round / (rounds / 9) % 4];
        if rng.below(10) < weight {
            a.push(next);
            next += 1;
        } else {
            match rng.below(12) {
                0..=6 => a.pop(),
                7..=8 => a.steal(),
                9 => a.batch(&mut b, 1 + rng.below(60), false),
                10 => a.batch(&mut b, 1 + rng.below(60), true),
                _ => b.batch(&mut a, 1 + rng.below(60), rng.below(2) == 0),
            }
        }
        a.check();
        if round % 64 == 0 {
            (0..20).for_each(|_| b.pop());
        }
    }
}

fn every_way<S: Stage>() {
    for start in STARTS {
        for lifo in [true, false] {
            for seed in 0..2 {
                beside_a_twin::<u64, S>(lifo, start, true, seed);
                beside_a_twin::<Box<u64>, S>(lifo, start, true, seed);
            }
            beside_a_twin::<[u64; 20], S>(lifo, start, true, 5);
        }
    }
}

#[test]
fn plain() {
    every_way::<Plain>();
}

#[test]
fn padded() {
    every_way::<Padded>();
}

#[test]
fn cached() {
    every_way::<Cached>();
}

#[test]
fn asymmetric() {
    every_way::<Asymmetric>();
}

#[test]
fn asymmetric_without_an_asymmetric_fence() {
    for start in STARTS {
        beside_a_twin::<Box<u64>, Asymmetric>(true, start, false, 3);
    }
}

#[test]
fn zero_sized_items() {
    fn check<S: Stage>() {
        let w: Worker<(), S> = Worker::staged_lifo();
        (0..1_000).for_each(|_| w.push(()));
        let s = w.stealer();
        let mut taken = (0..300).filter(|_| s.steal().is_success()).count();
        taken += std::iter::from_fn(|| w.pop()).count();
        assert_eq!(taken, 1_000);
    }
    check::<Plain>();
    check::<Cached>();
    check::<Asymmetric>();
}

struct Noted(Arc<AtomicUsize>, bool);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "told to");
    }
}

#[test]
fn dropping_drops_what_is_left_once() {
    const FEW: usize = if cfg!(miri) { 10 } else { 100 };
    const ALL: usize = 7 * FEW;
    for start in STARTS {
        for lifo in [true, false] {
            let drops = Arc::new(AtomicUsize::new(0));
            let w = Worker::<Noted, Cached>::for_tests(lifo, start.0, start.1, true);
            (0..ALL).for_each(|_| w.push(Noted(drops.clone(), false)));
            (0..FEW).for_each(|_| drop((w.pop(), w.stealer().steal())));
            assert_eq!(drops.load(Ordering::Relaxed), 2 * FEW);
            drop(w);
            assert_eq!(drops.load(Ordering::Relaxed), ALL);
        }
    }
}

#[test]
fn a_panic_in_a_drop_loses_nothing_else() {
    let drops = Arc::new(AtomicUsize::new(0));
    let w = Worker::new_lifo();
    (0..100).for_each(|i| w.push(Noted(drops.clone(), i == 40)));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(w)));
    assert!(caught.is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 100);
}

#[test]
fn drawn_operations() {
    let mut random = XorShift::new(0xF022);
    for seed in 0..if cfg!(miri) { 2 } else { 2_000 } {
        let mut bytes = vec![0; 20 + seed % 1500];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        beside_twin::run(&bytes);
    }
}
