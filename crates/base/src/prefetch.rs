//! Prefetches cache lines that will be written soon.

/// Prefetches the cache line at `at` for writing. Never faults, whatever the address. One
/// instruction on x86-64 and AArch64, nothing elsewhere.
///
/// ```
/// let mut values = vec![0u32; 1000];
/// sateen_base::prefetch_write(values[700..].as_ptr().cast());
/// values[700] = 1;
/// ```
#[inline(always)]
pub fn prefetch_write(at: *const u8) {
    // SAFETY: a hint: it changes no memory, registers or flags, and does not fault.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    // SAFETY: as above.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    unsafe {
        core::arch::asm!(
            "prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}
