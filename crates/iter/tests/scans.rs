//! Scans do what a loop does, wherever pieces begin.
#![cfg(not(loom))]

mod common;

use common::{Census, Citizen, Draw, everywhere, panics_with};
use sateen::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 7] = [0, 1, 2, 3, 100, 5000, 100_000];

/// An operation that is associative, but not commutative: one linear function after another.
type Linear = (u64, u64);

fn after(a: &Linear, b: &Linear) -> Linear {
    std::hint::black_box((0..a.0 % 16).sum::<u64>());
    (a.0.wrapping_mul(b.0), a.1.wrapping_mul(b.0).wrapping_add(b.1))
}

fn functions(len: usize) -> Vec<Linear> {
    let mut draw = Draw::new(len as u64 + 1);
    (0..len).map(|_| (draw.below(1000), draw.below(1000))).collect()
}

/// The exclusive scan, and the total behind it.
fn model(items: &[Linear]) -> Vec<Linear> {
    let mut all = vec![(1, 0)];
    for item in items {
        all.push(after(&all[all.len() - 1], item));
    }
    all
}

#[test]
fn scans() {
    everywhere(|| {
        for len in LENGTHS {
            let v = functions(len);
            let all = model(&v);
            let par = || v.par_iter().copied();
            assert_eq!(par().inclusive_scan(after), all[1..]);
            assert_eq!(par().exclusive_scan(|| (1, 0), after), all[..len]);
            assert_eq!(par().filter(|_| true).inclusive_scan(after), all[1..]);
            assert_eq!(par().filter(|_| true).exclusive_scan(|| (1, 0), after), all[..len]);
            // Many pieces.
            assert_eq!(par().with_max_len(3).inclusive_scan(after), all[1..]);
            assert_eq!(par().with_max_len(3).exclusive_scan(|| (1, 0), after), all[..len]);
        }
        let texts = ["a", "b", "c"].par_iter().map(|s| s.to_string()).with_max_len(1);
        assert_eq!(texts.inclusive_scan(|a, b| format!("{a}{b}")), ["a", "ab", "abc"]);
    });
}

#[test]
fn calls_of_the_operation() {
    everywhere(|| {
        for len in LENGTHS {
            for max_len in [1, 10, usize::MAX] {
                let calls = AtomicUsize::new(0);
                let op = |a: &u64, b: &u64| {
                    calls.fetch_add(1, SeqCst);
                    a + b
                };
                let items = || (0..len).into_par_iter().map(|_| 1).with_max_len(max_len);
                items().inclusive_scan(op);
                assert!(calls.swap(0, SeqCst) <= 2 * len);
                items().exclusive_scan(|| 0, op);
                assert!(calls.load(SeqCst) <= 3 * len);
            }
        }
    });
}

#[test]
fn hostile_operations() {
    const LEN: usize = 300;
    everywhere(|| {
        let census = Census::default();
        let bombs = || (0..LEN).into_par_iter().map(|n| census.bomb(n));
        let quiet = || (0..LEN).into_par_iter().map(|n| census.citizen(n));
        for last in [0, 1, LEN / 2, LEN - 2] {
            for max_len in [10, usize::MAX] {
                let calls = AtomicUsize::new(0);
                let op = |a: &Citizen, b: &Citizen| {
                    assert_ne!(calls.fetch_add(1, SeqCst), last, "the one");
                    let mut made = a.clone();
                    made.number += b.number;
                    made
                };
                let none = || census.citizen(0);
                panics_with("the one", || quiet().with_max_len(max_len).inclusive_scan(op));
                census.assert_all_gone();
                calls.store(0, SeqCst);
                panics_with("the one", || quiet().with_max_len(max_len).exclusive_scan(none, op));
                census.assert_all_gone();
                calls.store(0, SeqCst);
                // An item that is replaced is dropped, so the panic may be a bomb's, too.
                panics_with("", || bombs().with_max_len(max_len).inclusive_scan(op));
                census.assert_all_gone();
                calls.store(0, SeqCst);
                panics_with("", || bombs().with_max_len(max_len).exclusive_scan(none, op));
                census.assert_all_gone();
            }
        }
        let sum = |a: &Citizen, b: &Citizen| census.citizen(a.number + b.number);
        let sums = quiet().with_max_len(7).inclusive_scan(sum);
        assert!(sums.iter().enumerate().all(|(n, c)| c.number == n * (n + 1) / 2));
        drop(sums);
        census.assert_all_gone();
    });
}

/// An operation that is not associative, or no identity: as many results, whatever they are.
#[test]
fn lies_cost_only_meaning() {
    everywhere(|| {
        let items = || (0..5000u32).into_par_iter().map(u64::from).with_max_len(10);
        assert_eq!(items().inclusive_scan(|a, b| a.wrapping_sub(*b)).len(), 5000);
        assert_eq!(items().exclusive_scan(|| 7, |a, b| b.wrapping_sub(*a)).len(), 5000);
        assert_eq!(items().map(|_| ()).inclusive_scan(|(), ()| ()).len(), 5000);
    });
}
