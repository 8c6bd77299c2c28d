//! New figures against old ones.

use super::csv;
use super::grid;
use super::json::{Document, Metric};
use super::screen::{Format, Screen, TIE, Tint};
use super::verdict::{self, Counted, ENOUGH, Standing, phrase, words_for};
use crate::error::{Error, input};
use crate::host::plural;
use crate::stats::{self, Ratio};
use sateen_top::foreign::{self, Foreign};
use serde_json::{Value, json};

/// Figures of two processes differ more than runs of one: their memory lies elsewhere. Intervals
/// are wider by this part on both sides.
const BETWEEN_PROCESSES: f64 = 0.03;

/// The same for figures of many processes each. A difference below it would be of no use to
/// anybody, and the hours of a machine make as much.
const BETWEEN_TIMES: f64 = 0.02;

/// One figure that both documents have.
struct Change<'a> {
    base: &'a Metric,
    new: &'a Metric,
    /// Whether the rounds of both are processes of their own.
    in_processes: bool,
}

impl Change<'_> {
    /// New value over base; 1 if both are zero.
    fn ratio(&self) -> f64 {
        if self.new.value == self.base.value { 1.0 } else { self.new.value / self.base.value }
    }

    /// Returns how many times worse the new figure is; below 1 if it is better.
    fn worsening(&self) -> f64 {
        if self.base.trend == *"higher-is-better" { 1.0 / self.ratio() } else { self.ratio() }
    }

    /// Returns how many times better the new figure is, with an interval: from the rounds of both,
    /// if there are enough, else from the deviations of their runs; `None` if there were too few.
    fn gain(&self) -> Option<Ratio> {
        let (new, base) = (&self.new.rounds, &self.base.rounds);
        let by_rounds = match self.base.trend == *"higher-is-better" {
            true => stats::ratio_of_rounds(new, base),
            false => stats::ratio_of_rounds(base, new),
        };
        by_rounds
            .map(|gain| {
                let more = if self.in_processes { BETWEEN_TIMES } else { BETWEEN_PROCESSES };
                Ratio { low: gain.low * (-more).exp(), high: gain.high * more.exp(), ..gain }
            })
            .or_else(|| self.gain_by_deviations())
    }

    fn gain_by_deviations(&self) -> Option<Ratio> {
        let value = 1.0 / self.worsening();
        let enough = self.base.runs.min(self.new.runs) >= ENOUGH;
        if !enough || !value.is_finite() || value <= 0.0 {
            return None;
        }
        // The relative error of a median, by that of a mean.
        let error = |m: &Metric| 1.2533 * m.sd / m.mean.abs() / (m.runs as f64).sqrt();
        let (was, is) = (error(self.base), error(self.new));
        let spread = 1.96 * was.hypot(is) + BETWEEN_PROCESSES;
        spread.is_finite().then(|| Ratio {
            value,
            low: value * (-spread).exp(),
            high: value * spread.exp(),
        })
    }

    /// Returns the verdict in words; empty without an interval.
    fn verdict(&self) -> (String, Tint) {
        let Some(gain) = self.gain() else { return (String::new(), Tint::Plain) };
        let case = self.new.id.plain().split('/').nth(1).unwrap_or_default();
        let words = words_for(case, self.new.units.plain());
        (phrase(&gain, words, "before"), Standing::of(&gain).tint())
    }
}

