//! Adapter for the standard library: threads, its mutex and its condition variable.

use crate::adapter::{Between, Channels, LockKind, Locks, Turns, Use, Way};
use crate::error::Error;
use std::ops::RangeInclusive;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

/// Threads, on any core.
pub(crate) struct Std;

const POISONED: &str = "nobody panics with the lock";

impl Locks for Std {
    type Lock = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Condvar = Condvar;

    fn new() -> Mutex<u64> {
        Mutex::new(0)
    }

    fn lock(lock: &Mutex<u64>) -> MutexGuard<'_, u64> {
        lock.lock().expect(POISONED)
    }

    fn wait<'a>(condvar: &Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard).expect(POISONED)
    }

    fn notify_one(condvar: &Condvar) {
        condvar.notify_one();
    }
}

impl Turns for Std {
    const NAME: &'static str = "std";
    const WAYS: &'static [Way] = &[Way::Mutex, Way::Condvar];
    // Two threads, whatever the number of workers.
    const WORKERS: RangeInclusive<usize> = 2..=2;
    type Pool = ();

    fn build(_workers: usize) -> Result<(), Error> {
        Ok(())
    }

    fn hop((): &(), way: Way, hops: u64) -> u64 {
        on_threads::<Self>(way, hops)
    }
}

/// Runs [`Turns::hop`] by two threads over the locks of `L`.
pub(crate) fn on_threads<L: Locks>(way: Way, hops: u64) -> u64
where
    Between<L>: Send + Sync,
{
    let between = Arc::new(Between::<L>::default());
    let start = |me| {
        let between = Arc::clone(&between);
        thread::spawn(move || between.hop(way, me, hops / 2))
    };
    let both = [start(0), start(1)];
    both.into_iter().map(|t| t.join().expect("neither panics")).sum()
}

impl LockKind for Std {
    const NAME: &'static str = "std";
    type Of<T: Send> = Mutex<T>;

    fn new<T: Send>(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Mutex<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Its reader-writer lock.
pub(crate) struct StdRwLock;

impl LockKind for StdRwLock {
    const NAME: &'static str = "std-rwlock";
    type Of<T: Send> = RwLock<T>;

    fn new<T: Send>(value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &RwLock<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.write().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline(always)]
    fn read<T: Send + Sync, R>(lock: &RwLock<T>, f: impl FnOnce(&T) -> R) -> R {
        f(&lock.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The sending end of one of the two kinds of channels.
#[derive(Clone)]
pub(crate) enum Sender {
    Bounded(mpsc::SyncSender<u64>),
    Unbounded(mpsc::Sender<u64>),
}

impl Channels for Std {
    const NAME: &'static str = "std";
    type Sender = Sender;
    type Receiver = mpsc::Receiver<u64>;

    fn serves(channel: Use) -> bool {
        channel.receivers == 1
    }

    fn open(channel: Use) -> (Vec<Sender>, Vec<mpsc::Receiver<u64>>) {
        let (sender, receiver) = match channel.capacity {
            Some(capacity) => {
                let (sender, receiver) = mpsc::sync_channel(capacity);
                (Sender::Bounded(sender), receiver)
            }
            None => {
                let (sender, receiver) = mpsc::channel();
                (Sender::Unbounded(sender), receiver)
            }
        };
        (vec![sender; channel.senders], vec![receiver])
    }

    #[inline(always)]
    fn send(sender: &Sender, item: u64) -> bool {
        match sender {
            Sender::Bounded(sender) => sender.send(item).is_ok(),
            Sender::Unbounded(sender) => sender.send(item).is_ok(),
        }
    }

    #[inline(always)]
    fn receive(receiver: &mpsc::Receiver<u64>) -> Option<u64> {
        receiver.recv().ok()
    }
}
