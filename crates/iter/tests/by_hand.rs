//! Sources and ends driven by hand, on threads of the standard library: so these tests run under
//! Miri, which cannot run the runtime's fibers.
#![cfg(not(loom))]

use sateen::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer,
};
use sateen::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// How a loop is cut.
#[derive(Clone, Copy)]
enum Cut {
    /// In halves, each of which has a thread.
    Halves,
    /// In pieces, one after the other, for one folder if it can be extended.
    Pieces,
}

/// Drives an iterator as `cut` says.
struct ByHand<I> {
    iter: I,
    cut: Cut,
}

struct Drive<C> {
    consumer: C,
    len: usize,
    cut: Cut,
}

impl<T: Send, C: Consumer<T>> ProducerCallback<T> for Drive<C> {
    type Output = C::Result;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
        let Self { consumer, len, cut } = self;
        match cut {
            Cut::Halves => halves(producer, consumer, len),
            Cut::Pieces => pieces(producer, consumer, len),
        }
    }
}

fn halves<P: Producer<Item: Send>, C: Consumer<P::Item>>(p: P, c: C, len: usize) -> C::Result {
    if len < 3 {
        return p.fold_with(c.into_folder()).complete();
    }
    let (left, right) = p.split_at(len / 2);
    let (to_left, to_right, seam) = c.split_at(len / 2);
    let (left, right) = thread::scope(|s| {
        let left = s.spawn(|| halves(left, to_left, len / 2));
        let right = halves(right, to_right, len - len / 2);
        (left.join(), right)
    });
    seam.reduce(left.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), right)
}

fn pieces<P: Producer<Item: Send>, C: Consumer<P::Item>>(p: P, c: C, len: usize) -> C::Result {
    let piece = len.min(3);
    let (first, mut rest) = p.split_at(piece);
    let (to_first, mut to_rest, seam) = c.split_at(piece);
    let mut folder = first.fold_with(to_first.into_folder());
    let mut left = len - piece;
    while left > 0 {
        let piece = left.min(2);
        if !to_rest.extend_folder(&mut folder, piece) {
            return seam.reduce(folder.complete(), pieces(rest, to_rest, left));
        }
        let (next, others) = rest.split_at(piece);
        folder = next.fold_with(folder);
        (rest, left) = (others, left - piece);
    }
    drop(rest);
    seam.reduce(folder.complete(), to_rest.into_folder().complete())
}

impl<I: IndexedParallelIterator> ParallelIterator for ByHand<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.iter.len())
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for ByHand<I> {
    fn len(&self) -> usize {
        self.iter.len()
    }

    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        let Self { iter, cut } = self;
        let len = iter.len();
        iter.with_producer(Drive { consumer, len, cut })
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        self.iter.with_producer(callback)
    }
}

/// Calls `test` with each way to cut and some lengths.
fn each(test: impl Fn(Cut, usize)) {
    for cut in [Cut::Halves, Cut::Pieces] {
        for len in [0, 1, 2, 3, 10] {
            test(cut, len);
        }
    }
}

/// Items that own memory, which Miri follows.
#[allow(clippy::vec_box)]
fn boxes(len: usize) -> Vec<Box<usize>> {
    (0..len).map(Box::new).collect()
}

#[test]
fn vectors_and_drains_are_collected() {
    each(|cut, len| {
        let hand = |iter| ByHand { iter, cut };
        let collected: Vec<_> = hand(boxes(len).into_par_iter()).collect();
        assert_eq!(collected, boxes(len));
        let numbers: Vec<usize> = ByHand { iter: (0..len).into_par_iter(), cut }.collect();
        assert!(numbers.into_iter().eq(0..len));
        let mut all = boxes(len);
        let range = len / 3..len - len / 4;
        let drained: Vec<_> = ByHand { iter: all.par_drain(range.clone()), cut }.collect();
        let mut model = boxes(len);
        assert!(drained.into_iter().eq(model.drain(range)));
        assert_eq!(all, model);
        let mut after = boxes(2);
        ByHand { iter: boxes(len).into_par_iter(), cut }.collect_into_vec(&mut after);
        assert_eq!(after, boxes(len));
    });
}

#[test]
fn arrays_slices_and_adapters_are_collected() {
    each(|cut, len| {
        let array = [0, 1, 2, 3].map(Box::new);
        let collected: Vec<_> = ByHand { iter: array.into_par_iter(), cut }.collect();
        assert_eq!(collected, boxes(4));
        let mut items = boxes(len);
        let added: Vec<usize> = ByHand {
            iter: items.par_iter_mut().map(|item| {
                **item += 1;
                **item
            }),
            cut,
        }
        .collect();
        assert!(added.into_iter().eq(1..=len));
        let pairs = boxes(len).into_par_iter().zip(items.par_iter()).enumerate();
        let (left, right): (Vec<_>, Vec<_>) =
            ByHand { iter: pairs.map(|(n, (a, b))| (a, n + **b)), cut }.unzip();
        assert_eq!(left, boxes(len));
        assert!(right.into_iter().eq((0..len).map(|n| 2 * n + 1)));
    });
}

/// What has been written is dropped, and what has not been given away.
#[test]
fn a_panic_between_items_drops_each_once() {
    each(|cut, len| {
        let mark = Arc::new(());
        for bad in 0..len {
            let items: Vec<_> = (0..len).map(|n| (n, Arc::clone(&mark))).collect();
            let checked = items.into_par_iter().map(move |item| {
                assert!(item.0 != bad, "a bad item");
                item
            });
            let collect = || ByHand { iter: checked, cut }.collect::<Vec<_>>();
            assert!(catch_unwind(AssertUnwindSafe(collect)).is_err());
            assert_eq!(Arc::strong_count(&mark), 1);
        }
    });
}
