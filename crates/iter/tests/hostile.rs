//! Code of the user's that panics, lies, waits and counts its drops.
#![cfg(not(loom))]

mod common;

use common::{Census, everywhere, panics_with};
use sateen::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge,
    bridge_unindexed,
};
use sateen::iter::{Either, repeat_n};
use sateen::prelude::*;
use sateen::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LEN: usize = 3000;

#[test]
fn vectors_drop_each_item_once() {
    everywhere(|| {
        let census = Census::default();
        let all = || (0..LEN).map(|n| census.citizen(n)).collect::<Vec<_>>();
        drop(all().into_par_iter());
        census.assert_all_gone();
        assert_eq!(all().into_par_iter().map(|c| c.number).sum::<usize>(), LEN * (LEN - 1) / 2);
        census.assert_all_gone();
        assert_eq!(
            all().into_par_iter().find_any(|c| c.number == 100).map(|c| c.number),
            Some(100)
        );
        census.assert_all_gone();
        let collected: Vec<_> = all().into_par_iter().rev().filter(|c| c.number % 2 == 0).collect();
        assert_eq!(collected.len(), LEN / 2);
        drop(collected);
        census.assert_all_gone();
        let array = std::array::from_fn::<_, 100, _>(|n| census.citizen(n));
        assert_eq!(array.into_par_iter().find_first(|c| c.number > 50).map(|c| c.number), Some(51));
        census.assert_all_gone();
        assert_eq!(all().into_par_iter().zip(0..10).count(), 10);
        census.assert_all_gone();
        let repeated: Vec<_> = repeat_n(census.citizen(1), LEN).collect();
        assert_eq!(repeated.len(), LEN);
        drop(repeated);
        census.assert_all_gone();
    });
}

#[test]
fn repeat_n_clones_no_more_than_needed() {
    let census = Census::default();
    assert_eq!(repeat_n(census.citizen(1), LEN).count(), LEN);
    assert_eq!(census.made(), LEN);
    drop(repeat_n(census.citizen(1), 0));
    census.assert_all_gone();
}

#[test]
fn panics_leak_nothing() {
    everywhere(|| {
        let census = Census::default();
        for at in [0, 1, LEN / 2, LEN - 1] {
            let sources = || (0..LEN).map(|n| census.citizen(n)).collect::<Vec<_>>();
            let same = |c: common::Citizen| {
                assert_ne!(c.number, at, "the one");
                c
            };
            panics_with("the one", || sources().into_par_iter().map(same).collect::<Vec<_>>());
            census.assert_all_gone();
            panics_with("the one", || {
                sources().into_par_iter().map(same).filter(|_| true).collect::<Vec<_>>()
            });
            census.assert_all_gone();
            panics_with("the one", || {
                sources().into_par_iter().map(same).reduce(|| census.citizen(0), |a, _| a)
            });
            census.assert_all_gone();
            panics_with("the one", || {
                let fold = |mut all: Vec<common::Citizen>, c| {
                    all.push(same(c));
                    all
                };
                sources().into_par_iter().fold(Vec::new, fold).collect::<Vec<_>>()
            });
            census.assert_all_gone();
            panics_with("the one", || {
                let keep = |held: &mut common::Citizen, n: usize| {
                    assert_ne!(n, at, "the one");
                    held.number = n;
                };
                (0..LEN).into_par_iter().for_each_init(|| census.citizen(0), keep);
            });
            census.assert_all_gone();
        }
    });
}

#[test]
fn panics_of_destructors_do_not_meet() {
    everywhere(|| {
        let census = Census::default();
        let bombs = |n: usize| {
            assert_ne!(n, LEN / 2, "the one");
            census.bomb(n)
        };
        panics_with("the one", || (0..LEN).into_par_iter().map(bombs).collect::<Vec<_>>());
        census.assert_all_gone();
        panics_with("the one", || {
            let mut target = Vec::new();
            (0..LEN).into_par_iter().map(bombs).collect_into_vec(&mut target);
        });
        census.assert_all_gone();
        panics_with("the one", || {
            (0..LEN).into_par_iter().map(bombs).filter(|_| true).collect::<Vec<_>>()
        });
        census.assert_all_gone();
        panics_with("the one", || {
            (0..LEN)
                .into_par_iter()
                .for_each_init(|| census.bomb(0), |_, n| assert_ne!(n, LEN / 2, "the one"));
        });
        census.assert_all_gone();
        panics_with("the one", || {
            let sources: Vec<_> = (0..LEN).map(|n| census.bomb(n)).collect();
            sources.into_par_iter().for_each(|c| {
                let c = std::mem::ManuallyDrop::new(c);
                assert_ne!(c.number, LEN / 2, "the one");
                std::mem::ManuallyDrop::into_inner(c).defuse();
            });
        });
    });
}

