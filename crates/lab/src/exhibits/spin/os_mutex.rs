//! The platform's own mutex.

use sateen_base::os::PlatformMutex;

/// The platform's own mutex: `pthread_mutex_t` on Unix, the slim lock on Windows.
///
/// It shows what C programs get. On Unix it allocates when it is first locked. The guard stays on
/// its thread.
#[derive(Debug, Default)]
pub(crate) struct OsMutex(PlatformMutex);

impl OsMutex {
    /// A free lock.
    pub(crate) const fn new() -> Self {
        Self(PlatformMutex::new())
    }
}

// SAFETY: the platform lets one through. Its guard is not sent, so the thread that locked unlocks.
unsafe impl lock_api::RawMutex for OsMutex {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();

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
