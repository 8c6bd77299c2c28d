//! What more workers bring, in words.

use crate::adapter::OURS;
use crate::host::cores;
use crate::report::verdict::{Comparison, phrase, words_for};
use crate::store::Record;

/// Returns a sentence about the most workers that have a core each, beside one.
pub(super) fn text(records: &[Record]) -> Option<String> {
    let workers = |r: &Record| r.figure.config.strip_prefix('w')?.parse::<usize>().ok();
    let ours = || records.iter().filter(|r| r.implementation == OURS && !r.samples.is_empty());
    let most = ours().filter_map(workers).filter(|n| *n <= cores()).max().filter(|n| *n > 1)?;
    let gains: Vec<String> = ours()
        .filter(|r| workers(r) == Some(most))
        .filter_map(|many| {
            let case = many.figure.case.as_str();
            let one = ours().find(|r| r.figure.case == case && workers(r) == Some(1))?;
            let gain = Comparison::between(many, one).gain?;
            Some(format!(
                "{case} is {}",
                phrase(&gain, words_for(case, many.figure.unit), "with one")
            ))
        })
        .collect();
    (!gains.is_empty()).then(|| format!("With {most} workers, {}.", gains.join(", ")))
}
