//! The behaviour that users of `crossbeam-deque` rely on, call by call.
#![cfg(not(loom))]

use sateen_deque::Steal::{self, Empty, Retry, Success};
use sateen_deque::{Asymmetric, Cached, Injector, Padded, Plain, Stage, Stealer, Worker};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};

fn lifo<S: Stage>(items: impl IntoIterator<Item = i32>) -> Worker<i32, S> {
    let w = Worker::staged_lifo();
    items.into_iter().for_each(|i| w.push(i));
    w
}

fn fifo<S: Stage>(items: impl IntoIterator<Item = i32>) -> Worker<i32, S> {
    let w = Worker::staged_fifo();
    items.into_iter().for_each(|i| w.push(i));
    w
}

fn drained<S: Stage>(w: &Worker<i32, S>) -> Vec<i32> {
    std::iter::from_fn(|| w.pop()).collect()
}

fn every_stage(check: impl Fn(&dyn Fn() -> Box<dyn Deque>)) {
    fn boxed<S: Stage>() -> Box<dyn Deque> {
        Box::new(lifo::<S>([]))
    }
    for make in [boxed::<Plain>, boxed::<Padded>, boxed::<Cached>, boxed::<Asymmetric>] {
        check(&make);
    }
}

/// The calls of a LIFO deque, whatever its stage.
trait Deque {
    fn push(&self, item: i32);
    fn pop(&self) -> Option<i32>;
    fn steal(&self) -> Steal<i32>;
    fn lens(&self) -> (usize, usize, bool, bool);
}

impl<S: Stage> Deque for Worker<i32, S> {
    fn push(&self, item: i32) {
        Worker::push(self, item);
    }
    fn pop(&self) -> Option<i32> {
        Worker::pop(self)
    }
    fn steal(&self) -> Steal<i32> {
        self.stealer().steal()
    }
    fn lens(&self) -> (usize, usize, bool, bool) {
        let s = self.stealer();
        (self.len(), s.len(), self.is_empty(), s.is_empty())
    }
}

#[test]
fn a_single_item_can_be_stolen_at_once() {
    every_stage(|make| {
        let w = make();
        assert_eq!((w.pop(), w.steal()), (None, Empty));
        for i in 0..if cfg!(miri) { 20 } else { 1_000 } {
            w.push(i);
            assert_eq!(w.lens(), (1, 1, false, false));
            if i % 3 == 0 {
                assert_eq!(w.pop(), Some(i));
            } else {
                assert_eq!(w.steal(), Success(i));
            }
            assert_eq!((w.pop(), w.steal()), (None, Empty));
            assert_eq!(w.lens(), (0, 0, true, true));
        }
    });
}

#[test]
fn ends_of_the_deque() {
    every_stage(|make| {
        let w = make();
        (0..8).for_each(|i| w.push(i));
        assert_eq!(
            (w.steal(), w.pop(), w.steal(), w.pop()),
            (Success(0), Some(7), Success(1), Some(6))
        );
        w.push(9);
        assert_eq!((w.pop(), w.steal(), w.pop()), (Some(9), Success(2), Some(5)));
        assert_eq!((w.steal(), w.pop(), w.pop()), (Success(3), Some(4), None));
    });
    let w = fifo::<Cached>(6..=9);
    let s = w.stealer();
    assert_eq!((w.pop(), s.steal(), w.pop(), w.pop()), (Some(6), Success(7), Some(8), Some(9)));
    assert_eq!((w.pop(), s.steal()), (None, Empty));
}

/// The order in which the items of a batch arrive, for each pair of flavours.
fn batches<S: Stage>() {
    let taken = |from: &Worker<i32, S>, to: &Worker<i32>| {
        assert_eq!(from.stealer().steal_batch(to), Success(()));
        drained(to)
    };
    assert_eq!(taken(&fifo(1..=4), &fifo([])), [1, 2]);
    assert_eq!(taken(&lifo(1..=4), &lifo([])), [2, 1]);
    assert_eq!(taken(&fifo(1..=4), &lifo([])), [1, 2]);
    assert_eq!(taken(&lifo(1..=4), &fifo([])), [2, 1]);

    let popped = |from: &Worker<i32, S>, to: &Worker<i32>| {
        let first = from.stealer().steal_batch_and_pop(to).success();
        first.into_iter().chain(drained(to)).collect::<Vec<_>>()
    };
    assert_eq!(popped(&fifo(1..=6), &fifo([])), [1, 2, 3]);
    assert_eq!(popped(&lifo(1..=6), &lifo([])), [3, 2, 1]);
    assert_eq!(popped(&fifo(1..=6), &lifo([])), [1, 2, 3]);
    assert_eq!(popped(&lifo(1..=6), &fifo([])), [3, 2, 1]);

    // Batches keep to their limits. Items that are already there stay in front or behind, depending
    // on the flavour.
    let (w, to) = (fifo::<S>(1..=100), fifo::<Cached>([0]));
    assert_eq!(w.stealer().steal_batch_with_limit(&to, 2), Success(()));
    assert_eq!(w.stealer().steal_batch_with_limit_and_pop(&to, 1), Success(3));
    assert_eq!(drained(&to), [0, 1, 2]);
    assert_eq!(w.stealer().steal_batch(&to), Success(()));
    assert_eq!(to.len(), 32);
    assert_eq!(w.stealer().steal_batch_with_limit(&to, usize::MAX), Success(()));
    assert_eq!(to.len(), 32 + 33);
    let none = lifo::<S>([]);
    assert_eq!(none.stealer().steal_batch(&to), Empty);
    assert_eq!(none.stealer().steal_batch_and_pop(&to), Empty);
}

