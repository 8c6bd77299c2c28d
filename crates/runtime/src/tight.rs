//! Whether workers must keep no spare stacks, because another worker needs one.
//!
//! A worker without a stack raises the count, fences, and wakes all sleepers. A worker with a spare
//! stack announces itself as a sleeper, fences, and checks the count. So one of the two sees the
//! other. Proof: `README.md`, "Out of stacks".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::{Ordering, fence};

/// The number of reasons to keep no spare stacks.
#[derive(Debug)]
pub struct Tight(AtomicUsize);

impl Tight {
    /// Starts without a reason.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Adds a reason and issues a full fence. The caller wakes sleepers if it wants their stacks.
    pub fn raise(&self) {
        // Ordering: Relaxed, it guards no data. The same holds below.
        self.0.fetch_add(1, Ordering::Relaxed);
        // Partner: the fence in `Sleepers::announce`. Either we see the sleeper, or it sees the
        // reason.
        fence(Ordering::SeqCst);
    }

    /// Removes a reason.
    pub fn lower(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there is any reason.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
