//! Adapters that know where items are, beside their sequential twins: by every way to drive them.
#![cfg(not(loom))]

mod common;

use common::{Census, everywhere, panics_with};
use sateen::iter::plumbing::{Producer, ProducerCallback};
use sateen::prelude::*;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 7, 10, 100, 3000];

/// Splits the producer at `at`, and takes the items of both parts from both ends in turn.
struct FromBothEnds {
    len: usize,
    at: usize,
}

impl<T> ProducerCallback<T> for FromBothEnds {
    type Output = Vec<T>;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> Vec<T> {
        let (left, right) = producer.split_at(self.at);
        let mut all = Vec::new();
        for (part, len) in [(left, self.at), (right, self.len - self.at)] {
            let (mut items, mut behind) = (part.into_iter(), Vec::new());
            for taken in 0..len {
                assert_eq!(items.len(), len - taken);
                let front = taken % 3 != 1;
                let item = if front { items.next() } else { items.next_back() };
                let to = if front { &mut all } else { &mut behind };
                to.push(item.expect("an item"));
            }
            assert!(items.next().is_none() && items.next_back().is_none());
            all.extend(behind.into_iter().rev());
        }
        all
    }
}

/// Compares by all ways that an iterator with a length can be driven.
#[track_caller]
fn same<P>(par: P, model: impl IntoIterator<Item = P::Item>)
where
    P: IndexedParallelIterator<Item: PartialEq + Debug + Clone + Sync> + Clone,
{
    let model: Vec<_> = model.into_iter().collect();
    let len = model.len();
    assert_eq!(par.len(), len);
    assert_eq!(par.clone().collect::<Vec<_>>(), model);
    let mut target = Vec::new();
    par.clone().collect_into_vec(&mut target);
    assert_eq!(target, model);
    assert_eq!(par.clone().filter(|_| true).collect::<Vec<_>>(), model);
    assert_eq!(par.clone().with_max_len(3).rev().rev().collect::<Vec<_>>(), model);
    assert!(par.clone().rev().enumerate().with_max_len(2).all(|(n, i)| i == model[len - 1 - n]));
    for at in [0, 1, 2, len / 3, len / 2, len.saturating_sub(1), len] {
        let at = at.min(len);
        assert_eq!(par.clone().with_producer(FromBothEnds { len, at }), model, "split at {at}");
    }
}

#[test]
fn parts_of_the_items() {
    everywhere(|| {
        for len in LENGTHS {
            let v: Vec<usize> = (0..len).map(|n| n * 7 % 1000).collect();
            let (par, seq) = (|| v.par_iter().copied(), || v.iter().copied());
            for n in [0, 1, 2, 5, 99, usize::MAX] {
                same(par().skip(n), seq().skip(n));
                same(par().take(n), seq().take(n));
                same(par().skip(1).take(n), seq().skip(1).take(n));
                same(par().take(n).skip(2), seq().take(n).skip(2));
                same(par().rev().take(n).rev(), seq().rev().take(n).rev());
                if n > 0 {
                    same(par().step_by(n), seq().step_by(n));
                    same(par().skip(1).step_by(n), seq().skip(1).step_by(n));
                }
            }
            same(par().update(|n| *n += 1), seq().map(|n| n + 1));
            same(par().zip_eq(par().rev()), seq().zip(seq().rev()));
            let third = |n: usize| n % 3 == 1;
            let model: Vec<_> = seq().enumerate().filter(|(_, n)| third(*n)).collect();
            let places: Vec<_> = model.iter().map(|(place, _)| *place).collect();
            assert_eq!(par().positions(third).collect::<Vec<_>>(), places);
            assert_eq!(par().position_first(third), places.first().copied());
            assert_eq!(par().position_last(third), places.last().copied());
            let any = par().position_any(third);
            assert!(any.map_or(places.is_empty(), |place| places.contains(&place)));
            let map = |n: usize| third(n).then_some(n + 1);
            assert_eq!(par().find_map_first(map), seq().find_map(map));
            assert_eq!(par().find_map_last(map), seq().rev().find_map(map));
            assert_eq!(par().find_map_any(map).is_some(), !places.is_empty());
        }
    });
}

#[test]
fn chunks_are_the_same_in_each_call() {
    everywhere(|| {
        for len in LENGTHS {
            let v: Vec<usize> = (0..len).map(|n| n * 7 % 1000).collect();
            let par = || v.par_iter().copied();
            for size in [1, 2, 3, 7, 1000, usize::MAX] {
                same(par().chunks(size), v.chunks(size).map(<[usize]>::to_vec));
                let push = |mut all: Vec<usize>, n| {
                    all.push(n);
                    all
                };
                let folded = par().fold_chunks(size, Vec::new, push);
                same(folded, v.chunks(size).map(<[usize]>::to_vec));
                let folded = par().fold_chunks_with(size, 10, |a, b| a + b);
                same(folded, v.chunks(size).map(|chunk| 10 + chunk.iter().sum::<usize>()));
            }
        }
    });
}

