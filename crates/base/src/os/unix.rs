//! Services of every Unix: memory maps, CPU clocks, and gained privileges.

use std::io;
use std::time::Duration;

/// Limit on the bytes that are mapped briefly to check whether they can be.
const PROBE: usize = 16 << 20;

pub(super) fn reserve(size: usize, spare: usize, flags: libc::c_int) -> io::Result<*mut u8> {
    let spare = spare.min(PROBE);
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), size + spare, prot, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let base = base.cast::<u8>();
    // The upper part stays: Linux fills address space from above, so it borders on the previous
    // mapping, and merges with it.
    if spare != 0 {
        // SAFETY: the lower part of what was mapped above, not in use.
        unsafe { release(base, spare) };
    }
    Ok(base.wrapping_add(spare))
}

/// # Safety
/// See [`super::Os::protect`].
pub(super) unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: passed on to the caller.
    if unsafe { libc::mprotect(at.cast(), len, libc::PROT_NONE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// # Safety
/// See [`super::Os::release`].
pub(super) unsafe fn release(base: *mut u8, size: usize) {
    // SAFETY: the caller hands back a mapping of exactly this address and size.
    let failed = unsafe { libc::munmap(base.cast(), size) } != 0;
    debug_assert!(!failed, "munmap failed");
}

pub(super) fn process_cpu_time() -> Option<Duration> {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

pub(super) fn read_clock(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// See [`super::has_gained_privileges`].
pub(super) fn has_gained_privileges() -> bool {
    // The kernel's record of the program's start: the user and group ids may have become equal
    // since then, and with capabilities they always are.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: reads the auxiliary vector.
    let gained = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(any(
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "haiku"
    ))]
    // SAFETY: it always succeeds.
    let gained = unsafe { libc::issetugid() } != 0;
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "haiku"
    )))]
    // SAFETY: these always succeed.
    let gained = unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() };
    gained
}

/// # Safety
/// See [`super::Os::at_fork_in_child`].
pub(super) unsafe fn at_fork_in_child(handler: extern "C" fn()) {
    // If there is no memory for it, the process cannot detect that it has forked; nothing can be
    // done.
    // SAFETY: passed on to the caller.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}
