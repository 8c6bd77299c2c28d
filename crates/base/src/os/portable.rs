//! The portable fallback: no asymmetric fence, futexes over condition variables, no pinning.

use super::Os;
use crate::prim::time::Duration;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Any system that `std` supports.
pub(super) struct Portable;

/// Sleeping threads share a bucket by address. A wake-up wakes the whole bucket, and each thread
/// checks again.
struct Bucket {
    lock: Mutex<()>,
    wakeup: Condvar,
}

const BUCKETS: usize = 64;
static TABLE: [Bucket; BUCKETS] =
    [const { Bucket { lock: Mutex::new(()), wakeup: Condvar::new() } }; BUCKETS];

fn bucket(word: &AtomicU32) -> &'static Bucket {
    let address = std::ptr::from_ref(word).addr();
    &TABLE[(address >> 2).wrapping_mul(0x9E37_79B9) >> 7 & (BUCKETS - 1)]
}

impl Os for Portable {
    fn register_heavy_barrier() -> bool {
        // Under Miri the light side is a full fence, and the heavy side is one in any case.
        cfg!(miri)
    }

    fn heavy_barrier() {}

    fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        let bucket = bucket(word);
        let guard = bucket.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Ordering: Acquire like the caller's own check. The lock closes the race with the waking
        // thread, which changes the word before it takes the lock.
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

    #[cfg(all(unix, not(miri)))]
    fn has_gained_privileges() -> bool {
        super::unix::has_gained_privileges()
    }

    #[cfg(all(unix, not(miri)))]
    fn reserve(size: usize, spare: usize) -> io::Result<*mut u8> {
        super::unix::reserve(size, spare, 0)
    }

    #[cfg(all(unix, not(miri)))]
    unsafe fn release(base: *mut u8, size: usize) {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::release(base, size) }
    }

    #[cfg(all(unix, not(miri)))]
    unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::protect(at, len) }
    }

    #[cfg(all(unix, not(miri)))]
    unsafe fn at_fork_in_child(handler: extern "C" fn()) {
        // SAFETY: passed on to the caller.
        unsafe { super::unix::at_fork_in_child(handler) };
    }

    #[cfg(unix)]
    fn min_signal_stack() -> usize {
        libc::MINSIGSTKSZ
    }

    /// From the heap, so that Miri knows the memory's bounds, and reports leaks.
    #[cfg(any(miri, not(unix)))]
    fn reserve(size: usize, _spare: usize) -> io::Result<*mut u8> {
        // Here all of it is resident from the start.
        const MOST: usize = 1 << 28;
        let memory = std::alloc::Layout::from_size_align(size, super::Mapping::PAGE);
        let memory = memory.ok().filter(|memory| (1..=MOST).contains(&memory.size()));
        // SAFETY: the size is not 0.
        let base = memory.map(|memory| unsafe { std::alloc::alloc_zeroed(memory) });
        base.filter(|base| !base.is_null()).ok_or(io::ErrorKind::OutOfMemory.into())
    }

    #[cfg(any(miri, not(unix)))]
    unsafe fn release(base: *mut u8, size: usize) {
        // SAFETY: the caller returns what `reserve` has allocated with this layout.
        unsafe {
            let layout = std::alloc::Layout::from_size_align_unchecked(size, super::Mapping::PAGE);
            std::alloc::dealloc(base, layout);
        }
    }

    /// No access is refused: only code on fibers runs into a guard, and Miri cannot switch fibers.
    #[cfg(miri)]
    unsafe fn protect(_at: *mut u8, _len: usize) -> io::Result<()> {
        Ok(())
    }

    #[cfg(not(any(unix, miri)))]
    unsafe fn protect(_at: *mut u8, _len: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn process_cpu_time() -> Option<Duration> {
        #[cfg(all(unix, not(miri)))]
        return super::unix::process_cpu_time();
        #[cfg(not(all(unix, not(miri))))]
        None
    }
}
