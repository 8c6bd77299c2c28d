//! Hundreds of thousands of tokens, and what other threads do while a token cancels.

mod common;

use common::with_runtime;
use sateen_runtime::{CancelToken, JoinError, Runtime, Spawn};
use sateen_sync::Event;
use sateen_testkit::{Counter, Watchdog};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Context;

const MANY: usize = 200_000;

#[test]
fn many_nested_tokens_are_cancelled() {
    let _watchdog = Watchdog::new("nested tokens");
    let mut tokens = vec![CancelToken::new()];
    for i in 0..MANY {
        tokens.push(tokens[i].child());
    }
    tokens[1].cancel();
    assert!(!tokens[0].is_cancelled());
    assert!(tokens[1..].iter().all(CancelToken::is_cancelled));
}

#[test]
fn many_children_of_one_token() {
    let _watchdog = Watchdog::new("children");
    let parent = CancelToken::new();
    let kept: Vec<_> = (0..MANY).map(|_| parent.child()).collect();
    // Tokens that come and go leave nothing behind.
    for _ in 0..MANY {
        drop(parent.child());
    }
    parent.cancel();
    assert!(kept.iter().all(CancelToken::is_cancelled));
}

/// The canceller calls an arrival callback.
#[test]
fn arrivals_may_use_the_token() {
    let _watchdog = Watchdog::new("an arrival");
    let token = CancelToken::new();
    let (arrivals, inner) = (Arc::new(AtomicUsize::new(0)), token.clone());
    let count = Arc::clone(&arrivals);
    let local = Runtime::builder()
        .on_arrival(move || {
            drop(inner.child());
            count.fetch_add(1, SeqCst);
        })
        .current_thread()
        .expect("a runtime");
    let wait = |token: &CancelToken| {
        let event = Event::new();
        Spawn::new().token(token).spawn(move || event.wait())
    };
    let (tasks, future) = local.run(|| {
        let tasks: Vec<_> = (0..3).map(|_| wait(&token)).collect();
        let future = Spawn::new().token(&token).spawn_async(std::future::pending::<()>());
        // The tasks take turns, so all of them have begun.
        (0..20).for_each(|_| sateen_runtime::yield_now());
        (tasks, future)
    });
    let before = arrivals.load(SeqCst);
    let cancels = token.clone();
    std::thread::spawn(move || cancels.cancel()).join().expect("cancelled");
    assert!(arrivals.load(SeqCst) > before, "nothing has arrived");
    for task in tasks {
        assert!(matches!(local.run_until(task), Err(JoinError::Cancelled)));
    }
    assert!(matches!(local.run_until(future), Err(JoinError::Cancelled)));
}

/// The thread that has handed work in goes on.
#[test]
fn an_arrival_may_panic() {
    let _watchdog = Watchdog::new("an arrival that panics");
    let local = Runtime::builder().on_arrival(|| panic!("the arrival's")).current_thread();
    let local = local.expect("a runtime");
    let spawner = local.spawner();
    let task = std::thread::spawn(move || spawner.spawn(|| 1)).join().expect("spawned");
    assert_eq!(local.run_until(task).expect("ran"), 1);
}

#[test]
fn a_panicking_waker_keeps_nothing_from_being_cancelled() {
    let _watchdog = Watchdog::new("a waker");
    with_runtime(2, |rt| {
        let parent = CancelToken::new();
        let (child, grandchild) = (parent.child(), parent.child().child());
        let deep = child.child();
        let (_, waker) = Counter::bomb();
        let mut cx = Context::from_waker(&waker);
        let (mut a, mut b) = (pin!(parent.cancelled()), pin!(child.cancelled()));
        assert!(a.as_mut().poll(&mut cx).is_pending() && b.as_mut().poll(&mut cx).is_pending());
        let tasks = [&parent, &child, &deep].map(|token| {
            let event = Event::new();
            rt.spawn_with(Spawn::new().token(token), move || event.wait())
        });
        let caught = catch_unwind(AssertUnwindSafe(|| parent.cancel()));
        assert!(caught.is_err(), "the waker's panic goes on");
        assert!(child.is_cancelled() && deep.is_cancelled() && grandchild.is_cancelled());
        for task in tasks {
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        }
    });
}

/// Ends its runtime when it is dropped.
struct Ends(Arc<Runtime>);
impl Drop for Ends {
    fn drop(&mut self) {
        self.0.shutdown().expect("an orderly end");
    }
}

#[test]
fn what_is_refused_may_end_the_runtime() {
    let _watchdog = Watchdog::new("a refused closure");
    let settings = [
        || Spawn::new().on_worker(7),
        || Spawn::new().stack_size(usize::MAX),
        || Spawn::new().on_worker(7).stack_size(usize::MAX),
    ];
    for settings in settings {
        for future in [false, true] {
            let rt = Arc::new(common::builder().workers(2).build().expect("a runtime"));
            let ends = Ends(Arc::clone(&rt));
            let refused = if future {
                rt.spawn_async_with(settings(), async move { drop(ends) })
            } else {
                rt.spawn_with(settings(), move || drop(ends))
            };
            assert!(refused.join().is_err());
            assert!(matches!(rt.spawn(|| ()).join(), Err(JoinError::ShutDown)));
        }
    }
}
