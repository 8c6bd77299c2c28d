//! The universal scalability law, fitted to measured throughput.
//!
//! With `n` workers, throughput is `rate · n / (1 + contention · (n - 1) + coherence · n · (n -
//! 1))`. `contention` is the share of the work that goes one after another. `coherence` is what
//! each pair of workers costs by keeping in step; with it, throughput falls again at some point.
//!
//! Source: N. Gunther, "A General Theory of Computational Scalability", 2008.

use crate::stats::{median, quantile};
use sateen_base::XorShift;

/// The law's coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    /// Throughput of one worker.
    pub(super) rate: f64,
    pub(super) contention: f64,
    pub(super) coherence: f64,
}

impl Law {
    pub(super) fn throughput(&self, workers: f64) -> f64 {
        let others = workers - 1.0;
        self.rate * workers / (1.0 + self.contention * others + self.coherence * workers * others)
    }

    /// The number of workers at which throughput is highest, if it falls at all.
    pub(super) fn peak(&self) -> Option<f64> {
        let at = ((1.0 - self.contention).max(0.0) / self.coherence).sqrt();
        (self.coherence > 0.0).then_some(at.max(1.0))
    }

    /// The law that fits `points` of workers and throughput best, by least squares of relative
    /// deviations. No coefficient is below zero. With two points coherence is taken for zero; with
    /// one there is no law.
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        // Its inverse is linear in the coefficients: n / throughput = (1 + c (n - 1) + …) / rate.
        let terms: &[&[usize]] = match points.len() {
            0 | 1 => return None,
            2 => &[&[0, 1], &[0]],
            _ => &[&[0, 1, 2], &[0, 1], &[0, 2], &[0]],
        };
        let fits = terms.iter().filter_map(|terms| {
            let solved = least_squares(points, terms)?;
            (solved[0] > 0.0 && solved[1] >= 0.0 && solved[2] >= 0.0).then_some(solved)
        });
        // Of those that are possible, the one that deviates least.
        let best = fits.min_by(|a, b| deviation(points, a).total_cmp(&deviation(points, b)))?;
        let [one, contention, coherence] = best;
        Some(Self { rate: 1.0 / one, contention: contention / one, coherence: coherence / one })
    }
}

fn regressors(workers: f64) -> [f64; 3] {
    [1.0, workers - 1.0, workers * (workers - 1.0)]
}

/// The sum of squares of relative deviations.
fn deviation(points: &[(f64, f64)], solved: &[f64; 3]) -> f64 {
    let one = |&(workers, throughput): &(f64, f64)| {
        let inverse: f64 = regressors(workers).iter().zip(solved).map(|(r, s)| r * s).sum();
        (inverse * throughput / workers - 1.0).powi(2)
    };
    points.iter().map(one).sum()
}

/// Solves for the coefficients of `terms`; the others are zero. `None` if the points do not
/// determine them.
fn least_squares(points: &[(f64, f64)], terms: &[usize]) -> Option<[f64; 3]> {
    let size = terms.len();
    // The normal equations, with the right side in the last column.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for &(workers, throughput) in points {
        let weight = throughput / workers;
        let scaled = regressors(workers).map(|r| r * weight);
        for (i, &a) in terms.iter().enumerate() {
            for (j, &b) in terms.iter().enumerate() {
                rows[i][j] += scaled[a] * scaled[b];
            }
            rows[i][size] += scaled[a];
        }
    }
    let mut solved = [0.0; 3];
    for (&term, value) in terms.iter().zip(eliminate(rows)?) {
        solved[term] = value;
    }
    Some(solved)
}

/// Gaussian elimination with partial pivots.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column].clone();
        if head[column].abs() < 1e-12 * head.iter().fold(0.0, |most, x| x.abs().max(most)) {
            return None;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column] / head[column];
                row.iter_mut().zip(&head).for_each(|(x, h)| *x -= factor * h);
            }
        }
    }
    Some((0..size).map(|i| rows[i][size] / rows[i][i]).collect())
}

