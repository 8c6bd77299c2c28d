//! A deque and its sequential twin, and operations on both that are drawn from bytes. Tests pass
//! random bytes, the fuzzer its own.

use arbitrary::Unstructured;
use sateen_deque::{Asymmetric, Cached, Padded, Plain, Stage, Steal, Worker};
use std::collections::VecDeque;

/// Generation and index to start from.
pub(crate) const STARTS: [(u32, u32); 4] =
    [(0, 0), (u32::MAX, u32::MAX - 3), (u32::MAX - 1, i32::MAX as u32 - 100), (7, u32::MAX - 300)];

/// An item with an identity.
pub(crate) trait Item: Sized {
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

pub(crate) struct Pair<T, S: Stage> {
    pub(crate) deque: Worker<T, S>,
    lifo: bool,
    /// The oldest item is in front.
    twin: VecDeque<u64>,
}

impl<T: Item, S: Stage> Pair<T, S> {
    pub(crate) fn new(lifo: bool, (generation, index): (u32, u32), split: bool) -> Self {
        let deque = Worker::for_tests(lifo, generation, index, split);
        Self { deque, lifo, twin: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, id: u64) {
        self.deque.push(T::make(id));
        self.twin.push_back(id);
    }

    pub(crate) fn pop(&mut self) {
        let expected = if self.lifo { self.twin.pop_back() } else { self.twin.pop_front() };
        assert_eq!(self.deque.pop().map(|item| item.id()), expected);
    }

    pub(crate) fn steal(&mut self) {
        match self.deque.stealer().steal() {
            Steal::Success(item) => assert_eq!(Some(item.id()), self.twin.pop_front()),
            Steal::Empty => assert!(self.twin.is_empty()),
            Steal::Retry => panic!("nobody else is there"),
        }
    }

    /// Moves a batch to `to`. The number of items is only specified by its bounds.
    pub(crate) fn batch<D: Stage>(&mut self, to: &mut Pair<T, D>, limit: usize, keep: bool) {
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

    pub(crate) fn check(&self) {
        let s = self.deque.stealer();
        assert_eq!((self.deque.len(), s.len()), (self.twin.len(), self.twin.len()));
        assert_eq!(
            (self.deque.is_empty(), s.is_empty()),
            (self.twin.is_empty(), self.twin.is_empty())
        );
    }
}

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n - 1).unwrap_or(0)
}

/// Applies the operations in `bytes` to two deques and their twins, and panics where they differ.
pub(crate) fn run(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    match below(&mut u, 4) {
        0 => drive::<Plain>(&mut u),
        1 => drive::<Padded>(&mut u),
        2 => drive::<Cached>(&mut u),
        _ => drive::<Asymmetric>(&mut u),
    }
}

fn drive<S: Stage>(u: &mut Unstructured<'_>) {
    let start = STARTS[below(u, STARTS.len())];
    let (lifo, split, other_lifo) = (below(u, 2) == 0, below(u, 4) > 0, below(u, 2) == 0);
    let mut a = Pair::<Box<u64>, S>::new(lifo, start, split);
    let mut b = Pair::<Box<u64>, Cached>::new(other_lifo, start, false);
    let mut next = 0;
    while !u.is_empty() {
        match below(u, 16) {
            0..5 => {
                // Many items, so that buffers grow and shrink again.
                for _ in 0..[1, 1, 3, 40][below(u, 4)] {
                    a.push(next);
                    next += 1;
                }
            }
            5..9 => (0..[1, 1, 3, 30][below(u, 4)]).for_each(|_| a.pop()),
            9..12 => a.steal(),
            12 => a.batch(&mut b, 1 + below(u, 60), false),
            13 => a.batch(&mut b, 1 + below(u, 60), true),
            14 => b.batch(&mut a, 1 + below(u, 60), below(u, 2) == 0),
            _ => b.pop(),
        }
        a.check();
        b.check();
    }
}
