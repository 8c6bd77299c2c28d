//! Whether strategies rank as published.

use crate::published;
use crate::store::Record;

/// Returns one line for each published test that was measured, and a sentence about all.
pub(super) fn verdict(records: &[Record]) -> Option<String> {
    let mut tests: Vec<(&str, &str)> = Vec::new();
    for figure in records.iter().map(|r| &r.figure) {
        let test = (figure.case.as_str(), figure.config.as_str());
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    let ranked: Vec<Ranking> =
        tests.iter().filter_map(|(case, config)| Ranking::of(records, case, config)).collect();
    if ranked.is_empty() {
        return None;
    }
    let mut text = String::from("order of merit, best first:");
    for ranking in &ranked {
        text += &format!("\n  {}", ranking.text());
    }
    let same = ranked.iter().filter(|r| r.agreeing == r.pairs).count();
    let (agreeing, pairs) = ranked.iter().fold((0, 0), |(a, p), r| (a + r.agreeing, p + r.pairs));
    let sentence = match same {
        n if n == ranked.len() => "The published order of merit holds here.".to_owned(),
        0 => format!(
            "The published order of merit does not hold here: {agreeing} of {pairs} comparisons \
             come out the same."
        ),
        n => format!(
            "The published order of merit holds here in {n} of {} tests: {agreeing} of {pairs} \
             comparisons come out the same.",
            ranked.len()
        ),
    };
    Some(format!("{text}\n{sentence}"))
}

/// One test, here and as published.
struct Ranking {
    test: String,
    /// Strategies, ordered by what was measured here.
    here: Vec<&'static str>,
    published: Vec<&'static str>,
    /// How many pairs of strategies were compared.
    pairs: usize,
    agreeing: usize,
}

impl Ranking {
    /// Returns `None` if the test is not published, or fewer than two of its strategies were
    /// measured.
    fn of(records: &[Record], case: &str, config: &str) -> Option<Self> {
        let published = published::lookup("pool", case, config)?;
        // Strategy, published value, and value here, which is that of its best lock.
        let mut both: Vec<(&'static str, f64, f64)> = Vec::new();
        for value in published.values {
            let same = records.iter().filter(|r| {
                (r.figure.case.as_str(), r.figure.config.as_str()) == (case, config)
                    && r.implementation.starts_with(value.stage)
            });
            let medians = same.filter_map(|r| Some(r.summary()?.median));
            if let Some(best) = medians.min_by(f64::total_cmp) {
                both.push((value.stage, value.low, best));
            }
        }
        if both.len() < 2 {
            return None;
        }
        let (mut pairs, mut agreeing) = (0, 0);
        for (i, a) in both.iter().enumerate() {
            for b in &both[..i] {
                pairs += 1;
                agreeing += usize::from((a.1 < b.1) == (a.2 < b.2));
            }
        }
        let mut by = |key: fn(&(&'static str, f64, f64)) -> f64| {
            both.sort_by(|a, b| key(a).total_cmp(&key(b)));
            both.iter().map(|one| one.0).collect()
        };
        let (published, here) = (by(|one| one.1), by(|one| one.2));
        Some(Self { test: format!("{case}/{config}"), here, published, pairs, agreeing })
    }

    fn text(&self) -> String {
        let Self { test, here, published, .. } = self;
        if here == published {
            format!("{test}: {}, as published", here.join(", "))
        } else {
            format!("{test}: {}; published: {}", here.join(", "), published.join(", "))
        }
    }
}