/// Returns the figures of `new` that `base` has too.
///
/// # Errors
/// There is none in common, or the unit or trend of one has changed.
fn changes<'a>(base: &'a Document, new: &'a Document) -> Result<Vec<Change<'a>>, Error> {
    let mut found = Vec::new();
    let in_processes =
        |d: &Document| d.machine.text("rounds").is_some_and(|rounds| rounds == *"processes");
    let in_processes = in_processes(base) && in_processes(new);
    for metric in new.metrics() {
        let Some(old) = base.metrics().find(|m| m.id == metric.id) else { continue };
        if (&old.units, &old.trend) != (&metric.units, &metric.trend) {
            return Err(input(format!(
                "`{}` is in {} ({}) in one file and in {} ({}) in the other",
                metric.id.plain(),
                old.units.plain(),
                old.trend.plain(),
                metric.units.plain(),
                metric.trend.plain()
            )));
        }
        found.push(Change { base: old, new: metric, in_processes });
    }
    if found.is_empty() {
        return Err(input("the two sets of results have no figure in common"));
    }
    Ok(found)
}

/// Returns `new unit = ratio x base unit` for each figure in common, under its identity, with a
/// verdict in words, then what to know before believing it, and a summary. Or the same in another
/// form.
///
/// # Errors
/// See [`changes`].
pub(crate) fn text(base: &Document, new: &Document, screen: &Screen) -> Result<String, Error> {
    let changes = changes(base, new)?;
    match screen.format {
        Format::Text => {}
        Format::Csv => return Ok(as_csv(&changes)),
        Format::Json => return Ok(as_json(&changes)),
        Format::Markdown => {
            let notes = notes(base, new, changes.len());
            let notes = notes.lines().map(|note| foreign::markdown(note) + "\n");
            return Ok(as_markdown(&changes) + &notes.collect::<String>());
        }
    }
    let mut out = String::new();
    for change in &changes {
        let (base, new, units) = (change.base, change.new, change.new.units.plain());
        out += &format!("{}:\n", new.id.plain());
        let first = format!(
            "  {:.2} {units} = {:.2} x {:.2} {units}",
            new.value,
            change.ratio(),
            base.value
        );
        let (words, tint) = change.verdict();
        let rest = if words.is_empty() { words } else { format!(", {words}") };
        let line = screen.wrapped(&format!("{first}{rest}"), 2);
        match line.strip_prefix(&first) {
            Some(rest) => out += &format!("{first}{}\n", screen.tinted(rest, tint)),
            None => out += &format!("{line}\n"),
        }
    }
    out += &screen.wrapped(&notes(base, new, changes.len()), 2);
    let counted = changes.iter().filter_map(|change| {
        let (figure, words) = (change.new.id.plain().to_owned(), change.verdict().0);
        Some(Counted { figure, words, gain: change.gain()? })
    });
    Ok(out + &verdict::summary(counted.collect(), "New against base", screen))
}

/// Returns what to know before believing a comparison of `common` figures, a line each.
fn notes(base: &Document, new: &Document, common: usize) -> String {
    let mut out = String::new();
    let missing = new.metrics().count() - common;
    if missing > 0 {
        out += &format!("note: {missing} figures are not in the base\n");
    }
    for (name, document) in [("base", base), ("new", new)] {
        if let Some(why) = document.machine.text("partial") {
            out += &format!("note: the {name} is partial: {}\n", why.plain());
        }
        let disturbed = document.disturbed();
        if disturbed > 0 {
            let s = plural(disturbed);
            out += &format!(
                "note: others used the machine during {disturbed} figure{s} of the {name}\n"
            );
        }
    }
    for key in ["cpu", "sizes", "profile", "rustc", "kernel"] {
        let (was, is) = (base.machine.text(key), new.machine.text(key));
        if was != is {
            let show = |v: Option<Foreign>| v.unwrap_or("unknown".into()).plain().to_owned();
            out += &format!("note: {key} differs: base {}, new {}\n", show(was), show(is));
        }
    }
    out
}

const HEAD: [&str; 8] = ["id", "unit", "trend", "base", "new", "ratio", "times_better", "verdict"];

fn fields(change: &Change<'_>) -> [String; 8] {
    let Change { base, new, .. } = change;
    [
        new.id.plain().to_owned(),
        new.units.plain().to_owned(),
        new.trend.plain().to_owned(),
        base.value.to_string(),
        new.value.to_string(),
        format!("{:.4}", change.ratio()),
        change.gain().map_or(String::new(), |gain| format!("{:.4}", gain.value)),
        change.verdict().0.replace(TIE, " "),
    ]
}