trait Defuse {
    fn defuse(self);
}

impl Defuse for common::Citizen {
    /// Drops it without its panic.
    fn defuse(self) {
        sateen_base::unwind::discard(self);
    }
}

#[test]
fn items_without_size() {
    everywhere(|| {
        static DROPPED: AtomicUsize = AtomicUsize::new(0);
        struct Nothing;
        impl Drop for Nothing {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, SeqCst);
            }
        }
        DROPPED.store(0, SeqCst);
        let made: Vec<_> = (0..LEN).into_par_iter().map(|_| Nothing).collect();
        assert_eq!((made.len(), DROPPED.load(SeqCst)), (LEN, 0));
        assert_eq!(made.into_par_iter().count(), LEN);
        assert_eq!(DROPPED.load(SeqCst), LEN);
        let units: Vec<()> = (0..LEN).into_par_iter().map(|_| ()).collect();
        assert_eq!(units.par_iter().count(), LEN);
    });
}

/// Says one length, and has another.
#[derive(Clone)]
struct Liar {
    says: usize,
    has: usize,
}

struct LiarsItems(Liar);

impl Producer for LiarsItems {
    type Item = usize;
    type IntoIter = std::ops::Range<usize>;

    fn into_iter(self) -> Self::IntoIter {
        0..self.0.has
    }

    /// What it has too much or too little is in its last piece.
    fn split_at(self, index: usize) -> (Self, Self) {
        let Liar { says, has } = self.0;
        let first = index.min(has);
        let left = Liar { says: index, has: first };
        (Self(left), Self(Liar { says: says - index, has: has - first }))
    }
}

impl ParallelIterator for Liar {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.says)
    }
}

impl IndexedParallelIterator for Liar {
    fn len(&self) -> usize {
        self.says
    }

    fn drive<C: Consumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<usize>>(self, callback: CB) -> CB::Output {
        callback.callback(LiarsItems(self))
    }
}

#[test]
fn lies_about_lengths_are_found() {
    everywhere(|| {
        let census = Census::default();
        for (says, has) in [(10, 9), (9, 10), (LEN, LEN - 1), (LEN, LEN + 1), (0, 1), (1, 0)] {
            let liar = Liar { says, has };
            let whole = if has < says {
                format!("a parallel iterator of {says} items yielded {has} of them")
            } else {
                format!("a parallel iterator of {says} items yielded")
            };
            panics_with(&whole, || liar.clone().collect::<Vec<_>>());
            let citizens = || liar.clone().map(|n| census.citizen(n));
            panics_with(&whole, || citizens().collect::<Vec<_>>());
            census.assert_all_gone();
            let mut target = vec![census.citizen(0)];
            panics_with(&whole, || citizens().collect_into_vec(&mut target));
            assert!(target.is_empty());
            census.assert_all_gone();
            // Ends that need no places take what there is.
            assert_eq!(liar.clone().filter(|_| true).collect::<Vec<_>>().len(), has);
        }
        let honest = Liar { says: LEN, has: LEN };
        assert_eq!(honest.collect::<Vec<_>>().len(), LEN);
    });
}

/// Says a length, but is driven without indices.
struct Confused;

impl ParallelIterator for Confused {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        struct Halves(std::ops::Range<usize>);
        impl sateen::iter::plumbing::UnindexedProducer for Halves {
            type Item = usize;
            fn split(self) -> (Self, Option<Self>) {
                let middle = self.0.start + self.0.len() / 2;
                if self.0.len() < 2 {
                    return (self, None);
                }
                (Self(self.0.start..middle), Some(Self(middle..self.0.end)))
            }
            fn fold_with<F: sateen::iter::plumbing::Folder<usize>>(self, folder: F) -> F {
                folder.consume_iter(self.0)
            }
        }
        bridge_unindexed(Halves(0..100), consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(100)
    }
}

