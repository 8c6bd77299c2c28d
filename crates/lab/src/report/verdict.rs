//! Ours against the others in words: who is faster, by how much, and whether that is beyond doubt.

use super::screen::{Screen, Tint, tied};
use crate::adapter::{OURS, SERIAL};
use crate::experiment::{Figure, Trend};
use crate::ours::{DEFAULTS, is_compared, is_ours};
use crate::stats::{self, Ratio};
use crate::store::Record;

/// With fewer runs on either side there is no verdict.
pub(crate) const ENOUGH: usize = 3;
/// Most losers that the summary names.
const NAMED: usize = 10;

/// Which of two is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Ahead,
    /// The interval of the ratio holds 1.
    Even,
    Behind,
}

impl Standing {
    /// Judges how many times better something is.
    pub(crate) fn of(gain: &Ratio) -> Self {
        match (gain.low > 1.0, gain.high < 1.0) {
            (true, _) => Self::Ahead,
            (_, true) => Self::Behind,
            _ => Self::Even,
        }
    }

    pub(crate) fn tint(self) -> Tint {
        match self {
            Self::Ahead => Tint::Good,
            Self::Even => Tint::Plain,
            Self::Behind => Tint::Bad,
        }
    }
}

/// The words for a kind of quantity: better, equal, worse.
type Words = [&'static str; 3];

const SPEED: Words = ["faster than", "as fast as", "slower than"];
const OTHER: Words = ["better than", "as good as", "worse than"];

/// Returns the words for `case` in `unit`: times and rates are fast, memory and shares are not, and
/// neither is processor time.
pub(crate) fn words_for(case: &str, unit: &str) -> Words {
    let is_speed = ["ns", "µs", "ms", "s", "K/s", "M/s"].contains(&unit);
    let is_cost = case.contains("cpu") || case.contains("bookkeeping");
    if is_speed && !is_cost { SPEED } else { OTHER }
}

/// Says how many times better one thing is than `other`.
pub(crate) fn phrase(gain: &Ratio, [better, equal, worse]: Words, other: &str) -> String {
    let other = tied(other);
    match Standing::of(gain) {
        Standing::Ahead => format!("{} {better} {other}", times(gain.value)),
        Standing::Even => format!("{equal} {other}"),
        Standing::Behind => format!("{} {worse} {other}", times(1.0 / gain.value)),
    }
}

/// Writes a factor with as many digits as say something.
pub(crate) fn times(factor: f64) -> String {
    tied(&match factor {
        f if f < 1.1 => format!("{f:.2} ×"),
        f if f < 10.0 => format!("{f:.1} ×"),
        f if f < 1e5 => format!("{f:.0} ×"),
        f => format!("{f:.0e} ×"),
    })
}

/// One of our implementations and the best of the others, for one figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) ours: &'a Record,
    pub(crate) other: &'a Record,
    /// How many times better ours is; `None` if there were too few runs.
    pub(crate) gain: Option<Ratio>,
    /// Whether the figure has several of ours, so that the verdict must name one.
    several: bool,
}

impl<'a> Comparison<'a> {
    /// Compares two records of one figure.
    pub(crate) fn between(ours: &'a Record, other: &'a Record) -> Self {
        let gain = match ours.figure.trend {
            Trend::Lower => stats::ratio(&other.samples, &ours.samples),
            Trend::Higher => stats::ratio(&ours.samples, &other.samples),
        };
        let enough = ours.samples.len().min(other.samples.len()) >= ENOUGH;
        Self { ours, other, gain: gain.filter(|_| enough), several: false }
    }

    /// Returns the comparison that the figure of `records` is about: our default, or the best of
    /// ours, against the best of the others. Without others it is against the plain program, and
    /// without that against the best of ours that remain.
    pub(crate) fn of(records: &[&'a Record]) -> Option<Self> {
        let ours = || records.iter().copied().filter(|r| is_compared(r.implementation));
        let others = |r: &&Record| !is_ours(r.implementation) && r.implementation != SERIAL;
        let default = ours().find(|r| DEFAULTS.contains(&r.implementation));
        let chosen = default.or_else(|| best(ours()))?;
        let other = best(records.iter().copied().filter(others))
            .or_else(|| records.iter().copied().find(|r| r.implementation == SERIAL));
        let several = ours().count() > 1;
        if let Some(other) = other {
            return Some(Self { several, ..Self::between(chosen, other) });
        }
        let rest = |r: &&Record| r.implementation != chosen.implementation;
        let next = best(records.iter().copied().filter(rest))?;
        Some(Self { several: true, ..Self::between(chosen, next) })
    }

    /// Returns the verdict in words; `None` if there were too few runs.
    pub(crate) fn words(&self) -> Option<String> {
        let figure = &self.ours.figure;
        let words = words_for(&figure.case, figure.unit);
        let other = match self.other.implementation {
            SERIAL => "the plain program",
            name => name,
        };
        let phrase = phrase(self.gain.as_ref()?, words, other);
        let named = self.several || self.ours.implementation != OURS;
        Some(if named { format!("{}: {phrase}", self.ours.implementation) } else { phrase })
    }

    pub(crate) fn standing(&self) -> Option<Standing> {
        self.gain.as_ref().map(Standing::of)
    }

    /// Returns whether the other one is another library.
    fn is_with_a_peer(&self) -> bool {
        !is_ours(self.other.implementation) && self.other.implementation != SERIAL
    }
}

/// Returns the record with the best median.
fn best<'a>(records: impl Iterator<Item = &'a Record>) -> Option<&'a Record> {
    let cost = |r: &Record, figure: &Figure| {
        let median = r.summary().map_or(f64::INFINITY, |s| s.median);
        if figure.trend == Trend::Lower { median } else { -median }
    };
    let measured = records.filter(|r| !r.samples.is_empty());
    measured.min_by(|a, b| cost(a, &a.figure).total_cmp(&cost(b, &b.figure)))
}