#[test]
fn separators_stand_between_items() {
    everywhere(|| {
        for len in LENGTHS {
            let all = || (0..len).into_par_iter();
            let model = |wanted: &dyn Fn(usize) -> bool| {
                let pairs = (0..len).filter(|n| wanted(*n)).flat_map(|n| [9999, n]);
                pairs.skip(1).collect::<Vec<_>>()
            };
            same(all().intersperse(9999), model(&|_| true));
            let few = |n: usize| n % 700 == 650;
            let filtered = || all().filter(|n| few(*n)).intersperse(9999);
            assert_eq!(filtered().collect::<Vec<_>>(), model(&few));
            let first = filtered().find_first(|n| *n == 9999);
            assert_eq!(first, model(&few).into_iter().find(|n| *n == 9999));
            let last = filtered().find_last(|n| *n < 2000);
            assert_eq!(last, model(&few).into_iter().rfind(|n| *n < 2000));
        }
    });
    everywhere(|| {
        let census = Census::default();
        let all = || (0..300).into_par_iter().map(|n| census.citizen(n));
        assert_eq!(all().intersperse(census.citizen(0)).count(), 599);
        assert_eq!(all().intersperse(census.citizen(0)).rev().skip(7).count(), 592);
        census.assert_all_gone();
        panics_with("the one", || {
            let all = all().inspect(|c| assert_ne!(c.number, 150, "the one"));
            all.intersperse(census.bomb(0)).for_each(sateen_base::unwind::discard)
        });
        census.assert_all_gone();
    });
}

#[test]
fn items_in_turn() {
    everywhere(|| {
        for i_len in [0, 1, 2, 5, 100, 1000] {
            for j_len in [0, 1, 2, 6, 101, 700] {
                let (i, j) = (|| 0..i_len, || 5000..5000 + j_len);
                let mut model = Vec::new();
                let (mut is, mut js) = (i(), j());
                let mut shortest = None;
                while is.len() + js.len() > 0 {
                    if is.is_empty() {
                        shortest = shortest.or(Some(model.len()));
                    }
                    model.extend(is.next());
                    if js.is_empty() {
                        shortest = shortest.or(Some(model.len()));
                    }
                    model.extend(js.next());
                }
                let (x, y) = (|| i().into_par_iter(), || j().into_par_iter());
                same(x().interleave(y()), model.clone());
                let shortest = shortest.unwrap_or(model.len());
                same(x().interleave_shortest(y()), model[..shortest].to_vec());
            }
        }
    });
}

#[test]
fn comparisons() {
    everywhere(|| {
        let words: [Vec<u32>; 7] =
            [vec![], vec![0], vec![1], vec![0, 0], vec![0; 900], vec![0; 901], (0..900).collect()];
        for a in &words {
            for b in &words {
                let (x, y) = (|| a.par_iter(), || b.par_iter());
                assert_eq!(x().cmp(y()), a.iter().cmp(b));
                assert_eq!(x().partial_cmp(y()), a.iter().partial_cmp(b));
                assert_eq!(x().eq(y()), a == b);
                assert_eq!(x().ne(y()), a != b);
                assert_eq!(x().lt(y()), a < b);
                assert_eq!(x().le(y()), a <= b);
                assert_eq!(x().gt(y()), a > b);
                assert_eq!(x().ge(y()), a >= b);
            }
        }
        let none = [1.0, f64::NAN, 3.0];
        let (x, y) = (|| none.par_iter(), || none.par_iter());
        assert_eq!(x().partial_cmp(y()), None);
        assert!(x().ne(y()) && !x().eq(y()));
        assert!(!x().lt(y()) && !x().le(y()) && !x().gt(y()) && !x().ge(y()));
        assert!(x().lt([1.5].par_iter()));
    });
}

#[test]
fn skipped_items_are_made_and_others_not() {
    everywhere(|| {
        let made = AtomicUsize::new(0);
        let make = |n: usize| {
            made.fetch_add(1, SeqCst);
            n
        };
        let made_by = |f: &dyn Fn() -> usize| {
            made.store(0, SeqCst);
            f();
            made.load(SeqCst)
        };
        let par = || (0..1000).into_par_iter().map(make);
        assert_eq!(made_by(&|| par().skip(300).sum()), 1000);
        assert_eq!(made_by(&|| par().take(300).sum()), 300);
        assert_eq!(made_by(&|| par().take(300).skip(200).sum()), 300);
        // Huge ranges show that no item is looked at in vain.
        assert_eq!((0..usize::MAX).into_par_iter().take(3).sum::<usize>(), 3);
        assert_eq!((0..usize::MAX).into_par_iter().step_by(usize::MAX / 2).count(), 3);
    });
}

