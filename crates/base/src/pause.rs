//! Pauses of a measured length.
//!
//! The `pause` instruction takes from 5 to 60 ns, depending on the processor. A limit in pauses
//! that suits one processor is ten times too long or too short for another. So callers count in
//! units of some 30 ns, and this module measures how many pauses a unit takes.

use crate::prim::spin_loop;
#[cfg(not(loom))]
use crate::prim::{AtomicU32, Ordering};

/// Pauses per unit; 0 until measured. Any thread may store it, and every value is correct.
#[cfg(not(loom))]
static PER_UNIT: AtomicU32 = AtomicU32::new(0);

/// The environment variable that replaces the measurement: pauses per unit.
#[cfg(all(feature = "std", not(any(loom, miri, target_family = "wasm"))))]
const VARIABLE: &str = "SATEEN_PAUSES";

/// How many pauses take about 30 ns, at least 1. The first call in the process measures it, in some
/// 10 µs. The environment variable `SATEEN_PAUSES`, a number from 1 to 1,024, replaces the
/// measurement; other values are ignored. Always 1 without the feature `std`.
///
/// ```
/// assert!(sateen_base::pause::per_unit() >= 1);
/// ```
#[inline]
pub fn per_unit() -> u32 {
    #[cfg(not(loom))]
    match PER_UNIT.load(Ordering::Relaxed) {
        0 => measure(),
        known => known,
    }
    #[cfg(loom)]
    1
}

/// Pauses for about `units` times 30 ns.
///
/// ```
/// sateen_base::pause::pause(3); // about 90 ns
/// ```
#[inline]
pub fn pause(units: u32) {
    for _ in 0..per_unit().saturating_mul(units) {
        spin_loop();
    }
}

#[cold]
#[cfg(not(loom))]
fn measure() -> u32 {
    // Reading the environment allocates, and an allocator may wait for a lock and so call this
    // again. It then finds a number, as do other threads: one pause is never too long.
    if PER_UNIT.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return PER_UNIT.load(Ordering::Relaxed);
    }
    #[cfg(all(feature = "std", not(any(miri, target_family = "wasm"))))]
    let pauses = asked().unwrap_or_else(measured);
    // There is no clock.
    #[cfg(not(all(feature = "std", not(any(miri, target_family = "wasm")))))]
    let pauses = 1;
    PER_UNIT.store(pauses, Ordering::Relaxed);
    pauses
}

/// The variable's value, if it is a number from 1 to 1,024.
#[cfg(all(feature = "std", not(any(loom, miri, target_family = "wasm"))))]
fn asked() -> Option<u32> {
    let text = crate::os::variable(VARIABLE)?;
    text.to_str()?.parse().ok().filter(|pauses| (1..=MAX).contains(pauses))
}

/// The most pauses per unit, in case the clock stands still.
#[cfg(all(feature = "std", not(any(loom, miri, target_family = "wasm"))))]
const MAX: u32 = 1 << 10;

#[cfg(all(feature = "std", not(any(loom, miri, target_family = "wasm"))))]
fn measured() -> u32 {
    use crate::prim::time::Instant;
    const UNIT_NS: u128 = 30;
    const PAUSES: u32 = 64;
    // The shortest of a few runs: any of them may be interrupted.
    let runs = (0..4).map(|_| {
        let start = Instant::now();
        for _ in 0..PAUSES {
            spin_loop();
        }
        start.elapsed().as_nanos()
    });
    let run = runs.min().unwrap_or(0).max(1);
    let pauses = (UNIT_NS * u128::from(PAUSES) + run / 2) / run;
    u32::try_from(pauses).unwrap_or(MAX).clamp(1, MAX)
}
