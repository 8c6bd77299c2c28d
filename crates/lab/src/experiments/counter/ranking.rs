//! Two published rankings of the same locks contradict each other. This file says which one the
//! measured values support.
//!
//! In the table of 17 April 2012 the adaptive critical section is slower than the reader-writer
//! lock taken exclusively and than the atomic. An article by the same author of 12 April found it
//! faster than that reader-writer lock, and than a spinlock of his own.

use crate::report::short;
use crate::stats;
use crate::store::Record;
use std::cmp::Ordering;

/// Returns a sentence for each library that has both locks, at the largest number of threads.
pub(super) fn text(records: &[Record]) -> Option<String> {
    let of = |case: &str, implementation: &str, config: &str| {
        let same = |r: &&Record| {
            r.figure.case == case
                && r.implementation == implementation
                && r.figure.config == config
                && !r.samples.is_empty()
        };
        records.iter().find(same)
    };
    let threads = |r: &Record| r.figure.config.trim_start_matches('t').parse::<usize>().ok();
    let atomics = records.iter().filter(|r| r.figure.case == "atomic");
    let atomic = atomics.max_by_key(|r| threads(r))?;
    let config = atomic.figure.config.as_str();
    let spin = of("spin-naive", "naive", config)?;
    let mut out = String::new();
    for adaptive in records.iter().filter(|r| r.figure.case == "adaptive-mutex") {
        let library = adaptive.implementation;
        let adaptive = of("adaptive-mutex", library, config);
        if let (Some(adaptive), Some(rwlock)) = (adaptive, of("rwlock-exclusive", library, config))
            && !out.contains(&format!("\n{library}: "))
        {
            let one = sentence([adaptive, rwlock, atomic, spin].map(|r| r.samples.as_slice()));
            out += &format!("\n{library}: {one}");
        }
    }
    (!out.is_empty()).then(|| {
        format!(
            "Two published rankings contradict each other. The table beside: an adaptive mutex is \
             slower than an exclusively taken reader-writer lock and than an atomic. An article \
             by its author, five days before: it is faster than that lock, and than a spinlock. \
             Here, at {config}:{out}"
        )
    })
}

/// Returns what the samples of adaptive mutex, reader-writer lock, atomic and spinlock say.
fn sentence([adaptive, rwlock, atomic, spin]: [&[f64]; 4]) -> String {
    use Ordering::{Greater, Less};
    let (to_rwlock, to_atomic, to_spin) =
        (order(adaptive, rwlock), order(adaptive, atomic), order(adaptive, spin));
    let which = match (to_rwlock, to_atomic, to_spin) {
        (Greater, Greater, _) => "the table's ranking holds",
        (Less, _, Less) => "the article's ranking holds",
        _ => "neither ranking holds",
    };
    let than = |order, what: &str, samples: &[f64]| {
        let word = match order {
            Less => "faster than",
            Greater => "slower than",
            Ordering::Equal => "even with",
        };
        format!("{word} the {what} ({})", median(samples))
    };
    format!(
        "{which}: the adaptive mutex ({} ns) is {}, {} and {}.",
        median(adaptive),
        than(to_rwlock, "reader-writer lock", rwlock),
        than(to_atomic, "atomic", atomic),
        than(to_spin, "naive spinlock", spin),
    )
}

/// Says that one is faster only if the interval of the ratio leaves no doubt.
fn order(a: &[f64], b: &[f64]) -> Ordering {
    match stats::ratio(a, b) {
        Some(r) if r.high < 1.0 => Ordering::Less,
        Some(r) if r.low > 1.0 => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

fn median(samples: &[f64]) -> String {
    short(stats::median(&mut samples.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::sentence;

    fn around(value: f64) -> Vec<f64> {
        (0..9).map(|i| value + f64::from(i) / 100.0).collect()
    }

    fn verdict(adaptive: f64, rwlock: f64, atomic: f64, spin: f64) -> String {
        let all = [adaptive, rwlock, atomic, spin].map(around);
        sentence([&all[0], &all[1], &all[2], &all[3]])
    }

    #[test]
    fn each_ranking_is_recognised() {
        assert!(verdict(92.0, 32.0, 34.0, 230.0).starts_with("the table's ranking holds"));
        assert!(verdict(12.0, 32.0, 16.0, 90.0).starts_with("the article's ranking holds"));
        assert!(verdict(20.0, 32.0, 16.0, 18.0).starts_with("neither"));
        let even = verdict(32.0, 32.0, 16.0, 90.0);
        assert!(even.starts_with("neither") && even.contains("even with the reader-writer lock"));
    }
}
