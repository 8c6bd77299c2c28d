//! How a thread waits for a lock: pauses calibrated in time, back-off after collisions.
//!
//! `MACHINE` is found out once, when a lock is first waited for:
//!
//! | bits | meaning |
//! |---|---|
//! | 0 to 30 | how many `pause` instructions a test takes, at least 1 |
//! | 31 | there is one core: spinning cannot help |

use super::config::{Cores, SpinConfig};
use sateen_base::prim;
use sateen_base::prim::time::{Duration, Instant};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// What a test pauses for.
const TEST: Duration = Duration::from_nanos(30);

const ONE_CORE: u32 = 1 << 31;

static MACHINE: OnceLock<u32> = OnceLock::new();

/// One thread's wait for one lock.
pub(super) struct Waiter<C> {
    /// Tests so far.
    pub(super) tests: u32,
    collisions: u32,
    random: u32,
    machine: u32,
    config: PhantomData<C>,
}

impl<C: SpinConfig> Waiter<C> {
    pub(super) fn new() -> Self {
        let machine = match C::CORES {
            _ if cfg!(any(loom, miri)) => 1,
            Cores::One => ONE_CORE | 1,
            Cores::Detect => *MACHINE.get_or_init(look),
            Cores::Many => *MACHINE.get_or_init(look) & !ONE_CORE,
        };
        Self { tests: 0, collisions: 0, random: 0, machine, config: PhantomData }
    }

    /// The most tests to make. There are none on one core, where the holder cannot run meanwhile,
    /// and none in models, which should get to the steps after the spinning.
    pub(super) fn limit(&self) -> u32 {
        if cfg!(loom) || self.machine & ONE_CORE != 0 { 0 } else { C::TESTS }
    }

    /// Pauses for a test or until the lock looks free, unless there were `limit` tests already.
    #[inline]
    pub(super) fn test(&mut self, limit: u32, held: impl Fn() -> bool) -> bool {
        if self.tests >= limit {
            return false;
        }
        self.tests += 1;
        // A look at a line that no thread changes costs little, and a late look is a late lock.
        for _ in 0..self.machine & !ONE_CORE {
            prim::spin_loop();
            if !held() {
                break;
            }
        }
        true
    }

    /// Counts tests from 0 again.
    pub(super) fn again(&mut self) {
        self.tests = 0;
    }

    /// Pauses for about `tests` tests.
    pub(super) fn pause(&self, tests: u32) {
        if cfg!(loom) {
            prim::thread::yield_now();
            return;
        }
        for _ in 0..(self.machine & !ONE_CORE).saturating_mul(tests) {
            prim::spin_loop();
        }
    }

    /// Backs off after a lost exchange: for a random time, on average twice as long as after the
    /// one before.
    #[cold]
    pub(super) fn collided(&mut self) {
        self.collisions = (self.collisions + 1).min(C::COLLISIONS).min(16);
        if self.random == 0 {
            // Threads differ in their stacks, and waits in the time.
            let here = std::ptr::from_ref(self).addr() as u64;
            self.random = (here ^ sateen_base::tsc::now())
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(32) as u32
                | 1;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.pause(self.random & ((1 << self.collisions) - 1));
    }
}

/// Lets another thread run.
pub(super) fn yield_now() {
    prim::thread::yield_now();
}

/// Measures the machine: how many cores, and how long `pause` takes.
#[cold]
fn look() -> u32 {
    // The shortest of a few runs: any of them may be interrupted.
    const PAUSES: u32 = 64;
    let runs = (0..4).map(|_| {
        let start = Instant::now();
        for _ in 0..PAUSES {
            prim::spin_loop();
        }
        start.elapsed().as_nanos()
    });
    let run = runs.min().unwrap_or(0).max(1);
    let pauses = TEST.as_nanos() * u128::from(PAUSES) / run;
    let pauses = u32::try_from(pauses).unwrap_or(1).clamp(1, 1 << 10);
    if sateen_base::os::only_one_core() { pauses | ONE_CORE } else { pauses }
}

/// Sleeps a little, for waiters that no unlock wakes.
#[cfg(any(feature = "study", loom))]
pub(super) fn nap() {
    #[cfg(not(loom))]
    prim::thread::sleep(Duration::from_micros(50));
    #[cfg(loom)]
    prim::thread::yield_now();
}
