//! Throttles: limits on items a second.

/// What tells a throttle the time, and whether threads can share the throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThrottleClock {
    /// The system's clock.
    Exact,
    /// The system's clock, read at some of the checks only.
    Sampled,
    /// The processor's counter.
    Tsc,
    /// The system's clock, for a throttle that threads can share.
    Shared,
}
