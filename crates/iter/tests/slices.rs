//! The methods of slices do what those of `std` do.
#![cfg(not(loom))]

mod common;

use common::{Draw, everywhere, panics_with};
use sateen::prelude::*;

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 10, 100, 1000, 20_000];
const SIZES: [usize; 6] = [1, 2, 3, 7, 1000, usize::MAX];

fn numbers(len: usize, below: u64) -> Vec<u64> {
    let mut draw = Draw::new(len as u64 + below);
    (0..len).map(|_| draw.below(below)).collect()
}

/// Compares with a sequential iterator, from both sides and by cutting everywhere.
#[track_caller]
fn same<I, M>(parallel: I, model: M)
where
    I: IndexedParallelIterator + Clone,
    I::Item: PartialEq + std::fmt::Debug,
    M: DoubleEndedIterator<Item = I::Item> + ExactSizeIterator + Clone,
{
    assert_eq!(parallel.len(), model.len());
    assert!(parallel.clone().collect::<Vec<_>>().into_iter().eq(model.clone()));
    assert!(parallel.clone().with_max_len(1).collect::<Vec<_>>().into_iter().eq(model.clone()));
    assert!(parallel.rev().collect::<Vec<_>>().into_iter().eq(model.rev()));
}

#[test]
fn chunks_and_windows() {
    everywhere(|| {
        for len in LENGTHS {
            let v = numbers(len, 1000);
            for size in SIZES {
                same(v.par_chunks(size), v.chunks(size));
                same(v.par_rchunks(size), v.rchunks(size));
                same(v.par_chunks_exact(size), v.chunks_exact(size));
                same(v.par_rchunks_exact(size), v.rchunks_exact(size));
                let rest = v.chunks_exact(size);
                assert_eq!(v.par_chunks_exact(size).remainder(), rest.remainder());
                let rest = v.rchunks_exact(size);
                assert_eq!(v.par_rchunks_exact(size).remainder(), rest.remainder());
                same(v.par_windows(size), v.windows(size));
            }
            let arrays = v.windows(3).map(|w| <&[u64; 3]>::try_from(w).expect("three"));
            same(v.par_array_windows::<3>(), arrays);
        }
    });
}

/// Marks each item with the number of its chunk and its place there.
fn mark(index: usize, chunk: &mut [u64]) {
    for (place, n) in chunk.iter_mut().enumerate() {
        *n = *n * 31 + (index * 7 + place) as u64;
    }
}

#[test]
fn mutable_chunks() {
    macro_rules! compare {
        ($v:ident, $size:ident, $($par:ident $seq:ident),*) => {$({
            let (mut changed, mut model) = ($v.clone(), $v.clone());
            changed.$par($size).enumerate().for_each(|(index, chunk)| mark(index, chunk));
            model.$seq($size).enumerate().for_each(|(index, chunk)| mark(index, chunk));
            assert_eq!(changed, model, "{} of {}", stringify!($par), $size);
        })*};
    }
    everywhere(|| {
        for len in LENGTHS {
            let v = numbers(len, 1000);
            for size in SIZES {
                compare!(
                    v, size,
                    par_chunks_mut chunks_mut, par_chunks_exact_mut chunks_exact_mut,
                    par_rchunks_mut rchunks_mut, par_rchunks_exact_mut rchunks_exact_mut
                );
                let (mut a, mut b) = (v.clone(), v.clone());
                let mut exact = a.par_chunks_exact_mut(size);
                assert_eq!(exact.remainder(), b.chunks_exact_mut(size).into_remainder());
                assert_eq!(exact.take_remainder(), b.chunks_exact_mut(size).into_remainder());
                assert!(exact.into_remainder().is_empty());
                let mut exact = a.par_rchunks_exact_mut(size);
                assert_eq!(exact.take_remainder(), b.rchunks_exact_mut(size).into_remainder());
                assert!(exact.remainder().is_empty());
            }
        }
    });
}

