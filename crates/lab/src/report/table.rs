//! The tables: a row for each case in a configuration, a column for each implementation, and what
//! others have published.

use super::{STYLE, short};
use crate::adapter::STAGES;
use crate::experiment::Trend;
use crate::host;
use crate::published::{self, Published};
use crate::stats::Summary;
use crate::store::Record;
use comfy_table::{CellAlignment, Table};

/// Returns the table of one experiment's `records`.
pub(crate) fn text(records: &[Record]) -> String {
    let implementations = distinct(records.iter().map(|r| r.implementation));
    let rows = rows(records);
    let lookup = |row: &Row<'_>| {
        let first = row.records[0];
        published::lookup(first.experiment, &first.figure.case, &first.figure.config)
    };
    let any_published = rows.iter().any(|r| lookup(r).is_some());
    let any_stage = rows.iter().any(|r| !gains_measured(r).is_empty());
    let any_stage_published = any_stage && any_published;
    let any_note = records.iter().any(|r| !r.notes.is_empty());

    let mut table = Table::new();
    table.load_style(STYLE);
    let mut header = vec!["figure".to_owned(), "unit".to_owned()];
    header.extend(implementations.iter().map(|i| folded(i.trim_start_matches("sateen-"))));
    header.extend(any_stage.then(|| "gain".to_owned()));
    header.extend(any_published.then(|| "published".to_owned()));
    header.extend(any_stage_published.then(|| "its gain".to_owned()));
    header.extend(any_note.then(|| "note".to_owned()));
    table.set_header(header);

    for row in &rows {
        let figure = &row.records[0].figure;
        let of = |name: &str| row.records.iter().copied().find(|r| r.implementation == name);
        let mut cells = vec![format!("{}/{}", figure.case, figure.config), figure.unit.to_owned()];
        cells.extend(implementations.iter().map(|i| of(i).map_or(String::new(), cell)));
        let published = lookup(row);
        let on = |p: bool, text: Option<String>| p.then(|| text.unwrap_or_default());
        cells.extend(on(any_stage, Some(gains_measured(row))));
        cells.extend(on(any_published, published.map(Published::text)));
        cells.extend(on(any_stage_published, published.map(|p| gains_published(p, row))));
        let notes = distinct(row.records.iter().flat_map(|r| r.notes.iter().map(String::as_str)));
        cells.extend(on(any_note, Some(notes.join("; "))));
        table.add_row(cells);
    }
    for index in 2..2 + implementations.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = table.to_string();
    for source in distinct(rows.iter().filter_map(lookup).map(|p| p.source)) {
        out += &format!("\npublished: {source}");
    }
    let notes = distinct(records.iter().flat_map(|r| r.notes.iter().map(String::as_str)));
    if let Some(legend) = host::legend(&notes) {
        out += &format!("\n{legend}");
    }
    out
}

/// Breaks `name` after hyphens into lines of up to 14 characters: columns hold numbers and need not
/// be wider.
fn folded(name: &str) -> String {
    const WIDTH: usize = 14;
    let (mut text, mut width) = (String::new(), 0);
    for part in name.split_inclusive('-') {
        if width > 0 && width + part.len() > WIDTH {
            text.push('\n');
            width = 0;
        }
        text += part;
        width += part.len();
    }
    text
}

/// The records of one case in one configuration.
struct Row<'a> {
    records: Vec<&'a Record>,
}

fn rows(records: &[Record]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for record in records {
        let same = |r: &&mut Row<'_>| {
            let figure = &r.records[0].figure;
            (&figure.case, &figure.config) == (&record.figure.case, &record.figure.config)
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.records.push(record),
            None => rows.push(Row { records: vec![record] }),
        }
    }
    rows
}

/// Returns the median and the relative standard deviation.
fn cell(record: &Record) -> String {
    let Some(s) = record.summary() else { return String::new() };
    let Summary { median, mean, sd, runs, .. } = s;
    if runs < 2 || mean == 0.0 {
        return short(median);
    }
    format!("{} ±{:.0}%", short(median), 100.0 * sd / mean.abs())
}

/// Returns each stage's gain over the one before, by our own medians; empty for fewer than two
/// stages.
fn gains_measured(row: &Row<'_>) -> String {
    gains(row, |stage| {
        let record = row.records.iter().find(|r| r.implementation == stage)?;
        Some(record.summary()?.median)
    })
}

/// Returns each stage's gain over the one before, as published.
fn gains_published(published: &Published, row: &Row<'_>) -> String {
    gains(row, |stage| published.stage(stage))
}

/// Returns how much better each stage is than the one before, such as `×1.18 ×1.00`.
fn gains(row: &Row<'_>, value: impl Fn(&str) -> Option<f64>) -> String {
    let trend = row.records[0].figure.trend;
    let values: Vec<Option<f64>> = STAGES.iter().map(|stage| value(stage)).collect();
    if values.iter().flatten().count() < 2 {
        return String::new();
    }
    let gain = |pair: &[Option<f64>]| match (pair[0], pair[1]) {
        (Some(a), Some(b)) if trend == Trend::Lower => format!("×{:.2}", a / b),
        (Some(a), Some(b)) => format!("×{:.2}", b / a),
        _ => "-".to_owned(),
    };
    values.windows(2).map(gain).collect::<Vec<_>>().join(" ")
}

/// Returns `items` without repetitions, in order of first appearance.
fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
