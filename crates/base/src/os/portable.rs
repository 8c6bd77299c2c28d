//! The portable fallback: no asymmetric fence, futexes over condition variables, no pinning.

use super::Os;
use crate::prim::time::Duration;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Any system that `std` supports.
pub(super) struct Portable;

/// Sleeping threads share a bucket by address; a wake-up wakes all of a bucket, and each re-checks.
struct Bucket {
    lock: Mutex<()>,
    wakeup: Condvar,
}

const BUCKETS: usize = 64;
static TABLE: [Bucket; BUCKETS] =
    [const { Bucket { lock: Mutex::new(()), wakeup: Condvar::new() } }; BUCKETS];

fn bucket(word: &AtomicU32) -> &'static Bucket {
    let address = std::ptr::from_ref(word) as usize;
    &TABLE[(address >> 2).wrapping_mul(0x9E37_79B9) >> 7 & (BUCKETS - 1)]
}

impl Os for Portable {
    fn register_heavy_barrier() -> bool {
        false
    }

    fn heavy_barrier() {}

    fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        let bucket = bucket(word);
        let guard = bucket.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Ordering: Acquire as the caller's own check; the lock closes the race with the waking
        // thread, which changed the word before it takes the lock.
        if word.load(Ordering::Acquire) != expected {
            return;
        }
        match timeout {
            None => drop(bucket.wakeup.wait(guard).unwrap_or_else(PoisonError::into_inner)),
            Some(limit) => drop(
                bucket.wakeup.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner),
            ),
        }
    }

    fn futex_wake_one(word: &AtomicU32) {
        let bucket = bucket(word);
        drop(bucket.lock.lock().unwrap_or_else(PoisonError::into_inner));
        bucket.wakeup.notify_all();
    }

    fn pin_current_thread(_core: usize) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "pinning is not supported here"))
    }

    fn allowed_cores() -> Vec<usize> {
        Vec::new()
    }

    #[cfg(unix)]
    fn has_gained_privileges() -> bool {
        super::unix::has_gained_privileges()
    }

    #[cfg(unix)]
    fn reserve(size: usize, spare: usize) -> io::Result<*mut u8> {
        super::unix::reserve(size, spare, 0)
    }

    #[cfg(unix)]
    unsafe fn release(base: *mut u8, size: usize) {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::release(base, size) }
    }

    #[cfg(unix)]
    unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::protect(at, len) }
    }

    #[cfg(unix)]
    unsafe fn at_fork_in_child(handler: extern "C" fn()) {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::at_fork_in_child(handler) };
    }

    #[cfg(unix)]
    fn min_signal_stack() -> usize {
        libc::MINSIGSTKSZ
    }

    #[cfg(not(unix))]
    fn reserve(_size: usize, _spare: usize) -> io::Result<*mut u8> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no memory maps here"))
    }

    #[cfg(not(unix))]
    unsafe fn release(_base: *mut u8, _size: usize) {}

    #[cfg(not(unix))]
    unsafe fn protect(_at: *mut u8, _len: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn process_cpu_time() -> Option<Duration> {
        #[cfg(unix)]
        return super::unix::process_cpu_time();
        #[cfg(not(unix))]
        None
    }
}
