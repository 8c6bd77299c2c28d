//! Numbers as people write and read them.

use sateen_flow::Rate;
use std::time::Duration;

/// The word for a rate or capacity without limit.
pub(super) const UNLIMITED: &str = "unlimited";

/// Parses a rate a second, with `k` or `M` for thousands and millions; infinite for [`UNLIMITED`].
pub(super) fn rate(text: &str) -> Result<f64, String> {
    if text == UNLIMITED {
        return Ok(f64::INFINITY);
    }
    let (number, scale) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1e3),
        Some((at, 'm' | 'M')) => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    let rate = number.parse::<f64>();
    let rate =
        rate.map_err(|_| format!("not a number of items a second, or `{UNLIMITED}`"))? * scale;
    Rate::per_second(rate).map(|_| rate).map_err(|e| e.to_string())
}

/// Returns the next rate of 1, 2, 5, 10 … above or below; above the highest there is no limit.
pub(super) fn step(rate: f64, up: bool) -> f64 {
    // Rates are not exact after some steps: two that are this close are the same.
    const CLOSE: f64 = 1.001;
    let (least, most) = (0.1, Rate::MOST);
    if up && rate >= most / CLOSE {
        return f64::INFINITY;
    }
    if !up && rate > most * CLOSE {
        return most;
    }
    let decade = 10f64.powf(rate.max(least).log10().floor());
    let mut steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0].map(|step| step * decade).into_iter();
    let next = if up {
        steps.find(|step| *step > rate * CLOSE)
    } else {
        steps.rfind(|step| *step * CLOSE < rate)
    };
    next.unwrap_or(rate).clamp(least, most)
}

/// Writes `1234567` as `1,234,567`.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a rate a second in a few characters: `950`, `12.3 k`, `4.56 M`.
pub(super) fn per_second(rate: f64) -> String {
    if rate.is_infinite() {
        return UNLIMITED.to_owned();
    }
    let (value, unit) = match rate {
        r if r >= 999_500.0 => (r / 1e6, " M"),
        r if r >= 9_995.0 => (r / 1e3, " k"),
        r => (r, ""),
    };
    let digits = match value {
        v if v >= 99.95 || (unit.is_empty() && v.fract() == 0.0) => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}{unit}")
}

/// Writes a time in a few characters: `830 ns`, `12.5 µs`, `3.21 ms`, `1.50 s`.
pub(super) fn time(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    let (value, unit) = match ns {
        n if n >= 999.5e6 => (n / 1e9, "s"),
        n if n >= 999.5e3 => (n / 1e6, "ms"),
        n if n >= 999.5 => (n / 1e3, "µs"),
        n => return format!("{n:.0} ns"),
    };
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(rate("2200000"), Ok(2.2e6));
        assert_eq!(rate("2200k"), Ok(2.2e6));
        assert_eq!(rate("2.2M"), Ok(2.2e6));
        assert_eq!(rate("0.5"), Ok(0.5));
        assert_eq!(rate("1e9"), Ok(1e9));
        assert_eq!(rate("unlimited"), Ok(f64::INFINITY));
        let wrong = [
            "0", "-1", "NaN", "inf", "-inf", "1e300", "1e-300", "", "k", "M", "fast", "5 k k", "é",
        ];
        for text in wrong {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn steps_go_up_and_down() {
        let mut up = vec![1.0f64];
        while up.last().is_some_and(|rate| rate.is_finite()) {
            up.push(step(up[up.len() - 1], true));
        }
        assert_eq!(up.len(), 32, "three in each of ten decades, both ends, no limit: {up:?}");
        for pair in up.windows(2) {
            let down = step(pair[1], false);
            assert!((down / pair[0] - 1.0).abs() < 0.001, "{down} below {pair:?}");
        }
        assert_eq!(step(1500.0, true), 2000.0);
        assert_eq!(step(1500.0, false), 1000.0);
        assert_eq!((step(0.1, false), step(f64::INFINITY, true)), (0.1, f64::INFINITY));
    }

    #[test]
    fn numbers_are_written() {
        let numbers = [0, 7, 999, 1000, 12_345, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "12,345", "123,456", "1,234,567"]);
        let rates = [0.0, 0.25, 950.0, 9_500.0, 12_345.0, 999_499.0, 999_999.0, 4.567e6, 123.4e6];
        let rates = rates.map(per_second);
        assert_eq!(
            rates,
            ["0", "0.25", "950", "9500", "12.3 k", "999 k", "1.00 M", "4.57 M", "123 M"]
        );
        let times = [0, 830, 1_000, 12_500, 999_600, 3_210_000, 1_500_000_000];
        let times = times.map(|ns| time(Duration::from_nanos(ns)));
        let wanted = ["0 ns", "830 ns", "1.00 µs", "12.5 µs", "1.00 ms", "3.21 ms", "1.50 s"];
        assert_eq!(times, wanted);
    }
}
