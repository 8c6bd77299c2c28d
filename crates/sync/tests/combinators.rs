//! Waiting for several futures at once.
#![cfg(not(loom))]

use sateen_sync::combinators::{
    Each, OneOf2, OneOf3, all_or_errors, first_ok, join_all, race, try_join_all,
};
use sateen_sync::oneshot::{self, RecvError};
use sateen_sync::timer::timeout_async;
use sateen_sync::{Event, block_on};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

async fn panicking<T>() -> T {
    panic!("child")
}

/// Counts when it is dropped.
struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn handles_of_different_types() {
    let (sender, receiver) = oneshot::channel();
    let (shared_sender, shared) = oneshot::channel();
    let shared = shared.shared();
    let event = Event::new();
    thread::scope(|s| {
        s.spawn(|| sender.send(1).unwrap());
        s.spawn(|| shared_sender.send("shared").unwrap());
        s.spawn(|| event.set());
        let all = (receiver, shared.get_async(), event.wait_async(), async { 4.0 }, ready('5'));
        assert_eq!(block_on(join_all(all)), (Ok(1), Ok(&"shared"), (), 4.0, '5'));
    });
    let eight = (ready(1), ready(2), ready(3), ready(4), ready(5), ready(6), ready(7), ready('8'));
    assert_eq!(block_on(join_all(eight)), (1, 2, 3, 4, 5, 6, 7, '8'));
}

#[test]
fn collections() {
    assert_eq!(block_on(join_all(vec![ready(1), ready(2)])), [1, 2]);
    assert_eq!(block_on(join_all([ready(1), ready(2)])), [1, 2]);
    assert_eq!(block_on(join_all(Each((0..3).map(ready)))), [0, 1, 2]);
    assert_eq!(block_on(join_all(vec![ready(1)].into_boxed_slice())), [1]);
    assert_eq!(block_on(join_all(Vec::<oneshot::Receiver<u8>>::new())), []);
    assert_eq!(block_on(first_ok(Vec::<oneshot::Receiver<u8>>::new())), Err(vec![]));
    assert_eq!(block_on(try_join_all(Vec::<oneshot::Receiver<u8>>::new())), Ok(vec![]));
    assert_eq!(block_on(all_or_errors(Vec::<oneshot::Receiver<u8>>::new())), Ok(vec![]));
    assert!(catch_unwind(|| block_on(race(Vec::<std::future::Ready<u8>>::new()))).is_err());
}

#[test]
fn a_race() {
    assert_eq!(block_on(race([ready(1), ready(2)])), (0, 1));
    assert_eq!(block_on(race((ready(1), ready(2), ready(3)))), OneOf3::A(1));
    assert_eq!(block_on(race((pending::<u8>(), ready('b'), pending::<u8>()))), OneOf3::B('b'));
    let drops = AtomicUsize::new(0);
    let loser = |d| async move {
        let _dropped = d;
        pending::<()>().await
    };
    block_on(race((loser(Dropped(&drops)), loser(Dropped(&drops)), async {})));
    assert_eq!(drops.load(SeqCst), 2, "losers are dropped");
    let (sender, mut kept) = oneshot::channel();
    for _ in 0..2 {
        assert_eq!(block_on(race((&mut kept, ready(())))), OneOf2::B(()));
    }
    sender.send(1).unwrap();
    assert_eq!(block_on(race((&mut kept, pending::<()>()))), OneOf2::A(Ok(1)));
}

