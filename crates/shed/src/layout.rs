//! How many heads a list has, where they lie, and what a thread does that loses a race for one.

use core::marker::PhantomData;

/// A shed's layout: how many heads each of its lists has, how far they lie apart, and whether a failed exchange pauses.
///
/// Sealed: the layouts are the steps of the Bikeshed article ("Improvements Analysis", tests A to E), and one of ours.
pub trait Layout: sealed::Sealed + Send + Sync + 'static {
    /// Short name, as in the lab's figures.
    const NAME: &'static str;
    /// Words from one list head to the next: 1 packs eight into a cache line, 16 gives each two lines of its own (processors fetch in pairs).
    #[doc(hidden)]
    const STRIDE: usize;
    /// Whether who loses an exchange pauses before trying again.
    #[doc(hidden)]
    const PAUSES: bool;
    /// How many heads each list has: a power of two. A thread uses its own, and takes from others' when that is empty.
    #[doc(hidden)]
    const STRIPES: usize;
    /// Whether further blocks of memory follow the first when that is full.
    #[doc(hidden)]
    const GROWS: bool = false;
}

/// Models pay for each word, also where nothing is.
const fn stride(words: usize) -> usize {
    if cfg!(loom) { 1 } else { words }
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident($text:literal, $stride:literal, $pauses:literal);)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Layout for $name {
            const NAME: &'static str = $text;
            const STRIDE: usize = stride($stride);
            const PAUSES: bool = $pauses;
            const STRIPES: usize = 1;
        }
    )* };
}

layouts! {
    /// List heads side by side, failed exchanges repeated at once: tests A and B. The smallest.
    Packed("packed", 1, false);
    /// Each list head in cache lines of its own: test C.
    Padded("padded", 16, false);
    /// As [`Padded`], and who loses an exchange pauses: tests D and E. The default.
    Pausing("pausing", 16, true);
}

/// As [`Pausing`], with `STRIPES` heads for each list instead of one (a power of two, 8 unless named): threads push to their own and pop from their
/// own, and take several at once from another's when that is empty. Free places and dependencies stay with the thread that freed them until another runs out. Needs `std`, whose threads have numbers.
///
/// There is no order among tasks that different threads made ready. A list takes 128 bytes a stripe.
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

impl<const STRIPES: usize> sealed::Sealed for Sharded<STRIPES> {}

impl<const STRIPES: usize> Layout for Sharded<STRIPES> {
    const NAME: &'static str = "sharded";
    const STRIDE: usize = stride(16);
    const PAUSES: bool = true;
    const STRIPES: usize = {
        assert!(STRIPES.is_power_of_two(), "the number of stripes must be a power of two");
        STRIPES
    };
}

/// As `L`, and when places for tasks or dependencies run out, the shed takes another block of memory as large as all before: see
/// [`Builder::growing`](crate::Builder::growing).
#[derive(Clone, Copy, Debug, Default)]
pub struct Growing<L = Pausing>(PhantomData<L>);

impl<L> sealed::Sealed for Growing<L> {}

impl<L: Layout> Layout for Growing<L> {
    const NAME: &'static str = L::NAME;
    const STRIDE: usize = L::STRIDE;
    const PAUSES: bool = L::PAUSES;
    const STRIPES: usize = L::STRIPES;
    const GROWS: bool = true;
}

mod sealed {
    pub trait Sealed {}
}
