//! The tables of an experiment, in a given width: a row for each case in a configuration and a
//! column for each implementation, or, where that does not fit, a block for each case with a row
//! for each implementation. What others have published is on a line below.

use super::grid::{self, Grid, rule};
use super::screen::{Screen, TIE, Tint, left, length, right, tied};
use super::verdict::{Comparison, by_figure};
use super::{legend, short};
use crate::adapter::STAGES;
use crate::experiment::Trend;
use crate::host;
use crate::published::{self, Published};
use crate::stats::Summary;
use crate::store::Record;

/// Returns the tables of one experiment's `records`, without explanations.
pub(crate) fn text(records: &[Record], screen: &Screen) -> String {
    let rows: Vec<Row<'_>> = by_figure(records).into_iter().map(Row::of).collect();
    let implementations = distinct(records.iter().map(|r| r.implementation));
    let mut out = wide(&rows, &implementations, screen)
        .unwrap_or_else(|| blocks(&rows, screen).trim_end().to_owned());
    for source in distinct(rows.iter().filter_map(|row| row.published).map(|p| p.source)) {
        out += &format!("\n{}", screen.wrapped(&format!("published: {source}"), 2));
    }
    out
}

/// One case in one configuration.
struct Row<'a> {
    records: Vec<&'a Record>,
    published: Option<&'static Published>,
    verdict: Option<(String, Tint)>,
    /// Why the machine was not fit, except for threads that share cores: those have a star.
    notes: String,
    star: &'static str,
}

impl<'a> Row<'a> {
    fn of(records: Vec<&'a Record>) -> Self {
        let first = records[0];
        let (case, config) = (&first.figure.case, &first.figure.config);
        let verdict = Comparison::of(&records).and_then(|c| {
            let tint = c.standing().map_or(Tint::Plain, super::verdict::Standing::tint);
            Some((c.words()?, tint))
        });
        let all = || records.iter().flat_map(|r| r.notes.iter().map(String::as_str));
        let star = if all().any(host::is_crowd) { "*" } else { "" };
        let notes = distinct(all().filter(|note| !host::is_crowd(note))).join("; ");
        let published = published::lookup(first.experiment, case, config);
        Self { published, verdict, notes, star, records }
    }

    fn case(&self) -> &str {
        &self.records[0].figure.case
    }

    fn config(&self) -> String {
        format!("{}{}", self.records[0].figure.config, self.star)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.case(), self.config())
    }

    fn implementations(&self) -> Vec<&'a str> {
        self.records.iter().map(|r| r.implementation).collect()
    }

    fn cell(&self, implementation: &str) -> String {
        let record = self.records.iter().find(|r| r.implementation == implementation);
        record.map_or(String::new(), |record| cell(record))
    }

    /// What is said on lines of their own, below the row: published figures, and each stage's gain
    /// over the one before.
    fn below(&self) -> Vec<String> {
        let gains = |text: String| if text.is_empty() { text } else { format!(" (gains {text})") };
        let mut lines = Vec::new();
        let own = gains_measured(self);
        if !own.is_empty() {
            lines.push(format!("gain of each step: {own}"));
        }
        if let Some(published) = self.published {
            let published_gains = gains(gains_published(published, self));
            lines.push(format!("published: {}{published_gains}", published.text()));
        }
        lines
    }
}

