//! `Once`, `OnceLock`, `Lazy`.
#![cfg(not(loom))]

mod common;

use common::block_on;
use sateen_sync::{Lazy, Once, OnceLock};
use sateen_testkit::{poll, poll_with, sized, waker_fn};
use std::cell::Cell;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

fn panics<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it did not panic") };
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[test]
fn once_and_poison() {
    let once = Once::default();
    assert!(!once.is_completed() && !once.wait_timeout(SHORT));
    assert_eq!(panics(|| once.call_once(|| panic!("first"))), "first");
    assert!(panics(|| once.call_once(|| unreachable!())).contains("poisoned"));
    assert!(panics(|| once.wait()).contains("poisoned"));
    assert!(panics(|| block_on(once.wait_async())).contains("poisoned"));
    assert!(panics(|| block_on(once.call_once_async(|| ready(())))).contains("poisoned"));
    assert_eq!(panics(|| once.call_once_force(|_| panic!("second"))), "second");
    once.call_once_force(|state| assert!(state.is_poisoned()));
    once.call_once_force(|_| unreachable!());
    once.wait();
    once.wait_force();
    assert!(once.is_completed() && once.wait_timeout(Duration::ZERO));
    assert_eq!(format!("{once:?}"), "Once { completed: true, .. }");
    Once::new().call_once_force(|state| assert!(!state.is_poisoned()));
}

/// An initialiser that waits for itself is reported.
#[test]
fn re_entrance() {
    let once = Once::new();
    let text = panics(|| once.call_once(|| once.call_once(|| ())));
    assert!(text.contains("waits for itself"), "{text}");
    assert!(panics(|| once.call_once_force(|_| once.wait())).contains("waits for itself"));
    assert!(
        panics(|| once.call_once_force(|_| assert!(once.wait_timeout(SHORT))))
            .contains("for itself")
    );
    let cell: OnceLock<u8> = OnceLock::new();
    assert!(panics(|| *cell.get_or_init(|| *cell.get_or_init(|| 1))).contains("waits for itself"));
    assert!(panics(|| *cell.get_or_init(|| *cell.wait())).contains("waits for itself"));
    assert_eq!(*cell.get_or_init(|| 2), 2, "it stays empty, not poisoned");
    static LAZY: Lazy<u8> = Lazy::new(|| *LAZY + 1);
    assert!(panics(|| *LAZY).contains("waits for itself"));
    assert!(panics(|| *LAZY).contains("poisoned"));
}

#[test]
fn a_cell_like_that_of_std() {
    let mut cell = OnceLock::<String>::default();
    assert!(cell.get().is_none() && cell.get_mut().is_none());
    assert_eq!(format!("{cell:?}"), "OnceLock(<empty>)");
    assert_eq!(cell.get_or_try_init(|| Err("no")), Err("no"));
    assert_eq!(panics(|| cell.get_or_init(|| panic!("no")).len()), "no");
    assert_eq!(cell.set("yes".to_owned()), Ok(()));
    assert_eq!(cell.set("late".to_owned()), Err("late".to_owned()));
    assert_eq!(cell.wait_timeout(SHORT).map(String::as_str), Some("yes"));
    assert_eq!((cell.wait(), block_on(cell.wait_async())), (&"yes".to_owned(), &"yes".to_owned()));
    cell.get_mut().unwrap().push('!');
    assert_eq!(cell.clone(), OnceLock::from("yes!".to_owned()));
    assert_eq!(format!("{cell:?}"), "OnceLock(\"yes!\")");
    assert_eq!(cell.take().as_deref(), Some("yes!"));
    assert_eq!(cell, OnceLock::new());
    assert_eq!(cell.wait_timeout(SHORT), None);
    assert_eq!(OnceLock::from(1).into_inner(), Some(1));
}

#[test]
fn asynchronous_initialisers() {
    let cell = OnceLock::new();
    // The first initialiser is dropped half-way, and the next one begins.
    let mut first = Box::pin(cell.get_or_init_async(pending::<u8>));
    assert!(poll(first.as_mut()).is_pending());
    let mut second = Box::pin(cell.get_or_try_init_async(|| ready(Err("no"))));
    let mut third = Box::pin(cell.get_or_init_async(|| ready(3)));
    assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
    assert_eq!(cell.wait_timeout(SHORT), None);
    drop(first);
    assert_eq!(poll(second.as_mut()), Poll::Ready(Err("no")));
    assert_eq!(poll(third.as_mut()), Poll::Ready(&3));
    assert_eq!(block_on(cell.get_or_init_async(pending)), &3);

    let panicking = OnceLock::<u8>::new();
    panics(|| *block_on(panicking.get_or_init_async(async || panic!("no"))));
    assert_eq!(*panicking.get_or_init(|| 1), 1);

    let once = Once::new();
    let mut dropped = Box::pin(once.call_once_async(pending::<()>));
    assert!(poll(dropped.as_mut()).is_pending());
    drop(dropped);
    block_on(once.call_once_async(|| ready(())));
    assert!(once.is_completed());
    let poisoned = Once::new();
    panics(|| block_on(poisoned.call_once_async(async || panic!("no"))));
    assert!(panics(|| poisoned.call_once(|| ())).contains("poisoned"));

    // The initialiser is forgotten while it runs. No other one begins, and nothing else breaks.
    let forgotten: &'static OnceLock<u8> = Box::leak(Box::new(OnceLock::new()));
    let mut init = Box::pin(forgotten.get_or_init_async(pending));
    assert!(poll(init.as_mut()).is_pending());
    std::mem::forget(init);
    assert_eq!((forgotten.get(), forgotten.wait_timeout(SHORT)), (None, None));
}

#[test]
fn lazy_values() {
    let runs = Cell::new(0);
    let lazy = Lazy::new(|| {
        runs.set(runs.get() + 1);
        runs.get()
    });
    assert_eq!(format!("{lazy:?}"), "Lazy(<not made>)");
    assert_eq!(Lazy::get(&lazy), None);
    assert_eq!((*lazy, *Lazy::force(&lazy), runs.get()), (1, 1, 1));
    assert_eq!(format!("{lazy:?}"), "Lazy(1)");
    assert_eq!(*Lazy::<u8>::default(), 0);
}

#[test]
fn a_waker_that_panics_is_told_after_the_value_is_there() {
    sateen_testkit::print_no_panics_under_miri();
    let cell = OnceLock::new();
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(cell.wait_async())).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    }
    assert_eq!(panics(|| cell.set(1)), "waker");
    assert_eq!(cell.get(), Some(&1));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    // Beside the initialiser's own panic, that of the waker is not reported.
    let once = Once::new();
    let mut wait = Box::pin(once.wait_async());
    assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert_eq!(panics(|| once.call_once(|| panic!("initialiser"))), "initialiser");
}

/// Many cells, eight threads, and initialisers that fail, panic or are awaited. Each value is made
/// once.
#[test]
fn stress_one_value() {
    for round in 0..sized(300) {
        let (cell, made) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let threads: Vec<_> = (0..8)
            .map(|me| {
                let (cell, made) = (cell.clone(), made.clone());
                thread::spawn(move || {
                    let make = || {
                        made.fetch_add(1, SeqCst);
                        Box::new(round)
                    };
                    match me % 4 {
                        0 => assert_eq!(**cell.get_or_init(make), round),
                        1 => drop(cell.get_or_try_init(|| Err(())).map(|v| assert_eq!(**v, round))),
                        2 => assert_eq!(**block_on(cell.get_or_init_async(async || make())), round),
                        _ => assert_eq!(**cell.wait(), round),
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(made.load(SeqCst), 1);
    }
}
