//! Which characters match: the pattern of a split or a search.

/// Single characters that match. Nobody else can name it, so nobody else implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pattern for parallel methods of texts",
    label = "no pattern",
    note = "a pattern is a `char`, a `&[char]`, a `[char; N]`, or an `Fn(char) -> bool` that is \
            `Sync` and `Send`; a `&str` is none"
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

/// Passes on to the methods of `str`, whose own trait is not stable.
macro_rules! patterns {
    ($(impl[$($generics:tt)*] $pattern:ty, |$this:ident| $std:expr;)*) => {$(
        impl<$($generics)*> Pattern for $pattern {
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

            fn match_indices<'t>(
                &self,
                text: &'t str,
            ) -> impl Iterator<Item = (usize, &'t str)> {
                let $this = self;
                text.match_indices($std)
            }
        }
    )*};
}

patterns! {
    impl[] char, |this| *this;
    impl[] &[char], |this| *this;
    impl[const N: usize] [char; N], |this| *this;
    impl[const N: usize] &[char; N], |this| *this;
    impl[F: Fn(char) -> bool + Sync + Send] F, |this| this;
}
