//! Where a series of values changes for good.
//!
//! 1. The values are replaced by their ranks, so that one that is far off counts no more than any
//!    other that is off.
//! 2. The candidate is the part of the series that differs most from the rest: the difference of
//!    the mean ranks, times the root of the product of the two lengths, is the largest. A part at
//!    an end is a step. One in the middle is there and back, which looking for single steps would
//!    miss. Each part has at least [`SHORTEST`] values.
//! 3. The values are shuffled [`SHUFFLES`] times. The candidate stands if at most one in a hundred
//!    of the shuffled series has a part as good as that. Nothing is assumed about how values are
//!    distributed, only that without a change their order would be arbitrary.
//! 4. The medians of part and rest must differ by [`LEAST`] of the smaller one, and by twice the
//!    noise: the median difference between neighbours, which steps hardly touch.
//! 5. The pieces are searched in the same way. In the end a place goes if the medians beside it do
//!    not differ as much.
//!
//! So few values are never enough: with four on each side one order in 35 looks like a step. A
//! change of the last commits is found once about three of fifteen values show it.

use crate::stats::median;
use sateen_base::XorShift;
use std::ops::Range;

/// The shortest part between changes.
const SHORTEST: usize = 3;
/// How many shuffled series a candidate is compared with.
const SHUFFLES: usize = 999;
/// At most this many of them may have a place as good.
const AS_GOOD: usize = 9;
/// The least change that is worth a mark.
const LEAST: f64 = 0.03;

/// A place where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// Index of the first value after it.
    pub(super) at: usize,
    /// Median of the values before it, back to the change before.
    pub(super) before: f64,
    /// Median of the values after it, up to the next change.
    pub(super) after: f64,
}

/// Returns the changes of `values`, in their order. The same values give the same changes.
pub(super) fn changes(values: &[f64]) -> Vec<Change> {
    let mut places = Vec::new();
    let mut random = XorShift::new(20_261_124);
    search(values, 0, &mut random, &mut places);
    places.sort_unstable();
    // One end of a part may be there only because the other one is.
    let beside = |places: &[usize], i: usize| {
        let begin = if i == 0 { 0 } else { places[i - 1] };
        let end = places.get(i + 1).copied().unwrap_or(values.len());
        (begin, places[i], end)
    };
    let is_idle = |places: &[usize], i: &usize| {
        let (begin, at, end) = beside(places, *i);
        !is_large(&values[begin..end], at - begin..end - begin)
    };
    while let Some(i) = (0..places.len()).find(|i| is_idle(&places, i)) {
        places.remove(i);
    }
    let change = |i| {
        let (begin, at, end) = beside(&places, i);
        let median = |part: &[f64]| median(&mut part.to_vec());
        Change { at, before: median(&values[begin..at]), after: median(&values[at..end]) }
    };
    (0..places.len()).map(change).collect()
}

/// Adds the places in `values`, whose first one has the index `offset`.
fn search(values: &[f64], offset: usize, random: &mut XorShift, places: &mut Vec<usize>) {
    let Some((part, size)) = candidate(&ranks(values)) else { return };
    if !is_large(values, part.clone()) || !is_rare(values, size, random) {
        return;
    }
    let inner = [part.start, part.end].into_iter().filter(|at| (1..values.len()).contains(at));
    places.extend(inner.map(|at| offset + at));
    for piece in [0..part.start, part.clone(), part.end..values.len()] {
        search(&values[piece.clone()], offset + piece.start, random, places);
    }
}

/// Returns the rank of each value, from 1; equal values share the middle of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let same = order[first..].iter().take_while(|i| values[**i] == values[order[first]]);
        let count = same.count().max(1);
        let middle = first as f64 + (count as f64 + 1.0) / 2.0;
        order[first..first + count].iter().for_each(|i| ranks[*i] = middle);
        first += count;
    }
    ranks
}

/// Returns the part of a series of ranks that differs most from the rest, and its statistic. `None`
/// for too short a series.
fn candidate(ranks: &[f64]) -> Option<(Range<usize>, f64)> {
    let n = ranks.len();
    let (mut sums, mut sum) = (vec![0.0], 0.0);
    for rank in ranks {
        sum += rank;
        sums.push(sum);
    }
    let mean = sum / n as f64;
    let mut best: Option<(Range<usize>, f64)> = None;
    for begin in 0..n {
        if (1..SHORTEST).contains(&begin) {
            continue;
        }
        for end in begin + SHORTEST..=n {
            let rest = n - (end - begin);
            // Neither what is left behind it nor the rest as a whole is too short.
            if (1..SHORTEST).contains(&(n - end)) || rest < SHORTEST {
                continue;
            }
            // The difference from the rest's mean follows from that to the mean of all.
            let (inside, all) = ((end - begin) as f64, n as f64);
            let apart = (sums[end] - sums[begin]) / inside - mean;
            let size = apart.abs() * all / rest as f64 * (inside * rest as f64).sqrt();
            // Of equally good ones the first; rounding must not decide.
            if best.as_ref().is_none_or(|(_, least)| size > least * (1.0 + 1e-9)) {
                best = Some((begin..end, size));
            }
        }
    }
    best
}

