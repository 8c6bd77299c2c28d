//! The forms for one thread, with futures polled by hand and with the simplest of fibers.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_sync::AcquireError;
use sateen_sync::local::{
    Condvar, Event, Mutex, MutexGuard, RecvError, RwLock, Semaphore, SendError, TryRecvError,
    TrySendError, ZeroCapacity, bounded, unbounded,
};
use sateen_sync::park::{self, Blocker};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

type Job = Box<dyn FnOnce()>;

thread_local! {
    static OTHERS: RefCell<Vec<Job>> = const { RefCell::new(Vec::new()) };
}

/// A context that parks runs another "fiber" of this thread to its end.
struct Others;

// SAFETY: contexts stay on their thread, and none is masked.
unsafe impl Blocker for Others {
    fn waker(&self) -> std::task::Waker {
        std::task::Waker::noop().clone()
    }

    fn park(&self) {
        let job = OTHERS.with_borrow_mut(Vec::pop).expect("all wait for each other");
        job();
    }

    fn park_until(&self, _: std::time::Instant) {
        if let Some(job) = OTHERS.with_borrow_mut(Vec::pop) {
            job();
        }
    }
}

/// Runs `f` on a thread whose other fibers are `others`. The last one of them runs first.
fn among(others: Vec<Job>, f: impl FnOnce()) {
    OTHERS.set(others);
    // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
    let before = unsafe { park::install(Some(&Others)) };
    f();
    // SAFETY: as above.
    unsafe { park::install(before) };
    assert!(OTHERS.take().is_empty(), "nobody was needed");
}

#[test]
fn a_wait_that_nobody_can_end_is_reported() {
    let mutex = Mutex::new(());
    let held = mutex.lock();
    assert!(panics(|| drop(mutex.lock())));
    assert!(mutex.try_lock_for(SHORT).is_none());
    drop(held);
    drop(mutex.lock());
    assert!(panics(|| Event::new().wait()));
    assert!(!Event::new().wait_timeout(SHORT));
    assert!(panics(|| Semaphore::new(0).acquire(1).map(drop)));
    let (condvar, value) = (Condvar::default(), Mutex::new(()));
    assert!(panics(|| drop(condvar.wait(value.lock()))));
    assert!(value.try_lock().is_some(), "unlocked by the wait that was given up");
    let lock = RwLock::new(());
    let read = lock.read();
    assert!(panics(|| drop(lock.write())));
    assert!(lock.try_write_for(SHORT).is_none());
    drop((lock.try_read_for(SHORT), read));
    let (sender, receiver) = bounded::<u8>(1).unwrap();
    assert!(panics(|| receiver.recv()));
    sender.send(1).unwrap();
    assert!(panics(|| sender.send(2)));
}

#[test]
fn fibers_wait_for_each_other() {
    let event = Rc::new(Event::default());
    let mutex = Rc::new(Mutex::new(1));
    let semaphore = Rc::new(Semaphore::new(0));
    let condvar = Rc::new((Condvar::new(), Mutex::new(false)));
    let (sender, receiver) = bounded(1).unwrap();
    let jobs: [Job; 5] = [
        Box::new({
            let receiver = receiver.clone();
            move || assert_eq!(receiver.recv(), Ok(1))
        }),
        Box::new({
            let condvar = condvar.clone();
            move || {
                *condvar.1.lock() = true;
                condvar.0.notify_one();
            }
        }),
        Box::new({
            let semaphore = semaphore.clone();
            move || semaphore.add_permits(2)
        }),
        Box::new({
            let mutex = mutex.clone();
            let held = Box::leak(Box::new(mutex.clone())).lock();
            move || drop(held)
        }),
        Box::new({
            let event = event.clone();
            move || event.set()
        }),
    ];
    among(jobs.into(), || {
        event.wait();
        assert_eq!(*mutex.lock(), 1);
        assert_eq!(semaphore.acquire(2).unwrap().permits(), 2);
        assert!(*condvar.0.wait_while(condvar.1.lock(), |ready| !*ready));
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(2));
    });
}

