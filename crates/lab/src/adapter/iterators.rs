//! Libraries with parallel iterators.

use std::collections::HashMap;

/// The loops of the experiment `iter`, as a user of the library would write them. They run on the
/// pool of the caller.
pub(crate) trait Iterators {
    /// Returns the sum of `values`.
    fn sum(values: &[u64]) -> u64;

    /// Returns [`mixed`] of each value.
    fn map_collect(values: &[u64]) -> Vec<u64>;

    /// Returns the values that are [`wanted`].
    fn filter_collect(values: &[u64]) -> Vec<u64>;

    /// Returns the sum of [`hashed`] of the numbers below each value: a parallel iterator for each.
    fn flat_map(values: &[u64]) -> u64;

    /// The same, and they are a plain iterator.
    fn flat_map_iter(values: &[u64]) -> u64;

    /// Returns how often each value occurs, counted in a map for each piece.
    fn fold_hash(values: &[u64]) -> HashMap<u64, u64>;

    /// Returns the value whose image is `image`; there is at most one.
    fn find_any(values: &[u64], image: u64) -> Option<u64>;

    /// Returns whether a value has this image.
    fn any(values: &[u64], image: u64) -> bool;

    fn sort(values: &mut [u64]);

    fn sort_unstable(values: &mut [u64]);

    /// Sorts pairs by their first parts.
    fn sort_by_key(pairs: &mut [(u64, u64)]);

    /// The same by the first parts as text.
    fn sort_by_cached_key(pairs: &mut [(u64, u64)]);

    /// Returns the sum of each [`CHUNK`] values.
    fn chunks(values: &[u64]) -> Vec<u64>;

    /// Returns the sum of `a * b + c`.
    fn zip(a: &[u64], b: &[u64], c: &[u64]) -> u64;

    /// Returns the sum of the numbers at the ends of the lines.
    fn lines(text: &str) -> u64;

    /// Returns the sum of [`hashed`] of the numbers below `n`, which come from a plain iterator.
    fn bridge(n: u64, rounds: u32) -> u64;

    /// Returns the sum of [`hashed`] of the values, so few that starting the loop counts.
    fn tiny(values: &[u64]) -> u64;

    /// Returns the sum of each value and all values before it.
    fn scan(values: &[u64]) -> Vec<u64>;
}

/// Values of a chunk.
pub(crate) const CHUNK: usize = 100;

/// A multiplication.
#[inline(always)]
pub(crate) fn mixed(value: u64) -> u64 {
    value.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Whether to keep a value: one in two is kept, at random.
#[inline(always)]
pub(crate) fn wanted(value: u64) -> bool {
    mixed(value) >> 63 == 0
}

/// A hash of about half a nanosecond a round.
#[inline(always)]
pub(crate) fn hashed(value: u64, rounds: u32) -> u64 {
    (0..rounds).fold(value, |n, _| mixed(n ^ n >> 31))
}

/// Returns the number in a line.
#[inline(always)]
pub(crate) fn number(line: &str) -> u64 {
    line.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Adds the counts of `b` to those of `a`.
pub(crate) fn merged(mut a: HashMap<u64, u64>, b: HashMap<u64, u64>) -> HashMap<u64, u64> {
    b.into_iter().for_each(|(value, count)| *a.entry(value).or_default() += count);
    a
}

/// Implements [`Iterators`] for a library whose iterators have rayon's names, which are in
/// `$prelude`. `$scan` is its [`Iterators::scan`], which rayon lacks.
macro_rules! usual_iterators {
    ($library:ty, $($prelude:ident)::+, $scan:expr) => {
        const _: () = {
            use $($prelude)::+::*;
            use $crate::adapter::iterators as iter;
            use std::collections::HashMap;

            impl iter::Iterators for $library {
                fn sum(values: &[u64]) -> u64 {
                    values.par_iter().sum()
                }

                fn map_collect(values: &[u64]) -> Vec<u64> {
                    values.par_iter().map(|value| iter::mixed(*value)).collect()
                }

                fn filter_collect(values: &[u64]) -> Vec<u64> {
                    values.par_iter().copied().filter(|value| iter::wanted(*value)).collect()
                }

                fn flat_map(values: &[u64]) -> u64 {
                    let below = |value: &u64| 0..*value;
                    values.par_iter().flat_map(below).map(|n| iter::hashed(n, 1) >> 32).sum()
                }

                fn flat_map_iter(values: &[u64]) -> u64 {
                    let below = |value: &u64| 0..*value;
                    values.par_iter().flat_map_iter(below).map(|n| iter::hashed(n, 1) >> 32).sum()
                }

                fn fold_hash(values: &[u64]) -> HashMap<u64, u64> {
                    let count = |mut counts: HashMap<u64, u64>, value: &u64| {
                        *counts.entry(*value).or_default() += 1;
                        counts
                    };
                    values.par_iter().fold(HashMap::new, count).reduce(HashMap::new, iter::merged)
                }

                fn find_any(values: &[u64], image: u64) -> Option<u64> {
                    values.par_iter().copied().find_any(|value| iter::mixed(*value) == image)
                }

                fn any(values: &[u64], image: u64) -> bool {
                    values.par_iter().any(|value| iter::mixed(*value) == image)
                }

                fn sort(values: &mut [u64]) {
                    values.par_sort();
                }

                fn sort_unstable(values: &mut [u64]) {
                    values.par_sort_unstable();
                }

                fn sort_by_key(pairs: &mut [(u64, u64)]) {
                    pairs.par_sort_by_key(|pair| pair.0);
                }

                fn sort_by_cached_key(pairs: &mut [(u64, u64)]) {
                    pairs.par_sort_by_cached_key(|pair| pair.0.to_string());
                }

                fn chunks(values: &[u64]) -> Vec<u64> {
                    values.par_chunks(iter::CHUNK).map(|chunk| chunk.iter().sum()).collect()
                }

                fn zip(a: &[u64], b: &[u64], c: &[u64]) -> u64 {
                    (a, b, c).into_par_iter().map(|(a, b, c)| a * b + c).sum()
                }

                fn lines(text: &str) -> u64 {
                    text.par_lines().map(iter::number).sum()
                }

                fn bridge(n: u64, rounds: u32) -> u64 {
                    (0..n).par_bridge().map(|value| iter::hashed(value, rounds) >> 32).sum()
                }

                fn tiny(values: &[u64]) -> u64 {
                    values.par_iter().map(|value| iter::hashed(*value, 6) >> 32).sum()
                }

                fn scan(values: &[u64]) -> Vec<u64> {
                    $scan(values)
                }
            }
        };
    };
}
pub(crate) use usual_iterators;