/// Returns whether `part` of `values` differs from the rest so much that it is worth a mark.
fn is_large(values: &[f64], part: Range<usize>) -> bool {
    let mut rest = [&values[..part.start], &values[part.end..]].concat();
    let (inside, outside) = (median(&mut values[part].to_vec()), median(&mut rest));
    let mut steps: Vec<f64> = values.windows(2).map(|v| (v[1] - v[0]).abs()).collect();
    let change = (inside - outside).abs();
    change > LEAST * inside.abs().min(outside.abs()) && change > 2.0 * median(&mut steps)
}

/// Returns whether hardly any order of `values` has a part as good as `size`.
fn is_rare(values: &[f64], size: f64, random: &mut XorShift) -> bool {
    let mut shuffled = ranks(values);
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, random.below(i + 1));
        }
        let other = candidate(&shuffled).map_or(0.0, |(_, size)| size);
        as_good += usize::from(other >= size * (1.0 - 1e-9));
        if as_good > AS_GOOD {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of about `share` around 1, whose tails are longer than the normal one's.
    fn noise(random: &mut XorShift, share: f64) -> f64 {
        let mut draw = || random.next_u64() as f64 / u64::MAX as f64 - 0.5;
        let usual = (draw() + draw() + draw()) * 2.0 * share;
        let rare = if draw() > 0.45 { draw().abs() * 8.0 * share } else { 0.0 };
        1.0 + usual + rare
    }

    #[test]
    fn noise_has_hardly_any_change() {
        let mut random = XorShift::new(1);
        let mut marked = 0;
        for length in [6, 10, 20, 40, 80] {
            for _ in 0..100 {
                let values: Vec<f64> = (0..length).map(|_| noise(&mut random, 0.05)).collect();
                marked += usize::from(!changes(&values).is_empty());
            }
        }
        assert!(marked <= 5, "{marked} of 500 series of noise have a change");
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut random = XorShift::new(2);
        let (mut found, mut near) = (0, 0);
        for round in 0..200 {
            let step = 5 + round % 11;
            let factor = if round % 2 == 0 { 1.10 } else { 1.0 / 1.10 };
            let values: Vec<f64> = (0..20)
                .map(|i| 250.0 * noise(&mut random, 0.02) * if i < step { 1.0 } else { factor })
                .collect();
            let changes = changes(&values);
            found += usize::from(!changes.is_empty());
            let close = |c: &Change| {
                c.at.abs_diff(step) <= 1 && (c.after / c.before / factor - 1.0).abs() < 0.04
            };
            near += usize::from(changes.len() == 1 && close(&changes[0]));
        }
        assert!(found >= 180 && near >= 170, "found {found}, where it is {near}, of 200");
    }

    #[test]
    fn there_and_back_are_two_changes() {
        let mut random = XorShift::new(3);
        let mut both = 0;
        for _ in 0..100 {
            let level = |i| if (12..24).contains(&i) { 1.3 } else { 1.0 };
            let values: Vec<f64> = (0..36).map(|i| noise(&mut random, 0.03) * level(i)).collect();
            let at: Vec<usize> = changes(&values).iter().map(|c| c.at).collect();
            both +=
                usize::from(at.len() == 2 && at[0].abs_diff(12) <= 1 && at[1].abs_diff(24) <= 1);
        }
        assert!(both >= 90, "{both} of 100");
    }

    #[test]
    fn what_says_nothing_has_no_change() {
        assert!(changes(&[]).is_empty());
        assert!(changes(&[1.0; 50]).is_empty());
        assert!(changes(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]).is_empty(), "too few");
        let mut one_off = [5.0; 40];
        one_off[20] = 500.0;
        assert!(changes(&one_off).is_empty());
        // A step of 1 per cent without any noise is not worth a mark.
        let small: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 1.01 }).collect();
        assert!(changes(&small).is_empty());
        assert!(changes(&[0.0, -1.0, f64::MAX, f64::MIN, 0.0, 1e-300, 5.0, 0.0]).is_empty());
    }
}
