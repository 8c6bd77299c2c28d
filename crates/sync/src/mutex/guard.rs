//! Guards of a mutex, for its whole value or for a part of it.

use super::{Mutex, RawMutex};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Access to the value of a locked [`Mutex`]; unlocks when dropped, on any thread.
///
/// It only has associated functions, so that they do not hide the value's own methods.
#[must_use = "the mutex is unlocked as soon as its guard is dropped"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// `Send` or `Sync` only if a `&mut T` is.
    _value: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The caller has just acquired the lock.
    #[inline(always)]
    pub(super) fn new(mutex: &'a Mutex<T>) -> Self {
        Self { mutex, _value: PhantomData }
    }

    /// The mutex of this guard.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }

    pub(crate) fn raw(this: &Self) -> &'a RawMutex {
        &this.mutex.raw
    }

    /// Returns a guard for a part of the value.
    ///
    /// ```
    /// use sateen::sync::{Mutex, MutexGuard};
    /// let mutex = Mutex::new((1, "two"));
    /// let mut first = MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
    /// *first = 3;
    /// drop(first);
    /// assert_eq!(*mutex.lock(), (3, "two"));
    /// ```
    pub fn map<U: ?Sized>(
        mut this: Self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedMutexGuard<'a, U> {
        let value = NonNull::from(part(&mut this));
        let this = ManuallyDrop::new(this);
        MappedMutexGuard { raw: &this.mutex.raw, value, _value: PhantomData }
    }

    /// Returns a guard for a part of the value, if `part` finds it.
    ///
    /// # Errors
    /// The guard, if `part` returns `None`.
    pub fn try_map<U: ?Sized>(
        this: Self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        Self::try_map_or_err(this, |value| part(value).ok_or(())).map_err(|(this, ())| this)
    }

    /// Returns a guard for a part of the value if `part` finds it, otherwise its error.
    ///
    /// # Errors
    /// The guard, and the error of `part`.
    pub fn try_map_or_err<U: ?Sized, E>(
        mut this: Self,
        part: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<MappedMutexGuard<'a, U>, (Self, E)> {
        match part(&mut this).map(NonNull::from) {
            Ok(value) => {
                let this = ManuallyDrop::new(this);
                Ok(MappedMutexGuard { raw: &this.mutex.raw, value, _value: PhantomData })
            }
            Err(error) => Err((this, error)),
        }
    }

    /// Unlocks so that the first waiter, if there is one, gets the lock next.
    pub fn unlock_fair(this: Self) {
        ManuallyDrop::new(this).mutex.raw.release_fair();
    }

    /// Runs `f` with the mutex unlocked, and relocks it, even if `f` panics.
    ///
    /// ```
    /// use sateen::sync::{Mutex, MutexGuard};
    /// let mutex = Mutex::new(1);
    /// let mut guard = mutex.lock();
    /// MutexGuard::unlocked(&mut guard, || *mutex.lock() += 1);
    /// assert_eq!(*guard, 2);
    /// ```
    pub fn unlocked<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        // First, so that the lock is retaken whatever the unlock and `f` do.
        let _relock = Relock(&this.mutex.raw);
        this.mutex.raw.release();
        f()
    }

    /// Like [`unlocked`](Self::unlocked), with a [fair](Self::unlock_fair) unlock.
    pub fn unlocked_fair<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        let _relock = Relock(&this.mutex.raw);
        this.mutex.raw.release_fair();
        f()
    }

    /// Temporarily yields the lock to the first waiter, if there is one.
    pub fn bump(this: &mut Self) {
        if this.mutex.raw.has_waiters() {
            Self::unlocked_fair(this, || ());
        }
    }

    /// Borrows the value for the mutex's lifetime; the mutex stays locked.
    pub fn leak(this: Self) -> &'a mut T {
        let this = ManuallyDrop::new(this);
        // SAFETY: the lock is held for ever. The value can only be reached through the mutex by
        // `&mut` or by value, after this borrow of the mutex has ended.
        this.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

/// Relocks on drop, because a guard stands for the lock. It is not interrupted, even while
/// unwinding.
pub(crate) struct Relock<'a>(pub(crate) &'a RawMutex);

impl Drop for Relock<'_> {
    fn drop(&mut self) {
        self.0.acquire_uninterrupted();
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock, and the result borrows the guard.
        self.mutex.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, borrowing the guard exclusively.
        self.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release();
    }
}

/// Access to a part of the value of a locked [`Mutex`]; see [`MutexGuard::map`].
#[must_use = "the mutex is unlocked as soon as its guard is dropped"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    raw: &'a RawMutex,
    value: NonNull<T>,
    _value: PhantomData<&'a mut T>,
}

// SAFETY: it is a `&'a mut T` and the right to unlock, which any thread may use.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: shared, it is a `&T`.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Returns a guard for a part of this part.
    pub fn map<U: ?Sized>(
        mut this: Self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedMutexGuard<'a, U> {
        let value = NonNull::from(part(&mut this));
        MappedMutexGuard { raw: ManuallyDrop::new(this).raw, value, _value: PhantomData }
    }

    /// Returns a guard for a part of this part, if `part` finds it.
    ///
    /// # Errors
    /// The guard, if `part` returns `None`.
    pub fn try_map<U: ?Sized>(
        this: Self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        Self::try_map_or_err(this, |value| part(value).ok_or(())).map_err(|(this, ())| this)
    }

    /// Returns a guard for a part of this part if `part` finds it, otherwise its error.
    ///
    /// # Errors
    /// The guard, and the error of `part`.
    pub fn try_map_or_err<U: ?Sized, E>(
        mut this: Self,
        part: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<MappedMutexGuard<'a, U>, (Self, E)> {
        match part(&mut this).map(NonNull::from) {
            Ok(value) => {
                let raw = ManuallyDrop::new(this).raw;
                Ok(MappedMutexGuard { raw, value, _value: PhantomData })
            }
            Err(error) => Err((this, error)),
        }
    }

    /// Unlocks so that the first waiter, if there is one, gets the lock next.
    pub fn unlock_fair(this: Self) {
        ManuallyDrop::new(this).raw.release_fair();
    }
}

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it came from a `&mut` of the locked value, which no other code can reach before
        // the unlock in `drop`.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, borrowing the guard exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.raw.release();
    }
}

macro_rules! shows_its_value {
    ($($guard:ident),*) => { $(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )* };
}

shows_its_value!(MutexGuard, MappedMutexGuard);
