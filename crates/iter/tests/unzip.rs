//! One loop that fills two collections: unzip, partition, and hostile collections.
#![cfg(not(loom))]

mod common;

use common::{Census, everywhere, panics_with};
use either::Either;
use sateen::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use sateen::prelude::*;

const LENGTHS: [usize; 7] = [0, 1, 2, 10, 100, 3000, 50_000];

#[test]
fn as_std_does() {
    everywhere(|| {
        for len in LENGTHS {
            let (par, seq) = (|| (0..len).into_par_iter(), || 0..len);
            let pair = |n: usize| (n * 3, n.to_string());
            let model: (Vec<_>, Vec<_>) = seq().map(pair).unzip();
            assert_eq!(par().map(pair).unzip::<_, _, Vec<_>, Vec<_>>(), model);
            assert_eq!(par().filter(|_| true).map(pair).unzip::<_, _, Vec<_>, Vec<_>>(), model);
            assert_eq!(par().map(pair).collect::<(Vec<_>, Vec<_>)>(), model);
            let (mut left, mut right) = (vec![9; 9], vec![String::new()]);
            par().map(pair).unzip_into_vecs(&mut left, &mut right);
            assert_eq!((left, right), model);
            let mut both = (vec![7], Vec::new());
            both.par_extend(par().map(pair));
            assert_eq!((&both.0[1..], &both.1), (&model.0[..], &model.1));
            // Nested: three collections at once.
            let triple = |n: usize| (n, (n + 1, n + 2));
            let (a, (b, c)): (Vec<_>, (Vec<_>, Vec<_>)) = par().map(triple).unzip();
            assert!(a.into_iter().eq(seq()) && b.into_iter().eq(1..len + 1));
            assert!(c.into_iter().eq(2..len + 2));

            let odd = |n: &usize| n % 3 == 1;
            let model: (Vec<_>, Vec<_>) = seq().partition(odd);
            assert_eq!(par().partition::<Vec<_>, Vec<_>, _>(odd), model);
            let side = |n: usize| if odd(&n) { Either::Left(n) } else { Either::Right([n]) };
            let right: Vec<_> = model.1.iter().map(|n| [*n]).collect();
            let (x, y): (Vec<_>, Vec<_>) = par().partition_map(side);
            assert_eq!((x, y), (model.0.clone(), right.clone()));
            assert_eq!(par().map(side).collect::<(Vec<_>, Vec<_>)>(), (model.0, right));

            let list = par().filter(odd).collect_vec_list();
            assert!(list.iter().all(|items| !items.is_empty()));
            assert!(list.into_iter().flatten().eq(seq().filter(odd)));
        }
    });
}

#[test]
fn either_is_an_iterator() {
    everywhere(|| {
        let one = |left| {
            let numbers = (0..3000).into_par_iter();
            if left { Either::Left(numbers.rev()) } else { Either::Right(numbers) }
        };
        assert!(one(true).collect::<Vec<_>>().into_iter().eq((0..3000).rev()));
        assert!(one(false).rev().collect::<Vec<_>>().into_iter().eq((0..3000).rev()));
        assert_eq!((one(true).len(), one(false).filter(|n| n % 2 == 0).count()), (3000, 1500));
        let mut target = Either::<Vec<_>, Vec<_>>::Left(vec![1]);
        target.par_extend([2]);
        assert_eq!(target, Either::Left(vec![1, 2]));
    });
}

/// A collection whose consumer refuses to extend folders, as those of others do.
#[derive(Default, PartialEq, Debug)]
struct Stubborn(Vec<usize>);

struct StubbornConsumer;
struct StubbornFolder(Vec<usize>);

impl Consumer<usize> for StubbornConsumer {
    type Folder = StubbornFolder;
    type Reducer = StubbornConsumer;
    type Result = Vec<usize>;
    fn split_at(self, _: usize) -> (Self, Self, Self) {
        (Self, Self, Self)
    }
    fn into_folder(self) -> StubbornFolder {
        StubbornFolder(Vec::new())
    }
    fn full(&self) -> bool {
        false
    }
}

impl UnindexedConsumer<usize> for StubbornConsumer {
    fn split_off_left(&self) -> Self {
        Self
    }
    fn to_reducer(&self) -> Self {
        Self
    }
}

impl Folder<usize> for StubbornFolder {
    type Result = Vec<usize>;
    fn consume(mut self, item: usize) -> Self {
        self.0.push(item);
        self
    }
    fn complete(self) -> Vec<usize> {
        self.0
    }
    fn full(&self) -> bool {
        false
    }
}

