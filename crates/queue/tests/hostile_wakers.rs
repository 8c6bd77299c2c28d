//! Wakers that panic when they are woken, cloned or dropped. The other users of the channel lose
//! nothing by it.
#![cfg(not(loom))]

use sateen_queue::channel::{RecvError, Select, at, bounded, unbounded};
use sateen_sync::park::{self, Blocker};
use sateen_testkit::{Counter, Hooks};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Polls `future`, which must then wait.
macro_rules! waits {
    ($future:expr, $waker:expr) => {
        assert!($future.as_mut().poll(&mut Context::from_waker($waker)).is_pending())
    };
}

/// Returns the result of `act`, or `None` if it panics.
fn survive<R>(act: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(act)).ok()
}

#[test]
fn a_batch_wakes_all_it_serves() {
    let (sender, receiver) = bounded(4);
    let (bombs, wakers): (Vec<_>, Vec<_>) = (0..3).map(|_| Counter::bomb()).unzip();
    let (mut a, mut b, mut c) =
        (pin!(receiver.recv_async()), pin!(receiver.recv_async()), pin!(receiver.recv_async()));
    waits!(a, &wakers[0]);
    waits!(b, &wakers[1]);
    waits!(c, &wakers[2]);
    survive(|| sender.send_all([1, 2, 3]));
    assert!(bombs.iter().all(|bomb| bomb.get() == 1), "some sleep on beside their items");
}

#[test]
fn room_for_several_wakes_as_many() {
    let (sender, receiver) = bounded(2);
    sender.send_all([1, 2]).unwrap();
    let (bombs, wakers): (Vec<_>, Vec<_>) = (0..2).map(|_| Counter::bomb()).unzip();
    let (mut a, mut b) = (pin!(sender.send_async(3)), pin!(sender.send_async(4)));
    waits!(a, &wakers[0]);
    waits!(b, &wakers[1]);
    let mut taken = Vec::new();
    survive(|| receiver.try_recv_into(&mut taken, 2));
    assert_eq!(taken, [1, 2]);
    assert!(bombs.iter().all(|bomb| bomb.get() == 1), "some sleep on beside their room");
}

/// A receiver has taken an item, and wakes the sender that gets the room. Without a buffer it finds
/// none, and calls the sender.
#[test]
fn what_is_received_is_not_lost() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        (0..capacity).for_each(|_| sender.send(1).unwrap());
        let (bomb, waker) = Counter::bomb();
        let mut sending = pin!(sender.send_async(1));
        waits!(sending, &waker);
        let first = survive(|| receiver.try_recv());
        assert_eq!(first.map(|item| item.ok()), Some((capacity > 0).then_some(1)));
        assert_eq!(bomb.get(), 1);
        let sent = sending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((sent, receiver.try_recv()), (Poll::Ready(Ok(())), Ok(1)));
    }
}

/// An item that must stay on its thread. It counts drops on other threads.
struct Here<'a>(&'a AtomicUsize, PhantomData<*const ()>);

thread_local! {
    static HOME: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(usize::from(!HOME.get()), SeqCst);
    }
}

/// A selection on another thread takes an item that must not be dropped there, and then wakes a
/// sender.
#[test]
fn items_are_not_dropped_on_a_thread_of_a_selection() {
    HOME.set(true);
    for capacity in [0, 1] {
        let elsewhere = AtomicUsize::new(0);
        let item = || Here(&elsewhere, PhantomData);
        let (sender, receiver) = bounded(capacity);
        (0..capacity).for_each(|_| sender.send(item()).unwrap_or_else(|_| unreachable!()));
        let (_bomb, waker) = Counter::bomb();
        let mut sending = pin!(sender.send_async(item()));
        assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut select = Select::new();
        select.recv(&receiver);
        thread::scope(|s| {
            let selecting = s.spawn(move || survive(|| std::mem::forget(select.select())));
            // Without a buffer, the future sends once the selection waits.
            while capacity == 0
                && sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
            {
                thread::yield_now();
            }
            selecting.join().unwrap();
        });
        assert_eq!(elsewhere.load(SeqCst), 0, "capacity {capacity}");
    }
}

/// A sender that finds no room gets its item back, even if it has woken a receiver to make room.
#[test]
fn what_finds_no_room_is_not_lost() {
    let (sender, receiver) = bounded(1);
    let (bomb, waker) = Counter::bomb();
    let mut receiving = pin!(receiver.recv_async());
    waits!(receiving, &waker);
    let mut select = Select::new();
    select.send(&sender);
    // The reservation is forgotten, so the sleeping receiver must pass over it.
    std::mem::forget(select.try_select().unwrap());
    let sent = survive(|| sender.try_send(Box::new(1)));
    assert_eq!(bomb.get(), 1);
    assert_eq!(sent.map(|sent| sent.is_err_and(|error| error.is_full())), Some(true));
}

/// Blocks by doing the next step of a script. If there is no next step, it unwinds as a cancelled
/// task does.
#[derive(Default)]
struct Script<'a>(RefCell<VecDeque<Box<dyn FnOnce() + 'a>>>);

