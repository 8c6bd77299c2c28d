//! Several futures at once, with the combinators of the crate `futures`.

use futures_util::future::{join_all, select_all, select_ok, try_join_all};
use sateen::sync::timer::timeout_async;
use sateen::sync::{block_on, oneshot};
use sateen::{JoinError, sleep_async, spawn, spawn_async};
use std::future::pending;
use std::time::Duration;

/// Task handles, receivers and timers take part, and a fiber that waits is suspended.
#[test]
fn handles_and_receivers_are_joined() {
    let waiter = spawn(|| {
        let (sender, receiver) = oneshot::channel();
        let handles = (0..10).map(|n| spawn(move || n * n));
        let sum: i32 = block_on(try_join_all(handles)).expect("no panic").into_iter().sum();
        drop(spawn_async(async move { sender.send(sum) }));
        block_on(receiver)
    });
    assert_eq!(waiter.join().expect("no panic"), Ok(285));
    let ends = block_on(join_all([spawn(|| 1), spawn(|| panic!("on purpose"))]));
    assert!(matches!(ends[..], [Ok(1), Err(JoinError::Panicked(_))]));
}

#[test]
fn the_first_ends_a_wait() {
    let never = || spawn_async(pending::<Option<u8>>());
    let soon = spawn_async(async {
        sleep_async(Duration::from_millis(1)).await;
        Some(7)
    });
    let (first, index, rest) = block_on(select_all([never(), soon, never()]));
    assert_eq!((first.expect("no panic"), index), (Some(7), 1));
    rest.iter().for_each(|task| task.cancel());
    let ends = block_on(join_all(rest));
    assert!(ends.iter().all(|end| matches!(end, Err(JoinError::Cancelled))));
    let (value, _) = block_on(select_ok([spawn(|| panic!("on purpose")), spawn(|| 2)]))
        .expect("one of them succeeds");
    assert_eq!(value, 2);
    let late = timeout_async(Duration::from_millis(1), join_all([pending::<()>()]));
    assert!(block_on(late).is_err());
}