/// Returns `records` by figure: each case in each configuration.
pub(crate) fn by_figure(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut rows: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        let same = |row: &&mut Vec<&Record>| {
            let first = row[0];
            (first.experiment, &first.figure.case, &first.figure.config)
                == (record.experiment, &record.figure.case, &record.figure.config)
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.push(record),
            None => rows.push(vec![record]),
        }
    }
    rows
}

/// A difference that the summary counts, with the figure that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub(crate) figure: String,
    pub(crate) words: String,
    pub(crate) gain: Ratio,
}

/// Returns what the comparisons with other libraries in `records` come to.
pub(crate) fn counted(records: &[Record]) -> Vec<Counted> {
    let rows = by_figure(records);
    let compared = rows.iter().filter_map(|row| Comparison::of(row));
    let with_peers = compared.filter(Comparison::is_with_a_peer);
    let one = |c: Comparison<'_>| {
        let figure = &c.ours.figure;
        let figure = format!("{}/{}/{}", c.ours.experiment, figure.case, figure.config);
        Some(Counted { figure, words: c.words()?, gain: c.gain? })
    };
    with_peers.filter_map(one).collect()
}

/// Returns the summary: first where it is behind, the worst first, then how often it is not. Empty
/// if nothing was compared.
pub(crate) fn summary(mut all: Vec<Counted>, title: &str, screen: &Screen) -> String {
    if all.is_empty() {
        return String::new();
    }
    all.sort_by(|a, b| a.gain.value.total_cmp(&b.gain.value));
    let is = |standing| move |c: &&Counted| Standing::of(&c.gain) == standing;
    let losers: Vec<&Counted> = all.iter().filter(is(Standing::Behind)).collect();
    let (even, ahead) =
        (all.iter().filter(is(Standing::Even)).count(), all.iter().filter(is(Standing::Ahead)));
    let mut out = format!("\n{title}: behind in {} of {} figures", losers.len(), all.len());
    out += if losers.is_empty() { "." } else { ":" };
    out = screen.wrapped(&out, 0);
    let width = losers.iter().take(NAMED).map(|c| c.figure.chars().count()).max().unwrap_or(0);
    for loser in losers.iter().take(NAMED) {
        let words = loser.words.replace(super::screen::TIE, " ");
        let tinted = screen.tinted(&words, Tint::Bad);
        if 4 + width + words.chars().count() > screen.width {
            out += &format!("\n  {}", loser.figure);
            let broken = screen.wrapped(&format!("    {}", loser.words), 2);
            for line in broken.lines() {
                out += &format!("\n{}", screen.tinted(line, Tint::Bad));
            }
        } else {
            out += &format!("\n  {:width$}  {tinted}", loser.figure);
        }
    }
    if losers.len() > NAMED {
        out += &format!("\n  … and {} more", losers.len() - NAMED);
    }
    out + &format!(
        "\n{}",
        screen.wrapped(&format!("Equal in {even}, ahead in {}.", ahead.count()), 0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::screen::Format;

    fn ratio(value: f64, low: f64, high: f64) -> Ratio {
        Ratio { value, low, high }
    }

    #[test]
    fn verdicts_are_words() {
        let say = |r| phrase(&r, SPEED, "rayon").replace('\u{a0}', " ");
        assert_eq!(say(ratio(2.6, 2.5, 2.7)), "2.6 × faster than rayon");
        assert_eq!(say(ratio(1.2, 0.9, 1.5)), "as fast as rayon");
        assert_eq!(say(ratio(1.0 / 1.2, 0.8, 0.9)), "1.2 × slower than rayon");
        assert_eq!(say(ratio(1.04, 1.03, 1.05)), "1.04 × faster than rayon");
        assert_eq!(words_for("map-vec-cpu", "ms"), OTHER);
        assert_eq!(words_for("million-bytes", "B"), OTHER);
    }

    #[test]
    fn losers_come_first() {
        let one = |figure: &str, value: f64, spread: f64| {
            let gain = ratio(value, value - spread, value + spread);
            let words = phrase(&gain, SPEED, "rayon");
            Counted { figure: figure.to_owned(), words, gain }
        };
        let screen = Screen { width: 80, colour: false, format: Format::Text };
        let all = vec![
            one("a/b/w1", 2.0, 0.1),
            one("a/c/w1", 0.9, 0.01),
            one("a/d/w1", 0.5, 0.01),
            one("a/e/w1", 1.0, 0.1),
        ];
        let text = summary(all, "Against others", &screen);
        let lines: Vec<&str> = text.trim_start().lines().collect();
        assert_eq!(
            lines,
            [
                "Against others: behind in 2 of 4 figures:",
                "  a/d/w1  2.0 × slower than rayon",
                "  a/c/w1  1.1 × slower than rayon",
                "Equal in 1, ahead in 1.",
            ]
        );
        assert_eq!(summary(Vec::new(), "x", &screen), "");
    }
}
