//! Poisoning locks: `std`'s types and names, on this crate's locks.
//!
//! A critical section that panics may leave its value inconsistent. These locks tell the next
//! locker so by `std`'s own [`PoisonError`], which still contains the guard.
//!
//! `std` calls `std::thread::panicking` when the guard is dropped. But that concerns the thread,
//! and tasks share threads: while a task is suspended during unwinding, every other task on its
//! worker appears to panic. So there are two forms:
//!
//! * [`Mutex::with`], [`RwLock::with`] run the critical section as a closure and see how it ends.
//!   They are exact.
//! * Guards check the thread when they are created and when they are dropped, and poison if the
//!   thread has begun to panic in between. On a plain thread that is exact, as in `std`. In a task
//!   it errs in two cases. The lock is poisoned needlessly if the task waits while it holds the
//!   guard, and another task of the worker begins to unwind meanwhile and suspends there. A panic
//!   is missed if the guard was created during the suspended unwinding of another task.

use crate::{mutex, rwlock};
use sateen_base::prim::{AtomicBool, Ordering};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::thread::panicking;

/// Whether a critical section has panicked. Changed and read under the lock (so Relaxed suffices).
/// `is_poisoned` reads it without the lock, and promises no moment.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Flag {
    crate::sys::const_except_loom! {
        const fn new() -> Self {
            Self(AtomicBool::new(false))
        }
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, poisoned: bool) {
        self.0.store(poisoned, Ordering::Relaxed);
    }

    fn result<G>(&self, guard: G) -> LockResult<G> {
        if self.get() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn try_result<G>(&self, guard: Option<G>) -> TryLockResult<G> {
        let guard = guard.ok_or(TryLockError::WouldBlock)?;
        self.result(guard).map_err(TryLockError::Poisoned)
    }

    /// Runs a critical section; its guard is dropped after the flag is set.
    fn watch<R>(&self, section: impl FnOnce() -> R) -> R {
        match catch_unwind(AssertUnwindSafe(section)) {
            Ok(result) => result,
            Err(panic) => {
                self.set(true);
                resume_unwind(panic)
            }
        }
    }
}

/// Sets the flag if the thread has begun to panic since this was created.
#[derive(Debug)]
struct Watch<'a> {
    flag: &'a Flag,
    panicking: bool,
}

impl<'a> Watch<'a> {
    fn new(flag: &'a Flag) -> Self {
        Self { flag, panicking: panicking() }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.panicking && panicking() {
            self.flag.set(true);
        }
    }
}

macro_rules! guard {
    ($(#[$meta:meta])* $name:ident, $inner:ty $(, $mutable:ident)?) => {
        $(#[$meta])*
        #[must_use = "the lock is given back as soon as its guard is dropped"]
        pub struct $name<'a, T: ?Sized> {
            /// Dropped first, so that the flag is set under the lock.
            _watch: Option<Watch<'a>>,
            guard: $inner,
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;
            #[inline]
            fn deref(&self) -> &T {
                &self.guard
            }
        }

        $(
            impl<T: ?Sized> DerefMut for $name<'_, T> {
                #[inline]
                fn deref_mut(&mut self) -> &mut T {
                    let $mutable = &mut self.guard;
                    $mutable
                }
            }
        )?

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard! {
    /// Access to the value of a locked [`Mutex`].
    MutexGuard, mutex::MutexGuard<'a, T>, guard
}
guard! {
    /// Shared access to the value of an [`RwLock`]. It never poisons, because it changes nothing.
    RwLockReadGuard, rwlock::RwLockReadGuard<'a, T>
}
guard! {
    /// Exclusive access to the value of an [`RwLock`].
    RwLockWriteGuard, rwlock::RwLockWriteGuard<'a, T>, guard
}

macro_rules! common {
    ($lock:ident, $new:expr) => {
        impl<T> $lock<T> {
            crate::sys::const_except_loom! {
                /// An unlocked one holding `value`.
                pub const fn new(value: T) -> Self {
                    Self { flag: Flag::new(), lock: $new(value) }
                }
            }

            /// Returns the value.
            ///
            /// # Errors
            /// The value in the error, if it is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                let Self { flag, lock } = self;
                flag.result(lock.into_inner())
            }
        }

        impl<T: ?Sized> $lock<T> {
            /// Whether a critical section has panicked, at some moment.
            pub fn is_poisoned(&self) -> bool {
                self.flag.get()
            }

            /// Clears the poison, after the value was repaired.
            pub fn clear_poison(&self) {
                self.flag.set(false);
            }

            /// The value, without locking.
            ///
            /// # Errors
            /// The value in the error, if it is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.flag.result(self.lock.get_mut())
            }
        }

        // A panic under the lock is remembered: that is the purpose of these locks.
        impl<T: ?Sized> UnwindSafe for $lock<T> {}
        impl<T: ?Sized> RefUnwindSafe for $lock<T> {}

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: Default> Default for $lock<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($lock))
                    .field("lock", &&self.lock)
                    .field("poisoned", &self.flag.get())
                    .finish()
            }
        }
    };
}

