//! Tuples, blocks, and sources that belong to no type.
#![cfg(not(loom))]

mod common;

use common::{Census, everywhere, panics_with};
use sateen::iter::{repeat, split};
use sateen::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 6] = [0, 1, 2, 10, 100, 3000];

#[test]
fn tuples_are_zipped() {
    everywhere(|| {
        for len in LENGTHS {
            let v: Vec<usize> = (0..len).collect();
            let three = (&v, 1..len + 9, v.clone()).into_par_iter();
            assert_eq!(three.len(), len);
            let three: Vec<_> = three.rev().collect();
            assert!(three.into_iter().eq((0..len).rev().map(|n| (&v[n], n + 1, n))));
            let mut sums = vec![0; len];
            (&mut sums, &v, v.par_iter().rev()).into_par_iter().for_each(|(s, a, b)| *s = a + b);
            assert!(sums.iter().all(|sum| sum + 1 == len));
            let mut both = (sums, v.clone());
            both.par_iter_mut().for_each(|(s, a)| *s -= *a);
            assert!(both.par_iter().all(|(s, a)| s + a + 1 == len));
            assert_eq!((0..len,).into_par_iter().map(|(n,)| n).collect::<Vec<_>>(), v);
        }
        let r = || 0..100;
        let twelve = (r(), r(), r(), r(), r(), r(), r(), r(), r(), r(), r(), 7..50);
        let sum = twelve.into_par_iter().map(|(a, _, c, .., l)| a + c + l).sum::<i32>();
        assert_eq!(sum, (0..43).map(|n| 3 * n + 7).sum());
    });
}

#[test]
fn blocks_come_in_order() {
    everywhere(|| {
        for len in LENGTHS {
            let par = || (0..len).into_par_iter();
            let all: Vec<_> = (0..len).collect();
            assert_eq!(par().by_exponential_blocks().collect::<Vec<_>>(), all);
            assert_eq!(
                par().by_exponential_blocks().find_last(|n| n % 3 == 0),
                all.iter().copied().rfind(|n| n % 3 == 0)
            );
            for size in [1, 2, 7, 1000, usize::MAX] {
                let blocks = || par().by_uniform_blocks(size);
                assert_eq!(blocks().filter(|_| true).collect::<Vec<_>>(), all);
                assert_eq!(blocks().sum::<usize>(), all.iter().sum());
                assert_eq!(blocks().find_first(|n| n % 7 == 6), (len > 6).then_some(6));
            }
            // No block begins before the one in front of it has ended.
            let begun = AtomicUsize::new(0);
            par().by_uniform_blocks(10).for_each(|n| {
                let before = begun.fetch_add(1, SeqCst);
                assert_eq!(before / 10, n / 10);
            });
        }
        // A search ends with its block.
        let seen = AtomicUsize::new(0);
        let found = (0..usize::MAX / 16).into_par_iter().by_exponential_blocks().find_any(|n| {
            seen.fetch_add(1, SeqCst);
            *n == 500
        });
        assert_eq!(found, Some(500));
        assert!(seen.load(SeqCst) < 5000);
    });
    panics_with("`block_size` must not be 0", || (0..3).into_par_iter().by_uniform_blocks(0));
}

#[test]
fn endless_and_split_sources() {
    everywhere(|| {
        assert_eq!(repeat(3).take(1000).sum::<u32>(), 3000);
        assert!(repeat('x').zip(0..100).all(|(x, n)| x == 'x' && n < 100));
        assert_eq!(repeat(3).find_any(|n| *n == 3), Some(3));
        assert_eq!(repeat(3).take_any(1000).count(), 1000);
        let census = Census::default();
        assert!(repeat(census.citizen(4)).any(|c| c.number == 4));
        census.assert_all_gone();

        let halve = |mut all: Vec<usize>| {
            let rest = (all.len() > 1).then(|| all.split_off(all.len() / 2));
            (all, rest)
        };
        for len in LENGTHS {
            let pieces = split((0..len).collect(), halve);
            assert!(pieces.collect::<Vec<_>>().into_iter().flatten().eq(0..len));
        }
        panics_with("the one", || {
            let all: Vec<_> = (0..3000).map(|n| census.citizen(n)).collect();
            let halve = |mut all: Vec<common::Citizen>| {
                let rest = (all.len() > 1).then(|| all.split_off(all.len() / 2));
                assert!(all[0].number < 1500, "the one");
                (all, rest)
            };
            split(all, halve)
                .flat_map(|piece| piece)
                .for_each(|c| assert_ne!(c.number, 1499, "the one"))
        });
        census.assert_all_gone();
    });
}
