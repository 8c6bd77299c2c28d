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
    fn the_interval_holds_the_ratio() {
        let ours: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 7)).collect();
        let theirs: Vec<f64> = (0..40).map(|i| 200.0 + f64::from(i % 5)).collect();
        let r = ratio(&ours, &theirs).expect("samples on both sides");
        assert!(r.low <= r.value && r.value <= r.high && r.high < 0.6, "{r:?}");
        assert!(ratio(&ours, &[0.0]).is_none());
    }
}
