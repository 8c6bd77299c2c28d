//! Spin limits as types, so that the fast path pays nothing for them.

/// How long a kind of lock spins. Implement it, or use [`Standard`], [`Limits`] or [`OneCore`].
///
/// A *test* reads the lock once and then pauses for about 30 ns, measured at the first wait for a
/// lock: `pause` takes ten times longer on some processors than on others.
///
/// ```
/// use sateen::sync::spin::{Mutex, SpinConfig, Ttas};
/// struct Impatient;
/// impl SpinConfig for Impatient {
///     const TESTS: u32 = 4;
/// }
/// let lock = Mutex::<Ttas<Impatient>, _>::new(0);
/// *lock.lock() += 1;
/// ```
pub trait SpinConfig: 'static {
    /// The most tests in a wait before the thread lets others run: yields its time slice or sleeps.
    const TESTS: u32 = 100;
    /// The back-off stops growing after this many collisions. A collision is an exchange lost to
    /// another thread. After the n-th one a thread waits for a random number of tests below 2ⁿ. At
    /// most 16 count.
    const COLLISIONS: u32 = 5;
    /// Whether there is a second core on which the holder could run.
    const CORES: Cores = Cores::Detect;
}

/// Whether spinning can help at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Detected at the first wait for a lock, from the cores that the waiting thread and the first
    /// thread of the process may use.
    Detect,
    /// There is one core: never spin, but yield at once.
    One,
    /// There are several: spin.
    Many,
}

/// The defaults of [`SpinConfig`].
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl SpinConfig for Standard {}

/// Limits as numbers: at most `TESTS` tests, back-off that grows for `COLLISIONS` collisions.
///
/// ```
/// use sateen::sync::spin::{Limits, Mutex, TtasAdaptiveFutex};
/// let lock = Mutex::<TtasAdaptiveFutex<Limits<50, 3>>, _>::new(());
/// drop(lock.lock());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Limits<const TESTS: u32, const COLLISIONS: u32>;

impl<const TESTS: u32, const COLLISIONS: u32> SpinConfig for Limits<TESTS, COLLISIONS> {
    const TESTS: u32 = TESTS;
    const COLLISIONS: u32 = COLLISIONS;
}

/// For a program that knows it runs on one core: never spins.
#[derive(Clone, Copy, Debug)]
pub struct OneCore;

impl SpinConfig for OneCore {
    const CORES: Cores = Cores::One;
}
