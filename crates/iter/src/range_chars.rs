//! Ranges of characters. The codes of surrogates are left out, so a character is found by its rank
//! among all characters.

use crate::iter::indexed::indexed;
use crate::iter::{IntoParallelIterator, ParallelIterator};
use crate::{range, range_inclusive};
use std::ops::{Range, RangeInclusive};

const SURROGATES: Range<u32> = 0xd800..0xe000;

/// How many characters are before `c`.
fn rank(c: char) -> u32 {
    let code = u32::from(c);
    if code < SURROGATES.start { code } else { code - (SURROGATES.end - SURROGATES.start) }
}

/// The character before which `rank` others are.
#[inline]
fn ranked(rank: u32) -> char {
    let behind = rank >= SURROGATES.start;
    let code = if behind { rank + (SURROGATES.end - SURROGATES.start) } else { rank };
    char::from_u32(code).expect("each rank is a character's")
}

indexed! {
    impl[] range::Iter<char> => char;
    where {}
    len = |this| half_open(&this.range).len();
    with_producer = |this, callback| {
        half_open(&this.range).into_par_iter().map(ranked).with_producer(callback)
    };
}

fn half_open(range: &Range<char>) -> Range<u32> {
    rank(range.start)..rank(range.end)
}

indexed! {
    impl[] range_inclusive::Iter<char> => char;
    where {}
    len = |this| inclusive(&this.range).len();
    with_producer = |this, callback| {
        inclusive(&this.range).into_par_iter().map(ranked).with_producer(callback)
    };
}

/// A range that was iterated to its end is empty, whatever its bounds are.
fn inclusive(range: &RangeInclusive<char>) -> Range<u32> {
    if range.is_empty() { 0..0 } else { rank(*range.start())..rank(*range.end()) + 1 }
}
