//! Which characters match: the pattern of a split or a search.

/// Single characters that match. Nobody else can name it, so nobody else implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pattern, as `char`, `[char; N]` and `Fn(char) -> bool` are"
)]
pub trait Pattern: Sized + Sync + Send {
    /// Where the first character that matches begins.
    #[doc(hidden)]
    fn first_in(&self, text: &str) -> Option<usize>;
    /// Where the last one begins.
    #[doc(hidden)]
    fn last_in(&self, text: &str) -> Option<usize>;
    /// The text without a last character that matches.
    #[doc(hidden)]
    fn strip_last<'t>(&self, text: &'t str) -> Option<&'t str>;
    #[doc(hidden)]
    fn split<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str>;
    #[doc(hidden)]
    fn split_inclusive<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str>;
    #[doc(hidden)]
    fn matches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str>;
    #[doc(hidden)]
    fn match_indices<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)>;
}

/// The methods, by those of `str`, whose own trait is not stable. The implementations are written
/// out, because the compiler lists them if a pattern is none.
macro_rules! by_std {
    (|$this:ident| $std:expr) => {
        fn first_in(&self, text: &str) -> Option<usize> {
            let $this = self;
            text.find($std)
        }

        fn last_in(&self, text: &str) -> Option<usize> {
            let $this = self;
            text.rfind($std)
        }

        fn strip_last<'t>(&self, text: &'t str) -> Option<&'t str> {
            let $this = self;
            text.strip_suffix($std)
        }

        fn split<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
            let $this = self;
            text.split($std)
        }

        fn split_inclusive<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
            let $this = self;
            text.split_inclusive($std)
        }

        fn matches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
            let $this = self;
            text.matches($std)
        }

        fn match_indices<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
            let $this = self;
            text.match_indices($std)
        }
    };
}

impl Pattern for char {
    by_std!(|this| *this);
}

impl Pattern for &[char] {
    by_std!(|this| *this);
}

impl<const N: usize> Pattern for [char; N] {
    by_std!(|this| *this);
}

impl<const N: usize> Pattern for &[char; N] {
    by_std!(|this| *this);
}

impl<F: Fn(char) -> bool + Sync + Send> Pattern for F {
    by_std!(|this| this);
}
