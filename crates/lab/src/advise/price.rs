//! What a candidate is bad at, beside its time: the best in one thing is seldom the best in all.

use crate::report::short;
use crate::report::verdict::times;
use crate::store::Record;

/// Something else that was measured in the same runs.
pub(super) struct Side {
    /// End of the case's name.
    suffix: &'static str,
    pub(super) title: &'static str,
    pub(super) meaning: &'static str,
    /// In a sentence about the winner.
    sentence: &'static str,
    /// Whether more is better.
    more: bool,
    is_time: bool,
}

/// What contests measure.
pub(super) const SIDES: [Side; 3] = [
    Side {
        suffix: "-fairness",
        title: "least served",
        meaning: "sections of the least served thread, by those of the most served; 1 is fair",
        sentence: "its least served thread got",
        more: true,
        is_time: false,
    },
    Side {
        suffix: "-longest",
        title: "longest wait",
        meaning: "of the waits that were timed, the longest in the usual run",
        sentence: "its longest wait was",
        more: false,
        is_time: true,
    },
    Side {
        suffix: "-cpu",
        title: "processor",
        meaning: "processor time of all threads for a section and the time between",
        sentence: "its processor time for a section is",
        more: false,
        is_time: true,
    },
];

impl Side {
    /// Returns the value of a candidate, if it was measured.
    pub(super) fn value(&self, name: &str, records: &[Record], case: &str) -> Option<f64> {
        let case = format!("{case}{}", self.suffix);
        let same = |r: &&Record| r.implementation == name && r.figure.case == case;
        records.iter().find(same).and_then(Record::summary).map(|s| s.median)
    }

    /// Returns `value` with its unit.
    pub(super) fn words(&self, value: f64) -> String {
        if !self.is_time {
            return short(value);
        }
        match value {
            ns if ns < 1e3 => format!("{} ns", short(ns)),
            ns if ns < 1e6 => format!("{} µs", short(ns / 1e3)),
            ns => format!("{} ms", short(ns / 1e6)),
        }
    }

    /// Returns what the winner is like in this, beside the best in it.
    fn sentence(&self, winner: &str, records: &[Record], case: &str) -> Option<String> {
        let own = self.value(winner, records, case)?;
        let case_of_side = format!("{case}{}", self.suffix);
        let others = records.iter().filter(|r| r.figure.case == case_of_side);
        let values = others.filter_map(|r| Some((r.implementation, r.summary()?.median)));
        let better = |a: f64, b: f64| if self.more { a > b } else { a < b };
        let best = values.fold(None, |best: Option<(&str, f64)>, (name, value)| match best {
            Some((_, known)) if !better(value, known) => best,
            _ => Some((name, value)),
        });
        let (name, best) = best?;
        let what = if self.more {
            format!("{} {} of what the most served one got", self.sentence, self.words(own))
        } else {
            format!("{} {}", self.sentence, self.words(own))
        };
        if name == winner {
            return Some(format!("{what}, the best here"));
        }
        let worse = if self.more { best / own } else { own / best };
        let factor = if worse.is_finite() && worse >= 1.005 {
            format!(", {} worse", times(worse))
        } else {
            String::new()
        };
        Some(format!("{what} (best: {name}, {}{factor})", self.words(best)))
    }
}

/// Returns what to know about the winner beside its time, one sentence each.
pub(super) fn words(winner: &str, records: &[Record], case: &str) -> Vec<String> {
    let all: Vec<String> =
        SIDES.iter().filter_map(|side| side.sentence(winner, records, case)).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["What that costs:".to_owned()];
    lines.extend(all.iter().map(|sentence| format!("  {sentence}.")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Figure, Trend};

    fn record(implementation: &'static str, suffix: &str, value: f64) -> Record {
        let figure = Figure {
            case: format!("lock{suffix}"),
            config: "t8".to_owned(),
            name: String::new(),
            unit: "ns",
            trend: Trend::Lower,
            description: String::new(),
        };
        Record { samples: vec![value], ..Record::new("advise", implementation, figure) }
    }

    #[test]
    fn the_best_is_named_beside_what_it_costs() {
        let records = [
            record("ttas", "-fairness", 0.01),
            record("mcs", "-fairness", 0.98),
            record("ttas", "-longest", 2.5e6),
            record("mcs", "-longest", 3.1e6),
        ];
        let lines = words("ttas", &records, "lock");
        let lines: Vec<String> = lines.iter().map(|line| line.replace('\u{a0}', " ")).collect();
        assert_eq!(lines[0], "What that costs:");
        assert!(lines[1].contains("0.0100 of what"), "{lines:?}");
        assert!(lines[1].contains("(best: mcs, 0.98, 98 × worse)"), "{lines:?}");
        assert!(lines[2].contains("its longest wait was 2.50 ms, the best here"), "{lines:?}");
        assert!(words("ttas", &records, "pool").is_empty());
    }
}
