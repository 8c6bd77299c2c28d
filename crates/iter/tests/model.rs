//! Every source, adapter and end does what its sequential twin does.
#![cfg(not(loom))]

mod common;

use common::{Draw, everywhere};
use sateen::iter::{empty, once, repeat_n};
use sateen::prelude::*;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 9] = [0, 1, 2, 3, 10, 100, 1000, 5000, 50_000];

fn numbers(len: usize) -> Vec<u64> {
    let mut draw = Draw::new(len as u64 + 1);
    (0..len).map(|_| draw.below(1000)).collect()
}

/// Some work, so that loops are cut.
fn work(n: u64) -> u64 {
    (0..n % 64).fold(n, |a, b| std::hint::black_box(a.rotate_left(5) ^ b))
}

#[test]
fn sources() {
    everywhere(|| {
        for len in LENGTHS {
            let v = numbers(len);
            let end = len as u64;
            assert!(v.par_iter().eq_to(v.iter()));
            assert!(v.clone().into_par_iter().eq_to(v.iter().copied()));
            assert!(v.clone().into_boxed_slice().into_par_iter().eq_to(v.iter().copied()));
            assert!((0..len).into_par_iter().eq_to(0..len));
            assert!((0..end).into_par_iter().eq_to(0..end));
            assert!((0..=end).into_par_iter().eq_to(0..=end));
            assert!((-7..end as i128).into_par_iter().eq_to(-7..end as i128));
            assert!((-7..=len as i32).into_par_iter().eq_to(-7..=len as i32));
            assert!(repeat_n("x".to_owned(), len).eq_to(std::iter::repeat_n("x".to_owned(), len)));
            let mut changed = v.clone();
            changed.par_iter_mut().for_each(|n| *n += 1);
            assert!(changed.iter().zip(&v).all(|(a, b)| *a == b + 1));
        }
        assert!(empty::<u8>().eq_to(std::iter::empty()));
        assert!(once(3).eq_to(std::iter::once(3)));
        assert!([1, 2, 3].into_par_iter().eq_to([1, 2, 3]));
        assert!(<[String; 0]>::into_par_iter([]).eq_to(Vec::<String>::new()));
    });
}

/// Compares with a sequential iterator, by both ways of collecting.
trait EqTo: ParallelIterator + Clone {
    fn eq_to<I>(self, model: I) -> bool
    where
        I: IntoIterator<Item = Self::Item>,
        Self::Item: PartialEq,
    {
        let model: Vec<_> = model.into_iter().collect();
        let known: Vec<_> = self.clone().collect();
        let unknown: Vec<_> = self.filter(|_| true).collect();
        known == model && unknown == model
    }
}
impl<I: ParallelIterator + Clone> EqTo for I {}

#[test]
fn ranges_to_the_ends_of_types() {
    macro_rules! ends {
        ($($t:ty),*) => {$({
            let (min, max) = (<$t>::MIN, <$t>::MAX);
            assert!((max - 9..max).into_par_iter().eq_to(max - 9..max));
            assert!((max - 9..=max).into_par_iter().eq_to(max - 9..=max));
            assert!((min..min + 9).into_par_iter().eq_to(min..min + 9));
            assert!((min..=min).into_par_iter().eq_to(min..=min));
            assert!((max..=max).into_par_iter().eq_to(max..=max));
            assert!((max..min).into_par_iter().eq_to(max..min));
            assert!((max..=min).into_par_iter().eq_to(max..=min));
            // All integers of the type, and a search that ends early.
            assert_eq!((min..=max).into_par_iter().find_any(|n| *n == max - 5), Some(max - 5));
            assert_eq!((min..max).into_par_iter().find_first(|n| *n >= min), Some(min));
        })*};
    }
    everywhere(|| {
        ends!(u8, i8, u16, i16);
        assert!((u8::MIN..=u8::MAX).into_par_iter().eq_to(u8::MIN..=u8::MAX));
        assert!((i8::MIN..=i8::MAX).into_par_iter().eq_to(i8::MIN..=i8::MAX));
        assert_eq!((i16::MIN..=i16::MAX).into_par_iter().len(), 65_536);
        let all = (i16::MIN..=i16::MAX).into_par_iter().enumerate();
        assert_eq!(all.find_last(|_| true), Some((65_535, i16::MAX)));
        assert_eq!((i32::MIN..i32::MAX).into_par_iter().len(), u32::MAX as usize);
    });
    macro_rules! large {
        ($($t:ty),*) => {$({
            let (min, max) = (<$t>::MIN, <$t>::MAX);
            assert!((max - 9..max).into_par_iter().eq_to(max - 9..max));
            assert!((max - 9..=max).into_par_iter().eq_to(max - 9..=max));
            assert!((min..min + 9).into_par_iter().eq_to(min..min + 9));
            assert!((max..=max).into_par_iter().eq_to(max..=max));
            assert_eq!((min..=max).into_par_iter().find_any(|_| true).is_some(), true);
            assert_eq!((min..max).into_par_iter().find_first(|n| *n >= min), Some(min));
        })*};
    }
    everywhere(|| {
        large!(u32, i32, u64, i64, u128, i128, usize, isize);
    });
    let mut iterated = 0..=3u8;
    iterated.by_ref().for_each(drop);
    assert!(iterated.clone().into_par_iter().eq_to(iterated));
}