#[test]
fn a_mutex_is_handed_on_in_order() {
    let mutex = Mutex::new(0);
    let held = mutex.lock();
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(mutex.lock_async())).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    drop(held);
    assert!(mutex.try_lock().is_none(), "it is the first waiter's");
    assert!(poll(waits[1].as_mut()).is_pending());
    // One waiter is dropped after the lock was handed to it, another one while it is queued.
    drop(waits.remove(0));
    drop(waits.remove(1));
    let Poll::Ready(guard) = poll(waits[0].as_mut()) else { panic!("handed on") };
    drop(guard);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 0 }");
    drop(waits);
    let mut mutex = mutex;
    *mutex.get_mut() += 1;
    assert_eq!(mutex.into_inner(), 1);
}

#[test]
fn readers_and_writers() {
    let lock = RwLock::new(1);
    let (a, b) = (lock.read(), lock.read());
    let mut write = Box::pin(lock.write_async());
    let mut read = Box::pin(lock.read_async());
    assert!(poll(write.as_mut()).is_pending() && poll(read.as_mut()).is_pending());
    assert!(lock.try_read().is_none(), "a writer waits");
    drop(a);
    assert!(poll(write.as_mut()).is_pending());
    drop(b);
    let Poll::Ready(mut guard) = poll(write.as_mut()) else { panic!("all have left") };
    *guard += 1;
    assert!(poll(read.as_mut()).is_pending());
    drop(guard);
    let Poll::Ready(guard) = poll(read.as_mut()) else { panic!("the writer has left") };
    assert_eq!(*guard, 2);
    // A writer that gives up lets the readers behind it in.
    let mut write = Box::pin(lock.write_async());
    let mut read = Box::pin(lock.read_async());
    assert!(poll(write.as_mut()).is_pending() && poll(read.as_mut()).is_pending());
    drop(write);
    assert!(poll(read.as_mut()).is_ready());
}

#[test]
fn permits() {
    let semaphore = Semaphore::new(1);
    let mut two = Box::pin(semaphore.acquire_async(2));
    let mut one = Box::pin(semaphore.acquire_async(1));
    assert!(poll(two.as_mut()).is_pending() && poll(one.as_mut()).is_pending());
    assert!(semaphore.try_acquire(0).is_ok());
    assert_eq!(semaphore.try_acquire(1).unwrap_err(), AcquireError::NoPermits);
    semaphore.add_permits(2);
    drop(two); // It was handed to this waiter, which gives it back.
    let Poll::Ready(Ok(guard)) = poll(one.as_mut()) else { panic!("there are three") };
    guard.forget();
    assert_eq!(semaphore.available_permits(), 2);
    assert_eq!(semaphore.acquire_timeout(3, SHORT).unwrap_err(), AcquireError::TimedOut);
    assert!(panics(|| semaphore.add_permits(usize::MAX)));
    std::mem::forget(semaphore.acquire(1).unwrap());
    let mut waits = Box::pin(semaphore.acquire_async(5));
    assert!(poll(waits.as_mut()).is_pending());
    semaphore.close();
    assert!(matches!(poll(waits.as_mut()), Poll::Ready(Err(AcquireError::Closed))));
    assert_eq!(semaphore.acquire(1).unwrap_err(), AcquireError::Closed);
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available: 1, closed: true, .. }");
}

#[test]
fn events() {
    let event = Event::new();
    let mut early = Box::pin(event.wait_async());
    assert!(poll(early.as_mut()).is_pending());
    event.set();
    event.reset();
    let mut late = Box::pin(event.wait_async());
    assert!(poll(late.as_mut()).is_pending() && poll(early.as_mut()).is_ready());
    let mut dropped = Box::pin(event.wait_async());
    assert!(poll(dropped.as_mut()).is_pending());
    drop(dropped);
    event.set();
    assert!(poll(late.as_mut()).is_ready());
}

