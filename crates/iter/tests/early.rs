//! Adapters that end early: what passes, what is dropped, and how much is looked at in vain.
#![cfg(not(loom))]

mod common;

use common::{Census, everywhere, panics_with};
use sateen::Runtime;
use sateen::prelude::*;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const LENGTHS: [usize; 6] = [0, 1, 2, 10, 100, 6000];
/// Too many items to look at all.
const HUGE: u64 = 1 << 60;

#[test]
fn counts_are_exact() {
    everywhere(|| {
        for len in LENGTHS {
            for n in [0, 1, 5, 99, 2999, usize::MAX] {
                for nested in [false, true] {
                    let par = || (0..len).into_par_iter();
                    let (taken, skipped): (Vec<_>, Vec<_>) = if nested {
                        let one = |n| [n].into_par_iter();
                        let taken = par().flat_map(one).take_any(n).collect();
                        (taken, par().flat_map(one).skip_any(n).collect())
                    } else {
                        (par().take_any(n).collect(), par().skip_any(n).collect())
                    };
                    assert_eq!(taken.len(), len.min(n));
                    assert_eq!(skipped.len(), len.saturating_sub(n));
                    for some in [taken, skipped] {
                        assert!(some.is_sorted() && some.iter().all(|n| *n < len));
                        assert_eq!(some.iter().collect::<HashSet<_>>().len(), some.len());
                    }
                }
            }
        }
    });
}

#[test]
fn predicates_decide() {
    everywhere(|| {
        for len in LENGTHS {
            let par = || (0..len).into_par_iter();
            assert_eq!(par().take_any_while(|_| true).count(), len);
            assert_eq!(par().take_any_while(|_| false).count(), 0);
            assert_eq!(par().skip_any_while(|_| true).count(), 0);
            assert_eq!(par().skip_any_while(|_| false).count(), len);
            assert_eq!(par().map(Some).while_some().count(), len);
            assert_eq!(par().map(|_| None::<u8>).while_some().count(), 0);
            let middle = len / 2;
            let taken: Vec<_> = par().take_any_while(|n| *n != middle).collect();
            assert!(taken.is_sorted() && !taken.contains(&middle));
            let skipped: Vec<_> = par().skip_any_while(|n| *n != middle).collect();
            assert!(skipped.is_sorted() && (len == 0 || skipped.contains(&middle)));
            let some: Vec<_> = par().map(|n| (n != middle).then_some(n)).while_some().collect();
            assert!(some.is_sorted() && !some.contains(&middle));
            let nested = || par().flat_map_iter(|n| [n, n]);
            let some = nested().map(|n| (n < middle).then_some(n)).while_some();
            assert!(some.all(|n| n < middle));
            assert!(nested().take_any_while(|n| *n < middle).all(|n| n < middle));
            let late = nested().skip_any_while(|n| *n < middle).filter(|n| *n >= middle);
            assert_eq!(late.count(), 2 * (len - middle));
        }
        // One worker meets the items in order.
        let single = sateen::Runtime::builder().workers(1).build().expect("a runtime");
        single.install(|| {
            let par = || (0..3000).into_par_iter();
            let front: Vec<_> = par().take_any_while(|n| *n < 700).collect();
            assert!(front.iter().copied().eq(0..front.len()));
        });
    });
}

#[test]
fn huge_iterators_end() {
    everywhere(|| {
        let par = || (0..HUGE).into_par_iter();
        assert_eq!(par().take_any(100).count(), 100);
        assert!(par().take_any_while(|n| *n < 100).all(|n| n < 100));
        let some = par().map(|n| (n != 5000).then_some(n)).while_some();
        assert!(some.filter(|n| *n == 5000).count() == 0);
        let fold = |sum: u64, n: u64| sum.checked_add(n).filter(|sum| *sum < 1 << 40);
        assert_eq!(par().try_fold(|| 0, fold).try_reduce(|| 0, fold), None);
        let counts = par().map(|_| 1).try_fold_with(0, |sum, one: u64| match sum + one {
            1000 => ControlFlow::Break("enough"),
            sum => ControlFlow::Continue(sum),
        });
        assert_eq!(
            counts.try_reduce(|| 0, |a, _| ControlFlow::Continue(a)).break_value(),
            Some("enough")
        );
    });
}

/// An end that has enough after one state does not wait for all items to become one.
#[test]
fn folds_end_early() {
    everywhere(|| {
        let folded = AtomicUsize::new(0);
        let fold = |(), _| _ = folded.fetch_add(1, SeqCst);
        let par = || (0..2048).into_par_iter();
        assert_eq!(par().fold(|| (), fold).find_any(|()| true), Some(()));
        assert!(folded.swap(0, SeqCst) < 2048);
        assert!(par().fold_with((), fold).any(|()| true));
        assert!(folded.swap(0, SeqCst) < 2048);
        assert_eq!(par().fold(|| (), fold).try_for_each(Err), Err(()));
        assert!(folded.into_inner() < 2048);
    });
}