/// A law, and the intervals that hold its coefficients with 95 per cent confidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) law: Law,
    pub(super) contention: (f64, f64),
    pub(super) coherence: (f64, f64),
    /// The largest relative deviation of a measured median from the law.
    pub(super) worst: f64,
}

impl Fit {
    /// Fits the law to the medians of `samples`: throughput of each run, by workers. The intervals
    /// come from samples drawn again with replacement 1,000 times, by a generator with a fixed
    /// seed.
    pub(super) fn of(samples: &[(usize, Vec<f64>)]) -> Option<Self> {
        const DRAWS: usize = 1000;
        let medians = |samples: &[(usize, Vec<f64>)]| -> Vec<(f64, f64)> {
            samples.iter().map(|(n, runs)| (*n as f64, median(&mut runs.clone()))).collect()
        };
        let points = medians(samples);
        if points.iter().any(|&(_, throughput)| !throughput.is_finite() || throughput <= 0.0) {
            return None;
        }
        let law = Law::of(&points)?;
        let mut random = XorShift::new(1);
        let mut draw = || {
            let again = samples.iter().map(|(n, runs)| {
                (*n, runs.iter().map(|_| runs[random.below(runs.len())]).collect())
            });
            Law::of(&medians(&again.collect::<Vec<_>>()))
        };
        let laws: Vec<Law> = (0..DRAWS).filter_map(|_| draw()).collect();
        let interval = |coefficient: fn(&Law) -> f64| {
            let mut all: Vec<f64> = laws.iter().map(coefficient).collect();
            all.sort_unstable_by(f64::total_cmp);
            (quantile(&all, 0.025), quantile(&all, 0.975))
        };
        let worst = points.iter().map(|&(n, measured)| (law.throughput(n) / measured - 1.0).abs());
        Some(Self {
            law,
            contention: interval(|law| law.contention),
            coherence: interval(|law| law.coherence),
            worst: worst.fold(0.0, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(law: Law, counts: &[usize]) -> Vec<(usize, Vec<f64>)> {
        counts.iter().map(|&n| (n, vec![law.throughput(n as f64); 5])).collect()
    }

    #[test]
    fn a_law_is_found_again() {
        let law = Law { rate: 7.0, contention: 0.05, coherence: 0.002 };
        let fit = Fit::of(&samples(law, &[1, 2, 4, 8, 16])).expect("five points");
        assert!((fit.law.rate - 7.0).abs() < 1e-9, "{fit:?}");
        assert!((fit.law.contention - 0.05).abs() < 1e-9, "{fit:?}");
        assert!((fit.law.coherence - 0.002).abs() < 1e-9, "{fit:?}");
        assert!(fit.worst < 1e-9 && fit.contention.0 <= fit.contention.1);
        let peak = fit.law.peak().expect("it falls");
        assert!((peak - (0.95f64 / 0.002).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn nothing_falls_below_zero() {
        // More than twice the throughput with two workers: no share is serial.
        let fit = Fit::of(&[(1, vec![1.0]), (2, vec![2.2]), (4, vec![4.1])]).expect("a law");
        assert!(fit.law.contention >= 0.0 && fit.law.coherence >= 0.0);
    }

    #[test]
    fn few_points_say_little() {
        let law = Law { rate: 1.0, contention: 0.1, coherence: 0.0 };
        assert!(Fit::of(&samples(law, &[1])).is_none());
        let two = Fit::of(&samples(law, &[1, 2])).expect("two points");
        assert!((two.law.contention - 0.1).abs() < 1e-9 && two.law.peak().is_none());
        assert!(Fit::of(&[(1, vec![0.0]), (2, vec![1.0])]).is_none());
        assert!(Fit::of(&[(1, vec![1.0]), (2, vec![f64::INFINITY])]).is_none());
    }
}
