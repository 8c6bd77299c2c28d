//! Layer 1 of Sateen: how threads, fibers and futures wait for each other.
//!
//! | You need | Take |
//! |---|---|
//! | one at a time | [`Mutex`]; [`ReentrantMutex`] for its holder again; [`poison`] for panics |
//! | many readers or one writer | [`RwLock`] |
//! | at most *n* at a time | [`Semaphore`] |
//! | a flag to wait for | [`Event`], [`AutoEvent`] |
//! | a value made once | [`OnceLock`], [`Lazy`], [`Once`] |
//! | rounds of *n* that meet | [`Barrier`] |
//! | a condition under a mutex | [`Condvar`] |
//! | the end of a group | [`WaitGroup`] |
//! | one value from one to one | [`oneshot`] |
//! | several futures at once | the crate `futures`, driven by [`block_on`] |
//! | sleeping, time limits | [`timer`] |
//! | counting from many threads | [`counter`] |
//! | short sections of threads | [`spin`] |
//! | one thread, no atomics | [`local`] (feature `local`) |
//!
//! Each blocks a thread, suspends a fiber, or is awaited, with or without a time limit.
//!
//! # For building primitives
//!
//! With the feature `primitives`:
//!
//! * [`park`]: the hook through which everything blocks. A plain thread sleeps in the kernel; the
//!   runtime installs a [`park::Blocker`] on its workers, and fibers suspend.
//! * [`WaitQueue`]: the one queue of waiters, the base of every primitive.
//! * [`WaitPoint`]: waiting for changes made without a lock.
//! * [`EventCount`]: sleep of idle workers, and waking one of them.
//! * [`RawMutex`], [`RawRwLock`]: raw locks, for [`lock_api`].
//!
//! # Layer and invariants
//!
//! Below: `sateen-base`. Above: everything that waits. Nothing here knows of tasks, fibers or
//! runtimes. Nothing here starts a thread, except the timers of threads without a runtime.
//!
//! 1. No foreign code (wakers, values) runs while an internal lock is held.
//! 2. A notification is used or passed on: cancelling a wait loses nothing.
//! 3. Waiting allocates nothing, with three exceptions: a plain thread's own parker, once; the
//!    signal of a [`block_on`]; and the heap of a timer queue, which grows with the most timers
//!    armed at once.
//! 4. An unlock hands the lock to no waiter: it frees the lock, and wakes at most one.
//!
//! States, protocols and proof sketches are in the crate's `README.md`; the loom models are in
//! `tests/loom_*.rs`, with their canaries in `tests/faults.txt`.

// Without the feature, the primitives are only used in part.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![cfg_attr(not(feature = "primitives"), allow(dead_code, unreachable_pub, unused_imports))]

mod auto_event;
mod barrier;
mod block_on;
mod condvar;
pub mod counter;
mod event;
mod event_count;
mod hook;
mod identity;
#[cfg(feature = "local")]
pub mod local;
#[cfg(all(feature = "lock_api_05", not(loom)))]
mod lock_api_05;
mod mutex;
mod once;
pub mod oneshot;
pub mod poison;
mod reentrant;
mod rwlock;
mod semaphore;
pub mod spin;
mod spin_phase;
mod sys;
mod thread_parker;
pub mod timer;
#[cfg(doctest)]
mod variance;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod wait_group;
mod wait_point;
#[cfg(feature = "primitives")]
pub mod wait_queue;
#[cfg(not(feature = "primitives"))]
mod wait_queue;
mod waiting;
mod wakers;

pub use auto_event::{AutoEvent, AutoEventWait};
pub use barrier::{Barrier, BarrierWait, BarrierWaitResult};
pub use block_on::block_on;
pub use condvar::{Condvar, CondvarWait, WaitTimeoutResult};
pub use event::{Event, EventWait};
#[cfg(feature = "primitives")]
pub use event_count::EventCount;
/// Raw lock traits, over which other structures here are generic.
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
#[cfg(feature = "primitives")]
pub use wait_point::WaitPoint;
#[cfg(feature = "primitives")]
pub use wait_queue::WaitQueue;

pub mod park {
    //! How code blocks without knowing whether it runs on a thread or on a fiber.
    //!
    //! Every wait of this crate goes through one hook. On a plain thread it sleeps in the kernel.
    //! The runtime installs a `Blocker` on its workers, so that a fiber that blocks is suspended.
    //! The hook itself is for building primitives, and is compiled into this module with the
    //! feature `primitives`.

    #[cfg(feature = "primitives")]
    pub use crate::hook::{
        Awaited, Blocker, Identity, OwnerOf, ThreadParker, context_of, current_waker, install,
        park, park_until, set_context_id, suspends, waiting_for,
    };
    pub use crate::hook::{Cancelled, context_id, uninterrupted};
}
