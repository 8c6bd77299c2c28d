//! Counts of the steps of strategies' searches, for measurements.

use sateen_base::prim::{AtomicU64, Ordering};

/// Where a strategy reports its searches: `NoCount`, which is free, or `Count`, for the lab.
///
/// Sealed: it is called in the middle of a search.
///
/// ```compile_fail
/// # use sateen_pool as pool;
/// use pool::{Counts, SearchCounter};
/// #[derive(Default)]
/// struct Own;
/// impl SearchCounter for Own {
///     fn took(&self, _words: u64, _retries: u64) {}
///     fn counts(&self) -> Counts {
///         Counts::default()
///     }
/// }
/// ```
pub trait SearchCounter: sealed::Sealed + Default + Send + Sync {
    /// An allocation looked at `words` words, and lost `retries` races on the way.
    fn took(&self, words: u64, retries: u64);
    /// The sums.
    fn counts(&self) -> Counts;
}

mod sealed {
    /// User code must not run in the middle of a search: it could take blocks there.
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
    /// Exchanges that failed because of another thread.
    pub retries: u64,
}

/// Counts nothing, at no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCount;

impl SearchCounter for NoCount {
    #[inline(always)]
    fn took(&self, _words: u64, _retries: u64) {}

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

impl SearchCounter for Count {
    fn took(&self, words: u64, retries: u64) {
        // Relaxed: counts guard nothing.
        self.takes.fetch_add(1, Ordering::Relaxed);
        self.searched.fetch_add(words, Ordering::Relaxed);
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