#[test]
fn batches_keep_order() {
    batches::<Plain>();
    batches::<Padded>();
    batches::<Cached>();
    batches::<Asymmetric>();
}

#[test]
fn a_batch_from_oneself() {
    let w = lifo::<Cached>(1..=3);
    let s = w.stealer();
    assert_eq!(s.steal_batch(&w), Success(()));
    assert_eq!(s.steal_batch_and_pop(&w), Success(3));
    assert_eq!(w.len(), 2);
    drained(&w);
    assert_eq!((s.steal_batch(&w), s.steal_batch_and_pop(&w)), (Empty, Empty));
}

#[test]
fn the_injector() {
    let q = Injector::new();
    assert_eq!((q.steal(), q.len(), q.is_empty()), (Empty, 0, true));
    (1..=6).for_each(|i| q.push(i));
    assert_eq!((q.steal(), q.len(), q.is_empty()), (Success(1), 5, false));
    let (f, l) = (fifo::<Cached>([]), lifo::<Asymmetric>([]));
    assert_eq!(q.steal_batch(&f), Success(()));
    assert_eq!(drained(&f), [2, 3, 4]);
    q.push(7);
    q.push(8);
    assert_eq!(q.steal_batch_and_pop(&l), Success(5));
    assert_eq!(drained(&l), [6]);
    assert_eq!(q.steal_batch_with_limit(&l, 1), Success(()));
    assert_eq!(q.steal_batch_with_limit_and_pop(&f, 9), Success(8));
    assert_eq!((drained(&l), drained(&f)), (vec![7], vec![]));
    assert_eq!((q.steal_batch(&f), q.steal_batch_and_pop(&f)), (Empty, Empty));
    let mut q: Injector<u8> = (0..3).collect();
    q.extend([3]);
    assert_eq!(q.len(), 4);
}

#[test]
#[should_panic(expected = "at most 0 items")]
fn a_batch_of_none_is_a_mistake() {
    let _ = lifo::<Cached>([]).stealer().steal_batch_with_limit(&lifo::<Cached>([]), 0);
}

#[test]
fn collecting() {
    let mut w: Worker<i32> = (1..=3).collect();
    w.extend([4, 5]);
    assert_eq!(w.stealer().steal(), Success(1));
    assert_eq!(drained(&w), [5, 4, 3, 2]);
}

#[test]
fn outcomes() {
    let first = |all: &[Steal<i32>]| all.iter().copied().collect::<Steal<i32>>();
    assert_eq!(first(&[]), Empty);
    assert_eq!(first(&[Empty, Retry, Empty]), Retry);
    assert_eq!(first(&[Retry, Success(1), Success(2)]), Success(1));
    assert_eq!(Success(1).or_else(|| unreachable!()), Success(1));
    assert_eq!(Retry.or_else(|| Success(2)), Success(2));
    assert_eq!(Empty.or_else(|| Retry::<i32>), Retry);
    assert_eq!(Retry.or_else(|| Empty::<i32>), Retry);
    assert_eq!(Empty.or_else(|| Empty::<i32>), Empty);
    assert_eq!(
        (Success(1).success(), Retry::<i32>.success(), Empty::<i32>.success()),
        (Some(1), None, None)
    );
    assert!(Empty::<i32>.is_empty() && Retry::<i32>.is_retry() && Success(1).is_success());
    let shown = format!("{:?} {:?} {:?}", Empty::<i32>, Success(1), Retry::<i32>);
    assert_eq!(shown, "Empty Success(..) Retry");
}

#[test]
fn auto_traits_and_debug() {
    fn shared<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    fn sent<T: Send + Unpin + UnwindSafe>() {}
    shared::<Stealer<std::cell::Cell<u8>>>();
    shared::<Injector<std::cell::Cell<u8>>>();
    sent::<Worker<std::cell::Cell<u8>>>();
    let w = lifo::<Cached>([]);
    let q = Injector::<u8>::default();
    assert_eq!(
        format!("{w:?} {:?} {q:?}", w.stealer().clone()),
        "Worker { .. } Stealer { .. } Injector { .. }"
    );
}

#[test]
fn items_outlive_the_owner() {
    every_stage_outlives::<Plain>();
    every_stage_outlives::<Cached>();
    every_stage_outlives::<Asymmetric>();
}

fn every_stage_outlives<S: Stage>() {
    const ITEMS: i32 = if cfg!(miri) { 100 } else { 1_000 };
    let w = lifo::<S>(0..ITEMS);
    let s = w.stealer();
    assert_eq!(w.pop(), Some(ITEMS - 1));
    drop(w);
    let all: Vec<i32> = std::iter::from_fn(|| s.steal().success()).collect();
    assert!(all.into_iter().eq(0..ITEMS - 1));
    assert_eq!(s.steal(), Empty);
}

#[test]
fn an_iterator_that_panics_has_put_in_what_it_gave() {
    let told = |i: &i32| assert!(*i < 3, "told to");
    let (mut worker, mut injector) = (fifo::<Cached>([]), Injector::new());
    let into_worker = || worker.extend((0..5).inspect(told));
    assert!(catch_unwind(AssertUnwindSafe(into_worker)).is_err());
    let into_injector = || injector.extend((0..5).inspect(told));
    assert!(catch_unwind(AssertUnwindSafe(into_injector)).is_err());
    assert_eq!(drained(&worker), [0, 1, 2]);
    let stolen = std::iter::from_fn(|| injector.steal().success());
    assert!(stolen.eq(0..3));
}