#[test]
fn successes_and_errors() {
    let no = |n: u8| ready(Err::<u8, u8>(n));
    let yes = |n: u8| ready(Ok::<u8, u8>(n));
    assert_eq!(block_on(first_ok([no(1), yes(2), yes(3)])), Ok(2));
    assert_eq!(block_on(first_ok([no(1), no(2)])), Err(vec![1, 2]));
    assert_eq!(block_on(first_ok((no(1), ready(Ok::<_, u8>("two"))))), Ok(OneOf2::B("two")));
    assert_eq!(block_on(try_join_all((yes(1), ready(Ok::<_, u8>("two"))))), Ok((1, "two")));
    assert_eq!(block_on(try_join_all((pending::<Result<u8, u8>>(), no(2)))), Err(2));
    assert_eq!(block_on(all_or_errors([yes(1), no(2), yes(3), no(4)])), Err(vec![2, 4]));
    assert_eq!(block_on(all_or_errors((yes(1), ready(Ok::<_, u8>("two"))))), Ok((1, "two")));
    // Errors come in the order of the children, not in the order in which these failed.
    let (first, a) = oneshot::channel::<u8>();
    let mut failing = pin!(all_or_errors((async { a.await.map_err(|RecvError| 1) }, no(2))));
    assert!(poll(failing.as_mut()).is_pending());
    drop(first);
    assert_eq!(poll(failing.as_mut()), Poll::Ready(Err(vec![1, 2])));
}

#[test]
fn time_limits() {
    type Never = std::future::Pending<Result<u8, u8>>;
    let never = || -> (Never, Never) { (pending(), pending()) };
    assert_eq!(block_on(timeout_async(SHORT, join_all(never()))).ok(), None);
    assert_eq!(block_on(timeout_async(SHORT, race(never()))).ok(), None);
    assert_eq!(block_on(timeout_async(SHORT, first_ok(never()))).ok(), None);
    assert_eq!(block_on(timeout_async(SHORT, try_join_all(never()))).ok(), None);
    assert_eq!(block_on(timeout_async(SHORT, all_or_errors(never()))).ok(), None);
    assert_eq!(
        block_on(timeout_async(Duration::MAX, join_all((ready(1), ready(2))))).ok(),
        Some((1, 2))
    );
}

#[test]
fn a_child_that_panics() {
    let finished = Cell::new(0);
    let (sender, receiver) = oneshot::channel();
    let mut all = pin!(join_all((
        panicking::<()>(),
        async {
            receiver.await.unwrap();
            finished.set(finished.get() + 1);
        },
        panicking::<()>(),
        async { finished.set(finished.get() + 1) },
    )));
    assert!(poll(all.as_mut()).is_pending(), "the panic waits for the others");
    assert_eq!(finished.get(), 1);
    sender.send(()).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| poll(all.as_mut()).is_ready())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"child"));
    assert_eq!(finished.get(), 2);

    fn panics<R>(f: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(f)).is_err()
    }
    let (_sender, mut kept) = oneshot::channel::<u8>();
    let kept = std::cell::RefCell::new(&mut kept);
    assert!(panics(|| block_on(race((&mut **kept.borrow_mut(), panicking::<()>())))));
    assert!(kept.borrow_mut().try_recv().is_err(), "intact");
    let ok = ready(Ok::<u8, u8>(1));
    assert_eq!(block_on(first_ok((panicking::<Result<u8, u8>>(), ok.clone()))), Ok(OneOf2::B(1)));
    assert!(panics(|| block_on(first_ok((
        panicking::<Result<u8, u8>>(),
        ready(Err::<u8, u8>(1))
    )))));
    assert!(panics(|| block_on(try_join_all((panicking::<Result<u8, u8>>(), ok.clone())))));
    assert!(panics(|| block_on(all_or_errors((panicking::<Result<u8, u8>>(), ok.clone())))));
}

#[test]
fn a_parent_waker_that_panics() {
    let (sender, receiver) = oneshot::channel();
    let (other, others) = oneshot::channel();
    let mut all = pin!(join_all((receiver, others)));
    assert!(poll_with(all.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(1))).is_err());
    other.send(2).unwrap();
    assert_eq!(poll(all.as_mut()), Poll::Ready((Ok(1), Ok(2))));
}

