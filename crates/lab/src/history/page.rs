//! The page of `sateen history`.

use super::lines::{History, Line};
use crate::page::shell::{self, Column};
use crate::plot::figures::{Config, Entry};
use crate::plot::pens::looks;
use crate::plot::{Chart, Kind, Mark, Measure, Series, escaped};
use crate::report::json::Metric;

type Failure = Box<dyn std::error::Error>;

/// Width of a picture in its own pixels.
const WIDTH: i32 = 400;

/// Returns the page.
///
/// # Errors
/// The plotting library refuses.
pub(super) fn page(history: &History) -> Result<String, Failure> {
    let changed = history.lines.iter().filter(|l| !l.changes.is_empty()).count();
    let mut body = head(history, changed);
    body += &table(history);
    let (first, rest) = history.lines.split_at(changed);
    for (id, title, lines) in
        [("changed", "Figures that changed", first), ("steady", "Figures without a change", rest)]
    {
        if lines.is_empty() {
            continue;
        }
        body += &format!("<section id=\"{id}\"><h2>{title}</h2>\n<div class=\"grid\">\n");
        for (index, line) in lines.iter().enumerate() {
            let chart = chart(history, line);
            let id = format!("{id}-{index}");
            let svg = chart.draw(WIDTH)?.inline(&id, &chart.title, &chart.says);
            body += &format!(
                "<figure><figcaption><h3>{}</h3><p>{}</p></figcaption>{svg}</figure>\n",
                escaped(&chart.title),
                escaped(&chart.says)
            );
        }
        body += "</div></section>\n";
    }
    let mut links = vec![("changes".to_owned(), "All changes".to_owned())];
    if changed > 0 {
        links.push(("changed".to_owned(), "Changed".to_owned()));
    }
    if changed < history.lines.len() {
        links.push(("steady".to_owned(), "Without a change".to_owned()));
    }
    Ok(shell::page("Sateen: history", &links, &body))
}

fn head(history: &History, changed: usize) -> String {
    let commits = &history.commits;
    let (first, last) = (&commits[0], &commits[commits.len() - 1]);
    let mut cpus: Vec<&str> = commits.iter().map(|c| c.cpu.plain()).collect();
    cpus.dedup();
    let warning = if cpus.len() > 1 {
        let text = "The commits were measured on different processors. A change may be theirs.";
        format!("<p class=\"bad\">{text}</p>\n")
    } else {
        String::new()
    };
    format!(
        "<p class=\"says\">{}</p>\n{warning}<p>A point is the median of a commit's runs, with its \
         95 per cent interval. A dashed line is a change: the ranks of the values before and after \
         it differ as in at most one of a hundred random orders, and their medians by 3 per cent \
         and twice the noise. At least three commits lie on both sides of it, so the latest \
         changes show late. Figures that changed last come first.</p>\n",
        escaped(&format!(
            "{} commits from {} to {}: {changed} of {} figures changed.",
            commits.len(),
            first.full.plain(),
            last.full.plain(),
            history.lines.len()
        ))
    )
}

/// Returns the table of all changes, the latest first.
fn table(history: &History) -> String {
    let mut found: Vec<_> =
        history.lines.iter().flat_map(|l| l.changes.iter().map(move |c| (l, c))).collect();
    found.sort_by_key(|(_, change)| std::cmp::Reverse(change.at));
    let mut rows = String::new();
    for (line, change) in &found {
        let measure = Measure::new(line.unit.plain(), [change.before, change.after].into_iter());
        let commit = &history.commits[change.at];
        let (class, word) =
            if line.is_worse(change) { ("bad", "worse") } else { ("good", "better") };
        let share = 100.0 * (change.after / change.before - 1.0);
        let share = if share.is_finite() { share } else { f64::MAX };
        rows += &format!(
            "<tr><td data-v=\"{}\" title=\"{}\">{}<td>{}<td class=\"n {class}\" \
             data-v=\"{share:.2}\">{} {word}<td class=\"n\" data-v=\"{}\">{}<td class=\"n\" \
             data-v=\"{}\">{}\n",
            change.at,
            escaped(commit.full.plain()),
            escaped(commit.name.plain()),
            escaped(line.id.plain()),
            escaped(&Line::says(change)),
            change.before,
            escaped(&measure.full(change.before)),
            change.after,
            escaped(&measure.full(change.after)),
        );
    }
    let columns = [
        ("First commit with it", false),
        ("Figure", false),
        ("Change", true),
        ("Before", true),
        ("After", true),
    ];
    let columns = columns.map(|(name, number)| Column { name, number });
    let inner = if found.is_empty() {
        "<p>There is none.</p>\n".to_owned()
    } else {
        shell::table("All changes, the latest first", &columns, &rows, found.len())
    };
    format!("<section id=\"changes\"><h2>All changes</h2>\n{inner}</section>\n")
}

/// Returns the picture of one figure.
fn chart(history: &History, line: &Line) -> Chart {
    let metric = Metric { id: line.id.clone(), ..Metric::default() };
    let entry = Entry::of(&metric);
    let config = Config::of(entry.config).words();
    let parts = [entry.experiment, entry.case, entry.implementation, &config];
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    let name = entry.implementation.to_owned();
    let look = looks(&[entry.implementation])[0];
    let values: Vec<f64> = line.values.iter().flatten().map(|e| e.value).collect();
    let measure = Measure::new(line.unit.plain(), values.iter().copied());
    let last = values.last().map_or(String::new(), |v| measure.full(*v));
    let says = match line.changes.last() {
        Some(change) => {
            let word = if line.is_worse(change) { "worse" } else { "better" };
            format!(
                "Now {last}. {} ({word}) with {}, from {} to {}.",
                Line::says(change),
                history.commits[change.at].name.plain(),
                measure.full(change.before),
                measure.full(change.after)
            )
        }
        None => format!("Now {last}, without a change."),
    };
    Chart {
        kind: Kind::History,
        title: parts.join(", "),
        says,
        unit: line.unit.plain().to_owned(),
        better: if line.lower_is_better { "lower is better" } else { "higher is better" },
        columns: history.commits.iter().map(|c| c.name.plain().to_owned()).collect(),
        series: vec![Series { name, look, values: line.values.clone() }],
        marks: line.changes.iter().map(|c| Mark { column: c.at, text: Line::says(c) }).collect(),
        ..Chart::default()
    }
}