#[test]
fn condition_variables() {
    let (condvar, mutex) = (Condvar::new(), Mutex::new(0));
    condvar.notify_one();
    condvar.notify_all();
    let unpolled = condvar.wait_async(mutex.lock());
    assert!(mutex.try_lock().is_none());
    drop(unpolled);

    let wait = || Box::pin(async { drop(condvar.wait_async(mutex.lock_async().await).await) });
    let mut waits: Vec<_> = (0..4).map(|_| wait()).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    condvar.notify_one();
    assert!(poll(waits[1].as_mut()).is_pending());
    drop(waits.remove(0)); // The notification goes to the next waiter.
    assert!(poll(waits[0].as_mut()).is_ready());
    // A waiter is notified, and dropped while it waits for the lock. Its notification goes on too.
    let held = mutex.lock();
    condvar.notify_one();
    assert!(poll(waits[1].as_mut()).is_pending());
    drop(waits.remove(1));
    drop(held);
    assert!(poll(waits[1].as_mut()).is_ready());
    let mut late = wait();
    assert!(poll(late.as_mut()).is_pending());
    condvar.notify_all();
    assert!(poll(late.as_mut()).is_ready());
    let (guard, notified) = condvar.wait_timeout(mutex.lock(), SHORT);
    assert!(!notified && mutex.try_lock().is_none());
    drop(guard);
}

#[test]
fn channels() {
    assert_eq!(bounded::<u8>(0).unwrap_err(), ZeroCapacity);
    let (sender, receiver) = bounded(1).unwrap();
    sender.send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(sender.send_timeout(2, SHORT), Err(TrySendError::Full(2)));
    let first = sender.clone();
    let mut sending = Box::pin(first.send_async(2));
    assert!(poll(sending.as_mut()).is_pending());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)), "the place is promised");
    assert_eq!(poll(sending.as_mut()), Poll::Ready(Ok(())));
    drop(sending);
    assert_eq!((receiver.len(), receiver.is_empty()), (1, false));
    // A receiver is dropped after a message was promised to it. The message is not lost.
    assert_eq!(receiver.try_recv(), Ok(2));
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll(receiving.as_mut()).is_pending());
    sender.send(3).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "it is promised");
    drop(receiving);
    assert_eq!(receiver.recv_timeout(SHORT), Ok(3));
    assert_eq!(receiver.recv_timeout(SHORT), Err(TryRecvError::Empty));
    // A sender is dropped after a place was promised to it. The place comes back.
    sender.send(4).unwrap();
    let other = sender.clone();
    let mut sending = Box::pin(other.send_async(5));
    assert!(poll(sending.as_mut()).is_pending());
    assert_eq!(receiver.recv(), Ok(4));
    drop(sending);
    sender.try_send(6).unwrap();
    drop(receiver.clone());
    // The senders leave. The messages that are there are still received.
    let another = receiver.clone();
    drop((first, other, sender.clone(), sender));
    assert_eq!((another.recv(), receiver.recv()), (Ok(6), Err(RecvError)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn receivers_that_leave() {
    let value = Rc::new(());
    let (sender, receiver) = bounded(1).unwrap();
    sender.send(value.clone()).unwrap();
    let mut sending = Box::pin(sender.send_async(value.clone()));
    assert!(poll(sending.as_mut()).is_pending());
    drop(receiver);
    assert_eq!(poll(sending.as_mut()), Poll::Ready(Err(SendError(value.clone()))));
    drop(sending);
    assert_eq!(sender.send(value.clone()), Err(SendError(value.clone())));
    assert_eq!(sender.try_send(value.clone()), Err(TrySendError::Disconnected(value.clone())));
    assert_eq!(Rc::strong_count(&value), 1);
    let (sender, receiver) = unbounded();
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll(receiving.as_mut()).is_pending());
    drop(sender.clone());
    assert!(poll(receiving.as_mut()).is_pending());
    sender.send(value.clone()).unwrap();
    drop(sender);
    assert!(poll(receiving.as_mut()).is_ready());
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn wakers_that_panic() {
    let event = Event::new();
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(event.wait_async())).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    }
    assert!(panics(|| event.set()));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    let semaphore = Semaphore::new(0);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(semaphore.acquire_async(1))).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    }
    assert!(panics(|| semaphore.add_permits(3)));
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    assert_eq!(semaphore.available_permits(), 3);
}

