//! How a thread waits for a lock, as in `sateen::sync::spin` with its standard limits.

use sateen_base::{XorShift, os, pause, tsc};
use std::sync::OnceLock;
use std::thread;

/// The most tests in a wait before the thread lets others run.
const TESTS: u32 = 100;
/// After this many collisions the back-off stops growing.
const COLLISIONS: u32 = 5;

/// Whether there is one core, where spinning cannot help: found out at the first wait.
static ONE_CORE: OnceLock<bool> = OnceLock::new();

/// One thread's wait for one lock.
pub(super) struct Waiter {
    /// Tests so far.
    pub(super) tests: u32,
    /// The most tests to make.
    pub(super) limit: u32,
    collisions: u32,
    random: Option<XorShift>,
}

impl Waiter {
    pub(super) fn new() -> Self {
        let limit = if *ONE_CORE.get_or_init(os::only_one_core) { 0 } else { TESTS };
        Self { tests: 0, limit, collisions: 0, random: None }
    }

    /// Pauses for a test or until the lock looks free, unless there were `limit` tests already.
    #[inline]
    pub(super) fn test(&mut self, limit: u32, held: impl Fn() -> bool) -> bool {
        if self.tests >= limit {
            return false;
        }
        self.tests += 1;
        // A look at a line that no thread changes costs little, and a late look is a late lock.
        for _ in 0..pause::per_unit() {
            std::hint::spin_loop();
            if !held() {
                break;
            }
        }
        true
    }

    /// Backs off after a lost exchange: for a random time, on average twice as long as after the
    /// one before.
    #[cold]
    pub(super) fn collided(&mut self) {
        self.collisions = (self.collisions + 1).min(COLLISIONS);
        // Threads differ in their stacks, and waits in the time.
        let seed = std::ptr::from_ref(self).addr() as u64 ^ tsc::now();
        let random = self.random.get_or_insert_with(|| XorShift::new(seed));
        pause::pause(random.below(1 << self.collisions) as u32);
    }
}

/// Lets another thread run.
pub(super) fn yield_now() {
    thread::yield_now();
}