#[test]
fn a_source_without_indices_must_not_say_its_length() {
    everywhere(|| {
        assert_eq!(Confused.sum::<usize>(), 4950);
        assert!(Confused.filter(|_| true).collect::<Vec<_>>().into_iter().eq(0..100));
        panics_with("driven without indices", || Confused.collect::<Vec<_>>());
    });
}

/// A task that waits for the lock leaves its worker to others, also in the middle of a piece.
#[test]
fn closures_may_hold_locks_across_nested_loops() {
    everywhere(|| {
        let lock = Mutex::new(0);
        (0..200).into_par_iter().for_each(|_| {
            let mut held = lock.lock();
            *held += (0..4000u64).into_par_iter().map(|n| n % 3).filter(|n| *n == 1).count();
        });
        assert_eq!(lock.into_inner(), 200 * 1333);
    });
}

#[test]
fn searches_end_early() {
    everywhere(|| {
        let seen = AtomicUsize::new(0);
        let count = |n: &u64| {
            seen.fetch_add(1, SeqCst);
            *n == 5
        };
        // Too many to look at all.
        assert_eq!((0..u64::MAX).into_par_iter().find_first(count), Some(5));
        let stop = |n| if n == 5 { None } else { Some(()) };
        assert_eq!((0..1u64 << 40).into_par_iter().try_for_each(stop), None);
    });
}

/// A collection whose consumer cannot be split, and takes nothing in.
#[derive(Default)]
struct Rock;

impl ParallelExtend<usize> for Rock {
    fn par_extend<I: IntoParallelIterator<Item = usize>>(&mut self, items: I) {
        items.into_par_iter().drive_unindexed(Rock);
    }
}

impl Consumer<usize> for Rock {
    type Folder = Rock;
    type Reducer = Rock;
    type Result = ();

    fn split_at(self, _index: usize) -> (Self, Self, Self) {
        panic!("a rock is not split")
    }

    fn into_folder(self) -> Rock {
        Rock
    }

    fn full(&self) -> bool {
        false
    }
}

impl UnindexedConsumer<usize> for Rock {
    fn split_off_left(&self) -> Self {
        Rock
    }

    fn to_reducer(&self) -> Rock {
        Rock
    }
}

impl Folder<usize> for Rock {
    type Result = ();

    fn consume(self, _item: usize) -> Self {
        Rock
    }

    fn complete(self) {}

    fn full(&self) -> bool {
        false
    }
}

impl Reducer<()> for Rock {
    fn reduce(self, (): (), (): ()) {}
}

/// What an [`Obstinate`] source does with a consumer that has panicked.
#[derive(Clone, Copy, Debug)]
enum Again {
    Fold,
    Split,
    Reduce,
    SplitOff,
    AskWhetherFull,
}

/// Catches a panic of its consumer, and uses the consumer again.
struct Obstinate(Again);

impl ParallelIterator for Obstinate {
    type Item = Either<usize, usize>;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, mut consumer: C) -> C::Result {
        let mut folder = consumer.split_off_left().into_folder();
        let extended = std::panic::AssertUnwindSafe(|| consumer.extend_folder(&mut folder, 1));
        panics_with("a rock is not split", extended);
        match self.0 {
            Again::Fold => consumer.into_folder().complete(),
            Again::Split => {
                let (left, right, reducer) = consumer.split_at(1);
                reducer.reduce(left.into_folder().complete(), right.into_folder().complete())
            }
            Again::Reduce => {
                let reducer = consumer.to_reducer();
                reducer.reduce(folder.complete(), consumer.into_folder().complete())
            }
            Again::SplitOff => consumer.split_off_left().into_folder().complete(),
            Again::AskWhetherFull => {
                assert!(!consumer.full());
                folder.complete()
            }
        }
    }
}

/// An adapter may catch the panic of a consumer and use it again: that panics too, and the process
/// goes on.
#[test]
fn a_consumer_that_panicked_is_used_again() {
    everywhere(|| {
        for again in [Again::Fold, Again::Split, Again::Reduce, Again::SplitOff] {
            panics_with("a panic was caught, and what it left was used again", || {
                Obstinate(again).partition_map::<Vec<_>, Rock, _, _, _>(|item| item)
            });
        }
        let (left, Rock) = Obstinate(Again::AskWhetherFull)
            .partition_map::<Vec<usize>, Rock, _, _, _>(|item| item);
        assert!(left.is_empty());
    });
}
