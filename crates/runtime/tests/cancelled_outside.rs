//! A task is cancelled while another runtime works on values in its frame.

mod common;

use common::with_runtime;
use sateen_runtime::{Elapsed, JoinError, Runtime, timeout};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// The inner runtime runs `call`, which ends when the event is set. The outer runtime's only worker
/// must be free for the task that sets it.
fn cancelled_in(call: impl Fn(&Runtime, &Event) + Send + Sync + 'static) {
    let _dog = Watchdog::new("a worker spins for a cancelled task");
    with_runtime(1, |outer| {
        let inner = Arc::new(Runtime::builder().workers(2).build().expect("inner"));
        let call = Arc::new(call);
        let go = Arc::new(Event::new());
        let begun = Arc::new(Event::new());
        let task = outer.spawn({
            let (inner, call) = (Arc::clone(&inner), Arc::clone(&call));
            let (go, begun) = (Arc::clone(&go), Arc::clone(&begun));
            move || {
                begun.set();
                call(&inner, &go);
            }
        });
        begun.wait();
        task.cancel();
        let free = Arc::clone(&go);
        outer.spawn(move || free.set()).join().expect("the worker is free");
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));

        let go = Arc::new(Event::new());
        let free = Arc::clone(&go);
        let task = outer.spawn(move || timeout(Duration::from_millis(5), || call(&inner, &go)));
        let other = outer.spawn(move || {
            sateen_runtime::sleep(Duration::from_millis(20));
            free.set();
        });
        assert_eq!(task.join().expect("no panic"), Err(Elapsed));
        other.join().expect("the worker is free");
    });
}

#[test]
fn an_installed_closure_is_awaited() {
    cancelled_in(|inner, go| inner.install(|| go.wait()));
}

#[test]
fn a_broadcast_is_awaited() {
    cancelled_in(|inner, go| _ = inner.broadcast(|_| go.wait()));
}

#[test]
fn a_scope_elsewhere_is_awaited() {
    cancelled_in(|inner, go| inner.scope(|s| s.spawn(|_| go.wait())));
}

#[test]
fn results_that_nobody_gets_are_dropped() {
    /// Counts the living ones.
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    cancelled_in(move |inner, go| {
        let one = || {
            count.fetch_add(1, SeqCst);
            go.wait();
            Counted(Arc::clone(&count))
        };
        drop(inner.broadcast(|_| one()));
        drop(inner.install(one));
    });
    assert_eq!(seen.load(SeqCst), 0);
}
