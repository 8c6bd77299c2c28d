//! Each stage and flavour beside a `VecDeque`, from starts near every wrap-around.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_deque::{Asymmetric, Cached, Padded, Plain, Stage, Steal, Worker};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Generation and index to start from.
const STARTS: [(u32, u32); 4] =
    [(0, 0), (u32::MAX, u32::MAX - 3), (u32::MAX - 1, i32::MAX as u32 - 100), (7, u32::MAX - 300)];

/// An item that can be told apart.
trait Item: Sized {
    fn make(id: u64) -> Self;
    fn id(&self) -> u64;
}

impl Item for u64 {
    fn make(id: u64) -> Self {
        id
    }
    fn id(&self) -> u64 {
        *self
    }
}

impl Item for Box<u64> {
    fn make(id: u64) -> Self {
        Self::new(id)
    }
    fn id(&self) -> u64 {
        **self
    }
}

impl Item for [u64; 20] {
    fn make(id: u64) -> Self {
        [id; 20]
    }
    fn id(&self) -> u64 {
        assert!(self.iter().all(|&i| i == self[0]), "torn");
        self[19]
    }
}

struct Pair<T, S: Stage> {
    deque: Worker<T, S>,
    lifo: bool,
    /// Oldest in front.
    twin: VecDeque<u64>,
}

impl<T: Item, S: Stage> Pair<T, S> {
    fn new(lifo: bool, (generation, index): (u32, u32), split: bool) -> Self {
        let deque = Worker::for_tests(lifo, generation, index, split);
        Self { deque, lifo, twin: VecDeque::new() }
    }

    fn push(&mut self, id: u64) {
        self.deque.push(T::make(id));
        self.twin.push_back(id);
    }

    fn pop(&mut self) {
        let expected = if self.lifo { self.twin.pop_back() } else { self.twin.pop_front() };
        assert_eq!(self.deque.pop().map(|item| item.id()), expected);
    }

    fn steal(&mut self) {
        match self.deque.stealer().steal() {
            Steal::Success(item) => assert_eq!(Some(item.id()), self.twin.pop_front()),
            Steal::Empty => assert!(self.twin.is_empty()),
            Steal::Retry => panic!("nobody else is there"),
        }
    }

    /// A batch to `to`; the number is not specified beyond its bounds.
    fn batch<D: Stage>(&mut self, to: &mut Pair<T, D>, limit: usize, keep: bool) {
        let (before, held) = (self.deque.len(), to.deque.len());
        assert_eq!((before, held), (self.twin.len(), to.twin.len()));
        let s = self.deque.stealer();
        let kept = if keep {
            match s.steal_batch_with_limit_and_pop(&to.deque, limit) {
                Steal::Success(item) => Some(item.id()),
                outcome => return assert!(outcome.is_empty() && before == 0),
            }
        } else {
            let outcome = s.steal_batch_with_limit(&to.deque, limit);
            if !outcome.is_success() {
                return assert!(outcome.is_empty() && before == 0);
            }
            None
        };
        let taken = before - self.deque.len();
        assert!(taken > 0 && taken <= limit && taken <= before.div_ceil(2));
        let mut ids: Vec<u64> = self.twin.drain(..taken).collect();
        if let Some(kept) = kept {
            let expected = if self.lifo { ids.pop() } else { Some(ids.remove(0)) };
            assert_eq!(Some(kept), expected);
        }
        if self.lifo != to.lifo {
            ids.reverse();
        }
        to.twin.extend(ids);
        assert_eq!(to.deque.len(), to.twin.len());
    }

    fn check(&self) {
        let s = self.deque.stealer();
        assert_eq!((self.deque.len(), s.len()), (self.twin.len(), self.twin.len()));
        assert_eq!(
            (self.deque.is_empty(), s.is_empty()),
            (self.twin.is_empty(), self.twin.is_empty())
        );
    }
}

fn beside_a_twin<T: Item, S: Stage>(lifo: bool, start: (u32, u32), split: bool, seed: u64) {
    let mut rng = XorShift::new(seed);
    let mut a = Pair::<T, S>::new(lifo, start, split);
    let mut b = Pair::<T, Cached>::new(seed.is_multiple_of(2), start, false);
    let mut next = 0;
    let rounds = if cfg!(miri) { 400 } else { 6_000 };
    for round in 0..rounds {
        // Long phases that fill, so that buffers grow and shrink, and short ones.
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
    for start in STARTS {
        for lifo in [true, false] {
            let drops = Arc::new(AtomicUsize::new(0));
            let w = Worker::<Noted, Cached>::for_tests(lifo, start.0, start.1, true);
            (0..700).for_each(|_| w.push(Noted(drops.clone(), false)));
            (0..100).for_each(|_| drop((w.pop(), w.stealer().steal())));
            assert_eq!(drops.load(Ordering::Relaxed), 200);
            drop(w);
            assert_eq!(drops.load(Ordering::Relaxed), 700);
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