// SAFETY: a waker that does nothing is enough, because blocking never lasts.
unsafe impl Blocker for Script<'static> {
    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }

    fn park(&self) {
        let step = self.0.borrow_mut().pop_front();
        step.expect("cancelled")();
    }

    fn park_until(&self, _: Instant) {
        self.park();
    }
}

/// Runs `f`. Each time `f` blocks, the next of `steps` happens. Returns `None` if `f` unwinds.
fn scripted<R>(steps: Vec<Box<dyn FnOnce() + '_>>, f: impl FnOnce() -> R) -> Option<R> {
    let script = Box::into_raw(Box::new(Script(RefCell::new(steps.into()))));
    // SAFETY: the blocker is installed below until `f` has ended, and freed after that. Its wakers
    // are noop, so no code keeps it longer.
    let blocker = unsafe { &*script.cast::<Script<'static>>() };
    // SAFETY: only this thread uses the blocker, which is taken out again below.
    let before = unsafe { park::install(Some(blocker)) };
    let result = survive(f);
    // SAFETY: as above.
    unsafe {
        park::install(before);
        drop(Box::from_raw(script));
    }
    result
}

/// A selection that sends meets a receiver. It passes on the permit that another channel gave it.
#[test]
fn who_was_met_is_not_left_alone() {
    let (to_meet, meeting) = bounded(0);
    let (to_other, other) = unbounded();
    let (bomb, waker) = Counter::bomb();
    let (mut met, mut behind) = (pin!(meeting.recv_async()), pin!(other.recv_async()));
    let step = || {
        waits!(behind, &waker);
        to_other.send(1).unwrap();
        waits!(met, Waker::noop());
    };
    scripted(vec![Box::new(step)], || {
        let mut select = Select::new();
        select.send(&to_meet);
        select.recv(&other);
        let chosen = select.select();
        assert_eq!(chosen.index(), 0);
        chosen.send(&to_meet, 7).unwrap();
    });
    assert_eq!(bomb.get(), 1);
    let met = met.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(met, Poll::Ready(Ok(7)));
}

/// A sender's waker panics while it is cloned. The item is still to be sent.
#[test]
fn what_could_not_be_queued_is_not_sent() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        (0..capacity).for_each(|i| sender.send(i).unwrap());
        let bad = Hooks { on_clone: || panic!("cloned"), on_drop: || () };
        let mut sending = pin!(sender.send_async(capacity));
        // SAFETY: no clone is ever made.
        let waker = unsafe { bad.waker() };
        assert!(survive(|| sending.as_mut().poll(&mut Context::from_waker(&waker))).is_none());
        waits!(sending, Waker::noop());
        let mut sent = || sending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        // Without a buffer, the future sends in its poll after a receiver has come.
        assert_eq!(receiver.try_recv().ok(), (capacity > 0).then_some(0));
        assert_eq!(sent(), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv(), Ok(capacity));
    }
}

/// While the receiver's new waker is cloned, an item comes. That waker panics when it is dropped.
#[test]
fn what_comes_with_a_bad_waker_is_received() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let bad = Hooks { on_clone: || _ = sender.try_send(1), on_drop: || panic!("dropped") };
        let mut receiving = pin!(receiver.recv_async());
        waits!(receiving, Waker::noop());
        // SAFETY: the value is dropped after all clones, which stay here.
        let waker = unsafe { bad.waker() };
        let received = survive(|| receiving.as_mut().poll(&mut Context::from_waker(&waker)));
        assert_eq!(received, Some(Poll::Ready(Ok(1))), "capacity {capacity}");
    }
}

/// A waker that panics when it is dropped is replaced, and is dropped with its future.
#[test]
fn wakers_that_are_bad_to_drop_stop_there() {
    for capacity in [0, 1] {
        let bad = Hooks { on_clone: || (), on_drop: || panic!("dropped") };
        // SAFETY: the value is dropped after all clones, which stay here.
        let waker = unsafe { bad.waker() };
        let (_sender, receiver) = bounded::<u8>(capacity);
        let mut receiving = Box::pin(receiver.recv_async());
        waits!(receiving, &waker);
        let polled = survive(|| waits!(receiving, Waker::noop()));
        assert_eq!(polled, Some(()), "capacity {capacity}");
        let mut second = Box::pin(receiver.recv_async());
        waits!(second, &waker);
        assert_eq!(survive(|| drop(second)), Some(()), "capacity {capacity}");
    }
}

/// A receiver waits for a point in time and gives up before it comes. Another receiver gets it.
#[test]
fn a_time_that_nobody_waited_for_is_not_lost() {
    let when = Instant::now() + Duration::from_millis(20);
    let receiver = at(when);
    // The time may have passed already. Then it is received at once.
    let received = scripted(Vec::new(), || receiver.recv());
    while Instant::now() < when {
        thread::yield_now();
    }
    assert_eq!(received.unwrap_or_else(|| receiver.try_recv().map_err(|_| RecvError)), Ok(when));
}
