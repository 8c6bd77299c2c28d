//! What a results file says, taken apart: each figure with the four parts of its identity.

use super::Estimate;
use crate::adapter::SERIAL;
use crate::ours::{is_compared, is_ours};
use crate::report::json::{Document, Metric};

/// One figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) case: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) config: &'a str,
    pub(crate) metric: &'a Metric,
}

/// What an implementation is in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One of ours that is compared with peers.
    Ours,
    /// Another one of ours: a stage on the way, a strategy, a kind.
    Variant,
    /// Neither ours nor a peer: the plain program.
    Plain,
    Peer,
}

impl<'a> Entry<'a> {
    /// Takes the identity apart. A part that it lacks is empty.
    pub(crate) fn of(metric: &'a Metric) -> Self {
        let mut parts = metric.id.plain().splitn(4, '/');
        let mut next = || parts.next().unwrap_or_default();
        let [experiment, case, implementation, config] = [next(), next(), next(), next()];
        Self { experiment, case, implementation, config, metric }
    }

    /// Returns the median and its interval.
    pub(crate) fn estimate(&self) -> Estimate {
        estimate(self.metric)
    }

    pub(crate) fn lower_is_better(&self) -> bool {
        self.metric.trend != *"higher-is-better"
    }

    pub(crate) fn part(&self) -> Part {
        match self.implementation {
            SERIAL => Part::Plain,
            name if is_compared(name) => Part::Ours,
            name if is_ours(name) => Part::Variant,
            _ => Part::Peer,
        }
    }
}

/// Returns the median of `metric` and the interval that holds it with 95 per cent confidence.
///
/// Files of an older lab have no interval. Theirs follows from the standard deviation, as if the
/// runs were distributed normally, and is no wider than from the best to the worst run.
fn estimate(metric: &Metric) -> Estimate {
    let value = metric.value;
    let (least, most) = (metric.best.min(metric.worst), metric.best.max(metric.worst));
    let (low, high) = match metric.interval {
        Some([low, high]) => (low, high),
        None if metric.runs > 1 => {
            // The median varies more than the mean, by the root of half of pi.
            let half = 1.96 * 1.2533 * metric.sd.abs() / (metric.runs as f64).sqrt();
            ((value - half).max(least), (value + half).min(most))
        }
        None => (value, value),
    };
    Estimate { value, low: low.min(value), high: high.max(value) }
}

/// Returns all figures of `document`.
pub(crate) fn entries(document: &Document) -> Vec<Entry<'_>> {
    document.metrics().map(Entry::of).collect()
}

/// Returns how many times as good `ours` is as `theirs`: above 1 if it is better. The intervals of
/// the two are taken as independent. Returns `None` unless all values are positive.
pub(crate) fn compare(ours: Estimate, theirs: Estimate, lower_is_better: bool) -> Option<Estimate> {
    let (a, b) = if lower_is_better { (theirs, ours) } else { (ours, theirs) };
    let all = [a.low, a.value, a.high, b.low, b.value, b.high];
    if all.iter().any(|v| *v <= 0.0) {
        return None;
    }
    let distance = |one: f64, other: f64| (one / other).ln();
    let up = distance(a.high, a.value).hypot(distance(b.value, b.low));
    let down = distance(a.value, a.low).hypot(distance(b.high, b.value));
    let value = a.value / b.value;
    let ratio = Estimate { value, low: value * (-down).exp(), high: value * up.exp() };
    let fine = [ratio.low, ratio.value, ratio.high].iter().all(|v| v.is_normal());
    fine.then_some(ratio)
}

/// Two figures of one case in one configuration, and how many times as good ours is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) ours: Entry<'a>,
    pub(crate) peer: Entry<'a>,
    pub(crate) ratio: Estimate,
}

/// The one that is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Ahead,
    Even,
    Behind,
}

impl Comparison<'_> {
    /// Says that one is ahead only if the interval leaves no doubt.
    pub(crate) fn standing(&self) -> Standing {
        standing(self.ratio)
    }
}

/// See [`Comparison::standing`].
pub(crate) fn standing(ratio: Estimate) -> Standing {
    if ratio.low > 1.0 {
        Standing::Ahead
    } else if ratio.high < 1.0 {
        Standing::Behind
    } else {
        Standing::Even
    }
}

/// Returns which of `row`, the figures of one case in one configuration, stands for us: the
/// default if it is there, else the first of ours that is compared with peers.
pub(crate) fn ours_of<'a>(row: &[Entry<'a>]) -> Option<Entry<'a>> {
    let names: Vec<&str> = row.iter().map(|e| e.implementation).collect();
    let leader = super::pens::leader(&names);
    let find = |name: &str| row.iter().copied().find(|e| e.implementation == name);
    leader.and_then(find).or_else(|| row.iter().copied().find(|e| e.part() == Part::Ours))
}

