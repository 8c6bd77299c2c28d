//! The platform's own mutex.

/// The platform's own mutex: `pthread_mutex_t`, or Windows' slim lock.
///
/// It shows what C programs get. On Unix it lies on the heap, allocated when it is first locked,
/// because a `pthread_mutex_t` must not be moved. It is not re-entrant: a thread that locks it
/// twice waits for ever. The guard stays on its thread.
#[derive(Debug, Default)]
pub(crate) struct OsMutex(imp::Mutex);

// SAFETY: the platform lets one through. Its guard is not sent, so the thread that locked unlocks.
unsafe impl lock_api::RawMutex for OsMutex {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self(imp::Mutex::new());

    type GuardMarker = lock_api::GuardNoSend;

    #[inline]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds it, on this thread.
        unsafe { self.0.unlock() }
    }
}

#[cfg(unix)]
mod imp {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    type Native = UnsafeCell<libc::pthread_mutex_t>;

    /// Null until the first use.
    #[derive(Debug, Default)]
    pub(super) struct Mutex(AtomicPtr<Native>);

    impl Mutex {
        pub(super) const fn new() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }

        #[inline]
        fn native(&self) -> *mut libc::pthread_mutex_t {
            // Ordering: Acquire pairs with the Release in `make_slow`, which publishes the new
            // mutex.
            let mut native = self.0.load(Ordering::Acquire);
            if native.is_null() {
                native = self.make_slow();
            }
            UnsafeCell::raw_get(native)
        }

        #[cold]
        fn make_slow(&self) -> *mut Native {
            let fresh = Box::into_raw(Box::new(Native::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            // SAFETY: no other thread has seen it.
            unsafe { initialise(UnsafeCell::raw_get(fresh)) };
            let empty = ptr::null_mut();
            // Ordering: Release publishes the new mutex; Acquire makes a faster thread's mutex
            // visible.
            match self.0.compare_exchange(empty, fresh, Ordering::Release, Ordering::Acquire) {
                Ok(_) => fresh,
                Err(theirs) => {
                    // SAFETY: no other thread has seen it.
                    unsafe {
                        libc::pthread_mutex_destroy(UnsafeCell::raw_get(fresh));
                        drop(Box::from_raw(fresh));
                    }
                    theirs
                }
            }
        }

        #[inline]
        pub(super) fn lock(&self) {
            // SAFETY: initialised, and never moved.
            if unsafe { libc::pthread_mutex_lock(self.native()) } != 0 {
                not_locked();
            }
        }

        #[inline]
        pub(super) fn try_lock(&self) -> bool {
            // SAFETY: as above.
            unsafe { libc::pthread_mutex_trylock(self.native()) == 0 }
        }

        #[inline]
        pub(super) unsafe fn unlock(&self) {
            // SAFETY: as above; the caller holds it.
            let error = unsafe { libc::pthread_mutex_unlock(self.native()) };
            debug_assert_eq!(error, 0, "pthread_mutex_unlock");
        }
    }

    /// Initialises the kind that waits for ever when its holder locks it again. For the static
    /// initialiser's kind that is undefined behaviour, so it might admit the holder.
    ///
    /// # Safety
    /// The address is valid for a mutex, and only the caller uses it.
    unsafe fn initialise(native: *mut libc::pthread_mutex_t) {
        let mut kind = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        // SAFETY: by contract; the attributes are initialised before they are used.
        let errors = unsafe {
            [
                libc::pthread_mutexattr_init(kind.as_mut_ptr()),
                libc::pthread_mutexattr_settype(kind.as_mut_ptr(), libc::PTHREAD_MUTEX_NORMAL),
                libc::pthread_mutex_init(native, kind.as_ptr()),
                libc::pthread_mutexattr_destroy(kind.as_mut_ptr()),
            ]
        };
        if errors != [0; 4] {
            sateen_base::abort_with("the system makes no mutex");
        }
    }

    #[cold]
    fn not_locked() -> ! {
        sateen_base::abort_with("the system did not lock a mutex");
    }

    impl Drop for Mutex {
        fn drop(&mut self) {
            let native = *self.0.get_mut();
            // A locked mutex (its guard was forgotten) must not be destroyed, so it is leaked.
            if native.is_null() || !self.try_lock() {
                return;
            }
            // SAFETY: it was just locked, no other thread has a reference, and this function owns
            // the box.
            unsafe {
                self.unlock();
                libc::pthread_mutex_destroy(UnsafeCell::raw_get(native));
                drop(Box::from_raw(native));
            }
        }
    }
}

#[cfg(windows)]
mod imp {
    use std::cell::UnsafeCell;
    use windows_sys::Win32::System::Threading::{
        AcquireSRWLockExclusive, ReleaseSRWLockExclusive, SRWLOCK, SRWLOCK_INIT,
        TryAcquireSRWLockExclusive,
    };

    pub(super) struct Mutex(UnsafeCell<SRWLOCK>);

    impl std::fmt::Debug for Mutex {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("SRWLOCK")
        }
    }

    impl Default for Mutex {
        fn default() -> Self {
            Self::new()
        }
    }

    // SAFETY: a lock is meant for several threads; the system synchronises them.
    unsafe impl Sync for Mutex {}
    // SAFETY: it is a word that may be moved while no thread waits for it.
    unsafe impl Send for Mutex {}

    impl Mutex {
        pub(super) const fn new() -> Self {
            Self(UnsafeCell::new(SRWLOCK_INIT))
        }

        pub(super) fn lock(&self) {
            // SAFETY: initialised, and not moved while it is borrowed.
            unsafe { AcquireSRWLockExclusive(self.0.get()) }
        }

        pub(super) fn try_lock(&self) -> bool {
            // SAFETY: as above.
            unsafe { TryAcquireSRWLockExclusive(self.0.get()) != Default::default() }
        }

        pub(super) unsafe fn unlock(&self) {
            // SAFETY: as above; the caller holds it.
            unsafe { ReleaseSRWLockExclusive(self.0.get()) }
        }
    }
}

#[cfg(not(any(unix, windows)))]
mod imp {
    use std::sync::{Condvar, Mutex as StdMutex, PoisonError};

    #[derive(Debug, Default)]
    pub(super) struct Mutex(StdMutex<bool>, Condvar);

    impl Mutex {
        pub(super) const fn new() -> Self {
            Self(StdMutex::new(false), Condvar::new())
        }

        pub(super) fn lock(&self) {
            let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *held {
                held = self.1.wait(held).unwrap_or_else(PoisonError::into_inner);
            }
            *held = true;
        }

        pub(super) fn try_lock(&self) -> bool {
            !std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), true)
        }

        pub(super) unsafe fn unlock(&self) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = false;
            self.1.notify_one();
        }
    }
}
