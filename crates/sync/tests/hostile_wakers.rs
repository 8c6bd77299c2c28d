//! Wakers that panic when they are dropped or woken, and that run code while they are cloned.
#![cfg(not(loom))]

mod common;

use common::InlineTask;
use sateen_sync::oneshot::{self, RecvError};
use sateen_sync::{AutoEvent, Barrier, Mutex, OnceLock, Semaphore, WaitGroup, WaitPoint};
use sateen_testkit::{Counter, Hooks, poll, poll_with, waker_fn};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Poll, Waker};

thread_local! {
    /// What a clone of the worst waker does. It does this once.
    static ON_CLONE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// How many drops of the worst waker will panic.
    static BAD_DROPS: Cell<u32> = const { Cell::new(0) };
}

static WORST: Hooks<fn(), fn()> = Hooks { on_clone: cloned, on_drop: dropped };

fn cloned() {
    if let Some(f) = ON_CLONE.take() {
        f();
    }
}

fn dropped() {
    let left = BAD_DROPS.get();
    if left > 0 {
        BAD_DROPS.set(left - 1);
        panic!("a waker's destructor");
    }
}

fn worst() -> Waker {
    // SAFETY: it is a static, and uses no data but the calling thread's locals.
    ManuallyDrop::into_inner(unsafe { WORST.waker() })
}

/// Runs `f`. Meanwhile the next clone of the worst waker runs `on_clone`, and its next drop panics.
fn badly<R>(on_clone: impl FnOnce() + 'static, f: impl FnOnce() -> R) -> Option<R> {
    ON_CLONE.set(Some(Box::new(on_clone)));
    BAD_DROPS.set(1);
    let result = catch_unwind(AssertUnwindSafe(f));
    BAD_DROPS.set(0);
    ON_CLONE.take();
    result.ok()
}

/// A waker whose last drop runs `f`.
fn on_drop(f: impl FnOnce() + Send + 'static) -> Waker {
    struct OnDrop(StdMutex<Option<Box<dyn FnOnce() + Send>>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            let f = self.0.get_mut().unwrap().take();
            f.into_iter().for_each(|f| f());
        }
    }
    let kept = OnDrop(StdMutex::new(Some(Box::new(f))));
    waker_fn(move || _ = &kept)
}

#[test]
fn a_turn_that_comes_with_a_bad_waker_is_not_lost() {
    let mutex: &'static Mutex<()> = Box::leak(Box::new(Mutex::new(())));
    let guard = mutex.lock();
    let (mut first, mut second) = (Box::pin(mutex.lock_async()), pin!(mutex.lock_async()));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    let waker = worst();
    let _ = badly(move || drop(guard), || drop(poll_with(first.as_mut(), &waker)));
    drop(first);
    assert!(poll(second.as_mut()).is_ready());
}

#[test]
fn a_set_event_that_was_passed_with_a_bad_waker_is_passed() {
    let event: &'static AutoEvent = Box::leak(Box::new(AutoEvent::new()));
    let mut wait = Box::pin(event.wait_async());
    let waker = worst();
    let passed = badly(|| event.set(), || poll_with(wait.as_mut(), &waker).is_ready());
    assert!(passed == Some(true) || event.try_wait());
}

#[test]
fn a_leader_with_a_bad_waker_lets_the_others_go() {
    let barrier = Barrier::new(2);
    let (woken, counter) = Counter::new();
    let (mut first, mut leader) = (pin!(barrier.wait_async()), pin!(barrier.wait_async()));
    assert!(poll_with(first.as_mut(), &counter).is_pending());
    let waker = worst();
    let _ = badly(|| (), || poll_with(leader.as_mut(), &waker).is_ready());
    assert_eq!(woken.get(), 1);
    assert!(poll(first.as_mut()).is_ready());
}

#[test]
fn an_arrival_with_a_bad_waker_is_taken_back() {
    let barrier = Barrier::new(2);
    let mut gone = Box::pin(barrier.wait_async());
    let waker = worst();
    assert!(poll_with(gone.as_mut(), &waker).is_pending());
    let _ = badly(|| (), || drop(gone));
    assert!(poll(pin!(barrier.wait_async()).as_mut()).is_pending(), "it needs two");
}

