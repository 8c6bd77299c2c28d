//! Which candidate is first, and how sure that is.

use crate::stats::{self, Ratio};

/// Candidates with their runs, the best first.
#[derive(Debug)]
pub(super) struct Ranking {
    rows: Vec<Row>,
    /// The fewest runs of a candidate.
    runs: usize,
}

/// One candidate.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) median: f64,
    /// How much longer it takes than the first one; `None` for the first itself.
    pub(super) behind: Option<Ratio>,
}

impl Row {
    /// Returns whether the runs leave open which of the two is better.
    fn is_even(&self) -> bool {
        self.behind.is_none_or(|r| r.low <= 1.0)
    }
}

/// With fewer runs than this, there is no interval.
const ENOUGH: usize = 5;

impl Ranking {
    /// Ranks by the medians of `samples`; lower is better. Leaves out candidates without samples.
    pub(super) fn of(mut samples: Vec<(&'static str, Vec<f64>)>) -> Self {
        samples.retain(|(_, runs)| !runs.is_empty());
        let median = |runs: &[f64]| stats::median(&mut runs.to_vec());
        samples.sort_by(|a, b| median(&a.1).total_cmp(&median(&b.1)));
        let row = |(rank, (name, runs)): (usize, &(&'static str, Vec<f64>))| Row {
            name,
            median: median(runs),
            behind: if rank == 0 { None } else { stats::ratio(runs, &samples[0].1) },
        };
        let rows = samples.iter().enumerate().map(row).collect();
        Self { rows, runs: samples.iter().map(|(_, runs)| runs.len()).min().unwrap_or(0) }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the fewest runs of a candidate.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// Says in sentences how sure the ranking is.
    pub(super) fn how_sure(&self) -> String {
        let Some((first, others)) = self.rows.split_first() else { return String::new() };
        let Some(second) = others.first() else {
            return "There was nothing to compare it with.".to_owned();
        };
        if self.runs < ENOUGH {
            return format!(
                "This is no advice yet: {} run{} of each {} nothing. Give it more --seconds.",
                self.runs,
                crate::host::plural(self.runs),
                if self.runs == 1 { "says" } else { "say next to" }
            );
        }
        let equal = 1 + others.iter().take_while(|r| r.is_even()).count();
        let later: Vec<&str> =
            others.iter().skip(equal - 1).filter(|r| r.is_even()).map(|r| r.name).collect();
        let also = if later.is_empty() {
            String::new()
        } else {
            format!(" The runs of {} vary a lot: it may be as good.", later.join(", "))
        };
        if equal > 1 {
            let names: Vec<&str> = self.rows[..equal].iter().map(|r| r.name).collect();
            return format!(
                "How sure: the first {equal} are equal within noise ({}): take the one that suits \
                 you otherwise.{also}",
                names.join(", ")
            );
        }
        match second.behind {
            Some(r) => format!(
                "How sure: {} is first beyond doubt. The next, {}, takes {:.2} times as long \
                 ({:.2} to {:.2}, 95 % interval).{also}",
                first.name, second.name, r.value, r.low, r.high
            ),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranking;

    fn around(value: f64, spread: f64) -> Vec<f64> {
        (0..15).map(|i| value + spread * f64::from(i % 5 - 2)).collect()
    }

    fn names(ranking: &Ranking) -> Vec<&str> {
        ranking.rows().iter().map(|r| r.name).collect()
    }

    #[test]
    fn a_clear_winner() {
        let ranking = Ranking::of(vec![
            ("slow", around(30.0, 0.1)),
            ("fast", around(10.0, 0.1)),
            ("absent", Vec::new()),
            ("middle", around(12.0, 0.1)),
        ]);
        assert_eq!(names(&ranking), ["fast", "middle", "slow"]);
        let text = ranking.how_sure();
        assert!(text.contains("fast is first beyond doubt"), "{text}");
        assert!(text.contains("middle, takes 1.20 times as long"), "{text}");
        assert!(ranking.rows()[0].behind.is_none());
    }

    #[test]
    fn the_first_few_overlap() {
        let ranking = Ranking::of(vec![
            ("c", around(20.0, 0.1)),
            ("b", around(10.1, 1.0)),
            ("a", around(10.0, 1.0)),
        ]);
        let text = ranking.how_sure();
        assert!(text.contains("the first 2 are equal within noise (a, b)"), "{text}");
    }

    #[test]
    fn a_noisy_one_further_down_is_named() {
        let mut noisy = around(14.0, 0.1);
        noisy.iter_mut().step_by(2).for_each(|x| *x = 8.0);
        noisy.push(20.0);
        noisy.push(20.0);
        let ranking = Ranking::of(vec![
            ("first", around(10.0, 0.01)),
            ("second", around(11.0, 0.01)),
            ("noisy", noisy),
        ]);
        let text = ranking.how_sure();
        assert!(text.contains("first is first beyond doubt"), "{text}");
        assert!(text.contains("The runs of noisy vary a lot"), "{text}");
    }

    #[test]
    fn too_little_to_say() {
        let one = |name| (name, vec![1.0]);
        assert!(
            Ranking::of(vec![one("a"), one("b")]).how_sure().contains("no advice yet: 1 run of")
        );
        assert!(Ranking::of(vec![one("a")]).how_sure().contains("nothing to compare"));
        assert_eq!(Ranking::of(Vec::new()).how_sure(), "");
    }
}
