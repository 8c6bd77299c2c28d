//! How many heads a list has, where they lie, and whether a lost race for one pauses.

use core::marker::PhantomData;

/// How the lists of a shed are laid out: how many heads each has, and how far apart they lie.
///
/// [`Central`] is the default. [`Sharded`] suits many threads that create and execute their own
/// tasks. [`Growing`] wraps either: see [`Builder::growing`](crate::Builder::growing).
///
/// The trait is sealed.
pub trait Layout: sealed::Sealed + Send + Sync + 'static {}

mod sealed {
    pub trait Sealed {
        /// Short name, as in the lab's figures.
        const NAME: &'static str;
        /// Words from one list head to the next. 1 packs eight into a cache line; 16 gives each
        /// head two lines of its own, as processors fetch lines in pairs.
        const STRIDE: usize;
        /// Whether a thread whose exchange failed pauses before it tries again.
        const PAUSES: bool;
        /// How many heads each list has: a power of two. A thread uses its own head, and takes
        /// from the others when that is empty.
        const STRIPES: usize;
        /// Whether further blocks of memory follow the first when that is full.
        const GROWS: bool = false;
    }
}

/// Models pay for each word, used or not.
const fn stride(words: usize) -> usize {
    if cfg!(loom) { 1 } else { words }
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident($text:literal, $stride:literal, $pauses:literal);)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl sealed::Sealed for $name {
            const NAME: &'static str = $text;
            const STRIDE: usize = stride($stride);
            const PAUSES: bool = $pauses;
            const STRIPES: usize = 1;
        }

        impl Layout for $name {}
    )* };
}

layouts! {
    /// One head for each list, in cache lines of its own; a thread that loses a race for it backs
    /// off. The default.
    Central("pausing", 16, true);
}
layouts! {
    #[doc(hidden)]
    /// As [`Central`], but list heads lie side by side and failed exchanges are repeated at once.
    /// The smallest layout, and the slowest under contention.
    ///
    /// Source: the Bikeshed article, "Improvements Analysis", tests A and B.
    Packed("packed", 1, false);
    #[doc(hidden)]
    /// As [`Central`], but failed exchanges are repeated at once.
    ///
    /// Source: the Bikeshed article, "Improvements Analysis", test C.
    Padded("padded", 16, false);
}

/// As [`Central`], with `STRIPES` heads for each list instead of one: a power of two, 8 unless
/// named.
///
/// A thread pushes to its own stripe and pops from it. When that is empty it takes several items
/// at once from another stripe. Free slots and dependencies stay with the thread that freed them
/// until another thread runs out. Needs the feature `std`, which gives threads numbers.
///
/// There is no order among tasks that different threads made ready. A list takes 128 bytes a
/// stripe.
///
/// ```
/// use sateen::shed::{Outcome, Sharded, Shed};
/// let shed = Shed::builder().tasks(100).layout::<Sharded<16>>().build()?;
/// shed.ready(&shed.create([1, 2, 3]).unwrap())?;
/// assert_eq!(shed.execute_batch(0, 10, |_, _| Outcome::Complete)?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharded<const STRIPES: usize = 8>;

impl<const STRIPES: usize> sealed::Sealed for Sharded<STRIPES> {
    const NAME: &'static str = "sharded";
    const STRIDE: usize = stride(16);
    const PAUSES: bool = true;
    const STRIPES: usize = {
        assert!(STRIPES.is_power_of_two(), "the number of stripes must be a power of two");
        STRIPES
    };
}

impl<const STRIPES: usize> Layout for Sharded<STRIPES> {}

/// As `L`, and the shed takes another block of memory, as large as all before, when slots for
/// tasks or for dependencies run out: see [`Builder::growing`](crate::Builder::growing).
#[derive(Clone, Copy, Debug, Default)]
pub struct Growing<L = Central>(PhantomData<L>);

impl<L: Layout> sealed::Sealed for Growing<L> {
    const NAME: &'static str = L::NAME;
    const STRIDE: usize = L::STRIDE;
    const PAUSES: bool = L::PAUSES;
    const STRIPES: usize = L::STRIPES;
    const GROWS: bool = true;
}

impl<L: Layout> Layout for Growing<L> {}
