//! Summaries of repeated measurements.

use sateen_base::XorShift;

/// What is reported about the runs of one figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) runs: usize,
}

impl Summary {
    /// Summarises `samples`; `None` if there are none.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let mut sorted = samples.to_vec();
        let median = median(&mut sorted);
        let n = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let var = sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        Some(Self { median, mean, sd: var.sqrt(), min, max, runs: sorted.len() })
    }
}

/// Returns the value below which the fraction `q` of `sorted` lies, interpolated; 0 for no values.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// Returns the median, and leaves `values` sorted.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(values, 0.5)
}

/// Returns the values between which the median of what `samples` were drawn from lies with 95 per
/// cent confidence, whatever the distribution: two of the sorted samples. Fewer than six samples
/// are too few for that much; theirs is the range from the least to the largest. `None` for no
/// samples.
pub(crate) fn interval_of_median(samples: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    // How many samples are below the median is binomial: the normal one is near enough.
    let rank = ((n as f64 - 1.96 * (n as f64).sqrt()) / 2.0).floor().max(0.0) as usize;
    Some([*sorted.get(rank)?, *sorted.get(n - 1 - rank)?])
}

/// A ratio of medians, and the interval that holds it with 95 per cent confidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Returns the ratio of the medians of `ours` and `theirs`, with a bootstrap interval: both samples
/// are drawn again with replacement 1,000 times. The generator's seed is fixed, so the same samples
/// give the same interval. Returns `None` without samples, or if the second median is zero.
pub(crate) fn ratio(ours: &[f64], theirs: &[f64]) -> Option<Ratio> {
    const DRAWS: usize = 1000;
    let below = median(&mut theirs.to_vec());
    if ours.is_empty() || theirs.is_empty() || below == 0.0 {
        return None;
    }
    let mut rng = XorShift::new(20_240_711);
    let mut redraw = |from: &[f64]| {
        let mut drawn: Vec<f64> = from.iter().map(|_| from[rng.below(from.len())]).collect();
        median(&mut drawn)
    };
    let mut ratios: Vec<f64> = (0..DRAWS)
        .map(|_| (redraw(ours), redraw(theirs)))
        .filter(|&(_, t)| t != 0.0)
        .map(|(o, t)| o / t)
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let value = median(&mut ours.to_vec()) / below;
    Some(Ratio { value, low: quantile(&ratios, 0.025), high: quantile(&ratios, 0.975) })
}

/// With fewer rounds on either side, [`ratio_of_rounds`] has nothing to say that is beyond doubt.
pub(crate) const ENOUGH_ROUNDS: usize = 5;

/// Returns how many times `base` a value of `new` is, typically (the median of the ratios of all
/// pairs), and the interval that holds it with 99 per cent confidence, whatever the distribution:
/// two of those ratios, by the test of Mann and Whitney. With five rounds on either side it reaches
/// from the least ratio to the greatest. So it excludes 1 only if every value of one side is above
/// every value of the other.
pub(crate) fn ratio_of_rounds(new: &[f64], base: &[f64]) -> Option<Ratio> {
    let usable = |values: &[f64]| values.iter().all(|v| v.is_finite() && *v > 0.0);
    let enough = new.len().min(base.len()) >= ENOUGH_ROUNDS;
    // A file may have any number.
    let few = new.len().max(base.len()) <= 100;
    if !enough || !few || !usable(new) || !usable(base) {
        return None;
    }
    let pairs = new.iter().flat_map(|n| base.iter().map(move |b| n / b));
    let mut pairs: Vec<f64> = pairs.collect();
    let value = median(&mut pairs);
    let rank = outside(new.len(), base.len());
    Some(Ratio { value, low: pairs[rank], high: pairs[pairs.len() - 1 - rank] })
}