fn as_csv(changes: &[Change<'_>]) -> String {
    let head = csv::line(&HEAD.map(str::to_owned));
    changes.iter().fold(head, |out, change| out + &csv::line(&fields(change)))
}

fn as_json(changes: &[Change<'_>]) -> String {
    let one = |change: &Change<'_>| {
        let gain = change.gain();
        json!({
            "id": change.new.id,
            "units": change.new.units,
            "trend": change.new.trend,
            "base": change.base.value,
            "new": change.new.value,
            "ratio": change.ratio(),
            "times_better": gain.map(|g| g.value),
            "times_better_low": gain.map(|g| g.low),
            "times_better_high": gain.map(|g| g.high),
            "verdict": change.verdict().0.replace(TIE, " "),
        })
    };
    foreign::json(&format!("{:#}", Value::Array(changes.iter().map(one).collect())))
}

fn as_markdown(changes: &[Change<'_>]) -> String {
    let mut out = grid::markdown(&HEAD) + "|---|---|---|---:|---:|---:|---:|---|\n";
    for change in changes {
        out += &grid::markdown(&fields(change));
    }
    out + "\n"
}

/// Fails if any figure is worse by more than the factor `threshold`.
///
/// # Errors
/// [`Error::Wrong`] names those figures. See also [`changes`].
pub(crate) fn judge(base: &Document, new: &Document, threshold: f64) -> Result<(), Error> {
    let worse: Vec<String> = changes(base, new)?
        .iter()
        .filter(|c| c.worsening() > threshold)
        .map(|c| format!("{} ({:.2} x worse)", c.new.id.plain(), c.worsening()))
        .collect();
    if worse.is_empty() {
        return Ok(());
    }
    Err(Error::Wrong(format!("worse by more than {threshold}: {}", worse.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: f64, sd: f64) -> Metric {
        Metric {
            id: "x/time/sateen/w1".into(),
            name: "time".into(),
            value,
            units: "ns".into(),
            trend: "lower-is-better".into(),
            best: value,
            worst: value,
            mean: value,
            median: value,
            sd,
            runs: 16,
            ..Metric::default()
        }
    }

    #[test]
    fn a_tenth_is_seen_and_noise_is_not() {
        let words = |base: f64, new: f64, sd: f64| {
            let (base, new) = (metric(base, sd), metric(new, sd));
            Change { base: &base, new: &new, in_processes: false }.verdict().0.replace(TIE, " ")
        };
        assert_eq!(words(100.0, 110.0, 2.0), "1.1 × slower than before");
        assert_eq!(words(100.0, 50.0, 2.0), "2.0 × faster than before");
        assert_eq!(words(100.0, 102.0, 2.0), "as fast as before");
        assert_eq!(words(100.0, 110.0, 20.0), "as fast as before");
    }

    #[test]
    fn rounds_say_more_than_runs() {
        let rounds = |value: f64, step: f64| Metric {
            rounds: (-2..3).map(|at| value + f64::from(at) * step).collect(),
            ..metric(value, 0.0)
        };
        let words = |base: f64, new: f64, step: f64| {
            let (base, new) = (rounds(base, step), rounds(new, step));
            Change { base: &base, new: &new, in_processes: true }.verdict().0.replace(TIE, " ")
        };
        assert_eq!(words(100.0, 110.0, 1.0), "1.1 × slower than before");
        assert_eq!(words(100.0, 90.0, 1.0), "1.1 × faster than before");
        // Runs of no deviation at all, whose processes differ.
        assert_eq!(words(100.0, 110.0, 3.0), "as fast as before");
        assert_eq!(words(100.0, 101.5, 0.1), "as fast as before");
    }
}
