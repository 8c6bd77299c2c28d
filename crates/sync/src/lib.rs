//! Layer 1 of Sateen: how threads, fibers and futures wait for each other.
//!
//! * [`park`]: the hook through which everything here blocks. A plain thread sleeps in the kernel;
//!   the runtime installs a [`park::Blocker`] on its workers, and fibers suspend.
//! * [`EventCount`]: where workers sleep when there is nothing to do, and waking one of them.
//! * [`WaitPoint`]: waiting for changes that are made without a lock.
//! * [`WaitQueue`]: the one queue of waiters, the base of every primitive.
//! * [`timer`]: pending timers, sleeping and time-outs; [`block_on`], which waits for a future.
//! * [`Mutex`], [`Condvar`], [`RwLock`], [`Event`]: built on it; each blocks, suspends or is
//!   awaited, for ever or with a time limit. [`RawMutex`] and [`RawRwLock`] are for building
//!   others; [`ReentrantMutex`] is for its holder again, and [`poison`] has locks that remember a
//!   panic.
//! * [`Semaphore`], [`AutoEvent`], [`Barrier`], [`WaitGroup`], [`Once`], [`OnceLock`] and
//!   [`Lazy`]: likewise, and each with time limits.
//! * [`oneshot`]: one value on its way; [`combinators`]: waiting for more than one future.
//! * [`spin`]: the spinlock family, for threads: kinds of [`lock_api::RawMutex`] to choose from.
//! * [`counter`]: counters that threads add to without disturbing each other.
//! * [`local`]: the same for runtimes that are one thread, `!Send` and without atomics.
//!
//! Below: `sateen-base`. Above: everything that waits. Nothing here knows of tasks, fibers or
//! runtimes, and nothing here starts a thread but the timers of threads that have no runtime.
//!
//! Invariants:
//!
//! 1. No foreign code (wakers, values) runs while an internal lock is held.
//! 2. A notification is used by somebody or passed on: cancelling a wait loses nothing.
//! 3. Waiting allocates nothing, but for a plain thread's own parker, once, the signal of a
//!    [`block_on`], and the heap of a timer queue, which grows with the most timers that were ever
//!    armed at once.
//! 4. An unlock gives the lock to nobody: it frees it, and wakes at most one waiter.
//!
//! States, protocols and proof sketches are in the crate's `README.md`; the loom models are in
//! `tests/loom_*.rs`, with their canaries in `tests/canaries.txt`.

mod auto_event;
mod barrier;
mod block_on;
pub mod combinators;
mod condvar;
pub mod counter;
mod event;
mod event_count;
mod identity;
pub mod local;
#[cfg(all(feature = "lock_api_05", not(loom)))]
mod lock_api_05;
mod mutex;
mod once;
pub mod oneshot;
pub mod park;
pub mod poison;
mod reentrant;
mod rwlock;
mod semaphore;
pub mod spin;
mod sys;
mod thread_parker;
pub mod timer;
#[cfg(doctest)]
mod variance;
mod wait_group;
mod wait_point;
pub mod wait_queue;
mod waiting;
mod wakers;

pub use auto_event::{AutoEvent, AutoEventWait};
pub use barrier::{Barrier, BarrierWait, BarrierWaitResult};
pub use block_on::block_on;
pub use condvar::{Condvar, CondvarWait, WaitTimeoutResult};
pub use event::{Event, EventWait};
pub use event_count::EventCount;
/// The interface of raw locks that other structures here are generic over. (The raw mutexes also
/// have that of version 0.5.)
pub use lock_api;
pub use mutex::{Lock, MappedMutexGuard, Mutex, MutexGuard, RawMutex};
pub use once::{Lazy, Once, OnceLock, OnceState};
pub use reentrant::{ContextId, MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RwLock, RwLockAsync, RwLockFuture,
    RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
pub use semaphore::{Acquire, AcquireError, Semaphore, SemaphoreGuard};
pub use wait_group::WaitGroup;
pub use wait_point::WaitPoint;
pub use wait_queue::WaitQueue;
