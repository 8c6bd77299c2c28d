//! Axes: from a value to its place, the ticks, and how numbers are written.

use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// From a value to a pixel.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    log: bool,
    /// In the axis's own measure: the values, or their logarithms.
    range: Range<f64>,
    pixels: (i32, i32),
}

/// Values span this factor where an axis becomes logarithmic.
const SPAN: f64 = 12.0;

/// Returns whether `values` are positive and span so much that a logarithmic axis is better.
pub(super) fn wants_log(values: impl Iterator<Item = f64> + Clone) -> bool {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    low > 0.0 && high / low >= SPAN
}

impl Axis {
    /// An axis for `values` from the first of `pixels` to the second. A linear one begins at zero.
    pub(super) fn new(values: impl Iterator<Item = f64>, log: bool, pixels: (i32, i32)) -> Self {
        let measure = |v: f64| if log { v.max(f64::MIN_POSITIVE).log10() } else { v };
        let values = values.filter(|v| v.is_finite()).map(measure);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let range = if log {
            let room = ((high - low) * 0.05).max(0.03);
            low - room..high + room
        } else {
            let (low, high) = (low.min(0.0), high.max(0.0));
            // Half, so that the sum cannot be infinite.
            let room = (high * 0.04 - low * 0.04).max(f64::MIN_POSITIVE);
            let low = if low < 0.0 { low - room } else { 0.0 };
            let high = if high > 0.0 { (high + room).min(f64::MAX / 4.0) } else { high };
            let low = low.max(f64::MIN / 4.0);
            if high > low { low..high } else { low..low + 1.0 }
        };
        Self { log, range, pixels }
    }

    /// A linear axis for `values` that does not begin at zero: changes of some per cent can be
    /// seen, and those of less stay small.
    pub(super) fn near(values: impl Iterator<Item = f64>, pixels: (i32, i32)) -> Self {
        let halves = values.filter(|v| v.is_finite()).map(|v| v / 2.0);
        let (low, high) = halves
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.5) };
        // Halves, so that no sum is infinite.
        let span = (high - low) * 1.1;
        let least = 0.3 * high.abs().max(low.abs()).max(f64::MIN_POSITIVE);
        let (middle, half) = (low + (high - low) / 2.0, span.max(least) / 2.0);
        let bound = |v: f64| (v * 2.0).clamp(f64::MIN / 4.0, f64::MAX / 4.0);
        let (mut low, high) = (bound(middle - half), bound(middle + half));
        if low > 0.0 && high / low > 3.0 {
            low = 0.0;
        }
        let range = if high > low { low..high } else { low..low + 1.0 };
        Self { log: false, range, pixels }
    }

    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// Returns the place of `value`, within the axis.
    pub(super) fn at(&self, value: f64) -> i32 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let value = value.clamp(self.range.start, self.range.end);
        RangedCoordf64::from(self.range.clone()).map(&value, self.pixels)
    }

    /// Returns the ticks in the axis, at most about `most`: values that are 1, 2 or 5 times a power
    /// of ten.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        if !self.log {
            let step = nice((self.range.end - self.range.start) / most as f64);
            let first = (self.range.start / step).ceil();
            let ticks = (0..=2 * most).map(|i| (first + i as f64) * step);
            return ticks.filter(|t| *t <= self.range.end && t.is_finite()).collect();
        }
        let (low, high) = (self.range.start.floor() as i32, self.range.end.ceil() as i32);
        let of = |digits: &[f64], step: i32| -> Vec<f64> {
            let powers = (low..=high).filter(|p| p.rem_euclid(step) == 0);
            let all = powers.flat_map(|p| digits.iter().map(move |d| d * 10f64.powi(p)));
            let inside = |t: &f64| self.range.contains(&t.log10());
            all.filter(inside).collect()
        };
        let tries = [
            (&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], 1),
            (&[1.0, 2.0, 5.0][..], 1),
            (&[1.0, 3.0][..], 1),
            (&[1.0][..], 1),
        ];
        let fits = tries.iter().map(|(digits, step)| of(digits, *step)).find(|t| t.len() <= most);
        fits.unwrap_or_else(|| of(&[1.0], ((high - low) / most as i32 + 1).max(2)))
    }
}

/// Returns the next of 1, 2, 5, 10 … that is not below `value`.
fn nice(value: f64) -> f64 {
    let magnitude = 10f64.powf(value.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * magnitude);
    steps.into_iter().find(|step| *step >= value * 0.999).unwrap_or(value).max(f64::MIN_POSITIVE)
}

/// The measure in which the values of one picture are written.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    factor: f64,
    /// The unit, with the letter for the factor.
    pub(crate) unit: String,
}

