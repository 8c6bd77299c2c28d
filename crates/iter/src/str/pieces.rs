//! What a text has character by character. A cut between characters is a cut between items.

use super::pattern::Pattern;
use crate::iter::ParallelIterator;
use crate::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use std::fmt;

/// What the characters of a text become.
trait View: Sync {
    type Item<'t>;

    /// The items of `text`, which begins at the place `at` of the whole.
    fn items<'t>(&self, text: &'t str, at: usize) -> impl Iterator<Item = Self::Item<'t>>;
}

/// A piece of a text.
struct Piece<'t, 'v, V> {
    text: &'t str,
    /// Where it begins in the whole.
    at: usize,
    view: &'v V,
}

impl<'t, V: View> UnindexedProducer for Piece<'t, '_, V> {
    type Item = V::Item<'t>;

    fn split(self) -> (Self, Option<Self>) {
        let Self { text, at, view } = self;
        let middle = super::middle(text, &(0..text.len()));
        if middle == text.len() {
            return (self, None);
        }
        let (left, right) = text.split_at(middle);
        (Self { text: left, at, view }, Some(Self { text: right, at: at + middle, view }))
    }

    fn fold_with<F: Folder<Self::Item>>(self, folder: F) -> F {
        folder.consume_iter(self.view.items(self.text, self.at))
    }
}

/// Declares an iterator and its view.
macro_rules! pieces {
    ($(
        $(#[$doc:meta])*
        $name:ident, $view:ident => $item:ty, |$text:ident, $at:ident| $items:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone, Debug)]
        pub struct $name<'ch> { text: &'ch str }

        impl<'ch> $name<'ch> {
            pub(super) fn new(text: &'ch str) -> Self {
                Self { text }
            }
        }

        struct $view;

        impl View for $view {
            type Item<'t> = $item;

            fn items(&self, $text: &str, $at: usize) -> impl Iterator<Item = $item> {
                $items
            }
        }

        impl<'ch> ParallelIterator for $name<'ch> {
            type Item = $item;

            fn drive_unindexed<C: UnindexedConsumer<$item>>(self, consumer: C) -> C::Result {
                bridge_unindexed(Piece { text: self.text, at: 0, view: &$view }, consumer)
            }
        }
    )*};
}

pieces! {
    /// The characters of a text: what [`par_chars`](super::ParallelString::par_chars) returns.
    Chars, AsChars => char, |text, _at| text.chars();
    /// Characters and where they begin:
    /// what [`par_char_indices`](super::ParallelString::par_char_indices) returns.
    CharIndices, AsCharIndices => (usize, char),
        |text, at| text.char_indices().map(move |(index, c)| (at + index, c));
    /// The bytes of a text: what [`par_bytes`](super::ParallelString::par_bytes) returns.
    Bytes, AsBytes => u8, |text, _at| text.bytes();
    /// A text in UTF-16:
    /// what [`par_encode_utf16`](super::ParallelString::par_encode_utf16) returns.
    EncodeUtf16, AsUtf16 => u16, |text, _at| text.encode_utf16();
}

/// Declares an iterator over what matches, and its view.
macro_rules! matching {
    ($(
        $(#[$doc:meta])*
        $name:ident, $view:ident => |$lifetime:lifetime| $item:ty,
        |$pattern:ident, $text:ident, $at:ident| $items:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone)]
        pub struct $name<'ch, P> { text: &'ch str, pattern: P }

        impl<'ch, P> $name<'ch, P> {
            pub(super) fn new(text: &'ch str, pattern: P) -> Self {
                Self { text, pattern }
            }
        }

        impl<P> fmt::Debug for $name<'_, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                shown.field("text", &self.text).finish_non_exhaustive()
            }
        }

        struct $view<'p, P>(&'p P);

        impl<P: Pattern> View for $view<'_, P> {
            type Item<$lifetime> = $item;

            fn items<$lifetime>(
                &self,
                $text: &$lifetime str,
                $at: usize,
            ) -> impl Iterator<Item = $item> {
                let $pattern = self.0;
                $items
            }
        }

        impl<$lifetime, P: Pattern> ParallelIterator for $name<$lifetime, P> {
            type Item = $item;

            fn drive_unindexed<C: UnindexedConsumer<$item>>(self, consumer: C) -> C::Result {
                let view = &$view(&self.pattern);
                bridge_unindexed(Piece { text: self.text, at: 0, view }, consumer)
            }
        }
    )*};
}

matching! {
    /// Characters that match: what [`par_matches`](super::ParallelString::par_matches) returns.
    Matches, Matching => |'t| &'t str, |pattern, text, _at| pattern.matches(text);
    /// Characters that match, and where they begin:
    /// what [`par_match_indices`](super::ParallelString::par_match_indices) returns.
    MatchIndices, MatchingIndices => |'t| (usize, &'t str), |pattern, text, at| {
        pattern.match_indices(text).map(move |(index, part)| (at + index, part))
    };
}