#[test]
fn a_front_with_a_bad_waker_makes_way() {
    let semaphore = Semaphore::new(1);
    let mut wants_two = Box::pin(semaphore.acquire_async(2));
    let waker = worst();
    assert!(poll_with(wants_two.as_mut(), &waker).is_pending());
    let (woken, counter) = Counter::new();
    let mut wants_one = pin!(semaphore.acquire_async(1));
    assert!(poll_with(wants_one.as_mut(), &counter).is_pending());
    let _ = badly(|| (), || drop(wants_two));
    assert_eq!(woken.get(), 1);
    assert!(poll(wants_one.as_mut()).is_ready());
}

#[test]
fn a_value_that_is_sent_while_a_bad_waker_is_cloned_arrives() {
    let (sender, mut receiver) = oneshot::channel();
    let waker = worst();
    let sent = badly(
        || sender.send(1).unwrap(),
        || poll_with(Pin::new(&mut receiver), &waker).map(Result::ok),
    );
    assert_eq!(sent, Some(Poll::Ready(Some(1))));
}

#[test]
fn a_value_that_the_old_wakers_destructor_sends_arrives() {
    let (sender, mut receiver) = oneshot::channel();
    let bomb = on_drop(move || {
        sender.send(1).unwrap();
        panic!("a waker's destructor");
    });
    assert!(poll_with(Pin::new(&mut receiver), &bomb).is_pending());
    drop(bomb);
    assert_eq!(poll(Pin::new(&mut receiver)), Poll::Ready(Ok(1)));
}

#[test]
fn a_receivers_waker_may_use_its_channel() {
    // It takes the value that has just been sent.
    let slot: Arc<StdMutex<Option<oneshot::Receiver<u8>>>> = Arc::default();
    let taken = Arc::new(StdMutex::new(None));
    let waker = waker_fn({
        let (slot, taken) = (slot.clone(), taken.clone());
        move || {
            let receiver = slot.lock().unwrap().take();
            *taken.lock().unwrap() = receiver.map(|receiver| receiver.recv());
        }
    });
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll_with(Pin::new(&mut receiver), &waker).is_pending());
    *slot.lock().unwrap() = Some(receiver);
    sender.send(3).unwrap();
    assert_eq!(*taken.lock().unwrap(), Some(Ok(3)));
}

/// The first waiter's waker is the bad one; the second must be woken all the same.
#[test]
fn a_waiter_beside_a_bad_waker_at_a_shared_receiver_is_woken() {
    for send in [false, true] {
        let (sender, receiver) = oneshot::channel();
        let shared = receiver.shared();
        let (mut first, mut second) = (pin!(shared.get_async()), pin!(shared.get_async()));
        let (woken, counter) = Counter::new();
        assert!(poll_with(first.as_mut(), &waker_fn(|| panic!("a waker"))).is_pending());
        assert!(poll_with(second.as_mut(), &counter).is_pending());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            if send { sender.send(1).unwrap() } else { drop(sender) }
        }));
        assert!(caught.is_err(), "the sender gets the panic");
        assert_eq!(woken.get(), 1);
        let expected = if send { Ok(&1) } else { Err(RecvError) };
        assert_eq!(poll(second.as_mut()), Poll::Ready(expected));
        assert_eq!(poll(first.as_mut()), Poll::Ready(expected));
    }
}

#[test]
fn a_shared_receivers_waker_may_drop_all_receivers() {
    let value = Arc::new(());
    let (sender, receiver) = oneshot::channel();
    let held: Arc<StdMutex<Vec<Box<dyn Any + Send>>>> = Arc::default();
    let waker = waker_fn({
        let held = held.clone();
        move || {
            let all = std::mem::take(&mut *held.lock().unwrap());
            drop(all);
        }
    });
    let shared = receiver.shared();
    let (woken, counter) = Counter::new();
    for waker in [&waker, &counter] {
        let mut wait = Box::pin({
            let shared = shared.clone();
            async move { shared.get_async().await.is_ok() }
        });
        assert!(poll_with(wait.as_mut(), waker).is_pending());
        held.lock().unwrap().push(Box::new(wait));
    }
    held.lock().unwrap().push(Box::new(shared));
    sender.send(value.clone()).unwrap();
    assert!(held.lock().unwrap().is_empty());
    assert!(woken.get() <= 1, "a wake-up that was on its way comes to nobody");
    drop((waker, counter));
    assert_eq!(Arc::strong_count(&value), 1, "the value is dropped once");
}

