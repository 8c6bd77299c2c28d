//! A reader-writer lock for one thread.

use super::block::{block_local, block_local_timeout};
use super::permits::{Permits, Take};
use crate::waiting::awaited;
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A reader takes one permit, a writer takes all.
const ALL: usize = usize::MAX;

/// A reader-writer lock for the fibers and futures of one thread.
///
/// First come, first served: a reader that arrives after a waiting writer waits too. So a reader
/// that reads again may wait for ever. No poisoning. The [module](super) describes what the local
/// forms have in common.
///
/// ```
/// use sateen::sync::local::RwLock;
/// let lock = RwLock::new(1);
/// *lock.write() += 1;
/// let (a, b) = (lock.read(), lock.read());
/// assert_eq!(*a + *b, 4);
/// ```
pub struct RwLock<T: ?Sized> {
    permits: Permits,
    value: UnsafeCell<T>,
}

impl<T> RwLock<T> {
    crate::sys::const_except_loom! {
        /// An unlocked lock holding `value`.
        pub const fn new(value: T) -> Self {
            Self { permits: Permits::new(ALL), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// The value, without locking.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: the exclusive borrow of the lock covers the value.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

/// The two sides: methods, guard and future.
macro_rules! side {
    (
        $verb:literal, $guard:ident, $future:ident, $permits:expr,
        $lock:ident, $try_lock:ident, $try_lock_for:ident, $lock_async:ident
    ) => {
        impl<T: ?Sized> RwLock<T> {
            #[doc = concat!("Locks for ", $verb, "; suspends the fiber while it cannot.")]
            ///
            /// # Panics
            /// If this thread runs no other fiber that could release the lock.
            #[inline]
            pub fn $lock(&self) -> $guard<'_, T> {
                match self.$try_lock() {
                    Some(guard) => guard,
                    None => block_local(awaited("rwlock", self), self.$lock_async()),
                }
            }

            #[doc = concat!("Locks for ", $verb, " if that needs no waiting.")]
            #[inline]
            pub fn $try_lock(&self) -> Option<$guard<'_, T>> {
                self.permits.try_take($permits).then(|| $guard { lock: self })
            }

            #[doc = concat!("Locks for ", $verb, ", with a limit.")]
            pub fn $try_lock_for(&self, timeout: Duration) -> Option<$guard<'_, T>> {
                block_local_timeout(awaited("rwlock", self), timeout, self.$lock_async())
            }

            #[doc = concat!("Locks for ", $verb, ", as a future.")]
            pub fn $lock_async(&self) -> $future<'_, T> {
                $future { lock: self, take: self.permits.take($permits) }
            }
        }

        #[doc = concat!("An [`RwLock`] locked for ", $verb, "; unlocks when dropped.")]
        #[must_use = "the lock is released as soon as its guard is dropped"]
        #[clippy::has_significant_drop]
        pub struct $guard<'a, T: ?Sized> {
            lock: &'a RwLock<T>,
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: while this guard owns a permit, no other guard has all of them, and a
                // writer's guard has all; the result borrows the guard.
                self.lock.value.with(|value| unsafe { &*value })
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            #[inline]
            fn drop(&mut self) {
                self.lock.permits.put($permits);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        #[doc = concat!("The future of [`RwLock::", stringify!($lock_async), "`].")]
        #[must_use = "futures do nothing unless polled"]
        pub struct $future<'a, T: ?Sized> {
            lock: &'a RwLock<T>,
            take: Take<'a>,
        }

        impl<'a, T: ?Sized> Future for $future<'a, T> {
            type Output = $guard<'a, T>;

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<$guard<'a, T>> {
                let lock = self.lock;
                // SAFETY: `take` is pinned with us and never moved.
                let take = unsafe { self.map_unchecked_mut(|this| &mut this.take) };
                // It is never closed.
                take.poll(cx).map(|_| $guard { lock })
            }
        }

        impl<T: ?Sized> fmt::Debug for $future<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($future)).finish_non_exhaustive()
            }
        }
    };
}

side!("reading", RwLockReadGuard, Read, 1, read, try_read, try_read_for, read_async);
side!("writing", RwLockWriteGuard, Write, ALL, write, try_write, try_write_for, write_async);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard owns all permits; the result borrows the guard exclusively.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Some(guard) => out.field("data", &&*guard).finish(),
            None => out.field("data", &format_args!("<locked>")).finish(),
        }
    }
}
