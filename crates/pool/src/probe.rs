//! Counting what a strategy does, where somebody wants to know.

use sateen_base::prim::{AtomicU64, Ordering};

/// Where a strategy reports its searches: [`NoCount`], which is free, or [`Count`], for the lab. Implemented for those two
/// only: it is told in the midst of a search.
///
/// ```compile_fail
/// use sateen::pool::{Counts, Probe};
/// #[derive(Default)]
/// struct Own;
/// impl Probe for Own {
///     fn took(&self, _places: u64, _retries: u64) {}
///     fn counts(&self) -> Counts {
///         Counts::default()
///     }
/// }
/// ```
pub trait Probe: sealed::Sealed + Default + Send + Sync {
    /// An allocation looked at `places` words, and lost `retries` races on the way.
    fn took(&self, places: u64, retries: u64);
    /// The sums.
    fn counts(&self) -> Counts;
}

mod sealed {
    /// Users' code must not run in the midst of a search: it could take blocks there.
    pub trait Sealed {}
    impl Sealed for super::NoCount {}
    impl Sealed for super::Count {}
}

/// Sums of what [`Count`] saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Allocations, failed ones too.
    pub takes: u64,
    /// Words looked at in search of a free block.
    pub searched: u64,
    /// Exchanges that another thread made fail.
    pub retries: u64,
}

/// Counts nothing, at no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCount;

impl Probe for NoCount {
    #[inline(always)]
    fn took(&self, _places: u64, _retries: u64) {}

    fn counts(&self) -> Counts {
        Counts::default()
    }
}

/// Counts in shared words: three locked instructions an allocation.
#[derive(Debug, Default)]
pub struct Count {
    takes: AtomicU64,
    searched: AtomicU64,
    retries: AtomicU64,
}

impl Probe for Count {
    fn took(&self, places: u64, retries: u64) {
        // Ordering: Relaxed, counts that guard nothing.
        self.takes.fetch_add(1, Ordering::Relaxed);
        self.searched.fetch_add(places, Ordering::Relaxed);
        self.retries.fetch_add(retries, Ordering::Relaxed);
    }

    fn counts(&self) -> Counts {
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        Counts {
            takes: read(&self.takes),
            searched: read(&self.searched),
            retries: read(&self.retries),
        }
    }
}
