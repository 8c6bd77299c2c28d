//! Parallel loops beside their sequential twins.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{
    par_chunks_mut, par_fold, par_for, par_map, par_reduce, par_sort, par_sort_unstable,
};
use sateen_testkit::message;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A small generator. The sequence depends on the seed alone.
fn numbers(seed: u64, n: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect()
}

#[test]
fn every_index_once() {
    at_all_counts(|rt| {
        for n in [0, 1, 2, 3, 1000, 100_000] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            rt.install(|| par_for(0..n, |i| _ = seen[i].fetch_add(1, SeqCst)));
            assert!(seen.iter().all(|s| s.load(SeqCst) == 1));
        }
        rt.install(|| par_for(std::ops::Range { start: 5, end: 3 }, |_| panic!("empty")));
    });
}

#[test]
fn folds_see_each_item_once_and_in_order() {
    at_all_counts(|rt| {
        let data = numbers(3, 50_000);
        let join = |mut all: Vec<u64>, mut more: Vec<u64>| {
            all.append(&mut more);
            all
        };
        let keep = |mut all: Vec<u64>, piece: &[u64]| {
            all.extend(piece);
            all
        };
        assert_eq!(rt.install(|| par_fold(&data, Vec::new, keep, join)), data);
        assert_eq!(rt.install(|| par_fold(&[0u8; 0], || 7, |_, _| 0, |a, b| a + b)), 7);
        let sum = |acc: u64, piece: &[u64]| acc.wrapping_add(piece.iter().copied().sum());
        let small: Vec<u64> = (0..1_000_000).collect();
        let all = rt.install(|| par_fold(&small, || 0, sum, u64::wrapping_add));
        assert_eq!(all, 499_999_500_000);
    });
}

#[test]
fn maps_keep_order_and_drop_what_a_panic_leaves() {
    at_all_counts(|rt| {
        let data = numbers(1, 10_000);
        let twin: Vec<String> = data.iter().map(u64::to_string).collect();
        assert_eq!(rt.install(|| par_map(&data, u64::to_string)), twin);
        assert!(rt.install(|| par_map(&[0u8; 0], |x| *x)).is_empty());
        assert_eq!(rt.install(|| par_map(&[(); 100], |()| ())).len(), 100);

        static LIVE: AtomicUsize = AtomicUsize::new(0);
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                LIVE.fetch_sub(1, SeqCst);
            }
        }
        let caught = catch_unwind(AssertUnwindSafe(|| {
            rt.install(|| {
                par_map(&data, |x| {
                    assert!(*x != data[7_000], "at 7000");
                    LIVE.fetch_add(1, SeqCst);
                    Counted
                })
            })
        }));
        assert_eq!(message(caught.err().expect("a panic")), "at 7000");
        assert_eq!(LIVE.load(SeqCst), 0, "results made before the panic are dropped");
    });
}

#[test]
fn reductions_keep_order() {
    at_all_counts(|rt| {
        let text =
            rt.install(|| par_reduce(0..500, String::new, |i| format!("{i},"), |a, b| a + &b));
        assert_eq!(text, (0..500).map(|i| format!("{i},")).collect::<String>());
        assert_eq!(rt.install(|| par_reduce(0..0, || 7, |_| 0, |a, b| a + b)), 7);
        let sum = rt.install(|| par_reduce(0..1_000_000, || 0, |i| i as u64, |a, b| a + b));
        assert_eq!(sum, 499_999_500_000);
    });
}

#[test]
fn chunks_are_disjoint_and_complete() {
    at_all_counts(|rt| {
        for (n, size) in [(0, 1), (1, 3), (10, 3), (10_000, 7), (10_000, 20_000)] {
            let mut data = vec![0usize; n];
            rt.install(|| {
                par_chunks_mut(&mut data, size, |index, chunk| {
                    assert!(chunk.len() <= size);
                    chunk.iter_mut().for_each(|x| *x += index + 1);
                });
            });
            assert!(data.iter().enumerate().all(|(i, x)| *x == i / size + 1));
        }
        let caught = catch_unwind(AssertUnwindSafe(|| par_chunks_mut(&mut [1], 0, |_, _| ())));
        assert_eq!(message(caught.unwrap_err()), "par_chunks_mut: chunks of 0 items");
    });
}

#[test]
fn sorts_agree_with_the_standard_library() {
    at_all_counts(|rt| {
        for n in [0, 1, 2, 100, 4_097, 50_000] {
            for pattern in 0..4 {
                let mut data = numbers(n as u64 + 3, n);
                match pattern {
                    0 => {}
                    1 => data.iter_mut().for_each(|x| *x %= 16),
                    2 => data.sort(),
                    _ => data.sort_by(|a, b| b.cmp(a)),
                }
                let mut twin = data.clone();
                twin.sort();
                let mut unstable = data.clone();
                rt.install(|| par_sort(&mut data));
                rt.install(|| par_sort_unstable(&mut unstable));
                assert!(data == twin && unstable == twin, "{n} items, pattern {pattern}");
            }
        }
        rt.install(|| par_sort(&mut [(); 10_000]));
    });
}

/// Items are ordered by the key alone.
#[derive(Clone, Debug)]
struct Keyed(u8, usize, Box<u8>);
impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Keyed {}
impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        assert!(self.0 != 255 && other.0 != 255, "poisoned key");
        self.0.cmp(&other.0)
    }
}

#[test]
fn par_sort_is_stable_and_survives_panicking_comparisons() {
    at_all_counts(|rt| {
        let keys = numbers(9, 30_000);
        let make = |keys: &[u64]| -> Vec<Keyed> {
            keys.iter().enumerate().map(|(i, k)| Keyed((k % 8) as u8, i, Box::new(1))).collect()
        };
        let mut data = make(&keys);
        rt.install(|| par_sort(&mut data));
        assert!(data.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)));
        assert!(data.iter().all(|k| *k.2 == 1));
        for poisoned in [0, 14_999, 29_999] {
            let mut data = make(&keys);
            data[poisoned].0 = 255;
            let caught = catch_unwind(AssertUnwindSafe(|| rt.install(|| par_sort(&mut data))));
            assert_eq!(message(caught.unwrap_err()), "poisoned key");
            let mut found: Vec<usize> = data.iter().map(|k| k.1).collect();
            found.sort_unstable();
            assert!(found.into_iter().eq(0..30_000), "a permutation is left");
        }
    });
}

#[test]
fn loops_nest() {
    with_runtime(3, |rt| {
        let count = AtomicUsize::new(0);
        rt.install(|| {
            par_for(0..50, |_| {
                par_for(0..50, |_| {
                    count.fetch_add(1, SeqCst);
                });
            });
        });
        assert_eq!(count.load(SeqCst), 2500);
    });
}
