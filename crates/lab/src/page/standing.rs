//! Where ours stands beside the peers, in one table.

use super::runs::Run;
use super::shell::{Column, table};
use crate::plot::choose::by_experiment;
use crate::plot::figures::{Comparison, Entry, Standing, comparisons};
use crate::plot::words::{Tally, verdict};
use crate::plot::{Measure, escaped, number};

/// How many comparisons are listed.
const WORST: usize = 12;

/// Returns the comparisons of the first run by experiment, and those where ours is furthest behind.
pub(super) fn summary(entries: &[Entry<'_>], runs: &[Run]) -> String {
    let all = comparisons(entries);
    if all.is_empty() {
        return String::new();
    }
    let Tally { ahead, even, behind } = Tally::of(&all);
    let of = if runs.len() > 1 { format!(" in {}", runs[0].label) } else { String::new() };
    let mut out = format!(
        "<section id=\"standing\"><h2>Where ours stands</h2>\n<p class=\"says\">{}</p>\n\
         <p>Each of our figures is compared with each peer's of the same case and configuration. \
         “Even” means that the 95 per cent interval of the ratio holds 1.</p>\n",
        escaped(&format!(
            "Of {} comparisons with other libraries{of}, ours is ahead in {ahead}, even in {even} \
             and behind in {behind}.",
            all.len()
        ))
    );
    let mut rows = String::new();
    let groups = by_experiment(entries);
    let mut count = 0;
    for group in &groups {
        let of = comparisons(group);
        let Tally { ahead, even, behind } = Tally::of(&of);
        if of.is_empty() {
            continue;
        }
        count += 1;
        let name = escaped(group[0].experiment);
        rows += &format!(
            "<tr><td>{name}<td class=\"n\">{ahead}<td class=\"n\">{even}<td class=\"n\">{behind}\n"
        );
    }
    let number = |name| Column { name, number: true };
    let word = |name| Column { name, number: false };
    let columns = [word("Experiment"), number("Ahead"), number("Even"), number("Behind")];
    out += "<div class=\"grid two\"><div>\n";
    out += &table("Comparisons by experiment", &columns, &rows, count);
    out += "</div>\n";
    out += &worst(&all);
    out + "</div></section>\n"
}

/// Returns the comparisons where ours is furthest behind.
fn worst(all: &[Comparison<'_>]) -> String {
    let mut behind: Vec<&Comparison<'_>> =
        all.iter().filter(|c| c.standing() == Standing::Behind).collect();
    if behind.is_empty() {
        return String::new();
    }
    behind.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let total = behind.len();
    behind.truncate(WORST);
    let mut rows = String::new();
    for c in &behind {
        let Entry { experiment, case, config, implementation, metric } = c.ours;
        let measure = Measure::new(metric.units.plain(), std::iter::once(metric.value));
        let figure = escaped(&format!("{experiment} {case} {config}"));
        let ours = escaped(&format!("{implementation} {}", measure.full(metric.value)));
        let verdict = escaped(&format!(
            "{} {}",
            verdict(c.ratio, metric.units.plain()),
            c.peer.implementation
        ));
        let sort = number(c.ratio.value);
        rows += &format!("<tr><td>{figure}<td>{ours}<td class=\"n\" data-v=\"{sort}\">{verdict}\n");
    }
    let columns = [("Figure", false), ("Ours", false), ("Verdict", true)];
    let columns = columns.map(|(name, number)| Column { name, number });
    let caption = format!("Furthest behind: {} of {total}", behind.len());
    format!("<div>\n{}</div>\n", table(&caption, &columns, &rows, 0))
}
