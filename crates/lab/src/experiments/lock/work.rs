//! Computations that take about a given time and touch no memory.

use sateen_base::XorShift;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Computes this many steps on `state`.
#[inline]
pub(super) fn steps(mut state: u64, steps: u32) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// Returns how many steps take about as long as `span`, from the fastest of some trials at first
/// use.
pub(super) fn within(span: Duration) -> u32 {
    const TRIAL: u32 = 5_000;
    static STEP: OnceLock<f64> = OnceLock::new();
    let step = STEP.get_or_init(|| {
        let trial = |_| {
            let start = Instant::now();
            black_box(steps(black_box(1), TRIAL));
            start.elapsed().as_nanos() as f64 / f64::from(TRIAL)
        };
        (0..50).map(trial).fold(f64::INFINITY, f64::min)
    });
    (span.as_nanos() as f64 / step).round() as u32
}

/// Computations of random length around a mean, so that threads do not fall into step.
pub(super) struct Varied {
    rng: XorShift,
    mean: usize,
    state: u64,
}

impl Varied {
    pub(super) fn new(seed: u64, mean: u32) -> Self {
        Self { rng: XorShift::new(seed), mean: mean as usize, state: seed | 1 }
    }

    /// Computes for half to one and a half of the mean.
    #[inline]
    pub(super) fn go(&mut self) {
        let length = self.mean / 2 + self.rng.below(self.mean + 1);
        self.state = black_box(steps(self.state, length as u32));
    }

    /// Returns a random number from 0 to 99.
    #[inline]
    pub(super) fn percent(&mut self) -> usize {
        self.rng.below(100)
    }

    /// Returns a random number from half to one and a half of `mean`.
    #[inline]
    pub(super) fn around(&mut self, mean: usize) -> usize {
        mean / 2 + self.rng.below(mean + 1)
    }
}
