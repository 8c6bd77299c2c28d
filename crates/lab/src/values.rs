//! How values on the command line are read. An error says what a value may be; the caller names the
//! value.

use std::time::Duration;

/// Most workers a runtime can have.
const MAX_WORKERS: usize = 65_535;

/// Parses a number of workers.
pub(crate) fn worker_count(text: &str) -> Result<usize, String> {
    whole(text, 1, MAX_WORKERS as u64)
        .map_err(|_| "not a number of workers from 1 to 65,535".to_owned())
}

/// Parses a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let range = "not a number of seconds from 0.001 to 86,400";
    let value: f64 = text.parse().map_err(|_| range.to_owned())?;
    if (0.001..=86_400.0).contains(&value) {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(range.to_owned())
    }
}

/// Parses a factor by which a figure may be worse.
pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 1.0);
    value.ok_or_else(|| "not a ratio of at least 1".to_owned())
}

/// Parses a whole number from `low` to `high`.
pub(crate) fn whole(text: &str, low: u64, high: u64) -> Result<usize, String> {
    let value = text.trim().parse().ok().filter(|n: &u64| (low..=high).contains(n));
    let value = value.and_then(|n| usize::try_from(n).ok());
    value.ok_or_else(|| format!("not a whole number from {low} to {high}"))
}

/// Parses the name of one of `values`.
pub(crate) fn one_of<T: Copy>(text: &str, values: &[(&str, T)]) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == text.trim());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        format!("not one of {}", names.join(", "))
    })
}