impl Reducer<Vec<usize>> for StubbornConsumer {
    fn reduce(self, mut left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
        left.extend(right);
        left
    }
}

impl ParallelExtend<usize> for Stubborn {
    fn par_extend<I: IntoParallelIterator<Item = usize>>(&mut self, par_iter: I) {
        self.0.extend(par_iter.into_par_iter().drive_unindexed(StubbornConsumer));
    }
}

/// A collection that takes nothing in.
#[derive(Default)]
struct Lazy;

impl<T: Send> ParallelExtend<T> for Lazy {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, _par_iter: I) {}
}

#[test]
fn hostile_collections() {
    everywhere(|| {
        for len in LENGTHS {
            let pairs = || (0..len).into_par_iter().map(|n| (n, n));
            let all: Vec<_> = (0..len).collect();
            let (left, right): (Vec<_>, Stubborn) = pairs().unzip();
            assert_eq!((&left, &right.0), (&all, &all));
            let (left, right): (Stubborn, Vec<_>) = pairs().unzip();
            assert_eq!((&left.0, &right), (&all, &all));
            let (left, right): (Stubborn, Stubborn) = pairs().unzip();
            assert_eq!((&left.0, &right.0), (&all, &all));
            let (even, odd): (Stubborn, Vec<_>) =
                (0..len).into_par_iter().partition(|n| n % 2 == 0);
            assert_eq!(even.0.len() + odd.len(), len);
        }
        let pairs = || (0..10).into_par_iter().map(|n| (n, n));
        panics_with("did not drive", || pairs().unzip::<_, _, Vec<_>, Lazy>());
        // The first collection drives the loop, so nothing runs.
        assert!(pairs().unzip::<_, _, Lazy, Vec<_>>().1.is_empty());
    });
}

/// A collection that is content with one item.
#[derive(Default)]
struct Content(Option<usize>);

impl ParallelExtend<usize> for Content {
    fn par_extend<I: IntoParallelIterator<Item = usize>>(&mut self, par_iter: I) {
        self.0 = par_iter.into_par_iter().find_any(|_| true);
    }
}

/// The loop goes on until both collections want no more.
#[test]
fn one_that_is_full_does_not_end_the_other() {
    everywhere(|| {
        for len in [1, 10, 3000] {
            let pairs = || (0..len).into_par_iter().map(|n| (n, n));
            let (left, right): (Vec<_>, Content) = pairs().unzip();
            assert!(left.into_iter().eq(0..len) && right.0 < Some(len));
            let (left, right): (Content, Vec<_>) = pairs().unzip();
            assert!(right.into_iter().eq(0..len) && left.0.is_some());
            let (left, right): (Content, Vec<_>) = pairs().filter(|_| true).unzip();
            assert!(right.into_iter().eq(0..len) && left.0.is_some());
        }
        let forever = (0..usize::MAX).into_par_iter().map(|n| (n, n));
        let (left, right): (Content, Content) = forever.unzip();
        assert!(left.0.is_some() && right.0.is_some());
    });
}

#[test]
fn everything_is_dropped_once() {
    everywhere(|| {
        let census = Census::default();
        for at in [0, 1, 200, 399] {
            let number = |n: usize| {
                assert_ne!(n, at, "the one");
                n
            };
            let par = || (0..400).into_par_iter().map(number);
            let bombs = || par().map(|n| (census.citizen(n), census.bomb(n)));
            panics_with("the one", || bombs().unzip::<_, _, Vec<_>, Vec<_>>());
            census.assert_all_gone();
            let (mut left, mut right) = (vec![census.citizen(0)], vec![census.citizen(0)]);
            panics_with("the one", || {
                let pairs = par().map(|n| (census.citizen(n), census.citizen(n)));
                pairs.unzip_into_vecs(&mut left, &mut right);
            });
            census.assert_all_gone();
            assert!(left.is_empty() && right.is_empty());
        }
    });
    everywhere(|| {
        let census = Census::default();
        let side = |c: &common::Citizen| {
            assert_ne!(c.number, 2000, "the one");
            c.number.is_multiple_of(2)
        };
        let all = || (0..3000).into_par_iter().map(|n| census.citizen(n));
        panics_with("the one", || all().partition::<Vec<_>, Vec<_>, _>(side));
        census.assert_all_gone();
        let (left, right): (Vec<_>, Vec<_>) = all().take(2000).partition(side);
        assert_eq!((left.len(), right.len()), (1000, 1000));
        drop((left, right));
        census.assert_all_gone();
        panics_with("the one", || all().filter(side).collect_vec_list());
        census.assert_all_gone();
    });
}
