//! What the tests share.
#![allow(dead_code, reason = "each test program uses its own part")]

use sateen::Runtime;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Runs `f` on runtimes of 1 and 8 workers, and on a thread outside of any: the global runtime has
/// a worker for each core.
pub(crate) fn everywhere(f: impl Fn() + Sync) {
    f();
    for workers in [1, 8] {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        runtime.install(&f);
    }
}

/// A deterministic stream of numbers.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Counts what is alive.
#[derive(Clone, Default)]
pub(crate) struct Census(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

impl Census {
    pub(crate) fn citizen(&self, number: usize) -> Citizen {
        self.make(number, false)
    }

    fn make(&self, number: usize, bomb: bool) -> Citizen {
        self.0.made.fetch_add(1, SeqCst);
        Citizen { number, census: self.clone(), bomb }
    }

    /// One whose destructor panics.
    pub(crate) fn bomb(&self, number: usize) -> Citizen {
        self.make(number, true)
    }

    pub(crate) fn made(&self) -> usize {
        self.0.made.load(SeqCst)
    }

    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(SeqCst)
    }

    #[track_caller]
    pub(crate) fn assert_all_gone(&self) {
        assert_eq!(self.dropped(), self.made(), "dropped and made");
    }
}

/// A value that is counted when it is made and dropped.
pub(crate) struct Citizen {
    pub(crate) number: usize,
    census: Census,
    bomb: bool,
}

impl Clone for Citizen {
    fn clone(&self) -> Self {
        self.census.make(self.number, self.bomb)
    }
}

impl Drop for Citizen {
    fn drop(&mut self) {
        self.census.0.dropped.fetch_add(1, SeqCst);
        assert!(!self.bomb, "a bomb");
    }
}

/// Whether `f` panics with `message`.
#[track_caller]
pub(crate) fn panics_with<R>(message: &str, f: impl FnOnce() -> R) {
    let said = sateen_testkit::panic_of(f);
    assert!(said.contains(message), "`{said}` instead of `{message}`");
}