/// [`crate::Mutex`] with poisoning.
///
/// ```
/// use sateen::sync::poison::Mutex;
///
/// let mutex = Mutex::new(1);
/// let panic = std::panic::catch_unwind(|| {
///     mutex.with(|value| {
///         *value = 2;
///         panic!("half way");
///     })
/// });
/// assert!(panic.is_err());
/// assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    flag: Flag,
    lock: mutex::Mutex<T>,
}

common!(Mutex, mutex::Mutex::new);

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock; blocks a thread, suspends a fiber.
    ///
    /// # Errors
    /// The guard in the error, if it is poisoned.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.flag.result(self.guard(self.lock.lock()))
    }

    /// Acquires the lock if it is free.
    ///
    /// # Errors
    /// If it is not free; the guard in the error, if it is poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.flag.try_result(self.lock.try_lock().map(|guard| self.guard(guard)))
    }

    /// Acquires the lock in a future.
    ///
    /// # Errors
    /// The guard in the error, if it is poisoned.
    pub async fn lock_async(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = self.lock.lock_async().await;
        self.flag.result(self.guard(guard))
    }

    /// Runs `section` on the value under the lock. Poisons if and only if `section` panics.
    ///
    /// # Errors
    /// If it is poisoned, `section`, which did not run.
    ///
    /// # Panics
    /// If `section` does.
    pub fn with<R, F: FnOnce(&mut T) -> R>(&self, section: F) -> LockResultOf<R, F> {
        let mut guard = self.lock.lock();
        if self.flag.get() {
            return Err(PoisonError::new(section));
        }
        Ok(self.flag.watch(|| section(&mut guard)))
    }

    fn guard<'a>(&'a self, guard: mutex::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard { _watch: Some(Watch::new(&self.flag)), guard }
    }
}

/// The result of a critical section, or the section itself if the lock was poisoned.
pub type LockResultOf<R, F> = Result<R, PoisonError<F>>;

/// [`crate::RwLock`] that is poisoned by a panic of a writer.
///
/// ```
/// use sateen::sync::poison::RwLock;
///
/// let lock = RwLock::new(1);
/// lock.with(|value| *value += 1).unwrap();
/// assert_eq!(*lock.read().unwrap(), 2);
/// ```
pub struct RwLock<T: ?Sized> {
    flag: Flag,
    lock: rwlock::RwLock<T>,
}

common!(RwLock, rwlock::new);

impl<T: ?Sized> RwLock<T> {
    /// Acquires the lock shared.
    ///
    /// # Errors
    /// The guard in the error, if it is poisoned.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.flag.result(RwLockReadGuard { _watch: None, guard: self.lock.read() })
    }

    /// Acquires the lock exclusively.
    ///
    /// # Errors
    /// The guard in the error, if it is poisoned.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.flag.result(self.guard(self.lock.write()))
    }

    /// Acquires the lock shared if that is possible at once.
    ///
    /// # Errors
    /// If it is not possible; the guard in the error, if it is poisoned.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let guard = self.lock.try_read();
        self.flag.try_result(guard.map(|guard| RwLockReadGuard { _watch: None, guard }))
    }

    /// Acquires the lock exclusively if that is possible at once.
    ///
    /// # Errors
    /// If it is not possible; the guard in the error, if it is poisoned.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.flag.try_result(self.lock.try_write().map(|guard| self.guard(guard)))
    }

    /// Runs `section` on the value under the exclusive lock. Poisons if and only if `section`
    /// panics.
    ///
    /// # Errors
    /// If it is poisoned, `section`, which did not run.
    ///
    /// # Panics
    /// If `section` does.
    pub fn with<R, F: FnOnce(&mut T) -> R>(&self, section: F) -> LockResultOf<R, F> {
        let mut guard = self.lock.write();
        if self.flag.get() {
            return Err(PoisonError::new(section));
        }
        Ok(self.flag.watch(|| section(&mut guard)))
    }

    fn guard<'a>(&'a self, guard: rwlock::RwLockWriteGuard<'a, T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard { _watch: Some(Watch::new(&self.flag)), guard }
    }
}
