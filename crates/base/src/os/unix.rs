//! What every Unix has: memory maps and CPU clocks.

use std::io;
use std::time::Duration;

/// Reserves memory with guard pages made by `mprotect`.
pub(super) fn map_stack(size: usize, guard: usize, flags: libc::c_int) -> io::Result<*mut u8> {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), size, prot, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let base = base.cast::<u8>();
    if let Err(error) = guard_ends(base, size, guard) {
        // SAFETY: the mapping was made above and nobody else knows of it.
        unsafe { unmap_stack(base, size) };
        return Err(error);
    }
    Ok(base)
}

fn guard_ends(base: *mut u8, size: usize, guard: usize) -> io::Result<()> {
    for end in [base, base.wrapping_add(size - guard)] {
        // SAFETY: both ranges lie within the mapping and hold nothing yet.
        if unsafe { libc::mprotect(end.cast(), guard, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// # Safety
/// See [`super::Os::unmap_stack`].
pub(super) unsafe fn unmap_stack(base: *mut u8, size: usize) {
    // SAFETY: the caller hands back a mapping of exactly this place and size.
    let failed = unsafe { libc::munmap(base.cast(), size) } != 0;
    debug_assert!(!failed, "munmap of a stack failed");
}

pub(super) fn process_cpu_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}
