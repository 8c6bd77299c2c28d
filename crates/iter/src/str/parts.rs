//! Parts of a text: between separators, with terminators, lines and words.

use super::pattern::Pattern;
use crate::iter::plumbing::{UnindexedConsumer, bridge_unindexed};
use crate::iter::{ParallelIterator, empty};
use crate::parts::{Parts, Rule};
use std::fmt;
use std::ops::Range;

/// The character at which a part ends, given where it begins.
fn character(text: &str, at: usize) -> Option<Range<usize>> {
    let width = text[at..].chars().next()?.len_utf8();
    Some(at..at + width)
}

/// Declares an iterator over parts that end where a character matches.
macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $name:ident, |$text:ident, $pattern:ident, $consumer:ident| $drive:expr;
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

        impl<'ch, P: Pattern> ParallelIterator for $name<'ch, P> {
            type Item = &'ch str;

            fn drive_unindexed<C>(self, $consumer: C) -> C::Result
            where
                C: UnindexedConsumer<&'ch str>,
            {
                let Self { text: $text, pattern: $pattern } = self;
                $drive
            }
        }
    )*};
}

parts! {
    /// Parts between separators: what [`par_split`](super::ParallelString::par_split) returns.
    Split, |text, pattern, consumer| {
        bridge_unindexed(Parts::new(text, text.len(), &Separated(&pattern)), consumer)
    };
    /// Parts that end with separators:
    /// what [`par_split_inclusive`](super::ParallelString::par_split_inclusive) returns.
    SplitInclusive, |text, pattern, consumer| {
        bridge_unindexed(Parts::new(text, text.len(), &Terminated(&pattern)), consumer)
    };
    /// Parts before terminators:
    /// what [`par_split_terminator`](super::ParallelString::par_split_terminator) returns.
    SplitTerminator, |text, pattern, consumer| {
        if text.is_empty() {
            return empty().drive_unindexed(consumer);
        }
        // Without the last terminator there is no empty part behind it.
        let text = pattern.strip_last(text).unwrap_or(text);
        Split::new(text, pattern).drive_unindexed(consumer)
    };
}

/// Parts without the separators between them.
struct Separated<'p, P>(&'p P);
/// Parts that have their separators as last characters.
struct Terminated<'p, P>(&'p P);

macro_rules! rules {
    ($(
        $rule:ident, $method:ident,
        |$text:ident, $end:ident| $cut:expr,
        |$part:ident| $is_one_part:expr;
    )*) => {$(
        impl<'t, P: Pattern> Rule<&'t str> for $rule<'_, P> {
            fn middle(text: &&'t str, range: &Range<usize>) -> usize {
                super::middle(text, range)
            }

            fn first_end(&self, text: &&'t str, range: Range<usize>) -> Option<Range<usize>> {
                let at = range.start + self.0.first_in(&text[range])?;
                character(text, at)
            }

            fn last_end(&self, text: &&'t str, range: Range<usize>) -> Option<Range<usize>> {
                let at = range.start + self.0.last_in(&text[range])?;
                character(text, at)
            }

            fn cut($text: &'t str, $end: &Range<usize>) -> (&'t str, &'t str) {
                $cut
            }

            fn parts(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
                self.0.$method(text)
            }

            fn is_one_part($part: &&'t str) -> bool {
                $is_one_part
            }
        }
    )*};
}

rules! {
    Separated, split,
        |text, end| (&text[..end.start], &text[end.end..]),
        |_part| true;
    Terminated, split_inclusive,
        |text, end| text.split_at(end.end),
        |part| !part.is_empty();
}

/// Declares an iterator over parts of one kind.
macro_rules! fixed {
    ($($(#[$doc:meta])* $name:ident, |$text:ident| $parts:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone, Debug)]
        pub struct $name<'ch> { text: &'ch str }

        impl<'ch> $name<'ch> {
            pub(super) fn new(text: &'ch str) -> Self {
                Self { text }
            }
        }

        impl<'ch> ParallelIterator for $name<'ch> {
            type Item = &'ch str;

            fn drive_unindexed<C: UnindexedConsumer<&'ch str>>(self, consumer: C) -> C::Result {
                let $text = self.text;
                $parts.drive_unindexed(consumer)
            }
        }
    )*};
}

/// A line without what ends it. A carriage return belongs to the end only before a line feed.
fn without_end(line: &str) -> &str {
    let Some(line) = line.strip_suffix('\n') else { return line };
    line.strip_suffix('\r').unwrap_or(line)
}

fn is_not_empty(part: &&str) -> bool {
    !part.is_empty()
}

fn is_ascii_whitespace(c: char) -> bool {
    c.is_ascii_whitespace()
}

fixed! {
    /// The lines of a text: what [`par_lines`](super::ParallelString::par_lines) returns.
    Lines, |text| SplitInclusive::new(text, '\n').map(without_end);
    /// The words of a text:
    /// what [`par_split_whitespace`](super::ParallelString::par_split_whitespace) returns.
    SplitWhitespace, |text| Split::new(text, char::is_whitespace).filter(is_not_empty);
    /// The words of a text, between white space of ASCII: what
    /// [`par_split_ascii_whitespace`](super::ParallelString::par_split_ascii_whitespace) returns.
    SplitAsciiWhitespace, |text| Split::new(text, is_ascii_whitespace).filter(is_not_empty);
}