#[test]
fn folds_that_go_on() {
    everywhere(|| {
        for len in LENGTHS {
            let par = || (0..len as u64).into_par_iter();
            let sum: u64 = (0..len as u64).sum();
            let add = |a: u64, b| Some(a + b);
            assert_eq!(par().try_fold(|| 0, add).try_reduce(|| 0, add), Some(sum));
            let pieces = par().try_fold_with(0, add);
            assert_eq!(pieces.map(|sum| sum.expect("a sum")).sum::<u64>(), sum);
            let add = |a: u64, b: u64| if b == 5000 { Err(b) } else { Ok(a + b) };
            let expected = if len > 5000 { Err(5000) } else { Ok(sum) };
            let found = par().try_fold(|| 0, add).try_reduce(|| 0, |a, b| Ok(a + b));
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn a_panic_ends_all_pieces() {
    everywhere(|| {
        let par = || (0..HUGE).into_par_iter();
        let one = |n: u64| assert_ne!(n, 1000, "the one");
        // In front of the fuse, behind it, in a nested iterator, and in the result's way.
        panics_with("the one", || par().inspect(|n| one(*n)).panic_fuse().for_each(drop));
        panics_with("the one", || par().panic_fuse().for_each(one));
        panics_with("the one", || {
            par().flat_map_iter(|n| [n].into_iter().inspect(|n| one(*n))).panic_fuse().count()
        });
        panics_with("the one", || {
            par().flat_map(|n| [n].into_par_iter().inspect(|n| one(*n))).panic_fuse().count()
        });
        let indexed = || (0..usize::MAX / 16).into_par_iter();
        let one = |n: usize| assert_ne!(n, 1000, "the one");
        panics_with("the one", || indexed().panic_fuse().rev().rev().for_each(one));
        panics_with("the one", || {
            indexed().inspect(|n| one(*n)).panic_fuse().zip(indexed()).for_each(drop)
        });
        // Without a panic it changes nothing.
        let fused: Vec<_> = (0..3000).into_par_iter().panic_fuse().rev().collect();
        assert!(fused.into_iter().eq((0..3000).rev()));
        let fused: Vec<_> = (0..3000).into_par_iter().panic_fuse().collect();
        assert!(fused.into_iter().eq(0..3000));
        assert_eq!((0..3000).into_par_iter().panic_fuse().filter(|n| n % 2 == 0).count(), 1500);
    });
}

/// A loop that runs in a destructor, while a panic is under way, does all of its work.
#[test]
fn a_fuse_sees_only_panics_of_its_own_loop() {
    struct Loops<'a>(&'a AtomicUsize);
    impl Drop for Loops<'_> {
        fn drop(&mut self) {
            let odd = (0..3000).into_par_iter().panic_fuse().filter(|n| n % 2 == 1).count();
            let found = (0..3000).into_par_iter().panic_fuse().find_first(|n| *n > 2000);
            self.0.fetch_add(odd + found.unwrap_or(0), SeqCst);
        }
    }
    everywhere(|| {
        let sum = AtomicUsize::new(0);
        panics_with("outside", || {
            let _loops = Loops(&sum);
            panic!("outside");
        });
        assert_eq!(sum.load(SeqCst), 1500 + 2001);
    });
}

#[test]
fn everything_is_dropped_once() {
    everywhere(|| {
        let census = Census::default();
        let all = || (0..2000).map(|n| census.citizen(n)).collect::<Vec<_>>().into_par_iter();
        assert_eq!(all().take_any(10).collect::<Vec<_>>().len(), 10);
        census.assert_all_gone();
        assert_eq!(all().skip_any(10).collect::<Vec<_>>().len(), 1990);
        census.assert_all_gone();
        drop(all().map(|c| (c.number != 1000).then_some(c)).while_some().collect::<Vec<_>>());
        census.assert_all_gone();
        drop(all().take_any_while(|c| c.number != 1000).collect::<Vec<_>>());
        drop(all().skip_any_while(|c| c.number != 1000).collect::<Vec<_>>());
        census.assert_all_gone();
        let keep = |mut kept: Vec<common::Citizen>, c: common::Citizen| {
            assert_ne!(c.number, 1500, "the one");
            kept.push(c);
            Some(kept)
        };
        panics_with("the one", || all().panic_fuse().try_fold(Vec::new, keep).collect::<Vec<_>>());
        census.assert_all_gone();
        let few = |kept: Vec<_>, c| keep(kept, c).filter(|kept| kept.len() < 10);
        let folded: Vec<_> = all().take(1500).try_fold_with(Vec::new(), few).collect();
        drop(folded);
        census.assert_all_gone();
    });
}

/// States whose destructors panic do not meet the panic of a function.
#[test]
fn bombs_in_states() {
    everywhere(|| {
        let census = Census::default();
        panics_with("the one", || {
            (0..2000)
                .into_par_iter()
                .inspect(|n| assert_ne!(*n, 1000, "the one"))
                .try_fold(|| census.bomb(0), |bomb, _| Some(bomb))
                .for_each(std::mem::forget)
        });
    });
}

/// One piece finds what is wanted. The others have endless items, none of which passes.
#[test]
fn pieces_end_that_let_nothing_pass() {
    for workers in [2, 8] {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        runtime.install(|| {
            let some = |n: &u128| *n > 1 << 120;
            let range = || (0..1u128 << 127).into_par_iter();
            assert!(range().filter(some).any(|_| true));
            assert!(range().filter_map(|n| some(&n).then_some(n)).any(|_| true));
            assert!(range().flat_map_iter(|n| some(&n).then_some(n)).map(Some).any(|_| true));
            let failed = range().filter(some).map(Err::<(), _>).collect::<Result<Vec<_>, _>>();
            assert!(failed.is_err());
            let taken = range().filter(some).take_any(3).collect::<Vec<_>>();
            assert_eq!(taken.len(), 3);
            let endless = |n| (0u64..).map(move |m| (n, m));
            let two = || (0..2).into_par_iter().with_max_len(1).flat_map_iter(endless);
            assert!(two().filter(|(n, _)| *n == 1).any(|(_, m)| m == 1000));
        });
    }
}