#[test]
fn a_shared_receivers_waker_may_use_it() {
    let (sender, receiver) = oneshot::channel();
    let shared = receiver.shared();
    let got = Arc::new(StdMutex::new(Vec::new()));
    let waker = waker_fn({
        let (shared, got) = (shared.clone(), got.clone());
        move || got.lock().unwrap().push(shared.get().copied())
    });
    // One waiter's waker blocks in `get`, the other polls inside its wake-up.
    let mut wait = pin!(shared.get_async());
    assert!(poll_with(wait.as_mut(), &waker).is_pending());
    let task = InlineTask::start({
        let (shared, got) = (shared.clone(), got.clone());
        async move {
            let value = shared.get_async().await.copied();
            got.lock().unwrap().push(value);
        }
    });
    sender.send(2).unwrap();
    assert!(task.is_done());
    assert_eq!(*got.lock().unwrap(), [Ok(2), Ok(2)]);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Ok(&2)));
}

#[test]
fn a_shared_value_that_is_sent_while_a_bad_waker_is_cloned_arrives() {
    let (sender, receiver) = oneshot::channel();
    let shared = receiver.shared();
    let mut wait = Box::pin(shared.get_async());
    let waker = worst();
    let ready = badly(|| sender.send(1).unwrap(), || poll_with(wait.as_mut(), &waker).is_ready());
    assert!(ready == Some(true) || poll(wait.as_mut()).is_ready());
    assert_eq!(shared.get(), Ok(&1));
}

#[test]
fn a_waiting_point_survives_wakers_that_panic() {
    let point = WaitPoint::new();
    let never = || false;
    let (mut first, mut second) = (pin!(point.wait_async(never)), pin!(point.wait_async(never)));
    let (woken, counter) = Counter::new();
    assert!(poll_with(first.as_mut(), &waker_fn(|| panic!("a waker"))).is_pending());
    assert!(poll_with(second.as_mut(), &counter).is_pending());
    // A notification is one, whatever the waker does.
    point.notify_one();
    assert_eq!(woken.get(), 0);
    assert!(point.has_waiters());
    assert!(poll(first.as_mut()).is_ready());

    let mut third = pin!(point.wait_async(never));
    assert!(poll_with(third.as_mut(), &waker_fn(|| panic!("a waker"))).is_pending());
    let mut fourth = pin!(point.wait_async(never));
    assert!(poll_with(fourth.as_mut(), &counter).is_pending());
    _ = catch_unwind(AssertUnwindSafe(|| point.notify_all()));
    assert_eq!(woken.get(), 2);
    assert!(!point.has_waiters());
    for wait in [second.as_mut(), third.as_mut(), fourth.as_mut()] {
        assert!(poll(wait).is_ready());
    }
}

#[test]
fn a_waiting_points_waker_may_drop_its_waiters() {
    let point: &'static WaitPoint = Box::leak(Box::default());
    type Waits = Vec<Pin<Box<dyn Future<Output = ()> + Send>>>;
    let waits: Arc<StdMutex<Waits>> = Arc::default();
    let waker = waker_fn({
        let waits = waits.clone();
        move || {
            let all = std::mem::take(&mut *waits.lock().unwrap());
            drop(all);
        }
    });
    let (woken, counter) = Counter::new();
    for waker in [&waker, &counter] {
        let mut wait: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(point.wait_async(|| false));
        assert!(poll_with(wait.as_mut(), waker).is_pending());
        waits.lock().unwrap().push(wait);
    }
    let mut last = pin!(point.wait_async(|| false));
    assert!(poll_with(last.as_mut(), &counter).is_pending());
    // The first waiter is dropped before it has noticed the notification, which goes on to the
    // next. That one is dropped as well, and the notification goes to the one that stays.
    point.notify_one();
    assert!(poll(last.as_mut()).is_ready());
    assert!(!point.has_waiters());
    assert!((1..=2).contains(&woken.get()));
}