#[test]
fn adapters() {
    everywhere(|| {
        for len in LENGTHS {
            let v = numbers(len);
            let (par, seq) = (|| v.par_iter().copied(), || v.iter().copied());
            assert!(par().map(work).eq_to(seq().map(work)));
            assert!(par().filter(|n| n % 3 == 0).eq_to(seq().filter(|n| n % 3 == 0)));
            let halve = |n| (n % 2 == 0).then_some(work(n) / 2);
            assert!(par().filter_map(halve).eq_to(seq().filter_map(halve)));
            assert!(par().inspect(|n| assert!(*n < 1000)).eq_to(seq()));
            assert!(par().enumerate().eq_to(seq().enumerate()));
            assert!(par().rev().enumerate().rev().eq_to(seq().rev().enumerate().rev()));
            assert!(par().zip(3..len).eq_to(seq().zip(3..len)));
            assert!((3..len).into_par_iter().zip(par()).rev().eq_to((3..len).zip(seq()).rev()));
            assert!(par().chain(par().rev()).eq_to(seq().chain(seq().rev())));
            assert!(par().chain(once(1)).rev().eq_to(seq().chain([1]).rev()));
            assert!(par().zip(par().chain(par())).eq_to(seq().zip(seq().chain(seq()))));
            assert!(par().chain(par().filter(|_| true)).eq_to(seq().chain(seq())));
            assert!(v.par_iter().cloned().eq_to(seq()));
            assert!(par().with_max_len(7).eq_to(seq()));
            assert!(par().with_min_len(7).map(work).eq_to(seq().map(work)));
            let few = len.min(1000);
            let (par, seq) = (|| v[..few].par_iter().copied(), || v[..few].iter().copied());
            assert!(par().flat_map(|n| n..n + n % 9).eq_to(seq().flat_map(|n| n..n + n % 9)));
            assert!(par().flat_map_iter(|n| n..n + n % 9).eq_to(seq().flat_map(|n| n..n + n % 9)));
            let nested: Vec<Vec<u64>> = seq().map(|n| (0..n % 5).collect()).collect();
            assert!(nested.par_iter().flatten().eq_to(nested.iter().flatten()));
            assert!(nested.par_iter().flatten_iter().eq_to(nested.iter().flatten()));
            let init = |state: &mut Vec<u64>, n| {
                state.push(n);
                state.last().copied()
            };
            assert!(par().map_init(Vec::new, init).eq_to(seq().map(Some)));
            assert!(par().map_with(Vec::new(), init).rev().eq_to(seq().map(Some).rev()));
        }
    });
}

