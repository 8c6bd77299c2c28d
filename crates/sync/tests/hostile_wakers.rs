//! Wakers that panic when they are dropped or woken, and do things while they are cloned.
#![cfg(not(loom))]

mod common;

use common::{Counter, poll, poll_with, waker_fn};
use sateen_sync::{AutoEvent, Barrier, Mutex, OnceLock, Semaphore, WaitGroup, oneshot};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::process::Command;
use std::task::{RawWaker, RawWakerVTable, Waker};

thread_local! {
    /// What cloning the worst waker does, once.
    static ON_CLONE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// How many drops of it will panic.
    static BAD_DROPS: Cell<u32> = const { Cell::new(0) };
}

static WORST: RawWakerVTable = RawWakerVTable::new(clone, |_| (), |_| (), dropped);

fn clone(_: *const ()) -> RawWaker {
    if let Some(f) = ON_CLONE.take() {
        f();
    }
    RawWaker::new(std::ptr::null(), &WORST)
}

fn dropped(_: *const ()) {
    let left = BAD_DROPS.get();
    if left > 0 {
        BAD_DROPS.set(left - 1);
        panic!("a waker's destructor");
    }
}

fn worst() -> Waker {
    // SAFETY: the table's functions use no data, and only this thread's locals.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &WORST)) }
}

/// Runs `f`, in which the next clone of the worst waker does `on_clone`, and its next drop panics.
fn badly<R>(on_clone: impl FnOnce() + 'static, f: impl FnOnce() -> R) -> Option<R> {
    ON_CLONE.set(Some(Box::new(on_clone)));
    BAD_DROPS.set(1);
    let result = catch_unwind(AssertUnwindSafe(f));
    BAD_DROPS.set(0);
    ON_CLONE.take();
    result.ok()
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

/// In a process of its own, which two panics at once would end.
#[test]
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
    // The one on the way hands its turn on.
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
