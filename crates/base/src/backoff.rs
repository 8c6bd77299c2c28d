//! Binary exponential back-off.

use crate::prim;

/// Binary exponential back-off: a doubling number of `pause`s, then the thread yields its time
/// slice. (Without the feature `std` the longest pause is repeated.)
///
/// Under loom every step is a yield, which tells the model that another thread must move first.
///
/// ```
/// let mut backoff = sateen_base::Backoff::new();
/// for _ in 0..3 {
///     backoff.snooze();
/// }
/// ```
#[derive(Debug, Default)]
pub struct Backoff {
    step: u32,
}

impl Backoff {
    /// Doublings of the number of pauses before the first yield: at most 64 pauses in a row.
    const SPIN_STEPS: u32 = 6;
    /// Steps after which waiting in the kernel is cheaper.
    const DONE_STEPS: u32 = 10;

    /// Starts with the shortest wait.
    pub const fn new() -> Self {
        Self { step: 0 }
    }

    /// Resets to the shortest wait.
    pub fn reset(&mut self) {
        self.step = 0;
    }

    /// Pauses according to the current step.
    #[inline]
    fn pause(&self) {
        for _ in 0..1u32 << self.step.min(Self::SPIN_STEPS) {
            prim::spin_loop();
        }
    }

    /// Yields the time slice. Without `std` there is no known scheduler, so it pauses.
    #[inline]
    fn give_way(&self) {
        #[cfg(feature = "std")]
        prim::thread::yield_now();
        #[cfg(not(feature = "std"))]
        self.pause();
    }

    /// Waits after losing a race to another thread; never yields.
    #[inline]
    pub fn spin(&mut self) {
        if cfg!(loom) {
            self.give_way();
            return;
        }
        self.pause();
        self.step = (self.step + 1).min(Self::SPIN_STEPS + 1);
    }

    /// Waits for another thread to make progress: pauses first, then yields the time slice.
    #[inline]
    pub fn snooze(&mut self) {
        if cfg!(loom) || self.step > Self::SPIN_STEPS {
            self.give_way();
        } else {
            self.pause();
        }
        self.step = (self.step + 1).min(Self::DONE_STEPS + 1);
    }

    /// Whether the wait has lasted so long that blocking is cheaper.
    pub fn is_completed(&self) -> bool {
        self.step > Self::DONE_STEPS
    }
}