#[test]
fn ends() {
    everywhere(|| {
        for len in LENGTHS {
            let v = numbers(len);
            let (par, seq) = (|| v.par_iter().copied(), || v.iter().copied());
            assert_eq!(par().sum::<u64>(), seq().sum());
            assert_eq!(par().map(|n| n | 1).product::<Wrap>().0, wrapped(seq().map(|n| n | 1)));
            assert_eq!(par().count(), len);
            assert_eq!(par().min(), seq().min());
            assert_eq!(par().max(), seq().max());
            let key = |pair: &(usize, u64)| pair.1 % 10;
            let (numbered, model) = (|| par().enumerate(), || seq().enumerate());
            assert_eq!(numbered().min_by_key(key), model().min_by_key(key));
            assert_eq!(numbered().max_by_key(key), model().max_by_key(key));
            let by = |a: &(usize, u64), b: &(usize, u64)| key(a).cmp(&key(b));
            assert_eq!(numbered().min_by(by), model().min_by(by));
            assert_eq!(numbered().max_by(by), model().max_by(by));
            assert_eq!(par().max_by_key(|n| Reverse(*n)), seq().max_by_key(|n| Reverse(*n)));
            let digits = |text: String, n: u64| text + &n.to_string();
            let few = len.min(500);
            let words = || v[..few].par_iter().map(u64::to_string);
            let all = v[..few].iter().copied().fold(String::new(), digits);
            assert_eq!(words().reduce(String::new, |a, b| a + &b), all);
            assert_eq!(words().reduce_with(|a, b| a + &b).unwrap_or_default(), all);
            let some = words().map(Some);
            assert_eq!(some.try_reduce(String::new, |a, b| Some(a + &b)), Some(all.clone()));
            let some = words().map(Some);
            assert_eq!(
                some.try_reduce_with(|a, b| Some(a + &b)).flatten().unwrap_or_default(),
                all
            );
            let folded = v[..few].par_iter().copied().fold(String::new, digits);
            assert_eq!(folded.reduce(String::new, |a, b| a + &b), all);
            let folded = v[..few].par_iter().copied().fold_with(String::new(), digits);
            assert_eq!(folded.collect::<Vec<_>>().concat(), all);
            for wanted in [0, 7, 500, 999, 5000] {
                let is = |n: &u64| *n == wanted;
                let at = |pair: &(usize, u64)| pair.1 == wanted;
                assert_eq!(par().find_any(is), seq().find(is));
                assert_eq!(numbered().find_first(at), model().find(at));
                assert_eq!(numbered().find_last(at), model().rev().find(at));
                let odd = |pair: &(usize, u64)| pair.0 % 3 != 1 && pair.1 >= wanted;
                let filtered = numbered().filter(odd);
                assert_eq!(filtered.clone().find_first(|_| true), model().find(odd));
                assert_eq!(filtered.find_last(|_| true), model().rev().find(odd));
                assert_eq!(par().any(|n| n == wanted), seq().any(|n| n == wanted));
                assert_eq!(par().all(|n| n != wanted), seq().all(|n| n != wanted));
                let not = |n| if n == wanted { Err(n) } else { Ok(()) };
                assert_eq!(par().try_for_each(not), seq().try_for_each(not));
            }
            let mut target = vec![1; 3];
            par().map(work).collect_into_vec(&mut target);
            assert!(target.iter().copied().eq(seq().map(work)));
            target.par_extend(par());
            target.par_extend(par().filter(|n| n % 2 == 0));
            let model = seq().map(work).chain(seq()).chain(seq().filter(|n| n % 2 == 0));
            assert!(target.into_iter().eq(model));
        }
    });
}

/// A product that wraps around.
#[derive(Debug, PartialEq)]
struct Wrap(u64);

impl std::iter::Product<u64> for Wrap {
    fn product<I: Iterator<Item = u64>>(items: I) -> Self {
        Self(wrapped(items))
    }
}

impl std::iter::Product for Wrap {
    fn product<I: Iterator<Item = Self>>(items: I) -> Self {
        Self(wrapped(items.map(|w| w.0)))
    }
}

fn wrapped(items: impl Iterator<Item = u64>) -> u64 {
    items.fold(1, u64::wrapping_mul)
}

#[test]
fn first_and_last_in_nested_iterators() {
    everywhere(|| {
        for len in [1, 3, 50, 300u64] {
            let par = || {
                (0..len)
                    .into_par_iter()
                    .flat_map(move |a| (0..a % 70).into_par_iter().map(move |b| (a, b)))
            };
            let seq = || (0..len).flat_map(|a| (0..a % 70).map(move |b| (a, b)));
            for wanted in 0..8 {
                let at = |pair: &(u64, u64)| work(pair.0 * 131 + pair.1) % 97 == wanted;
                assert_eq!(par().find_first(at), seq().find(at));
                assert_eq!(par().find_last(at), seq().rfind(at));
                assert_eq!(par().find_any(at).is_some(), seq().any(|pair| at(&pair)));
            }
        }
    });
}