impl Measure {
    /// A measure for `values` in `unit`: times in the unit that makes the median value readable.
    pub(crate) fn new(unit: &str, values: impl Iterator<Item = f64>) -> Self {
        let same = Self { factor: 1.0, unit: unit.to_owned() };
        let times = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
        let Some((_, seconds)) = times.iter().find(|(name, _)| *name == unit) else { return same };
        let mut values: Vec<f64> = values.filter(|v| *v > 0.0).collect();
        let middle = crate::stats::median(&mut values) * seconds;
        let fits = times.iter().rev().find(|(_, size)| middle >= *size).unwrap_or(&times[0]);
        Self { factor: seconds / fits.1, unit: fits.0.to_owned() }
    }

    /// Writes `value` with as many digits as are worth reading.
    pub(crate) fn text(&self, value: f64) -> String {
        number(value * self.factor)
    }

    /// Returns whether a reader of `text` sees `value` as it is in the results: without a factor.
    pub(crate) fn is_plain(&self, text: &str) -> bool {
        self.factor == 1.0 && !text.contains(' ')
    }

    /// Writes `value` with its unit.
    pub(crate) fn full(&self, value: f64) -> String {
        let separator = if self.unit.is_empty() { "" } else { " " };
        format!("{}{separator}{}", self.text(value), self.unit)
    }
}

/// Writes a number in three digits, thousands and more with a letter.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    let (scaled, letter) = match magnitude {
        m if m >= 1e15 || (m > 0.0 && m < 1e-3) => return format!("{value:.1e}"),
        m if m >= 0.9995e12 => (value / 1e12, " T"),
        m if m >= 0.9995e9 => (value / 1e9, " G"),
        m if m >= 0.9995e6 => (value / 1e6, " M"),
        m if m >= 9999.5 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let text = match scaled.abs() {
        m if m >= 99.95 => format!("{scaled:.0}"),
        m if m >= 9.995 => format!("{scaled:.1}"),
        m if m >= 0.0995 || m == 0.0 => format!("{scaled:.2}"),
        _ => format!("{scaled:.4}"),
    };
    text + letter
}

/// Writes a tick: a number without zeros at the end.
pub(super) fn tick(value: f64) -> String {
    let text = number(value);
    let (digits, letter) = text.split_once(' ').unwrap_or((&text, ""));
    let digits = if digits.contains('.') && !digits.contains('e') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!("{digits}{letter}")
}

impl Measure {
    /// Writes a tick at `value`.
    pub(super) fn tick(&self, value: f64) -> String {
        tick(value * self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let written = [0.0, 0.0123, 0.1, 5.0, 12.34, 999.9, 1234.0, 12_345.0, 2.5e9].map(number);
        let wanted = ["0.00", "0.0123", "0.10", "5.00", "12.3", "1000", "1234", "12.3 k", "2.50 G"];
        assert_eq!(written, wanted);
        assert_eq!([0.5, 10.0, 20_000.0].map(tick), ["0.5", "10", "20k"]);
        let measure = Measure::new("ns", [3e6, 5e6].into_iter());
        assert_eq!(measure.full(4e6), "4.00 ms");
        assert_eq!(Measure::new("share", [0.5].into_iter()).full(0.5), "0.50 share");
    }

    #[test]
    fn any_values_have_few_ticks_within_the_axis() {
        let extremes = [0.0, 5e-324, 1e-9, 1.0, 3.0, 7e3, 1e15, 1e300, f64::MAX, -4.0, f64::MIN];
        for a in extremes {
            for b in extremes {
                for log in [false, true] {
                    let axis = Axis::new([a, b].into_iter(), log, (10, 110));
                    let ticks = axis.ticks(6);
                    assert!(ticks.len() <= 13, "{a} {b} {log}: {ticks:?}");
                    for v in ticks.iter().chain([&a, &b]) {
                        assert!((10..=110).contains(&axis.at(*v)), "{a} {b} {log}: {v}");
                    }
                }
            }
        }
        for a in extremes {
            for b in extremes {
                let axis = Axis::near([a, b].into_iter(), (10, 110));
                assert!(axis.ticks(6).len() <= 13, "{a} {b}: {:?}", axis.ticks(6));
                assert!((10..=110).contains(&axis.at(a)) && (10..=110).contains(&axis.at(b)));
            }
        }
        let near = Axis::near([100.0, 110.0].into_iter(), (0, 100));
        assert!(near.at(110.0) - near.at(100.0) > 25 && near.at(100.0) > 20, "{near:?}");
        assert_eq!(Axis::new([1.0, 90.0].into_iter(), false, (0, 100)).ticks(5).len(), 5);
        let log = Axis::new([1.0, 1000.0].into_iter(), true, (0, 100));
        assert_eq!(log.ticks(4), [1.0, 10.0, 100.0, 1000.0]);
        assert!(wants_log([1.0, 20.0].into_iter()) && !wants_log([0.0, 20.0].into_iter()));
    }
}
