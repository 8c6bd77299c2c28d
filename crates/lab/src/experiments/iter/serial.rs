//! The same loops without a library: what the others must compute, and a figure beside theirs.

use crate::adapter::Iterators;
use crate::adapter::iterators::{CHUNK, hashed, mixed, number, wanted};
use std::collections::HashMap;

/// Plain iterators.
pub(super) struct Serial;

impl Iterators for Serial {
    fn sum(values: &[u64]) -> u64 {
        values.iter().sum()
    }

    fn map_collect(values: &[u64]) -> Vec<u64> {
        values.iter().map(|value| mixed(*value)).collect()
    }

    fn filter_collect(values: &[u64]) -> Vec<u64> {
        values.iter().copied().filter(|value| wanted(*value)).collect()
    }

    fn flat_map(values: &[u64]) -> u64 {
        values.iter().flat_map(|value| 0..*value).map(|n| hashed(n, 1) >> 32).sum()
    }

    fn flat_map_iter(values: &[u64]) -> u64 {
        Self::flat_map(values)
    }

    fn fold_hash(values: &[u64]) -> HashMap<u64, u64> {
        let mut counts = HashMap::new();
        values.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
        counts
    }

    fn find_any(values: &[u64], image: u64) -> Option<u64> {
        values.iter().copied().find(|value| mixed(*value) == image)
    }

    fn any(values: &[u64], image: u64) -> bool {
        values.iter().any(|value| mixed(*value) == image)
    }

    fn sort(values: &mut [u64]) {
        values.sort();
    }

    fn sort_unstable(values: &mut [u64]) {
        values.sort_unstable();
    }

    fn sort_by_key(pairs: &mut [(u64, u64)]) {
        pairs.sort_by_key(|pair| pair.0);
    }

    fn sort_by_cached_key(pairs: &mut [(u64, u64)]) {
        pairs.sort_by_cached_key(|pair| pair.0.to_string());
    }

    fn chunks(values: &[u64]) -> Vec<u64> {
        values.chunks(CHUNK).map(|chunk| chunk.iter().sum()).collect()
    }

    fn zip(a: &[u64], b: &[u64], c: &[u64]) -> u64 {
        a.iter().zip(b).zip(c).map(|((a, b), c)| a * b + c).sum()
    }

    fn lines(text: &str) -> u64 {
        text.lines().map(number).sum()
    }

    fn bridge(n: u64, rounds: u32) -> u64 {
        (0..n).map(|value| hashed(value, rounds) >> 32).sum()
    }

    fn tiny(values: &[u64]) -> u64 {
        values.iter().map(|value| hashed(*value, 6) >> 32).sum()
    }

    fn scan(values: &[u64]) -> Vec<u64> {
        let add = |sum: &mut u64, value: &u64| {
            *sum += value;
            Some(*sum)
        };
        values.iter().scan(0, add).collect()
    }
}
