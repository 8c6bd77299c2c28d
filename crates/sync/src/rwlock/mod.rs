//! A reader-writer lock for threads, fibers and futures.

mod acquire;
mod conventions;
mod raw;

pub use raw::RawRwLock;

use acquire::Acquire;
use raw::Kind;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A reader-writer lock. A wait blocks a thread or suspends a fiber; [`RwLockAsync`] adds futures.
///
/// The type and its guards are those of `lock_api`, with everything they offer: upgradable reading,
/// downgrading, timed and fair forms, guards for parts. They can replace `parking_lot`'s.
///
/// * **Writers do not starve:** one that waits for readers bars new readers. **Nor do readers:**
///   waiters line up in order, and the head of the line bars newcomers after sixteen lost races.
/// * So a reader that reads again may wait for a writer that waits for that reader. Only
///   `read_recursive` is safe for reading again.
/// * **No poisoning;** [`poison::RwLock`](crate::poison::RwLock) poisons. Guards are `Send`.
/// * **Cancelling a task does not end its wait** for `read`, `write` or `upgradable_read`: a guard
///   retakes its lock by the same calls after `unlocked`, and must then have it. It ends waits with
///   a time limit, awaited ones, and upgrades.
/// * The panic of a waker is reported and discarded.
///
/// # Cost
/// 88 bytes and the value; one locked instruction to lock and one to unlock, uncontended.
///
/// # Examples
///
/// ```
/// use sateen::sync::RwLock;
///
/// static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
///
/// NAMES.write().push("warp");
/// let (a, b) = (NAMES.read(), NAMES.read());
/// assert_eq!(a.len() + b.len(), 2);
/// assert!(NAMES.try_write().is_none());
/// ```
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// Shared access to the value of an [`RwLock`].
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Exclusive access to the value of an [`RwLock`].
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// Shared access to the value of an [`RwLock`] that can become exclusive.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// Shared access to a part of the value of an [`RwLock`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// Exclusive access to a part of the value of an [`RwLock`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

crate::sys::const_except_loom! {
    /// `RwLock::new`, in models too.
    pub(crate) const fn new<T>(value: T) -> RwLock<T> {
        lock_api::RwLock::from_raw(RawRwLock::new(), value)
    }
}

/// The awaited forms of [`RwLock`]. Each future may be dropped at any time. Poll or drop it soon
/// after it was woken: no waiter behind it is admitted before. For a time limit see
/// [`timeout_async`](crate::timer::timeout_async).
///
/// A future panics if it is polled again after it was ready.
///
/// ```
/// use sateen::sync::{RwLock, RwLockAsync, block_on};
/// let lock = RwLock::new(1);
/// block_on(async {
///     *lock.write_async().await += 1;
///     assert_eq!(*lock.read_async().await, 2);
/// });
/// ```
pub trait RwLockAsync<T: ?Sized> {
    /// [`read`](lock_api::RwLock::read) as a future.
    fn read_async(&self) -> RwLockFuture<'_, T, RwLockReadGuard<'_, T>>;
    /// [`write`](lock_api::RwLock::write) as a future.
    fn write_async(&self) -> RwLockFuture<'_, T, RwLockWriteGuard<'_, T>>;
    /// [`upgradable_read`](lock_api::RwLock::upgradable_read) as a future.
    fn upgradable_read_async(&self) -> RwLockFuture<'_, T, RwLockUpgradableReadGuard<'_, T>>;
}

impl<T: ?Sized> RwLockAsync<T> for RwLock<T> {
    fn read_async(&self) -> RwLockFuture<'_, T, RwLockReadGuard<'_, T>> {
        // SAFETY: called when the lock was taken shared.
        RwLockFuture::new(self, Kind::Read, |lock| unsafe { lock.make_read_guard_unchecked() })
    }

    fn write_async(&self) -> RwLockFuture<'_, T, RwLockWriteGuard<'_, T>> {
        // SAFETY: called when the lock was taken exclusively.
        RwLockFuture::new(self, Kind::Write, |lock| unsafe { lock.make_write_guard_unchecked() })
    }

    fn upgradable_read_async(&self) -> RwLockFuture<'_, T, RwLockUpgradableReadGuard<'_, T>> {
        RwLockFuture::new(self, Kind::Upgradable, |lock| {
            // SAFETY: called when the lock was taken upgradably.
            unsafe { lock.make_upgradable_guard_unchecked() }
        })
    }
}

/// The futures of [`RwLockAsync`].
#[must_use = "futures do nothing unless polled"]
pub struct RwLockFuture<'a, T: ?Sized, G> {
    lock: &'a RwLock<T>,
    acquire: Acquire<'a>,
    guard: fn(&'a RwLock<T>) -> G,
}

impl<'a, T: ?Sized, G> RwLockFuture<'a, T, G> {
    fn new(lock: &'a RwLock<T>, kind: Kind, guard: fn(&'a RwLock<T>) -> G) -> Self {
        // SAFETY: the raw lock is only locked here, and the acquired lock is handed to a guard.
        let acquire = Acquire::new(unsafe { lock.raw() }, kind, false);
        Self { lock, acquire, guard }
    }
}

impl<T: ?Sized, G> Future for RwLockFuture<'_, T, G> {
    type Output = G;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<G> {
        let (lock, guard) = (self.lock, self.guard);
        // SAFETY: `acquire` is pinned with us and never moved.
        let acquire = unsafe { self.map_unchecked_mut(|this| &mut this.acquire) };
        acquire.poll(cx).map(|()| guard(lock))
    }
}

impl<T: ?Sized, G> fmt::Debug for RwLockFuture<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLockFuture").finish_non_exhaustive()
    }
}
