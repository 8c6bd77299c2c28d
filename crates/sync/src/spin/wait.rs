//! A thread's wait for a lock: pauses of a measured length, and back-off after collisions.

use super::config::{Cores, SpinConfig};
use sateen_base::pause;
use sateen_base::prim;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Whether there is only one core, where spinning cannot help; detected at the first wait.
static ONE_CORE: OnceLock<bool> = OnceLock::new();

/// The longest pause between two checks, in tests.
const LONGEST: u32 = 16;
/// How often a thread yields its time slice before it sleeps.
const YIELDS: u32 = 16;

/// One thread's wait for one lock.
pub(super) struct Waiter<C> {
    /// Tests so far.
    pub(super) tests: u32,
    yields: u32,
    collisions: u32,
    random: u32,
    one_core: bool,
    config: PhantomData<C>,
}

impl<C: SpinConfig> Waiter<C> {
    pub(super) fn new() -> Self {
        let one_core = match C::CORES {
            Cores::Many => false,
            _ if cfg!(any(loom, miri)) => false,
            Cores::One => true,
            Cores::Detect => *ONE_CORE.get_or_init(sateen_base::os::only_one_core),
        };
        Self { tests: 0, yields: 0, collisions: 0, random: 0, one_core, config: PhantomData }
    }

    /// The most tests to make: none on one core, where the holder cannot run meanwhile, and none in
    /// models, which should reach the steps after the spinning.
    pub(super) fn limit(&self) -> u32 {
        if cfg!(loom) || self.one_core { 0 } else { C::TESTS }
    }

    /// Pauses for a test or until the lock looks free, unless there were already `limit` tests.
    #[inline]
    pub(super) fn test(&mut self, limit: u32, held: impl Fn() -> bool) -> bool {
        if self.tests >= limit {
            return false;
        }
        self.tests += 1;
        // Reading a line that no thread changes costs little, and a late check delays the lock.
        for _ in 0..pause::per_unit() {
            prim::spin_loop();
            if !held() {
                break;
            }
        }
        true
    }

    /// Pauses for a time that doubles with each call, and after `limit` tests yields its time slice
    /// some times. Then returns false.
    ///
    /// Each check takes the lock's line from the holder. So checks become rarer, and if threads are
    /// oversubscribed, the holder gets a core before this thread sleeps.
    #[inline]
    pub(super) fn wait(&mut self, limit: u32) -> bool {
        if self.tests < limit {
            let tests = (self.tests + 1).min(LONGEST);
            self.tests += tests;
            self.pause(tests);
        } else if self.yields < YIELDS && !cfg!(loom) {
            self.yields += 1;
            yield_now();
        } else {
            return false;
        }
        true
    }

    /// Restarts the count of tests at 0.
    pub(super) fn again(&mut self) {
        self.tests = 0;
    }

    /// Pauses for about `tests` tests.
    pub(super) fn pause(&self, tests: u32) {
        if cfg!(loom) {
            prim::thread::yield_now();
            return;
        }
        pause::pause(tests);
    }

    /// Backs off after a lost exchange: for a random time, on average twice as long as the time
    /// before.
    #[cold]
    pub(super) fn collided(&mut self) {
        self.collisions = (self.collisions + 1).min(C::COLLISIONS).min(16);
        if self.random == 0 {
            // Threads differ in their stacks, and waits in their times.
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

/// Yields to another thread.
pub(super) fn yield_now() {
    prim::thread::yield_now();
}
