//! Parallel iterators over texts: their characters, their parts, and what matches a pattern.
//!
//! ```
//! use sateen::prelude::*;
//! let text = "to be, or not to be";
//! let words: Vec<_> = text.par_split_whitespace().collect();
//! assert_eq!(words.len(), 6);
//! assert_eq!(text.par_chars().filter(|c| *c == 'o').count(), 4);
//! ```
//!
//! A *pattern* says which characters match: a `char`, several in a `&[char]`, a `[char; N]` or a
//! `&[char; N]`, or a function `Fn(char) -> bool`. Texts are cut between characters only.

mod parallel_string;
mod parts;
mod pattern;
mod pieces;

pub use {
    parallel_string::ParallelString,
    parts::{Lines, Split, SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace},
    pieces::{Bytes, CharIndices, Chars, EncodeUtf16, MatchIndices, Matches},
};

use std::ops::Range;

/// Where a character begins, near the middle of a range of whole ones. It is the range's end only
/// if that has one character or none.
fn middle(text: &str, range: &Range<usize>) -> usize {
    let Range { start, end } = *range;
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let middle = start + (end - start) / 2;
    let before = (start + 1..=middle).rev().find(is_boundary);
    before.or_else(|| (middle + 1..=end).find(is_boundary)).unwrap_or(end)
}