/// A state lives as long as its piece, and not only for a chunk.
#[test]
fn states_persist() {
    everywhere(|| {
        let items = 300_000u64;
        let pieces = (0..items).into_par_iter().fold(HashMap::<u64, u64>::new, |mut map, n| {
            *map.entry(n % 10).or_default() += 1;
            map
        });
        let maps: Vec<_> = pieces.collect();
        assert!(maps.iter().all(|map| !map.is_empty()));
        assert_eq!(maps.iter().flat_map(HashMap::values).sum::<u64>(), items);
        assert!(maps.len() < 2000, "{} maps for {items} items", maps.len());
    });
}

/// Where nobody takes anything, all chunks and halves go to one folder.
#[test]
fn one_worker_has_one_state() {
    let runtime = sateen::Runtime::builder().workers(1).build().expect("a runtime");
    runtime.install(|| {
        for len in LENGTHS {
            let folds = (0..len).into_par_iter().fold(|| 0, |sum, n| sum ^ work(n as u64)).count();
            assert_eq!(folds, 1);
            let mut states: Vec<usize> = Vec::new();
            let next = |state: &mut usize, _| {
                *state += 1;
                *state
            };
            (0..len).into_par_iter().map_init(|| 0, next).collect_into_vec(&mut states);
            assert!(states.into_iter().eq(1..=len));
        }
    });
}

#[test]
fn lengths_of_pieces() {
    everywhere(|| {
        let count = |sum: usize, _| {
            work(63);
            sum + 1
        };
        let longest = (0..20_000).into_par_iter().with_max_len(10).fold(|| 0, count).max();
        assert!(longest <= Some(10), "{longest:?}");
        let single = (0..500).into_par_iter().with_max_len(1).fold(|| 0, count).count();
        assert_eq!(single, 500);
        let shortest = (0..20_000).into_par_iter().with_min_len(300).fold(|| 0, count).min();
        assert!(shortest >= Some(300), "{shortest:?}");
        let both = (0..2000).into_par_iter().with_min_len(50).with_max_len(7);
        assert!(both.fold(|| 0, count).all(|n| n >= 50));
        // Too few for two pieces of the least length are more than the longest piece.
        for (len, least, most) in
            [(100_000, 10, 100), (9999, 10, 19), (50_000, 7, 9), (150, 90, 100)]
        {
            let pieces = (0..len).into_par_iter().with_min_len(least).with_max_len(most);
            let lens: Vec<usize> = pieces.fold(|| 0, |sum, _| sum + 1).collect();
            let longest = most.max(2 * least - 1);
            assert!(lens.iter().all(|n| (least..=longest).contains(n)), "{lens:?}");
        }
        assert_eq!((0..5).into_par_iter().with_min_len(300).fold(|| 0, count).max(), Some(5));
    });
}

#[test]
fn tuples_of_collections() {
    everywhere(|| {
        let mut columns = (vec![1, 2, 3, 4], [10, 20, 30], (5..9).collect::<VecDeque<_>>());
        let sums: Vec<i32> = columns.par_iter().map(|(a, b, c)| a + b + c).collect();
        assert_eq!(sums, [16, 28, 40]);
        columns.par_iter_mut().for_each(|(a, b, _)| std::mem::swap(a, b));
        assert_eq!((columns.0, columns.1), (vec![10, 20, 30, 4], [1, 2, 3]));
    });
}

#[test]
fn skipped_repetitions_are_not_cloned() {
    struct Counted<'c>(&'c AtomicUsize);
    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, SeqCst);
            Self(self.0)
        }
    }
    everywhere(|| {
        let clones = AtomicUsize::new(0);
        let items = sateen::iter::repeat_n(Counted(&clones), 100_000);
        assert_eq!(items.step_by(50_000).count(), 2);
        assert!(clones.load(SeqCst) < 100, "{clones:?}");
    });
}
