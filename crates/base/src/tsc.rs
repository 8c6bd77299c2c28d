//! The processor's time-stamp counter: the cheapest clock there is (about 10 ns here).

use crate::prim::time::{Duration, Instant};
use std::sync::OnceLock;

/// Ticks since some fixed moment. Only compare and subtract them, on one machine.
///
/// On processors without a usable counter, these are nanoseconds of the monotonic clock.
#[inline]
pub fn now() -> u64 {
    // There is no clock. Each reading is a millisecond later, so every polling wait ends.
    #[cfg(target_family = "wasm")]
    {
        use crate::prim::{AtomicU64, Ordering};
        static LOOKS: AtomicU64 = AtomicU64::new(0);
        LOOKS.fetch_add(1_000_000, Ordering::Relaxed)
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: every x86-64 processor has `rdtsc`; it only reads.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(any(all(target_arch = "x86_64", not(miri)), target_family = "wasm")))]
    {
        base().elapsed().as_nanos() as u64
    }
}

/// Whether [`now`] counts at a constant speed, whatever the processor does. Only then do ticks
/// measure time.
///
/// ```
/// if sateen_base::tsc::is_invariant() {
///     assert!(sateen_base::tsc::now() <= sateen_base::tsc::now());
/// }
/// ```
pub fn is_invariant() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::__cpuid;
        // Leaf 0x8000_0007: advanced power management, bit 8 of `edx`.
        // SAFETY: every x86-64 processor has the instruction. Newer compilers treat it as safe.
        #[allow(unused_unsafe, reason = "unsafe for compilers before 1.94")]
        let leaf = |number| unsafe { __cpuid(number) };
        leaf(0x8000_0000).eax >= 0x8000_0007 && leaf(0x8000_0007).edx & (1 << 8) != 0
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        false
    }
}

#[cfg(not(any(all(target_arch = "x86_64", not(miri)), target_family = "wasm")))]
fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}

/// Converts `span` to ticks, by a calibration of 2 ms at first use.
///
/// ```
/// use std::time::Duration;
/// let ms = sateen_base::tsc::ticks(Duration::from_millis(1));
/// assert!(ms >= 1_000);
/// ```
pub fn ticks(span: Duration) -> u64 {
    (span.as_nanos() as f64 * ticks_per_ns()) as u64
}

/// Converts `ticks` to nanoseconds.
pub fn nanos(ticks: u64) -> u64 {
    (ticks as f64 / ticks_per_ns()) as u64
}

fn ticks_per_ns() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        if cfg!(not(all(target_arch = "x86_64", not(miri)))) {
            // Nanoseconds already.
            now();
            return 1.0;
        }
        let (t0, c0) = (Instant::now(), now());
        while t0.elapsed() < Duration::from_millis(2) {
            crate::prim::spin_loop();
        }
        let c1 = now();
        // (The counters of two cores may differ.)
        c1.saturating_sub(c0).max(1) as f64 / t0.elapsed().as_nanos() as f64
    })
}