/// A message is received even if the waker of the sender that gets its slot panics. A message is
/// sent even if the receiver's waker panics.
#[test]
fn a_channels_waker_that_panics_costs_no_message() {
    let bomb = waker_fn(|| panic!("waker"));
    let (sender, receiver) = bounded(1).unwrap();
    sender.send(1).unwrap();
    let mut second = Box::pin(sender.send_async(2));
    assert!(poll_with(second.as_mut(), &bomb).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(poll(second.as_mut()), Poll::Ready(Ok(())));
    drop(second);
    assert_eq!(receiver.try_recv(), Ok(2));
    let mut third = Box::pin(receiver.recv_async());
    assert!(poll_with(third.as_mut(), &bomb).is_pending());
    assert_eq!(sender.send(3), Ok(()));
    assert_eq!(poll(third.as_mut()), Poll::Ready(Ok(3)));
    // The last half of either side is dropped.
    let mut last = Box::pin(receiver.recv_async());
    assert!(poll_with(last.as_mut(), &bomb).is_pending());
    drop(sender);
    assert_eq!(poll(last.as_mut()), Poll::Ready(Err(RecvError)));
}

/// A message was promised to a receiver that has not come back for it, and the last sender goes.
/// Whoever comes first has the message.
#[test]
fn a_message_comes_before_the_end_of_the_senders() {
    for waits in [true, false] {
        let (sender, receiver) = bounded(1).unwrap();
        let mut first = Box::pin(receiver.recv_async());
        let mut second = Box::pin(receiver.recv_async());
        assert!(poll(first.as_mut()).is_pending());
        if waits {
            assert!(poll(second.as_mut()).is_pending());
        }
        sender.send(1).unwrap();
        drop(sender);
        if waits {
            assert_eq!(poll(second.as_mut()), Poll::Ready(Ok(1)));
        } else {
            assert_eq!(receiver.try_recv(), Ok(1));
        }
        assert_eq!(poll(first.as_mut()), Poll::Ready(Err(RecvError)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// A waiter is notified and cannot lock again, because no other fiber runs here. It notifies the
/// next waiter.
#[test]
fn a_notification_that_nobody_can_act_on_is_passed_on() {
    type Guard = MutexGuard<'static, ()>;
    thread_local! {
        static THINGS: &'static (Condvar, Mutex<()>) = Box::leak(Box::default());
        static LOCK: RefCell<Option<Pin<Box<dyn Future<Output = Guard>>>>> = RefCell::default();
        static SECOND: RefCell<Option<Pin<Box<dyn Future<Output = Guard>>>>> = RefCell::default();
        static HELD: RefCell<Option<Guard>> = RefCell::default();
    }
    let (condvar, mutex) = THINGS.with(|things| *things);
    let first = mutex.lock();
    // The waiter's unlock calls this waker. Another future starts to wait, too, and a third one has
    // the lock and notifies one waiter.
    let waker = waker_fn(|| {
        let (condvar, mutex) = THINGS.with(|things| *things);
        let mut lock = LOCK.take().expect("once");
        let Poll::Ready(guard) = poll(lock.as_mut()) else { panic!("it was handed on") };
        let mut second: Pin<Box<dyn Future<Output = Guard>>> = Box::pin(condvar.wait_async(guard));
        assert!(poll(second.as_mut()).is_pending());
        SECOND.set(Some(second));
        HELD.set(mutex.try_lock());
        condvar.notify_one();
    });
    let mut lock: Pin<Box<dyn Future<Output = Guard>>> = Box::pin(mutex.lock_async());
    assert!(poll_with(lock.as_mut(), &waker).is_pending());
    LOCK.set(Some(lock));
    assert!(panics(move || condvar.wait(first)));
    drop(HELD.take().expect("locked by the waker"));
    let mut second = SECOND.take().expect("made by the waker");
    assert!(poll(second.as_mut()).is_ready(), "the notification is lost");
}

/// A waker that uses the primitive that wakes it.
#[test]
fn wakers_that_come_back() {
    // There is one thread and nothing is `Send`, so the waker finds its data in thread-locals.
    thread_local! {
        static EVENT: &'static Event = Box::leak(Box::new(Event::new()));
        static WOKEN: Cell<usize> = const { Cell::new(0) };
    }
    let event = EVENT.with(|event| *event);
    let mut waits: Vec<_> = (0..40).map(|_| Box::pin(event.wait_async())).collect();
    for wait in &mut waits {
        let waker = waker_fn(|| {
            WOKEN.set(WOKEN.get() + 1);
            let event = EVENT.with(|event| *event);
            event.reset();
            let mut again = Box::pin(event.wait_async());
            assert!(poll(again.as_mut()).is_pending());
            std::mem::forget(again);
        });
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    event.set();
    assert_eq!(WOKEN.get(), 40);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    assert!(!event.is_set());
    let (counter, waker) = Counter::new();
    let mut last = Box::pin(event.wait_async());
    assert!(poll_with(last.as_mut(), &waker).is_pending());
    event.set();
    assert_eq!(counter.get(), 1);
}

/// Many futures on one thread lock, send, receive and give up at random. Everything is conserved.
#[test]
fn stress_conserves() {
    let semaphore = Semaphore::new(5);
    let (sender, receiver) = bounded(3).unwrap();
    let (out, sent, received) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let task = |n: usize| {
        let (semaphore, sender, receiver) = (&semaphore, &sender, &receiver);
        let (out, sent, received) = (&out, &sent, &received);
        async move {
            let guard = semaphore.acquire_async(n % 5 + 1).await.unwrap();
            out.set(out.get() + guard.permits());
            assert!(out.get() <= 5);
            if n.is_multiple_of(2) {
                sender.send_async(n).await.unwrap();
                sent.set(sent.get() + n);
            }
            out.set(out.get() - guard.permits());
            drop(guard);
            if n.is_multiple_of(2) {
                received.set(received.get() + receiver.recv_async().await.unwrap());
            }
        }
    };
    let mut rng = XorShift::new(1);
    let mut tasks: Vec<_> = (0..20).map(|n| Box::pin(task(n))).collect();
    for n in 0..sized(20_000) {
        let at = rng.below(20);
        // A task is given up only while it holds nothing that it would not give back by itself.
        if poll(tasks[at].as_mut()).is_ready() {
            tasks[at] = Box::pin(task(n));
        }
    }
    drop(tasks);
    while let Ok(n) = receiver.try_recv() {
        received.set(received.get() + n);
    }
    assert_eq!(semaphore.available_permits(), 5);
    assert_eq!(sent.get(), received.get());
    assert_eq!(receiver.len(), 0);
}

/// A channel takes memory for what is in it, not for what may be.
#[test]
fn channels_of_any_capacity() {
    assert_eq!(bounded::<u8>(0).err(), Some(ZeroCapacity));
    let near = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + 1];
    let powers = (1..usize::BITS).flat_map(near).chain([usize::MAX]);
    for capacity in powers.filter(|&capacity| capacity > 1) {
        let (sender, receiver) = bounded(capacity).expect("not 0");
        sender.send(1).unwrap();
        sender.try_send(2).unwrap();
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1), Ok(2)), "{capacity}");
    }
}
