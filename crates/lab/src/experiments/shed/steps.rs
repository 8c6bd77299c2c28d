//! What each step from test A to test E gains, beside what was published.

use crate::adapter::SHED_TESTS;
use crate::published;
use crate::report::{STYLE, short};
use crate::store::Record;
use comfy_table::{CellAlignment, Table};

/// A table of the tasks in a second, and of each test by the one before: a row for each implementation and number of
/// threads, and for what was published. `None` if no test was measured.
pub(super) fn text(records: &[Record]) -> Option<String> {
    let is_test = |case: &str| SHED_TESTS.iter().any(|test| test.name == case);
    let mut table = Table::new();
    table.load_style(STYLE);
    let head = ["M tasks/s", ""].into_iter().chain(SHED_TESTS.iter().map(|test| test.name));
    table.set_header(head);
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for record in records.iter().filter(|r| is_test(&r.figure.case)) {
        let row = (record.figure.config.as_str(), record.implementation);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_by_key(|(config, _)| records.iter().position(|r| r.figure.config == *config));
    let mut last = "";
    for &(config, implementation) in &rows {
        let measured = |case: &str| {
            let same = |r: &&Record| {
                r.figure.case == case
                    && r.figure.config == config
                    && r.implementation == implementation
            };
            Some(records.iter().find(same)?.summary()?.median)
        };
        let published = |case: &str| Some(published::lookup("shed", case, config)?.values[0].low);
        let others = cells(published);
        if last != config && others.iter().any(|cell| !cell.is_empty()) {
            table.add_row([vec![config.to_owned(), "published".to_owned()], others].concat());
        }
        last = config;
        let row = vec![config.to_owned(), implementation.to_owned()];
        table.add_row([row, cells(measured)].concat());
    }
    for index in 2..2 + SHED_TESTS.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    (!rows.is_empty()).then(|| table.to_string())
}

/// For each test the rate and the gain, from the nanoseconds of a task.
fn cells(ns: impl Fn(&str) -> Option<f64>) -> Vec<String> {
    let mut before = None;
    let cell = |test: &crate::adapter::ShedTest| {
        let ns = ns(test.name);
        let gain = before.zip(ns).map(|(before, ns)| format!(" ×{:.2}", before / ns));
        before = ns;
        ns.map_or(String::new(), |ns| short(1e3 / ns) + &gain.unwrap_or_default())
    };
    SHED_TESTS.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_steps_have_the_published_gains() {
        let published = |case: &str| Some(published::lookup("shed", case, "p4c4")?.values[0].low);
        let cells = cells(published);
        for (cell, gain) in cells.iter().zip(["", "×1.04", "×1.17", "×1.03", "×2.01"]) {
            assert!(cell.ends_with(gain), "{cells:?}");
        }
        assert_eq!(text(&[]), None);
    }

    #[test]
    fn a_gain_needs_the_test_before() {
        let ns = |case: &str| (case != "C").then_some(if case == "A" { 200.0 } else { 100.0 });
        assert_eq!(
            cells(ns),
            [
                short(5.0),
                short(10.0) + " ×2.00",
                String::new(),
                short(10.0),
                short(10.0) + " ×1.00"
            ]
        );
    }
}
