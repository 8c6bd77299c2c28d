//! The figures of an experiment.

use super::machines::is_crowded;
use super::runs::Run;
use super::shell::{Column, table};
use crate::plot::figures::{Entry, Part, compare, grouped, ours_of};
use crate::plot::{Measure, escaped, number};
use crate::published;
use sateen_top::foreign::Foreign;
use std::collections::HashMap;
use std::fmt::Write;

/// Returns the table of one experiment's figures, one a row. Several runs have a column each.
pub(super) fn figures(name: &str, runs: &[Run], of: &[Vec<Entry<'_>>]) -> String {
    let mut rows = String::new();
    let all = union(of);
    let published = |e: &Entry<'_>| published::lookup(e.experiment, e.case, e.config);
    let any_published = all.iter().any(|e| published(e).is_some());
    let any_note = all.iter().any(|e| !runs[0].notes(&e.metric.id).is_empty());
    let any_peer = all.iter().any(|e| e.part() == Part::Peer);
    let several = runs.len() > 1;
    let others: Vec<HashMap<&Foreign, Entry<'_>>> =
        of.iter().map(|entries| entries.iter().map(|e| (&e.metric.id, *e)).collect()).collect();
    for case in grouped(&all, |e| (e.case, &e.metric.units)) {
        let measure =
            Measure::new(case[0].metric.units.plain(), case.iter().map(|e| e.metric.value));
        for row in grouped(&case, |e| e.config) {
            let ours = ours_of(&row);
            let mut source = published(&row[0]);
            for entry in &row {
                let Entry { case, implementation, config, metric, .. } = entry;
                let cells = [*case, *config, *implementation].map(escaped);
                let [case, config, implementation] = cells;
                let _ = write!(rows, "<tr><td>{case}<td>{config}<td>{implementation}");
                for run in &others {
                    let value = run.get(&metric.id).map(|e| e.metric.value);
                    let text = value.map_or(String::new(), |v| measure.text(v));
                    let sort = value.filter(|_| !measure.is_plain(&text));
                    let sort = sort.map_or(String::new(), |v| format!(" data-v={v:e}"));
                    let _ = write!(rows, "<td class=n{sort}>{text}");
                }
                let _ = write!(rows, "<td>{}", escaped(&measure.unit));
                if several {
                    let _ = write!(rows, "<td class=n>{}", between(&others, entry));
                } else {
                    let e = entry.estimate();
                    let (low, high) = (measure.text(e.low), measure.text(e.high));
                    let _ = write!(rows, "<td class=n>{low}–{high}<td class=n>{}", metric.runs);
                }
                if any_peer {
                    let ratio = ours.filter(|_| entry.part() == Part::Peer).and_then(|ours| {
                        compare(ours.estimate(), entry.estimate(), entry.lower_is_better())
                    });
                    let ratio = ratio.map_or(String::new(), |r| number(r.value));
                    let _ = write!(rows, "<td class=n>{ratio}");
                }
                if any_published {
                    // Said once for all implementations.
                    let text = source.take().map_or(String::new(), published::Published::text);
                    let _ = write!(rows, "<td>{}", escaped(&text));
                }
                if any_note {
                    let _ = write!(rows, "<td>{}", escaped(&notes(&runs[0], &metric.id)));
                }
                rows.push('\n');
            }
        }
    }
    let word = |name| Column { name, number: false };
    let digits = |name| Column { name, number: true };
    let mut columns = vec![word("Case"), word("With"), word("Implementation")];
    match runs {
        [_] => columns.push(digits("Median")),
        _ => columns.extend(runs.iter().map(|r| digits(&r.label))),
    }
    columns.push(word("Unit"));
    if several {
        columns.push(digits("Last ÷ first"));
    } else {
        columns.extend([digits("95 % interval"), digits("Runs")]);
    }
    columns.extend(any_peer.then(|| digits("Ours × as good")));
    columns.extend(any_published.then(|| word("Published")));
    columns.extend(any_note.then(|| word("Note")));
    let caption = format!("All figures of {name}");
    let inner = table(&caption, &columns, &rows, all.len());
    let sources = sources(&all);
    let count = all.len();
    format!("<details open><summary>All {count} figures</summary>\n{sources}{inner}</details>\n")
}

/// Returns the figures of all runs, each once.
fn union<'a>(of: &[Vec<Entry<'a>>]) -> Vec<Entry<'a>> {
    let mut seen = std::collections::HashSet::new();
    of.iter().flatten().filter(|e| seen.insert(&e.metric.id)).copied().collect()
}

/// Returns how many times as large the figure is in the last run as in the first.
fn between(runs: &[HashMap<&Foreign, Entry<'_>>], entry: &Entry<'_>) -> String {
    let of = |run: &HashMap<&Foreign, Entry<'_>>| {
        let there = run.get(&entry.metric.id)?;
        (there.metric.units == entry.metric.units).then_some(there.metric.value)
    };
    let (Some(first), Some(last)) = (runs.first().and_then(of), runs.last().and_then(of)) else {
        return String::new();
    };
    let ratio = last / first;
    if ratio.is_finite() { number(ratio) } else { String::new() }
}

fn notes(run: &Run, id: &Foreign) -> String {
    let notes = run.notes(id);
    // The machine's cores are said at the top of the page.
    let short = notes.iter().map(|n| if is_crowded(n) { "more threads than cores" } else { n });
    short.collect::<Vec<_>>().join("; ")
}

/// Returns where published figures come from.
fn sources(all: &[Entry<'_>]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for entry in all {
        let found = published::lookup(entry.experiment, entry.case, entry.config);
        if let Some(found) = found
            && !seen.contains(&found.source)
        {
            seen.push(found.source);
        }
    }
    let one = |source: &&str| format!("<p class=\"faint\">Published: {}.</p>\n", escaped(source));
    seen.iter().map(one).collect()
}
