//! What each step gains, here and as published.

use crate::adapter::OURS;
use crate::published;
use crate::report::{Grid, Screen, Tint};
use crate::store::Record;

/// The tests, each a step beyond the one before. Only we have the last two.
const STEPS: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];

/// Returns tasks a second and the gain over the step before, for each configuration and
/// implementation with which a step and the one before were measured.
pub(super) fn table(records: &[Record], screen: &Screen) -> Option<String> {
    let head = [&["", ""][..], &STEPS].concat();
    let mut table = Grid::new(&head, 2..head.len());
    let mut any = false;
    for (config, implementation) in rows(records) {
        let of = |name: &str| STEPS.map(|step| rate(records, step, name, config));
        let (own, mut before) = (of(implementation), of(implementation));
        if implementation.starts_with(OURS) {
            // A variant of one step builds on the steps of the default.
            let default = of(OURS);
            before.iter_mut().zip(default).for_each(|(own, default)| *own = own.or(default));
        }
        if !(1..STEPS.len()).any(|i| own[i].is_some() && before[i - 1].is_some()) {
            continue;
        }
        any = true;
        table.add(cells(config, implementation, own, before), Tint::Plain, Vec::new());
        let published = STEPS.map(|step| Some(published::lookup("shed", step, config)?.first()));
        if implementation == OURS && published.iter().any(Option::is_some) {
            let cells = cells(config, "published", published, published);
            table.add(cells, Tint::Plain, Vec::new());
        }
    }
    let title = "Millions of tasks a second by step, and each step's gain over the one before:";
    any.then(|| format!("{}\n{}", screen.wrapped(title, 0), table.fitted(2, screen)))
}

/// Returns configurations with their implementations, each in the order of first appearance.
fn rows(records: &[Record]) -> Vec<(&str, &'static str)> {
    let steps = || records.iter().filter(|r| STEPS.contains(&r.figure.case.as_str()));
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for config in steps().map(|r| r.figure.config.as_str()) {
        for record in steps().filter(|r| r.figure.config == config) {
            if !rows.contains(&(config, record.implementation)) {
                rows.push((config, record.implementation));
            }
        }
    }
    rows
}

/// Returns tasks a second.
fn rate(records: &[Record], step: &str, implementation: &str, config: &str) -> Option<f64> {
    let same = |r: &&Record| {
        (r.figure.case.as_str(), r.implementation, r.figure.config.as_str())
            == (step, implementation, config)
    };
    Some(1e9 / records.iter().find(same)?.summary()?.median)
}

/// Returns the cells of a row: rates, and their gains over the rates before.
fn cells(config: &str, who: &str, rates: Rates, before: Rates) -> Vec<String> {
    let cell = |i: usize| {
        let Some(now) = rates[i] else { return String::new() };
        let rate = format!("{:.2}", now / 1e6);
        match i.checked_sub(1).and_then(|i| before[i]) {
            Some(before) => format!("{rate} ×{:.2}", now / before),
            None => rate,
        }
    };
    let mut cells = vec![config.to_owned(), who.to_owned()];
    cells.extend((0..STEPS.len()).map(cell));
    cells
}

/// Tasks a second of each step that was measured.
type Rates = [Option<f64>; STEPS.len()];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_steps_have_their_published_gains() {
        let rate = |step| Some(published::lookup("shed", step, "p4c4")?.first());
        let published = STEPS.map(rate);
        let cells = cells("p4c4", "published", published, published);
        assert_eq!(
            cells[2..],
            ["3.18", "3.30 ×1.04", "3.87 ×1.17", "3.98 ×1.03", "8.00 ×2.01", "", ""]
        );
    }
}
