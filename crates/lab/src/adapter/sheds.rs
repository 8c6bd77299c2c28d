//! The tests of throughput without dependencies, for all schedulers of tasks.

use std::path::PathBuf;

/// The user's copy of `bikeshed.h`, from `--bikeshed-header`.
#[derive(Debug)]
pub(crate) struct BikeshedHeader {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// What a scheduler is like, and the batches in which it is filled.
///
/// Producers create a batch, set its channel and make it ready as fast as they can. They sleep for
/// a millisecond only when there is no room. Producer i uses channel i modulo their number;
/// consumer j begins its search at channel j. The time runs from releasing the producers until a
/// consumer sees that all tasks are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShedTest {
    /// `A` to `E`.
    pub(crate) name: &'static str,
    pub(crate) channels: u32,
    /// Whether data that threads share lies on cache lines of its own.
    pub(crate) padded: bool,
    /// Whether the processor pauses after each failed exchange.
    pub(crate) yields: bool,
    /// How many tasks a producer creates and makes ready at once.
    pub(crate) batch: u32,
}

/// Each test adds a step to the one before.
pub(crate) const SHED_TESTS: [ShedTest; 5] = {
    let a = ShedTest { name: "A", channels: 1, padded: false, yields: false, batch: 1 };
    let b = ShedTest { name: "B", channels: 4, ..a };
    let c = ShedTest { name: "C", padded: true, ..b };
    let d = ShedTest { name: "D", yields: true, ..c };
    let e = ShedTest { name: "E", batch: 16, ..d };
    [a, b, c, d, e]
};

/// How many threads work, and how much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShedLoad {
    pub(crate) producers: u32,
    pub(crate) consumers: u32,
    /// How many tasks there is room for at once: at least a batch, at most 8,388,607.
    pub(crate) capacity: u32,
    /// How many tasks there are in all, about as many for each producer.
    pub(crate) tasks: u32,
}