#[test]
fn parts() {
    everywhere(|| {
        for len in LENGTHS {
            // Many ends, few, none, and only ends.
            for below in [2, 50, 5000, 1] {
                let v: Vec<u64> = numbers(len, below);
                let ends = |n: &u64| *n == below / 2;
                let all: Vec<&[u64]> = v.par_split(ends).collect();
                assert!(all.into_iter().eq(v.split(ends)));
                let all: Vec<&[u64]> = v.par_split_inclusive(ends).collect();
                assert!(all.into_iter().eq(v.split_inclusive(ends)));
                let alike = |a: &u64, b: &u64| a <= b;
                let all: Vec<&[u64]> = v.par_chunk_by(alike).collect();
                assert!(all.into_iter().eq(v.chunk_by(alike)));

                let sum = |part: &mut [u64]| {
                    let sum = part.iter().sum();
                    part.iter_mut().for_each(|n| *n = sum);
                };
                let (mut changed, mut model) = (v.clone(), v.clone());
                changed.par_split_mut(ends).for_each(sum);
                model.split_mut(ends).for_each(sum);
                assert_eq!(changed, model);
                let (mut changed, mut model) = (v.clone(), v.clone());
                changed.par_split_inclusive_mut(ends).for_each(sum);
                model.split_inclusive_mut(ends).for_each(sum);
                assert_eq!(changed, model);
                let (mut changed, mut model) = (v.clone(), v.clone());
                changed.par_chunk_by_mut(alike).for_each(sum);
                model.chunk_by_mut(alike).for_each(sum);
                assert_eq!(changed, model);
            }
        }
        // One end, at each place.
        for at in 0..100 {
            let v: Vec<usize> = (0..100).collect();
            assert_eq!(v.par_split(|n| *n == at).collect::<Vec<_>>(), [&v[..at], &v[at + 1..]]);
        }
    });
}

#[test]
fn rules_are_asked_once() {
    everywhere(|| {
        for len in LENGTHS {
            for below in [2, 50, 5000, 1] {
                let mut v: Vec<u64> = numbers(len, below);
                let calls = std::sync::atomic::AtomicUsize::new(0);
                let noted = |answer| {
                    calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    answer
                };
                let called = || calls.swap(0, std::sync::atomic::Ordering::Relaxed);
                v.par_split(|n| noted(*n == below / 2)).for_each(drop);
                assert_eq!(called(), len);
                v.par_split_mut(|n| noted(*n == below / 2)).for_each(drop);
                assert_eq!(called(), len);
                v.par_chunk_by(|a, b| noted(a <= b)).for_each(drop);
                assert_eq!(called(), len.saturating_sub(1));
                v.par_chunk_by_mut(|a, b| noted(a <= b)).for_each(drop);
                assert_eq!(called(), len.saturating_sub(1));
            }
        }
    });
}

#[test]
fn items_without_size() {
    let many = [(); usize::MAX];
    everywhere(|| {
        assert_eq!(many.par_chunks(usize::MAX - 1).count(), 2);
        assert_eq!(many.par_rchunks(usize::MAX / 2).map(<[()]>::len).min(), Some(1));
        assert_eq!(many.par_chunks_exact(usize::MAX / 3).with_max_len(1).count(), 3);
        assert_eq!(many.par_windows(usize::MAX - 1).map(<[()]>::len).max(), Some(usize::MAX - 1));
    });
}

#[test]
fn sizes_of_zero_are_refused() {
    let mut v = [1, 2, 3];
    panics_with("chunk_size must not be zero", || v.par_chunks(0));
    panics_with("chunk_size must not be zero", || v.par_chunks_exact(0));
    panics_with("chunk_size must not be zero", || v.par_rchunks(0));
    panics_with("chunk_size must not be zero", || v.par_rchunks_exact(0));
    panics_with("chunk_size must not be zero", || _ = v.par_chunks_mut(0));
    panics_with("chunk_size must not be zero", || _ = v.par_chunks_exact_mut(0));
    panics_with("chunk_size must not be zero", || _ = v.par_rchunks_mut(0));
    panics_with("chunk_size must not be zero", || _ = v.par_rchunks_exact_mut(0));
    panics_with("window_size must not be zero", || v.par_windows(0));
}

/// Rules that panic, or that change their minds at each call.
#[test]
fn hostile_rules() {
    everywhere(|| {
        let v = numbers(5000, 10);
        panics_with("the one", || v.par_split(|_| panic!("the one")).count());
        panics_with("the one", || v.par_chunk_by(|_, _| panic!("the one")).count());
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let fickle = || calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst).is_multiple_of(3);
        let len = |part: &[u64]| part.len();
        assert_eq!(v.par_split_inclusive(|_| fickle()).map(len).sum::<usize>(), v.len());
        assert_eq!(v.par_chunk_by(|_, _| fickle()).map(len).sum::<usize>(), v.len());
        let mut changed = v.clone();
        changed.par_chunk_by_mut(|_, _| fickle()).for_each(|p| p.iter_mut().for_each(|n| *n += 1));
        assert!(changed.iter().zip(&v).all(|(a, b)| *a == b + 1));
        changed.par_split_mut(|_| fickle()).for_each(|part| part.fill(0));
    });
}