/// Returns the table with a column for each implementation; `None` if it does not fit.
fn wide(rows: &[Row<'_>], implementations: &[&str], screen: &Screen) -> Option<String> {
    let any_verdict = rows.iter().any(|row| row.verdict.is_some());
    let any_note = rows.iter().any(|row| !row.notes.is_empty());
    let mut head = vec!["figure", "unit"];
    head.extend(implementations);
    head.extend(any_verdict.then_some("verdict"));
    head.extend(any_note.then_some("note"));
    let mut grid = Grid::new(&head, 2..2 + implementations.len());
    for row in rows {
        let unit = row.records[0].figure.unit;
        let mut cells = vec![row.name(), unit.to_owned()];
        cells.extend(implementations.iter().map(|name| row.cell(name)));
        let (words, tint) = row.verdict.clone().unwrap_or((String::new(), Tint::Plain));
        cells.extend(any_verdict.then(|| words.replace(TIE, " ")));
        cells.extend(any_note.then(|| row.notes.clone()));
        let below = row.below().into_iter();
        let below = below.map(|line| screen.wrapped(&format!("  {line}"), 2));
        grid.add(cells, tint, below.collect());
    }
    (grid.width() <= screen.width).then(|| grid.text(screen))
}

/// Returns blocks for figures with the same implementations: those as rows, the figures as columns.
/// Figures of a few implementations have a line each.
fn blocks(rows: &[Row<'_>], screen: &Screen) -> String {
    let mut out = String::new();
    for alike in rows.chunk_by(|a, b| a.implementations() == b.implementations()) {
        let names = alike[0].implementations();
        let name = names.iter().map(|i| length(i)).max().unwrap_or(0);
        if names.len() <= LISTED || fitting(alike, name, screen.width) == 0 {
            out.extend(alike.iter().map(|row| listed(row, screen)));
            out.push('\n');
            continue;
        }
        let mut left_over = alike;
        while !left_over.is_empty() {
            let (shown, rest) = left_over.split_at(fitting(left_over, name, screen.width).max(1));
            out += &block(shown, &names, name);
            for row in shown {
                let first =
                    if shown.len() > 1 { format!("{}: ", row.name()) } else { String::new() };
                out += &under(row, &first, screen);
            }
            out.push('\n');
            left_over = rest;
        }
    }
    out
}

/// Figures with at most so many implementations have a line each.
const LISTED: usize = 3;
/// The names of columns are broken to about this width.
const NAME: usize = 10;

/// One figure in a line, with its implementations one after another.
fn listed(row: &Row<'_>, screen: &Screen) -> String {
    let values = row.implementations().into_iter();
    let values = values.map(|name| tied(&format!("{name} {}", row.cell(name))));
    let unit = row.records[0].figure.unit;
    let head = tied(&format!("{}, {unit}:", row.name()));
    let line = format!("{head} {}", values.collect::<Vec<_>>().join(", "));
    format!("{}\n{}", screen.wrapped(&line, 4), under(row, "  ", screen))
}

/// Returns what is said under a figure, each line after `first`.
fn under(row: &Row<'_>, first: &str, screen: &Screen) -> String {
    let mut out = String::new();
    let mut say = |text: &str, tint| {
        for line in screen.wrapped(&format!("{first}{text}"), 2).lines() {
            out += &format!("{}\n", screen.tinted(line, tint));
        }
    };
    let notes = if row.notes.is_empty() { String::new() } else { format!(" ({})", row.notes) };
    match &row.verdict {
        Some((words, tint)) => say(&format!("{words}{notes}"), *tint),
        None if !notes.is_empty() => say(&row.notes, Tint::Plain),
        None => {}
    }
    row.below().iter().for_each(|line| say(line, Tint::Plain));
    out
}

/// The lines above a row's values where they are a column: case, configuration, unit.
fn titles(row: &Row<'_>) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in row.case().split_inclusive('-') {
        match lines.last_mut() {
            Some(last) if last.is_empty() || length(last) + length(part) <= NAME => *last += part,
            _ => lines.push(part.to_owned()),
        }
    }
    lines.extend([format!("/{}", row.config()), row.records[0].figure.unit.to_owned()]);
    lines
}

/// Width of the column of a row's values.
fn column(row: &Row<'_>) -> usize {
    titles(row).iter().map(|title| length(title)).max().unwrap_or(0).max(values(row))
}

/// Returns how many of `rows` fit beside names of that width.
fn fitting(rows: &[Row<'_>], name: usize, width: usize) -> usize {
    let mut used = name;
    let fits = |row: &&Row<'_>| {
        used += 2 + column(row);
        used <= width
    };
    let count = rows.iter().take_while(fits).count();
    // A figure alone has its title above.
    let alone = rows.first().is_some_and(|row| name + 2 + values(row) <= width);
    count.max(usize::from(alone))
}

/// Width of a row's values alone.
fn values(row: &Row<'_>) -> usize {
    row.records.iter().map(|r| length(&cell(r))).max().unwrap_or(0)
}

fn block(rows: &[Row<'_>], implementations: &[&str], name: usize) -> String {
    let alone = rows.len() == 1;
    let width_of = if alone { values } else { column };
    let widths: Vec<usize> = rows.iter().map(width_of).collect();
    let width = name + widths.iter().map(|w| 2 + w).sum::<usize>();
    let line = |first: &str, cells: Vec<String>| {
        let cells = cells.iter().zip(&widths).map(|(cell, w)| format!("  {}", right(cell, *w)));
        format!("{}{}", left(first, name), cells.collect::<String>()).trim_end().to_owned() + "\n"
    };
    let heads: Vec<Vec<String>> = rows.iter().map(titles).collect();
    let tallest = if alone { 0 } else { heads.iter().map(Vec::len).max().unwrap_or(0) };
    let mut out = if alone {
        format!("{}, {}\n", rows[0].name(), rows[0].records[0].figure.unit)
    } else {
        format!("{}\n", rule(width))
    };
    for i in 0..tallest {
        // Shorter titles stand at the bottom.
        let part = |head: &Vec<String>| {
            let skipped = tallest - head.len();
            i.checked_sub(skipped).and_then(|i| head.get(i)).cloned().unwrap_or_default()
        };
        out += &line("", heads.iter().map(part).collect());
    }
    out += &format!("{}\n", rule(width));
    for implementation in implementations {
        out += &line(implementation, rows.iter().map(|row| row.cell(implementation)).collect());
    }
    out + &format!("{}\n", rule(width))
}

/// Returns the table as Markdown.
pub(crate) fn markdown(records: &[Record]) -> String {
    let rows: Vec<Row<'_>> = by_figure(records).into_iter().map(Row::of).collect();
    let implementations = distinct(records.iter().map(|r| r.implementation));
    let line = |cells: Vec<String>| grid::markdown(&cells);
    let plain = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let mut out = line(
        [
            plain(&["figure", "unit"]),
            plain(&implementations),
            plain(&["verdict", "published", "note"]),
        ]
        .concat(),
    );
    let mut marks = plain(&["---", "---"]);
    marks.extend(implementations.iter().map(|_| "---:".to_owned()));
    out += &line([marks, plain(&["---", "---", "---"])].concat());
    for row in &rows {
        let unit = row.records[0].figure.unit;
        let mut cells = vec![row.name(), unit.to_owned()];
        cells.extend(implementations.iter().map(|name| row.cell(name)));
        cells.push(row.verdict.as_ref().map_or(String::new(), |v| v.0.replace(TIE, " ")));
        cells.push(row.published.map_or(String::new(), |p| p.text().replace(TIE, " ")));
        cells.push(row.notes.clone());
        out += &line(cells);
    }
    for source in distinct(rows.iter().filter_map(|row| row.published).map(|p| p.source)) {
        out += &format!("\nPublished: {source}.\n");
    }
    out + &legend::plain(records)
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
    tied(&values.windows(2).map(gain).collect::<Vec<_>>().join(" "))
}

/// Returns `items` without repetitions, in order of first appearance.
pub(super) fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Figure;
    use crate::report::screen::Format;

    fn record(case: &str, implementation: &'static str, config: &str, value: f64) -> Record {
        let figure = Figure {
            case: case.to_owned(),
            config: config.to_owned(),
            name: String::new(),
            unit: "ns",
            trend: Trend::Lower,
            description: String::new(),
        };
        let samples = (0..9).map(|i| value + f64::from(i) / 100.0).collect();
        let notes = if config == "t8" { vec!["8 threads on 2 cores".to_owned()] } else { vec![] };
        Record { samples, notes, ..Record::new("pool", implementation, figure) }
    }

    fn screen(width: usize) -> Screen {
        Screen { width, colour: false, format: Format::Text }
    }

    #[test]
    fn a_few_implementations_are_columns_with_a_verdict() {
        let records = [
            record("fib", "sateen", "w2", 10.0),
            record("fib", "rayon", "w2", 26.0),
            record("fib", "chili", "w2", 40.0),
        ];
        let text = text(&records, &screen(80));
        let row = text.lines().nth(3).expect("a row");
        assert!(row.starts_with("fib/w2") && row.ends_with("2.6 × faster than rayon"), "{text}");
    }

    #[test]
    fn many_implementations_are_rows() {
        let names = ["global", "magazine", "lock-free-flags", "mimalloc", "jemalloc", "snmalloc"];
        let figures = ["short-fresh", "short-polluted", "long-fresh", "long-polluted"];
        let records: Vec<Record> = figures
            .iter()
            .flat_map(|case| ["t1", "t8"].map(|config| (*case, config)))
            .flat_map(|(case, config)| {
                names
                    .iter()
                    .zip([9.0, 10.0, 12.0, 8.0, 30.0, 20.0])
                    .map(move |(name, value)| record(case, name, config, value))
            })
            .collect();
        for width in [20, 40, 80, 100, 140, 250] {
            let text = text(&records, &screen(width));
            let longest = text.lines().map(length).max().unwrap_or(0);
            assert!(longest <= width.max(30), "{longest} of {width}: {text}");
            let said = text.replace('\n', " ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(said.matches("1.2 × slower than mimalloc").count(), 8, "{width}: {text}");
            assert!(said.contains("/t8*") && said.contains("global 1004"), "{width}: {text}");
        }
    }
}
