//! Sorts do what those of `std` do, and lose nothing whatever a comparison does.
#![cfg(not(loom))]

mod common;

use common::{Census, Citizen, Draw, everywhere, panics_with};
use sateen::prelude::*;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 6] = [0, 1, 2, 100, 4097, 50_000];

/// Pairs of a key and the index.
fn pairs(len: usize, below: u64) -> Vec<(u64, usize)> {
    let mut draw = Draw::new(len as u64 + below);
    (0..len).map(|index| (draw.below(below), index)).collect()
}

#[test]
fn stable_sorts() {
    everywhere(|| {
        for len in LENGTHS {
            for below in [1, 10, 1 << 40] {
                let v = pairs(len, below);
                let mut model = v.clone();
                model.sort_by_key(|pair| pair.0);
                let mut sorted = v.clone();
                sorted.par_sort_by_key(|pair| pair.0);
                assert_eq!(sorted, model);
                let mut sorted = v.clone();
                sorted.par_sort_by_cached_key(|pair| vec![pair.0]);
                assert_eq!(sorted, model);
                let mut sorted = v.clone();
                sorted.par_sort();
                assert_eq!(sorted, model);
                let falling = |a: &(u64, usize), b: &(u64, usize)| b.0.cmp(&a.0);
                sorted.par_sort_by(falling);
                model.sort_by(falling);
                assert_eq!(sorted, model);
            }
        }
    });
}

#[test]
fn unstable_sorts() {
    everywhere(|| {
        for len in LENGTHS {
            let v: Vec<u64> = pairs(len, 1000).into_iter().map(|pair| pair.0).collect();
            let mut model = v.clone();
            model.sort_unstable();
            let mut sorted = v.clone();
            sorted.par_sort_unstable();
            assert_eq!(sorted, model);
            let mut sorted = v.clone();
            sorted.par_sort_unstable_by_key(|n| *n);
            assert_eq!(sorted, model);
            model.reverse();
            sorted.par_sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(sorted, model);
        }
    });
}

#[test]
fn items_without_size() {
    everywhere(|| {
        let mut units = [(); 10_000];
        units.par_sort_by(|(), ()| Ordering::Equal);
        units.par_sort_unstable_by_key(|()| 1);
        units.par_sort_by_cached_key(|()| 1);
    });
}

/// That each number is there once.
#[track_caller]
fn assert_complete(items: &[Citizen]) {
    let mut numbers: Vec<_> = items.iter().map(|c| c.number).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..items.len()));
}

#[test]
fn no_item_is_lost_by_a_panic() {
    const LEN: usize = 30_000;
    type Sort = fn(&mut [Citizen], &(dyn Fn(&Citizen) -> u64 + Sync));
    let sorts: [Sort; 5] = [
        |v, key| v.par_sort_by(|a, b| key(a).cmp(&key(b))),
        |v, key| v.par_sort_by_key(key),
        |v, key| v.par_sort_by_cached_key(key),
        |v, key| v.par_sort_unstable_by(|a, b| key(a).cmp(&key(b))),
        |v, key| v.par_sort_unstable_by_key(key),
    ];
    everywhere(|| {
        let census = Census::default();
        for sort in sorts {
            for last in [0, 1000, 29_000, 300_000, 700_000] {
                let mut items: Vec<_> = (0..LEN).map(|n| census.citizen(n)).collect();
                let calls = AtomicUsize::new(0);
                let key = |c: &Citizen| {
                    assert_ne!(calls.fetch_add(1, SeqCst), last, "the one");
                    c.number as u64 * 7919 % 30_011
                };
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    sort(&mut items, &key);
                }));
                assert_eq!(caught.is_err(), calls.into_inner() > last);
                assert_complete(&items);
                drop(items);
                census.assert_all_gone();
            }
        }
    });
}