/// Returns how many of the ordered pairs of `m` and `n` values lie outside of the interval, on each
/// side.
fn outside(m: usize, n: usize) -> usize {
    if m.max(n) > 10 {
        // The normal distribution is near enough.
        let (m, n) = (m as f64, n as f64);
        let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
        return (m * n / 2.0 - 2.576 * deviation).max(0.0) as usize;
    }
    // In how many ways the ranks of the `m` values come to each sum.
    let most = m * (m + 2 * n + 1) / 2;
    let mut ways = vec![vec![0.0; most + 1]; m + 1];
    ways[0][0] = 1.0;
    for rank in 1..=m + n {
        for chosen in (1..=m).rev() {
            for sum in (rank..=most).rev() {
                ways[chosen][sum] += ways[chosen - 1][sum - rank];
            }
        }
    }
    let all: f64 = ways[m].iter().sum();
    let least = m * (m + 1) / 2;
    let mut below = 0.0;
    let beyond = ways[m][least..].iter().take_while(|ways| {
        below += **ways;
        2.0 * below <= 0.01 * all
    });
    beyond.count().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_spread_of_a_few() {
        let s = Summary::of(&[3.0, 1.0, 2.0, 10.0]).expect("four samples");
        assert_eq!((s.median, s.mean, s.min, s.max, s.runs), (2.5, 4.0, 1.0, 10.0, 4));
        assert!((s.sd - 4.082_48).abs() < 1e-4);
        assert!(Summary::of(&[]).is_none());
        assert_eq!(Summary::of(&[5.0]).expect("one sample").sd, 0.0);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[0.0, 10.0], 0.99), 9.9);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn the_median_lies_in_its_interval() {
        assert_eq!(interval_of_median(&[]), None);
        assert_eq!(interval_of_median(&[3.0]), Some([3.0, 3.0]));
        assert_eq!(interval_of_median(&[3.0, 1.0, 2.0]), Some([1.0, 3.0]));
        // 95 of 100 draws from 0 to 1, whose median is one half.
        let mut random = XorShift::new(7);
        let mut draw = || random.next_u64() as f64 / u64::MAX as f64;
        let mut held = 0;
        for _ in 0..2_000 {
            let samples: Vec<f64> = (0..25).map(|_| draw()).collect();
            let [low, high] = interval_of_median(&samples).expect("samples");
            held += u32::from(low <= 0.5 && 0.5 <= high);
        }
        assert!((1_880..1_990).contains(&held), "{held} of 2000");
    }

    #[test]
    fn rounds_differ_if_none_are_mixed() {
        let rounds = |values: [f64; 5]| values;
        let base = rounds([100.0, 104.0, 98.0, 101.0, 103.0]);
        let r = ratio_of_rounds(&base.map(|v| v * 1.1), &base).expect("five rounds");
        assert!((r.value - 1.1).abs() < 1e-9 && r.low > 1.0, "{r:?}");
        let r = ratio_of_rounds(&base.map(|v| v * 1.05), &base).expect("five rounds");
        assert!(r.low < 1.0 && r.high > 1.0, "{r:?}");
        assert!(ratio_of_rounds(&base[1..], &base).is_none(), "too few");
        assert!(ratio_of_rounds(&[0.0; 5], &base).is_none(), "no ratio");
        // By the tables of the test, two-sided at one in a hundred.
        let table = [(5, 5, 0), (5, 8, 2), (6, 6, 2), (8, 8, 7), (10, 10, 16)];
        for (m, n, critical) in table {
            assert_eq!(outside(m, n), critical, "{m} and {n}");
        }
    }

    #[test]
    fn the_interval_holds_the_ratio() {
        let ours: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 7)).collect();
        let theirs: Vec<f64> = (0..40).map(|i| 200.0 + f64::from(i % 5)).collect();
        let r = ratio(&ours, &theirs).expect("samples on both sides");
        assert!(r.low <= r.value && r.value <= r.high && r.high < 0.6, "{r:?}");
        assert!(ratio(&ours, &[0.0]).is_none());
    }
}
