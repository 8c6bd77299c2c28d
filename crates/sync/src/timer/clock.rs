//! Points in time in one word: nanoseconds since the first call.

use sateen_base::prim::time::{Duration, Instant};
use std::sync::OnceLock;

fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}

/// A time before the base counts as the base. One more than 584 years after it counts as that
/// limit. Never `u64::MAX`.
pub(super) fn ticks(at: Instant) -> u64 {
    let nanos = at.saturating_duration_since(base()).as_nanos();
    u64::try_from(nanos).unwrap_or(u64::MAX).min(u64::MAX - 1)
}

/// The point in time; `None` for `u64::MAX`, and for a time that the system's clock cannot
/// represent.
pub(super) fn instant(ticks: u64) -> Option<Instant> {
    if ticks == u64::MAX { None } else { base().checked_add(Duration::from_nanos(ticks)) }
}
