//! What a picture shows, in a sentence.

use super::figures::{Comparison, Entry, Part, Standing, compare, ours_of, standing};
use super::{Estimate, Measure, number};

/// The words for the two directions of a unit: what is better, and what is worse.
fn directions(unit: &str) -> (&'static str, &'static str) {
    match unit {
        "ns" | "µs" | "ms" | "s" => ("faster", "slower"),
        _ if unit.ends_with("/s") => ("faster", "slower"),
        _ => ("better", "worse"),
    }
}

/// Returns `ratio` in words, such as `2.6 × faster than`.
pub(crate) fn verdict(ratio: Estimate, unit: &str) -> String {
    let (better, worse) = directions(unit);
    match standing(ratio) {
        Standing::Ahead => format!("{} × {better} than", number(ratio.value)),
        Standing::Behind => format!("{} × {worse} than", number(1.0 / ratio.value)),
        Standing::Even => "as good as".to_owned(),
    }
}

/// Returns what `row`, the figures of one case in one configuration `with` some words, says.
pub(crate) fn row(row: &[Entry<'_>], with: &str) -> String {
    let Some(first) = row.first() else { return String::new() };
    let unit = first.metric.units.plain();
    let with = if with.is_empty() { String::new() } else { format!("With {with}, ") };
    let Some(ours) = ours_of(row) else {
        return best(row, &with);
    };
    let measure = Measure::new(unit, std::iter::once(ours.metric.value));
    let value = measure.full(ours.metric.value);
    let name = ours.implementation;
    let mut ratios: Vec<(Estimate, &str)> = row
        .iter()
        .filter(|e| e.part() == Part::Peer)
        .filter_map(|e| {
            let ratio = compare(ours.estimate(), e.estimate(), ours.lower_is_better())?;
            Some((ratio, e.implementation))
        })
        .collect();
    ratios.sort_by(|a, b| a.0.value.total_cmp(&b.0.value));
    if ratios.is_empty() {
        return best(row, &with);
    }
    // The nearest rivals; a long list says nothing.
    let mut said: Vec<String> = Vec::new();
    let near = ratios.iter().take(3);
    for one in near
        .collect::<Vec<_>>()
        .chunk_by(|a, b| (standing(a.0), standing(b.0)) == (Standing::Even, Standing::Even))
    {
        let names: Vec<&str> = one.iter().map(|(_, peer)| *peer).collect();
        said.push(format!("{} {}", verdict(one[0].0, unit), listed(&names)));
    }
    if let [_, _, _, .., (ratio, peer)] = &ratios[..] {
        let last = verdict(*ratio, unit);
        said.push(format!("{last} {peer} (the last of {})", ratios.len()));
    }
    format!("{with}{name} is at {value}: {}.", said.join(", "))
}

/// Returns `names` with commas and an “and”.
fn listed(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Says which of `row` is best.
fn best(row: &[Entry<'_>], with: &str) -> String {
    let value = |e: &&Entry<'_>| {
        if e.lower_is_better() { e.metric.value } else { -e.metric.value }
    };
    let Some(best) = row.iter().min_by(|a, b| value(a).total_cmp(&value(b))) else {
        return String::new();
    };
    let measure = Measure::new(best.metric.units.plain(), std::iter::once(best.metric.value));
    let full = measure.full(best.metric.value);
    if row.len() == 1 {
        return format!("{with}{} is at {full}.", best.implementation);
    }
    format!("{with}{} is best of {}, at {full}.", best.implementation, row.len())
}

/// How many comparisons are ahead, even and behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) ahead: usize,
    pub(crate) even: usize,
    pub(crate) behind: usize,
}

impl Tally {
    pub(crate) fn of(all: &[Comparison<'_>]) -> Self {
        let count = |standing| all.iter().filter(|c| c.standing() == standing).count();
        Self {
            ahead: count(Standing::Ahead),
            even: count(Standing::Even),
            behind: count(Standing::Behind),
        }
    }

    pub(crate) fn total(self) -> usize {
        self.ahead + self.even + self.behind
    }
}

/// Returns what all comparisons of an experiment say; empty for none.
pub(crate) fn all(comparisons: &[Comparison<'_>]) -> String {
    let tally = Tally::of(comparisons);
    if tally.total() == 0 {
        return String::new();
    }
    let Tally { ahead, even, behind } = tally;
    let mut text = format!(
        "Of {} comparisons with peers, ours is ahead in {ahead}, even in {even} and behind in \
         {behind}.",
        tally.total()
    );
    let worst = comparisons
        .iter()
        .filter(|c| c.standing() == Standing::Behind)
        .min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    if let Some(worst) = worst {
        let Entry { case, config, implementation, metric, .. } = worst.ours;
        text += &format!(
            " Furthest behind: {case} {config}, where {implementation} is {} {}.",
            verdict(worst.ratio, metric.units.plain()),
            worst.peer.implementation
        );
    }
    text
}