#[test]
fn a_waiting_points_waker_may_use_it() {
    let point: &'static WaitPoint = Box::leak(Box::default());
    let waker = waker_fn(move || {
        point.notify_one();
        point.wait(None, || true);
        point.notify_all();
    });
    let (woken, counter) = Counter::new();
    let mut waits = [&waker, &counter, &counter].map(|waker| {
        let mut wait = Box::pin(point.wait_async(|| false));
        assert!(poll_with(wait.as_mut(), waker).is_pending());
        wait
    });
    point.notify_one();
    assert_eq!(woken.get(), 2);
    assert!(!point.has_waiters());
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    // A task that is polled inside its wake-up.
    let task = InlineTask::start(point.wait_async(|| false));
    point.notify_one();
    assert!(task.is_done());
}

#[test]
fn a_change_that_comes_while_a_bad_waker_is_cloned_is_seen() {
    let point: &'static WaitPoint = Box::leak(Box::default());
    let changed: &'static AtomicBool = Box::leak(Box::default());
    let mut wait = Box::pin(point.wait_async(|| changed.load(SeqCst)));
    let waker = worst();
    let ready = badly(
        || {
            changed.store(true, SeqCst);
            point.notify_one();
        },
        || poll_with(wait.as_mut(), &waker).is_ready(),
    );
    assert!(ready == Some(true) || poll(wait.as_mut()).is_ready());
    drop(wait);
    assert!(!point.has_waiters());
}

/// Runs in a child process, which two panics at once would end.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn a_waker_may_panic_while_its_waker_unwinds() {
    const INSIDE: &str = "SATEEN_TEST_TWO_PANICS";
    if std::env::var_os(INSIDE).is_some() {
        return two_panics();
    }
    let child = Command::new(std::env::current_exe().expect("its path"))
        .args(["--exact", "a_waker_may_panic_while_its_waker_unwinds", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("a child");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

fn two_panics() {
    let bomb = waker_fn(|| panic!("a waker"));
    let unwinding = |what: Box<dyn std::any::Any>| {
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _dropped = what;
            resume_unwind(Box::new("the first"));
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the first"));
    };

    let mutex: &'static Mutex<()> = Box::leak(Box::default());
    let guard = mutex.lock();
    let mut wait = Box::pin(mutex.lock_async());
    assert!(poll_with(wait.as_mut(), &bomb).is_pending());
    unwinding(Box::new(guard));
    // The waiter that was woken passes its turn on.
    let mut next = Box::pin(mutex.lock_async());
    let guard = poll(wait.as_mut());
    assert!(poll_with(next.as_mut(), &bomb).is_pending());
    unwinding(Box::new(guard));
    let mut last = Box::pin(mutex.lock_async());
    let guard = mutex.try_lock();
    assert!(poll_with(last.as_mut(), &bomb).is_pending());
    unwinding(Box::new(next));
    unwinding(Box::new(guard));
    unwinding(Box::new(last));

    let semaphore: &'static Semaphore = Box::leak(Box::new(Semaphore::new(1)));
    let permit = semaphore.acquire(1).expect("free");
    let mut wait = Box::pin(semaphore.acquire_async(1));
    assert!(poll_with(wait.as_mut(), &bomb).is_pending());
    unwinding(Box::new(permit));

    let (sender, mut receiver) = oneshot::channel::<u8>();
    assert!(poll_with(pin!(&mut receiver).as_mut(), &bomb).is_pending());
    unwinding(Box::new(sender));

    let (sender, receiver) = oneshot::channel::<u8>();
    let shared = receiver.shared();
    let mut wait = Box::pin(IntoFuture::into_future(shared.get_async()));
    assert!(poll_with(wait.as_mut(), &bomb).is_pending());
    unwinding(Box::new(sender));

    let group = WaitGroup::new();
    let one = group.clone();
    let mut wait = Box::pin(IntoFuture::into_future(group.wait_async()));
    assert!(poll_with(wait.as_mut(), &bomb).is_pending());
    unwinding(Box::new(one));

    let cell: &'static OnceLock<u8> = Box::leak(Box::default());
    let mut init = Box::pin(cell.get_or_init_async(std::future::pending::<u8>));
    assert!(poll(init.as_mut()).is_pending());
    let mut wait = Box::pin(cell.wait_async());
    assert!(poll_with(wait.as_mut(), &bomb).is_pending());
    unwinding(Box::new(init));
}
