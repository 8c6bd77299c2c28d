//! What we ask of the operating system: one trait, one file an OS, a portable fallback.
//!
//! The functions of this module call the implementation chosen at compile time. Everything here can
//! fail in a way the caller must be able to survive: a kernel without `membarrier`, no right to pin,
//! no memory for a stack.

use crate::prim::time::Duration;
use std::io;
use std::sync::atomic::AtomicU32 as StdAtomicU32;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(any(target_os = "linux", windows)), test))]
mod portable;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux::Linux as Host;
#[cfg(not(any(target_os = "linux", windows)))]
use portable::Portable as Host;
#[cfg(windows)]
use windows::Windows as Host;

/// The services a platform gives. Every method has a fallback that is correct, if slower.
trait Os {
    /// Announces that [`Os::heavy_barrier`] will be used; false if the kernel has none.
    fn register_heavy_barrier() -> bool;
    /// Full fence on every core running this process.
    fn heavy_barrier();
    /// Sleeps while `word` holds `expected`, at most `timeout`; may return early for no reason.
    fn futex_wait(word: &StdAtomicU32, expected: u32, timeout: Option<Duration>);
    /// Wakes one sleeper on `word`.
    fn futex_wake_one(word: &StdAtomicU32);
    /// Binds the calling thread to core `core`.
    fn pin_current_thread(core: usize) -> io::Result<()>;
    /// The cores the calling thread may run on, in ascending order; empty if it cannot be told.
    fn allowed_cores() -> Vec<usize>;
    /// Reserves `size` bytes of zeroed read-write memory with `guard` inaccessible bytes at each end.
    fn map_stack(size: usize, guard: usize) -> io::Result<*mut u8>;
    /// Returns what [`Os::map_stack`] gave.
    ///
    /// # Safety
    /// `base` and `size` are as given; nothing uses the memory any more.
    unsafe fn unmap_stack(base: *mut u8, size: usize);
    /// CPU time this process has used so far.
    fn process_cpu_time() -> Option<Duration>;
    /// See [`thread_limit`].
    fn thread_limit() -> Option<usize> {
        None
    }
}

/// See [`crate::fence::is_asymmetric`].
pub(crate) fn register_heavy_barrier() -> bool {
    Host::register_heavy_barrier()
}

/// See [`crate::fence::heavy`].
pub(crate) fn heavy_barrier() {
    Host::heavy_barrier();
}

/// Sleeps in the kernel while `word` holds `expected`, at most `timeout`. May return for no reason.
pub fn futex_wait(word: &StdAtomicU32, expected: u32, timeout: Option<Duration>) {
    Host::futex_wait(word, expected, timeout);
}

/// Wakes one thread that sleeps on `word` in [`futex_wait`].
pub fn futex_wake_one(word: &StdAtomicU32) {
    Host::futex_wake_one(word);
}

/// Binds the calling thread to core `core`.
///
/// # Errors
/// The system's error: no such core, not allowed, or not supported here.
pub fn pin_current_thread(core: usize) -> io::Result<()> {
    Host::pin_current_thread(core)
}

/// The cores the calling thread may run on, in ascending order; empty where that cannot be told.
pub fn allowed_cores() -> Vec<usize> {
    Host::allowed_cores()
}

/// CPU time (user and system) the process has used, where the system tells.
pub fn process_cpu_time() -> Option<Duration> {
    Host::process_cpu_time()
}

/// About how many threads of ours the process can have, where the system sets a limit that threads hit
/// with a crash instead of an error.
pub fn thread_limit() -> Option<usize> {
    Host::thread_limit()
}

/// How many threads can run at once: affinity and cgroup limits counted, at least 1.
pub fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A stretch of memory for a stack, with inaccessible pages at both ends.
///
/// Layout, low to high: guard page, usable bytes, guard page. Pages cost nothing until touched.
///
/// ```
/// let map = sateen_base::os::StackMap::new(64 * 1024).expect("64 KiB");
/// assert!(map.top() as usize - map.bottom() as usize >= 64 * 1024);
/// ```
#[derive(Debug)]
pub struct StackMap {
    base: *mut u8,
    size: usize,
}

// SAFETY: the mapping belongs to this value alone; any thread may use or unmap it.
unsafe impl Send for StackMap {}
// SAFETY: a shared reference gives out addresses only.
unsafe impl Sync for StackMap {}

impl StackMap {
    /// Bytes of one guard page.
    pub const GUARD: usize = if cfg!(target_os = "macos") { 16384 } else { 4096 };

    /// Reserves at least `usable` bytes, rounded up to whole pages, plus guards.
    ///
    /// # Errors
    /// The system's error when the map or memory limit is reached.
    pub fn new(usable: usize) -> io::Result<Self> {
        let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "stack size overflows");
        let size = usable
            .checked_next_multiple_of(Self::GUARD)
            .and_then(|u| u.checked_add(2 * Self::GUARD))
            .filter(|&s| s <= isize::MAX as usize)
            .ok_or_else(too_large)?;
        let base = Host::map_stack(size, Self::GUARD)?;
        Ok(Self { base, size })
    }

    /// Lowest usable address.
    pub fn bottom(&self) -> *mut u8 {
        self.base.wrapping_add(Self::GUARD)
    }

    /// One past the highest usable address.
    pub fn top(&self) -> *mut u8 {
        self.base.wrapping_add(self.size - Self::GUARD)
    }
}

impl Drop for StackMap {
    fn drop(&mut self) {
        // SAFETY: `base` and `size` came from `map_stack`; the owner is gone, so no user is left.
        unsafe { Host::unmap_stack(self.base, self.size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn futex_hands_over<O: Os>() {
        let word = StdAtomicU32::new(0);
        std::thread::scope(|s| {
            s.spawn(|| {
                word.store(1, std::sync::atomic::Ordering::Release);
                O::futex_wake_one(&word);
            });
            while word.load(std::sync::atomic::Ordering::Acquire) == 0 {
                O::futex_wait(&word, 0, None);
            }
        });
        // A value that does not match returns at once; a matching one returns after the time-out.
        O::futex_wait(&word, 0, None);
        O::futex_wait(&word, 1, Some(Duration::from_millis(1)));
    }

    #[test]
    fn futex_of_the_host() {
        futex_hands_over::<Host>();
    }

    #[test]
    fn futex_portable() {
        futex_hands_over::<portable::Portable>();
    }

    #[test]
    fn a_stack_is_writable_from_end_to_end() {
        let map = StackMap::new(100_000).expect("100,000 bytes of stack");
        // SAFETY: both addresses lie within the mapping.
        unsafe {
            map.bottom().write(1);
            map.top().sub(1).write(2);
        }
        assert!(map.top() as usize - map.bottom() as usize >= 100_000);
    }

    #[test]
    fn an_absurd_stack_is_an_error() {
        assert!(StackMap::new(usize::MAX).is_err());
        assert!(StackMap::new(1 << 60).is_err());
    }
}