/// Ten thousand children are woken one by one. Each wake-up polls one child.
#[test]
fn only_what_was_woken_is_polled() {
    const MANY: usize = sized(10_000);
    let polls = AtomicUsize::new(0);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..MANY).map(|_| oneshot::channel()).unzip();
    let counted = receivers.into_iter().map(|mut receiver| {
        let polls = &polls;
        poll_fn(move |cx| {
            polls.fetch_add(1, SeqCst);
            Pin::new(&mut receiver).poll(cx)
        })
    });
    let (wakes, waker) = Counter::new();
    let mut all = pin!(join_all(Each(counted)));
    assert!(poll_with(all.as_mut(), &waker).is_pending());
    for (n, sender) in senders.into_iter().enumerate() {
        assert_eq!(wakes.get(), n);
        sender.send(n).unwrap();
        let state = poll_with(all.as_mut(), &waker);
        assert_eq!(state.is_ready(), n + 1 == MANY);
    }
    assert_eq!(polls.load(SeqCst), 2 * MANY);
}

/// A child that wakes itself is polled again, once in each poll of the parent. The parent is told.
#[test]
fn a_child_that_yields() {
    let mut left = 5;
    let child = poll_fn(move |cx| {
        left -= 1;
        cx.waker().wake_by_ref();
        cx.waker().wake_by_ref();
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    });
    let (wakes, waker) = Counter::new();
    let mut all = pin!(join_all((child, pending::<()>())));
    for n in 1..=4 {
        assert!(poll_with(all.as_mut(), &waker).is_pending());
        assert_eq!(wakes.get(), n);
    }
}

/// A child's waker outlives the combinator, and keeps nothing of the parent's.
#[test]
fn wakers_that_stay() {
    let mut kept: Option<Waker> = None;
    let (counter, waker) = Counter::new();
    {
        let child = poll_fn(|cx| {
            kept = Some(cx.waker().clone());
            Poll::<()>::Pending
        });
        let mut all = pin!(race((child, pending::<()>())));
        assert!(poll_with(all.as_mut(), &waker).is_pending());
    }
    drop(waker);
    assert_eq!(Arc::strong_count(&counter), 1);
    kept.unwrap().wake();
    assert_eq!(counter.get(), 0);
}

#[test]
fn polled_again_after_the_end() {
    let mut all = pin!(first_ok([ready(Ok::<u8, u8>(1))]));
    assert!(poll(all.as_mut()).is_ready());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(all.as_mut()).is_ready())).is_err());
    // The combinator is forgotten: nothing is dropped, and nothing breaks.
    let (sender, receiver) = oneshot::channel();
    let mut forgotten = Box::pin(try_join_all((receiver, pending::<Result<u8, _>>())));
    assert!(poll(forgotten.as_mut()).is_pending());
    std::mem::forget(forgotten);
    sender.send(1).unwrap();
}

/// The blocking forms also work if a child blocks inside its poll.
#[test]
fn a_child_that_blocks() {
    let event = Event::new();
    let (sender, receiver) = oneshot::channel();
    thread::scope(|s| {
        s.spawn(|| {
            event.set();
            sender.send(1).unwrap();
        });
        assert_eq!(block_on(join_all((async { event.wait() }, receiver))), ((), Ok(1)));
    });
}

/// Eight threads fulfil the futures on which four threads wait, together and in races.
#[test]
fn stress_across_threads() {
    for round in 0..sized(200) {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| oneshot::channel()).unzip();
        thread::scope(|s| {
            for (n, sender) in senders.into_iter().enumerate() {
                s.spawn(move || sender.send(n).is_ok());
            }
            if round % 2 == 0 {
                assert_eq!(block_on(try_join_all(receivers)), Ok((0..8).collect()));
            } else {
                let mut left = receivers;
                let mut sum = 0;
                while !left.is_empty() {
                    let (which, value) = block_on(race(Each(left.iter_mut())));
                    sum += value.unwrap();
                    drop(left.swap_remove(which));
                }
                assert_eq!(sum, 28);
            }
        });
    }
}