#[test]
fn no_item_is_lost_by_a_lie() {
    everywhere(|| {
        let census = Census::default();
        let mut items: Vec<_> = (0..30_000).map(|n| census.citizen(n)).collect();
        for seed in 0..3 {
            let calls = AtomicUsize::new(seed);
            let lie = || match calls.fetch_add(1, SeqCst).wrapping_mul(7919) % 5 {
                0 | 1 => Ordering::Less,
                2 => Ordering::Equal,
                _ => Ordering::Greater,
            };
            type Sort<'s> = &'s dyn Fn(&mut [Citizen]);
            let sorts: [Sort<'_>; 4] = [
                &|v| v.par_sort_by(|_, _| lie()),
                &|v| v.par_sort_unstable_by(|_, _| lie()),
                &|v| v.par_sort_by(|_, _| Ordering::Less),
                &|v| v.par_sort_by_key(|_| lie()),
            ];
            for sort in sorts {
                sort(&mut items);
                assert_complete(&items);
            }
        }
        drop(items);
        census.assert_all_gone();
    });
}

/// Orders that are none, as those of floats often are, end no sort. The sorts of `std` panic at
/// many of these.
#[test]
fn orders_that_are_none() {
    /// Less than every other one.
    #[derive(Clone, Copy)]
    struct Least(usize);
    impl PartialEq for Least {
        fn eq(&self, _: &Self) -> bool {
            false
        }
    }
    impl Eq for Least {}
    impl PartialOrd for Least {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Least {
        fn cmp(&self, _: &Self) -> Ordering {
            Ordering::Less
        }
    }
    /// Whether `sort` panics for some of many short slices.
    fn panics(sort: impl Fn(&mut [usize], &(dyn Fn(&usize, &usize) -> Ordering + Sync))) -> bool {
        (0..200).any(|seed| {
            let calls = AtomicUsize::new(seed);
            let mut items: Vec<usize> = (0..100).collect();
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                sort(&mut items, &|_, _| (calls.fetch_add(1, SeqCst) * 7919 % 31 % 3).cmp(&1));
            }));
            items.sort_unstable();
            assert!(items.into_iter().eq(0..100));
            caught.is_err()
        })
    }
    // Otherwise this tests nothing.
    assert!(panics(|v, compare| v.sort_by(compare)));
    assert!(panics(|v, compare| v.sort_unstable_by(compare)));
    everywhere(|| {
        assert!(!panics(|v, compare| v.par_sort_by(compare)));
        assert!(!panics(|v, compare| v.par_sort_unstable_by(compare)));
        for len in LENGTHS {
            let mut items: Vec<_> = (0..len).map(Least).collect();
            items.par_sort();
            items.par_sort_unstable();
            items.par_sort_by_key(|item| *item);
            items.par_sort_unstable_by_key(|item| *item);
            items.par_sort_by_cached_key(|item| *item);
            let mut numbers: Vec<_> = items.iter().map(|item| item.0).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..len));
        }
    });
}

/// Keys whose destructors panic do not end the process when a comparison has panicked.
#[test]
fn keys_that_are_bombs() {
    struct Key(Citizen);
    impl PartialEq for Key {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }
    impl Eq for Key {}
    impl PartialOrd for Key {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Key {
        fn cmp(&self, other: &Self) -> Ordering {
            assert!(self.0.number != 4200, "the one");
            self.0.number.cmp(&other.0.number)
        }
    }
    everywhere(|| {
        let census = Census::default();
        let mut numbers: Vec<usize> = (0..4300).rev().collect();
        panics_with("the one", || numbers.par_sort_by_cached_key(|n| Key(census.bomb(*n))));
        assert!(numbers.iter().copied().eq((0..4300).rev()));
        census.assert_all_gone();
        let mut few: Vec<usize> = (4100..4300).rev().collect();
        panics_with("the one", || few.par_sort_by_key(|n| Key(census.bomb(*n))));
        census.assert_all_gone();
        few.sort_unstable();
        assert!(few.into_iter().eq(4100..4300));
    });
}

/// A comparison may write to what it compares, if no two threads see it at a time.
#[test]
fn items_that_are_not_shared() {
    struct Counted(u64, std::cell::Cell<Box<u64>>);
    everywhere(|| {
        let mut items: Vec<_> = pairs(30_000, 1 << 20)
            .into_iter()
            .map(|pair| Counted(pair.0, std::cell::Cell::new(Box::new(0))))
            .collect();
        let count = |c: &Counted| c.1.set(Box::new(*c.1.replace(Box::default()) + 1));
        items.par_sort_by(|a, b| {
            count(a);
            count(b);
            a.0.cmp(&b.0)
        });
        assert!(items.is_sorted_by_key(|c| c.0));
        assert!(items.iter_mut().all(|c| **c.1.get_mut() > 0));
    });
}
