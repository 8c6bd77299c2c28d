//! Where the heads of lists lie, and what a thread does that loses a race for one.

/// A shed's layout: how far its list heads lie apart, and whether a failed exchange pauses.
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
    /// Whether ready heads are striped over consumers, and free places cached for each thread.
    #[doc(hidden)]
    const SHARDED: bool;
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident($text:literal, $stride:literal, $pauses:literal, $sharded:literal);)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Layout for $name {
            const NAME: &'static str = $text;
            const STRIDE: usize = $stride;
            const PAUSES: bool = $pauses;
            const SHARDED: bool = $sharded;
        }
    )* };
}

layouts! {
    /// List heads side by side, failed exchanges repeated at once: tests A and B. The smallest.
    Packed("packed", 1, false, false);
    /// Each list head in cache lines of its own: test C.
    Padded("padded", 16, false, false);
    /// As [`Padded`], and who loses an exchange pauses: tests D and E. The default.
    Pausing("pausing", 16, true, false);
}

mod sealed {
    pub trait Sealed {}
}
