//! Where the items of a source that knows its length are cut.
#![cfg(not(loom))]

mod common;

use common::everywhere;
use sateen::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use sateen::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Parts begin at multiples of this, which is `ALIGNED` of the driver, if they are not short.
const ALIGNED: usize = 64;
/// A cut is earlier than wanted by at most one part in so many, which is `LEEWAY` of the driver.
const LEEWAY: usize = 16;

/// Numbers that note where they are cut: how many are before the cut, in all and in its part.
#[derive(Clone)]
struct Noted<'n> {
    range: Range<usize>,
    cuts: &'n Mutex<Vec<(usize, usize)>>,
}

impl Producer for Noted<'_> {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn into_iter(self) -> Range<usize> {
        self.range
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { range, cuts } = self;
        let middle = range.start + index;
        cuts.lock().expect("no panic").push((middle, index));
        (Self { range: range.start..middle, cuts }, Self { range: middle..range.end, cuts })
    }
}

impl ParallelIterator for Noted<'_> {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }
}

impl IndexedParallelIterator for Noted<'_> {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn drive<C: Consumer<usize>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<usize>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

/// Runs a loop over `len` numbers. Returns where it was cut.
fn cuts(len: usize, run: impl FnOnce(Noted<'_>) -> usize) -> Vec<(usize, usize)> {
    let cuts = Mutex::new(Vec::new());
    assert_eq!(run(Noted { range: 0..len, cuts: &cuts }), len);
    cuts.into_inner().expect("no panic")
}

#[test]
fn long_parts_end_at_cache_lines() {
    everywhere(|| {
        for len in [1_000, 100_003, 1_000_000] {
            let cuts = cuts(len, |numbers| numbers.count());
            assert!(!cuts.is_empty());
            for (before, within) in cuts {
                let is_short = within < LEEWAY * ALIGNED;
                assert!(is_short || before % ALIGNED == 0, "{within} up to {before}");
            }
        }
    });
}

#[test]
fn halves_of_short_loops_are_nearly_halves() {
    everywhere(|| {
        for len in [100, 1_000, 2_000] {
            let cuts = cuts(len, |numbers| numbers.count());
            let half = len / 2 - len / 2 / LEEWAY..=len / 2;
            let halves = cuts.iter().filter(|(before, _)| half.contains(before)).count();
            assert!(halves > 0, "{len}: {cuts:?}");
        }
    });
}

#[test]
fn a_least_length_counts_for_more_than_a_cache_line() {
    everywhere(|| {
        let folded = |numbers: Noted<'_>| {
            let pieces = numbers.with_min_len(130).fold(|| 0, |count, _| count + 1);
            let pieces: Vec<usize> = pieces.collect();
            assert!(pieces.iter().all(|count| *count >= 130), "{pieces:?}");
            pieces.iter().sum()
        };
        cuts(10_000, folded);
    });
}

/// An end that may have enough is given several folders. Each of them has as many items as it must
/// have, and no more than it may.
#[test]
fn lengths_hold_where_no_folder_goes_on() {
    everywhere(|| {
        let lengths = [0, 1, 10, 19, 100, 130, 1_000, 10_000, 100_000, usize::MAX];
        for len in [1, 9, 200, 1_024, 100_003] {
            for min in lengths {
                for max in lengths {
                    let least = min.clamp(1, len);
                    let most = max.max(least.saturating_mul(2) - 1);
                    let items = (0..len).into_par_iter().with_min_len(min).with_max_len(max);
                    let counts = items.fold(|| 0, |count, _| count + 1);
                    assert!(
                        counts.all(|count| count >= least && count <= most),
                        "{len} items in pieces of {min} to {max}"
                    );
                }
            }
        }
    });
}