#[test]
fn items_that_are_left_out_are_dropped_once() {
    everywhere(|| {
        let census = Census::default();
        let all = || (0..1000).map(|n| census.citizen(n)).collect::<Vec<_>>();
        assert_eq!(all().into_par_iter().skip(10).count(), 990);
        census.assert_all_gone();
        assert_eq!(all().into_par_iter().take(10).collect::<Vec<_>>().len(), 10);
        census.assert_all_gone();
        assert_eq!(all().into_par_iter().step_by(7).count(), 143);
        census.assert_all_gone();
        assert_eq!(all().into_par_iter().position_first(|c| c.number == 5), Some(5));
        census.assert_all_gone();
        panics_with("the one", || {
            all().into_par_iter().update(|c| assert_ne!(c.number, 70, "the one")).skip(80).count()
        });
        census.assert_all_gone();
        panics_with("a bomb", || {
            let mut all = all();
            all[3] = census.bomb(3);
            all.into_par_iter().skip(10).count()
        });
        census.assert_all_gone();
    });
}

/// Panics leak nothing, also while a state is held whose destructor panics.
#[test]
fn chunks_drop_everything_once() {
    everywhere(|| {
        let census = Census::default();
        let all = || (0..1000).map(|n| census.citizen(n)).collect::<Vec<_>>().into_par_iter();
        assert_eq!(all().chunks(7).skip(3).take(100).map(|chunk| chunk.len()).sum::<usize>(), 700);
        census.assert_all_gone();
        let same = |c: common::Citizen| {
            assert_ne!(c.number, 500, "the one");
            c
        };
        panics_with("the one", || all().map(same).chunks(7).collect::<Vec<_>>());
        census.assert_all_gone();
        panics_with("the one", || {
            let fold = |held: common::Citizen, c| {
                sateen_base::unwind::discard(same(c));
                held
            };
            let folded = all().map(same).fold_chunks(7, || census.bomb(0), fold);
            folded.for_each(sateen_base::unwind::discard);
        });
        census.assert_all_gone();
        panics_with("the one", || {
            let fold = |held: common::Citizen, c| {
                drop(same(c));
                held
            };
            all().fold_chunks_with(7, census.citizen(0), fold).rev().collect::<Vec<_>>()
        });
        census.assert_all_gone();
        assert_eq!(all().interleave(all().rev()).step_by(3).count(), 667);
        assert_eq!(all().interleave_shortest(all().take(7)).count(), 15);
        census.assert_all_gone();
    });
}

#[test]
fn wrong_arguments_are_named() {
    let three = || (0..3).into_par_iter();
    panics_with("chunk_size must not be zero", || three().chunks(0));
    panics_with("chunk_size must not be zero", || three().fold_chunks(0, || 0, |a, b| a + b));
    panics_with("chunk_size must not be zero", || three().fold_chunks_with(0, 0, |a, b| a + b));
    panics_with("`step` of `step_by` must not be 0", || (0..3).into_par_iter().step_by(0));
    panics_with("`zip_eq` of 3 items with 2", || (0..3).into_par_iter().zip_eq(0..2));
}

/// Lengths that no `usize` can hold are refused, and ranges that end before they start are empty.
#[test]
fn lengths_that_cannot_be() {
    let all = || (0..usize::MAX).into_par_iter();
    let most = usize::MAX;
    panics_with(&format!("a chain of more than {most} items"), || all().chain(0..1).len());
    panics_with(&format!("`intersperse` makes more than {most} items"), || {
        all().intersperse(0).len()
    });
    panics_with(&format!("`interleave` of more than {most} items"), || {
        all().interleave(0..1).len()
    });
    #[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
    everywhere(|| {
        assert_eq!((5..2).into_par_iter().collect::<Vec<i32>>(), []);
        assert_eq!((5..=2).into_par_iter().collect::<Vec<u64>>(), []);
        assert_eq!((i64::MAX..i64::MIN).into_par_iter().map(|n| n / 2).count(), 0);
        assert_eq!(('z'..='a').into_par_iter().collect::<String>(), "");
    });
    #[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
    panics_with("the range Included(2) to Excluded(1) is not within 3 items", || {
        drop(vec![1, 2, 3].par_drain(2..1));
    });
}
