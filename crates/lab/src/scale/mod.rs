//! `sateen scale`: figures at one, two and more workers, and how they scale.

mod law;

use crate::error::Error;
use crate::experiment::Trend;
use crate::host;
use crate::report::print;
use crate::stats::median;
use crate::store::Record;
use law::Fit;
use std::collections::BTreeMap;

/// Cases that are no throughput: each belongs to another one.
const OTHERS: [&str; 5] = ["-cpu", "-p999", "-fairness", "-mean", "-bytes"];

/// The numbers of workers: all up to four cores, then doubled, then twice and four times the cores.
pub(crate) fn counts(cores: usize) -> Vec<usize> {
    let small = 1..=cores.min(4);
    let doubled = (3..).map(|power| 1usize << power).take_while(|&n| n < cores);
    let mut counts: Vec<usize> =
        small.chain(doubled).chain([cores, 2 * cores, 4 * cores]).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// What is measured if the user names nothing.
pub(crate) const USUAL: [&str; 4] = [
    "^forkjoin/(fib|for-uniform|reduce|quicksort)/",
    "^skynet/(join|fork)/",
    "^listqueue/lockfree-queue/",
    "^pool/short-fresh/magazine/",
];

/// Runs of one figure by its number of workers, as throughput.
type Series = BTreeMap<usize, Vec<f64>>;

/// Returns the figures that were measured at several numbers of workers, in the order of `records`.
fn series(records: &[Record]) -> Vec<(String, Series)> {
    let mut all: Vec<(String, Series)> = Vec::new();
    for record in records {
        let figure = &record.figure;
        let other = OTHERS.iter().any(|suffix| figure.case.ends_with(suffix));
        let Some((workers, rest)) = workers_of(&figure.config).filter(|_| !other) else { continue };
        let throughput = record.samples.iter().map(|&value| match figure.trend {
            Trend::Lower => 1.0 / value,
            Trend::Higher => value,
        });
        let name = format!("{}/{}/{}{rest}", record.experiment, figure.case, record.implementation);
        let at = all.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            all.push((name, Series::new()));
            all.len() - 1
        });
        all[at].1.entry(workers).or_default().extend(throughput);
    }
    all.retain(|(_, series)| series.len() > 1);
    all
}

/// The number of workers in a configuration such as `w4` or `t4-full`, and the rest of it.
fn workers_of(config: &str) -> Option<(usize, &str)> {
    let digits = config.strip_prefix(['w', 't'])?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some((digits[..end].parse().ok().filter(|&n| n > 0)?, &digits[end..]))
}

/// Prints how the figures in `records` scale. Returns whether there was any.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn report(records: &[Record]) -> Result<bool, Error> {
    let all = series(records);
    let cores = host::cores();
    for (name, series) in &all {
        print(&format!("\n{name}\n{}", text(series, cores)))?;
    }
    Ok(!all.is_empty())
}

fn text(series: &Series, cores: usize) -> String {
    let medians = series.iter().map(|(&n, runs)| (n, median(&mut runs.clone())));
    let medians: Vec<(usize, f64)> = medians.collect();
    let within: Vec<(usize, Vec<f64>)> =
        series.iter().filter(|&(&n, _)| n <= cores).map(|(&n, runs)| (n, runs.clone())).collect();
    let fit = Fit::of(&within);
    let (first, base) = medians[0];
    let mut lines = vec!["  workers  speed-up  each worker    law".to_owned()];
    for &(workers, throughput) in &medians {
        let speed_up = throughput / base;
        let each = 100.0 * speed_up * first as f64 / workers as f64;
        let law = match &fit {
            Some(fit) if workers <= cores => {
                format!("{:6.2}", fit.law.throughput(workers as f64) / base)
            }
            _ if workers > cores => "     -  more workers than cores".to_owned(),
            _ => "     -".to_owned(),
        };
        lines.push(format!("  {workers:7}  {speed_up:8.2}  {each:9.0} %  {law}"));
    }
    lines.push(match &fit {
        Some(fit) => verdict(fit, within.len(), cores),
        None => "  No law: it takes figures at two numbers of workers within the cores.".to_owned(),
    });
    lines.join("\n")
}

/// The law in words, and how far the data support it.
fn verdict(fit: &Fit, counts: usize, cores: usize) -> String {
    let (contention, coherence) = (fit.contention, fit.coherence);
    let mut lines = vec![format!(
        "  contention {:.4} ({:.4} to {:.4}), coherence {:.5} ({:.5} to {:.5})",
        fit.law.contention, contention.0, contention.1, fit.law.coherence, coherence.0, coherence.1
    )];
    lines.push(match counts {
        2 => {
            "  Two numbers of workers tell contention only: coherence is taken for zero.".to_owned()
        }
        3 => format!(
            "  Three numbers of workers leave nothing to check the law by; it deviates by {:.1} %.",
            100.0 * fit.worst
        ),
        _ => format!(
            "  The law deviates by at most {:.1} % from {counts} medians.",
            100.0 * fit.worst
        ),
    });
    lines.push(match fit.law.peak() {
        Some(peak) if peak <= cores as f64 => {
            format!("  Throughput is highest at about {peak:.0} workers.")
        }
        Some(peak) if coherence.0 > 0.0 => format!(
            "  By the law it would be highest at about {peak:.0} workers, which {cores} cores \
             cannot show."
        ),
        _ => format!("  Nothing shows where throughput would fall, beyond {cores} cores."),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_name_workers() {
        assert_eq!(workers_of("w4"), Some((4, "")));
        assert_eq!(workers_of("t16-full"), Some((16, "-full")));
        assert_eq!(workers_of("w0"), None);
        assert_eq!(workers_of("4x1"), None);
        assert_eq!(workers_of("w"), None);
    }

    #[test]
    fn counts_go_past_the_cores() {
        assert_eq!(counts(1), [1, 2, 4]);
        assert_eq!(counts(2), [1, 2, 4, 8]);
        assert_eq!(counts(16), [1, 2, 3, 4, 8, 16, 32, 64]);
        assert_eq!(counts(12), [1, 2, 3, 4, 8, 12, 24, 48]);
    }

    #[test]
    fn a_report_says_how_far_it_goes() {
        let runs = |n: f64| vec![n / (1.0 + 0.1 * (n - 1.0)); 3];
        let series: Series = [1, 2, 4].map(|n| (n, runs(n as f64))).into();
        let text = text(&series, 2);
        assert!(text.contains("contention 0.1000"), "{text}");
        assert!(text.contains("more workers than cores"), "{text}");
        assert!(text.contains("Two numbers of workers"), "{text}");
    }
}