/// Returns `entries` in rows: those of one case in one configuration, in order of appearance.
pub(crate) fn rows<'a>(entries: &[Entry<'a>]) -> Vec<Vec<Entry<'a>>> {
    grouped(entries, |e| (e.experiment, e.case, e.config))
}

/// Groups `entries` by `key`, in order of appearance.
pub(crate) fn grouped<'a, K: PartialEq + Copy + std::hash::Hash + Eq>(
    entries: &[Entry<'a>],
    key: impl Fn(&Entry<'a>) -> K,
) -> Vec<Vec<Entry<'a>>> {
    let mut index = std::collections::HashMap::new();
    let mut groups: Vec<Vec<Entry<'a>>> = Vec::new();
    for entry in entries {
        let at = *index.entry(key(entry)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(*entry);
    }
    groups
}

/// Returns all comparisons of ours with peers.
pub(crate) fn comparisons<'a>(entries: &[Entry<'a>]) -> Vec<Comparison<'a>> {
    let mut found = Vec::new();
    for row in rows(entries) {
        let Some(ours) = ours_of(&row) else { continue };
        for peer in row.iter().filter(|e| e.part() == Part::Peer) {
            let ratio = compare(ours.estimate(), peer.estimate(), ours.lower_is_better());
            found.extend(ratio.map(|ratio| Comparison { ours, peer: *peer, ratio }));
        }
    }
    found
}

/// What a configuration says, if it is one of the usual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Config<'a> {
    /// `w2`
    Workers(u64),
    /// `t8`
    Threads(u64),
    /// `p4c1`
    Producers(u64, u64),
    /// `4x1`
    Senders(u64, u64),
    /// `t2-n10`
    Limit(u64, u64),
    /// Something else.
    Other(&'a str),
}

impl<'a> Config<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let n = |text: &str| text.parse::<u64>().ok();
        let pair = |text: &str, by: &str| {
            let (a, b) = text.split_once(by)?;
            Some((n(a)?, n(b)?))
        };
        let read = || {
            if let Some(rest) = text.strip_prefix('w') {
                return n(rest).map(Self::Workers);
            }
            if let Some(rest) = text.strip_prefix('t') {
                let limit = pair(rest, "-n").map(|(t, n)| Self::Limit(t, n));
                return limit.or_else(|| n(rest).map(Self::Threads));
            }
            if let Some(rest) = text.strip_prefix('p') {
                return pair(rest, "c").map(|(p, c)| Self::Producers(p, c));
            }
            pair(text, "x").map(|(s, r)| Self::Senders(s, r))
        };
        read().unwrap_or(Self::Other(text))
    }

    /// Returns how many threads compute at once, if the configuration says it.
    pub(crate) fn threads(self) -> Option<u64> {
        match self {
            Self::Workers(n) | Self::Threads(n) | Self::Limit(n, _) => Some(n),
            Self::Producers(a, b) | Self::Senders(a, b) => a.checked_add(b),
            Self::Other(_) => None,
        }
    }

    /// Returns the configuration in words.
    pub(crate) fn words(self) -> String {
        let some = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        match self {
            Self::Workers(n) => some(n, "worker"),
            Self::Threads(n) => some(n, "thread"),
            Self::Producers(p, c) => format!("{}, {}", some(p, "producer"), some(c, "consumer")),
            Self::Senders(s, r) => format!("{}, {}", some(s, "sender"), some(r, "receiver")),
            Self::Limit(t, n) => format!("{}, limit {n}", some(t, "thread")),
            Self::Other(text) => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_in_words() {
        let words = |text| Config::of(text).words();
        assert_eq!(words("w1"), "1 worker");
        assert_eq!(words("t8"), "8 threads");
        assert_eq!(words("p4c1"), "4 producers, 1 consumer");
        assert_eq!(words("16x1"), "16 senders, 1 receiver");
        assert_eq!(words("t2-n10"), "2 threads, limit 10");
        for other in ["", "w", "wide", "100k", "p4", "x", "t2-n", "🦀"] {
            assert_eq!(words(other), other);
        }
    }

    #[test]
    fn a_ratio_is_above_one_if_ours_is_better() {
        let exact = |value| Estimate { value, low: value, high: value };
        let about = |value: f64| Estimate { value, low: value * 0.9, high: value * 1.1 };
        let time = compare(exact(2.0), exact(6.0), true).expect("positive");
        assert_eq!((time.value, standing(time)), (3.0, Standing::Ahead));
        let rate = compare(exact(2.0), exact(6.0), false).expect("positive");
        assert_eq!(standing(rate), Standing::Behind);
        let near = compare(about(1.0), about(1.05), true).expect("positive");
        assert!(near.low < 0.95 && near.high > 1.15 && standing(near) == Standing::Even);
        assert!(compare(exact(0.0), exact(1.0), true).is_none());
        assert!(compare(exact(5e-324), exact(1e300), true).is_none(), "not finite");
    }
}
