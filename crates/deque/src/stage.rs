//! The stages of the deque: one algorithm, each stage with one more of its costs removed.

use sateen_base::CachePadded;

/// How a deque accesses its shared words: a type parameter of [`Worker`](crate::Worker) and
/// [`Stealer`](crate::Stealer). Sealed. `Plain` and `Padded` are hidden: they exist to be
/// compared.
///
/// | stage | words on own lines | thief's fence | owner reads the thieves' index | owner's pop |
/// |---|---|---|---|---|
/// | `Plain` | no | yes | at each push and pop | a fence; the last item an exchange too |
/// | `Padded` | yes | no | at each push and pop | a fence, or for the last item an exchange |
/// | [`Cached`] | yes | no | when the cached value does not suffice | as padded |
/// | [`Asymmetric`] | yes | rarely a heavy one | when items it wants were published | neither |
pub trait Stage: sealed::Stage {}

pub(crate) mod sealed {
    /// The compile-time choices of a stage.
    pub trait Stage: 'static {
        /// The wrapper of a shared word.
        type Line<X>: std::ops::Deref<Target = X>;
        /// Owner and thieves avoid accesses that the protocol does not need.
        const TUNED: bool;
        /// The owner keeps the last seen thief index.
        const CACHED: bool;
        /// LIFO owners keep a private part that thieves enter by a heavy fence.
        const SPLIT: bool;
        /// Wraps a shared word.
        fn line<X>(value: X) -> Self::Line<X>;
    }
}

/// The classical deque of Chase and Lev (2005) with the orderings of Lê and others (2013).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Plain {}

/// `Plain` with top, bottom and root on lines of their own and no needless shared loads and stores.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Padded {}

/// `Padded` whose owner keeps the last seen thief index (section 2.3 of Chase and Lev). The
/// default.
#[derive(Clone, Copy, Debug)]
pub enum Cached {}

/// `Cached` whose LIFO owner uses neither fence nor locked instruction on its path.
///
/// The deque has a published part, which thieves take from as from any other, and a private part. A
/// thief that finds the published part empty publishes the older half of the private one, for the
/// price of a heavy fence: measured here 0.14 µs while other cores idle and 16 to 22 µs while they
/// compute. From then on the owner publishes all but its newest item with each push, without a
/// fence, until it pops a published item. FIFO owners take items where thieves do, at the price of
/// one exchange, as in `Cached`.
///
/// On a system without an asymmetric fence the deque is a `Cached` one.
#[derive(Clone, Copy, Debug)]
pub enum Asymmetric {}

/// A word that shares its line with its neighbours.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bare<X>(X);

impl<X> std::ops::Deref for Bare<X> {
    type Target = X;
    #[inline(always)]
    fn deref(&self) -> &X {
        &self.0
    }
}

impl Stage for Plain {}
impl sealed::Stage for Plain {
    type Line<X> = Bare<X>;
    const TUNED: bool = false;
    const CACHED: bool = false;
    const SPLIT: bool = false;
    fn line<X>(value: X) -> Bare<X> {
        Bare(value)
    }
}

macro_rules! padded {
    ($stage:ident, cached $cached:literal, split $split:literal) => {
        impl Stage for $stage {}
        impl sealed::Stage for $stage {
            type Line<X> = CachePadded<X>;
            const TUNED: bool = true;
            const CACHED: bool = $cached;
            const SPLIT: bool = $split;
            fn line<X>(value: X) -> CachePadded<X> {
                CachePadded::new(value)
            }
        }
    };
}

padded!(Padded, cached false, split false);
padded!(Cached, cached true, split false);
padded!(Asymmetric, cached true, split true);
