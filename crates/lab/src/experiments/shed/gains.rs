//! What each step brings, here and as published.

use crate::adapter::OURS;
use crate::published;
use crate::report::STYLE;
use crate::store::Record;
use comfy_table::{CellAlignment, Table};

/// The tests, each a step further than the one before.
const STEPS: [&str; 5] = ["A", "B", "C", "D", "E"];

/// Tasks a second and how many times as many as in the step before, for each configuration and implementation of which
/// more than one step was measured.
pub(super) fn table(records: &[Record]) -> Option<String> {
    let mut table = Table::new();
    table.load_style(STYLE);
    let mut header = vec!["M tasks a second".to_owned(), String::new()];
    header.extend(STEPS.map(str::to_owned));
    table.set_header(header);
    let mut rows = Vec::new();
    for record in records.iter().filter(|r| STEPS.contains(&r.figure.case.as_str())) {
        let row = (record.figure.config.as_str(), record.implementation);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let mut any = false;
    for (config, implementation) in rows {
        let here = STEPS.map(|step| {
            let same =
                |r: &&Record| (r.figure.case.as_str(), r.figure.config.as_str()) == (step, config);
            let of = |name| records.iter().filter(same).find(|r| r.implementation == name);
            // A variant takes the steps that it shares with the default from there.
            let record = of(implementation).or_else(|| of(default_of(implementation)))?;
            Some(record.summary()?.median)
        });
        if here.iter().flatten().count() < 2 {
            continue;
        }
        any = true;
        table.add_row(row(config, implementation, here));
        let published = STEPS.map(|step| Some(published::lookup("shed", step, config)?.first()));
        if implementation == OURS && published.iter().any(Option::is_some) {
            table.add_row(row(config, "published", published));
        }
    }
    for index in 2..2 + STEPS.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    any.then(|| format!("Each step, and its gain over the one before:\n{table}"))
}

/// Whose variant `implementation` is.
fn default_of(implementation: &str) -> &str {
    implementation.split('-').next().unwrap_or(implementation)
}

/// From nanoseconds a task.
fn row(config: &str, who: &str, ns: [Option<f64>; STEPS.len()]) -> Vec<String> {
    let cell = |i: usize| {
        let Some(now) = ns[i] else { return String::new() };
        let rate = format!("{:.2}", 1e3 / now);
        match i.checked_sub(1).and_then(|before| ns[before]) {
            Some(before) => format!("{rate} ×{:.2}", before / now),
            None => rate,
        }
    };
    let mut cells = vec![config.to_owned(), who.to_owned()];
    cells.extend((0..STEPS.len()).map(cell));
    cells
}
