//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file. Aborts
//! are in `docs/aborts.md`.

// Some numbers are those of 64 bits.
#![cfg(all(not(loom), target_pointer_width = "64"))]

use sateen_sync::park::Cancelled;
use sateen_sync::timer::timeout_async;
use sateen_sync::wait_queue::{Position, Waiter};
use sateen_sync::{
    AcquireError, Barrier, Condvar, EventCount, Lazy, Mutex, Once, RwLock, RwLockAsync, Semaphore,
    WaitGroup, WaitQueue, block_on, local, oneshot,
};
use sateen_testkit::panic_of;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("the members of a tuple in another order", "each result lies in its member's place"),
    (
        "more stripes than threads",
        "when it is compiled: only counters of the library's have stripes",
    ),
    ("an initialiser runs once", "the closure is `FnOnce` to its caller"),
    ("as many contexts lock re-entrant mutexes as there are words", "takes 2^32 contexts at once"),
    ("loom locks are made with `lock_api::Mutex::from_raw`", "in models alone"),
    ("loom locks are made with `lock_api::RwLock::from_raw`", "in models alone"),
    ("a wait that does not end", "in models alone"),
    ("no panic under this lock", "in models alone"),
    ("nobody panics under this lock", "in models alone"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

/// The panic of a future that is polled once more after it was ready.
fn polled_again<F: Future>(future: F) -> String {
    let mut future = pin!(future);
    let mut poll = || poll(future.as_mut());
    assert!(poll(), "it is ready");
    panic_of(poll)
}

/// Whether the future is ready.
fn poll<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

const TABLE: &[Row] = &[
    ("a barrier's future, again", "a barrier's future was polled after it was ready", || {
        polled_again(Barrier::new(1).wait_async())
    }),
    (
        "a Condvar with two mutexes",
        "a Condvar is waited for with two different mutexes at once",
        || {
            let (first, second, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
            let mut wait = pin!(condvar.wait_async(first.lock()));
            assert!(!poll(wait.as_mut()));
            panic_of(|| condvar.wait(&mut second.lock()))
        },
    ),
    ("too many slots", "65536 slots wanted, at most 65535", || {
        panic_of(|| EventCount::new(65_536))
    }),
    ("a slot that is announced twice", "slot 1 is announced already", || {
        let count = EventCount::new(2);
        count.announce(1);
        panic_of(|| count.announce(1))
    }),
    ("a slot that sleeps without that", "slot 1 is not announced", || {
        panic_of(|| EventCount::new(2).sleep(1, None))
    }),
    ("a slot that leaves without that", "slot 0 is not announced", || {
        panic_of(|| EventCount::new(2).cancel(0))
    }),
    ("a slot that there is not", "no slot 2", || panic_of(|| EventCount::new(2).notify(2))),
    ("a task that is cancelled", "the task was cancelled", || Cancelled.to_string()),
    (
        "a local lock, twice",
        "waiting for ever: only this thread could end the wait for a local mutex",
        || {
            let mutex = local::Mutex::new(());
            let _held = mutex.lock();
            panic_of(|| mutex.lock())
        },
    ),
    (
        "too many local permits",
        "adding 18446744073709551615 permits: more than a semaphore can hold",
        || {
            let semaphore = local::Semaphore::new(1);
            panic_of(|| semaphore.add_permits(usize::MAX))
                .replace(&usize::MAX.to_string(), "18446744073709551615")
        },
    ),
    (
        "a local channel without room",
        "a bounded channel needs room for one message at least",
        || local::ZeroCapacity.to_string(),
    ),
    ("a message for nobody", "all receivers are gone", || local::SendError(1).to_string()),
    ("one that does not wait", "all receivers are gone", || {
        local::TrySendError::Disconnected(1).to_string()
    }),
    ("a full local channel", "the channel is full", || local::TrySendError::Full(1).to_string()),
    ("messages of nobody", "no messages, and all senders are gone", || {
        local::RecvError.to_string()
    }),
    ("an empty local channel", "the channel is empty", || local::TryRecvError::Empty.to_string()),
    ("one without senders", "no messages, and all senders are gone", || {
        local::TryRecvError::Disconnected.to_string()
    }),
    (
        "an initialiser that uses what it makes",
        "an initialiser waits for itself: the initialisation is re-entered while it runs",
        || {
            static LAZY: Lazy<u32> = Lazy::new(|| *LAZY + 1);
            panic_of(|| *LAZY)
        },
    ),
    ("a Once whose closure panicked", "a Once is poisoned: an earlier closure panicked", || {
        let once = Once::new();
        assert_eq!(panic_of(|| once.call_once(|| panic!("oh"))), "oh");
        panic_of(|| once.call_once(|| ()))
    }),
    ("a oneshot without a value", "the sender was dropped without sending", || {
        let (sender, receiver) = oneshot::channel::<()>();
        drop(sender);
        receiver.recv().expect_err("no value").to_string()
    }),
    ("a oneshot that is early", "nothing has been sent yet", || {
        let (_sender, mut receiver) = oneshot::channel::<()>();
        receiver.try_recv().expect_err("no value").to_string()
    }),
    ("a oneshot that was received", "the value was received before, or will never be sent", || {
        let (sender, mut receiver) = oneshot::channel();
        sender.send(()).expect("a receiver");
        receiver.try_recv().expect("sent");
        receiver.try_recv().expect_err("taken").to_string()
    }),
    ("a oneshot's future, again", "a oneshot receiver was polled after it was ready", || {
        let (sender, receiver) = oneshot::channel();
        sender.send(()).expect("a receiver");
        polled_again(receiver)
    }),
    ("a lock's future, again", "a lock's future was polled after it was ready", || {
        let lock = RwLock::new(());
        let mut future = pin!(lock.read_async());
        assert!(poll(future.as_mut()));
        panic_of(|| poll(future.as_mut()))
    }),
    ("a semaphore that is closed", "the semaphore is closed", || {
        let semaphore = Semaphore::new(1);
        semaphore.close();
        semaphore.acquire(1).expect_err("closed").to_string()
    }),
    ("a semaphore that is empty", "not enough free permits", || {
        Semaphore::new(0).try_acquire(1).expect_err("empty").to_string()
    }),
    ("a semaphore that stays empty", "no permits within the time", || {
        Semaphore::new(0).acquire_timeout(1, Duration::ZERO).expect_err("empty").to_string()
    }),
    ("more than exist", "7 permits asked for, at most MOST exist", || {
        AcquireError::TooMany(7).to_string().replace(&Semaphore::MAX_PERMITS.to_string(), "MOST")
    }),
    ("a semaphore of too many", "more permits than a semaphore can hold", || {
        panic_of(|| Semaphore::new(Semaphore::MAX_PERMITS + 1))
    }),
    ("a permit too many", "adding 1 permits: more than a semaphore can hold", || {
        let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
        panic_of(|| semaphore.add_permits(1))
    }),
    ("a time that passes", "the time was over", || {
        let timed = timeout_async(Duration::ZERO, pending::<()>());
        block_on(timed).expect_err("never ready").to_string()
    }),
    ("a `done` too many", "`done` called more often than was added", || {
        let group = WaitGroup::new();
        panic_of(|| {
            group.done();
            group.done();
        })
    }),
    ("a group that is too large", "a wait group counts to 9223372036854775807", || {
        let group = WaitGroup::new();
        panic_of(|| {
            group.add(usize::MAX);
            group.add(usize::MAX);
        })
    }),
    ("a waiter that waits twice", "a waiter cannot wait twice at once", || {
        let queue = WaitQueue::new();
        let mut waiter = pin!(Waiter::new(&queue));
        let mut wait = || waiter.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
        assert!(wait());
        panic_of(wait)
    }),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
