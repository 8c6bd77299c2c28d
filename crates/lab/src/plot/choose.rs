//! Which pictures show an experiment, the best one first.
//!
//! | What an experiment has | Picture |
//! |---|---|
//! | ours and peers | how many times as fast ours is as each peer, one row a figure |
//! | cases named by a letter, each a step | bars, one picture a configuration |
//! | cases with one implementation | one picture of all of them: a row a case |
//! | a case at three or more numbers of threads, few implementations | lines |
//! | any other case | a row for each implementation |

use super::figures::{Comparison, Config, Entry, comparisons, grouped};
use super::pens::{Look, looks};
use super::{Chart, Kind, Series, words};

/// More lines in one picture cannot be told apart.
const LINES: usize = 8;
/// More rows than this are not read: those where ours is furthest behind are shown.
const RATIOS: usize = 40;

/// How the implementations of one experiment look.
struct Experiment<'a> {
    names: Vec<&'a str>,
    looks: Vec<Look>,
    cores: Option<u64>,
}

/// Returns the pictures of `entries`, which are of one experiment. `cores` is the machine's number.
pub(crate) fn pictures(entries: &[Entry<'_>], cores: Option<u64>) -> Vec<Chart> {
    let names = distinct(entries.iter().map(|e| e.implementation));
    let looks = looks(&names);
    let this = Experiment { names, looks, cores };
    let mut charts = Vec::new();
    charts.extend(this.ratios(&comparisons(entries)));
    let (letters, others): (Vec<Entry<'_>>, Vec<Entry<'_>>) =
        entries.iter().partition(|e| is_letter(e.case));
    charts.extend(this.steps(&letters));
    let cases = grouped(&others, |e| (e.case, &e.metric.units, &e.metric.trend));
    let (lonely, shared) = this.split(cases);
    charts.extend(lonely.iter().filter_map(|group| this.merged(group)));
    charts.extend(shared.iter().filter_map(|case| this.case(case)));
    charts
}

fn is_letter(case: &str) -> bool {
    case.len() == 1 && case.starts_with(|c: char| c.is_ascii_uppercase())
}

fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

fn better(entry: &Entry<'_>) -> &'static str {
    if entry.lower_is_better() { "lower is better" } else { "higher is better" }
}

impl<'a> Experiment<'a> {
    fn look(&self, name: &str) -> Look {
        let index = self.names.iter().position(|n| *n == name);
        index.map_or_else(|| looks(&[name])[0], |i| self.looks[i])
    }

    /// Returns the first of `configs` that has more threads than the machine has cores.
    fn crowded(&self, configs: &[&str]) -> Option<usize> {
        let cores = self.cores?;
        configs.iter().position(|c| Config::of(c).threads().is_some_and(|n| n > cores))
    }

    /// Returns the configuration that says most: the last one that the machine has cores for.
    fn main<'c>(&self, configs: &[&'c str]) -> &'c str {
        let end = self.crowded(configs).unwrap_or(configs.len());
        configs[..end].last().or(configs.first()).copied().unwrap_or_default()
    }

    /// Separates cases that are better shown together, grouped by what they measure, from those
    /// that are shown alone.
    fn split(&self, cases: Vec<Vec<Entry<'a>>>) -> (Vec<Vec<Entry<'a>>>, Vec<Vec<Entry<'a>>>) {
        let is_lonely =
            |case: &Vec<Entry<'a>>| distinct(case.iter().map(|e| e.implementation)).len() == 1;
        let count = cases.len();
        let lonely = cases.iter().filter(|c| is_lonely(c)).count();
        // If most cases have one implementation, the cases are what is compared.
        let all = 2 * lonely >= count;
        let (together, alone): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|c| all || is_lonely(c));
        let flat: Vec<Entry<'a>> = together.into_iter().flatten().collect();
        let groups = grouped(&flat, |e| (&e.metric.units, &e.metric.trend));
        let (mut groups, mut rest) = (groups, alone);
        if !all {
            return (groups, rest);
        }
        // One case alone is a picture of its own.
        let single = |g: &Vec<Entry<'a>>| distinct(g.iter().map(|e| e.case)).len() == 1;
        rest.extend(groups.iter().filter(|g| single(g)).cloned());
        groups.retain(|g| !single(g));
        (groups, rest)
    }

    /// Ours against each peer.
    fn ratios(&self, all: &[Comparison<'a>]) -> Option<Chart> {
        let first = all.first()?;
        let mut rows: Vec<(&str, &str, f64)> = Vec::new();
        for c in all {
            let (case, config) = (c.ours.case, c.ours.config);
            match rows.iter_mut().find(|(a, b, _)| (*a, *b) == (case, config)) {
                Some(row) => row.2 = row.2.min(c.ratio.value),
                None => rows.push((case, config, c.ratio.value)),
            }
        }
        if rows.len() < 2 {
            return None;
        }
        let total = rows.len();
        let mut worst: Vec<f64> = rows.iter().map(|r| r.2).collect();
        worst.sort_by(f64::total_cmp);
        if let Some(limit) = worst.get(RATIOS - 1) {
            rows.retain(|r| r.2 <= *limit);
            rows.truncate(RATIOS);
        }
        let peers = distinct(all.iter().map(|c| c.peer.implementation));
        let value = |peer: &str, row: &(&str, &str, f64)| {
            let same = |c: &&Comparison<'_>| {
                (c.peer.implementation, c.ours.case, c.ours.config) == (peer, row.0, row.1)
            };
            all.iter().find(same).map(|c| c.ratio)
        };
        let series = peers.iter().map(|peer| Series {
            name: (*peer).to_owned(),
            look: self.look(peer),
            values: rows.iter().map(|row| value(peer, row)).collect(),
        });
        let series: Vec<Series> = series.filter(|s| s.values.iter().any(Option::is_some)).collect();
        let shown = if rows.len() < total {
            format!(" Shown are the {} of {total} rows where ours is furthest behind.", rows.len())
        } else {
            String::new()
        };
        Some(Chart {
            kind: Kind::Ratios,
            title: format!("{}: ours beside each peer", first.ours.experiment),
            says: format!(
                "How many times as fast ours is as each peer, by figure: right of the line it is \
                 faster.{shown}"
            ),
            columns: rows.iter().map(|(case, config, _)| format!("{case} {config}")).collect(),
            series,
            ..Chart::default()
        })
    }

    /// Steps that follow each other: one picture a configuration.
    fn steps(&self, entries: &[Entry<'a>]) -> Vec<Chart> {
        let mut charts = Vec::new();
        for group in grouped(entries, |e| (e.config, &e.metric.units, &e.metric.trend)) {
            let columns = distinct(group.iter().map(|e| e.case));
            if columns.len() < 2 {
                continue;
            }
            let mut names = distinct(group.iter().map(|e| e.implementation));
            // The bars are ours.
            names.sort_by_key(|name| !self.look(name).leads);
            let series = names.iter().map(|name| Series {
                name: (*name).to_owned(),
                look: self.look(name),
                values: columns.iter().map(|case| value(&group, name, case, |e| e.case)).collect(),
            });
            let config = Config::of(group[0].config).words();
            let ours: Vec<Entry<'a>> =
                group.iter().copied().filter(|e| e.implementation == names[0]).collect();
            charts.push(Chart {
                kind: Kind::Bars,
                title: format!(
                    "Steps {} to {} with {config}",
                    columns[0],
                    columns[columns.len() - 1]
                ),
                says: steps_say(&ours),
                unit: group[0].metric.units.plain().to_owned(),
                better: better(&group[0]),
                series: series.collect(),
                columns: columns.into_iter().map(str::to_owned).collect(),
                ..Chart::default()
            });
        }
        charts
    }

    /// Cases that are shown together: a row for each case and implementation.
    fn merged(&self, group: &[Entry<'a>]) -> Option<Chart> {
        let configs = distinct(group.iter().map(|e| e.config));
        let cases = distinct(group.iter().map(|e| e.case));
        let single = |case: &str| {
            distinct(group.iter().filter(|e| e.case == case).map(|e| e.implementation)).len() == 1
        };
        let pairs = grouped(group, |e| (e.case, e.implementation));
        let main = self.main(&configs);
        let mut rows: Vec<(f64, Series)> = Vec::new();
        for pair in &pairs {
            let Entry { case, implementation, .. } = pair[0];
            let name = match single(case) {
                true => case.to_owned(),
                false => format!("{case} {implementation}"),
            };
            let here: Vec<_> =
                configs.iter().map(|c| value(pair, implementation, c, |e| e.config)).collect();
            let look = self.look(implementation);
            rows.push((order(pair, main), Series { name, look, values: here }));
        }
        if rows.len() < 2 {
            return None;
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let measures = if cases.len() > 1 { cases.len().to_string() } else { String::new() };
        let best = rows.first().map(|r| r.1.name.clone()).unwrap_or_default();
        let with = Config::of(main).words();
        Some(Chart {
            kind: Kind::Rows,
            title: format!("{}: {measures} cases side by side", group[0].experiment),
            says: format!("With {with}, {best} is best."),
            unit: group[0].metric.units.plain().to_owned(),
            better: better(&group[0]),
            columns: configs.iter().map(|c| Config::of(c).words()).collect(),
            series: rows.into_iter().map(|r| r.1).collect(),
            ..Chart::default()
        })
    }

    /// One case.
    fn case(&self, case: &[Entry<'a>]) -> Option<Chart> {
        let first = case.first()?;
        let mut configs = distinct(case.iter().map(|e| e.config));
        let names = distinct(case.iter().map(|e| e.implementation));
        if names.len() * configs.len() < 2 {
            return None;
        }
        let across = across(&configs);
        if across.is_some() {
            configs.sort_by_key(|c| Config::of(c).threads());
        }
        let main = self.main(&configs);
        let lines = across.is_some() && configs.len() > 2 && names.len() <= LINES;
        let mut series: Vec<(f64, Series)> = Vec::new();
        for name in &names {
            let of: Vec<Entry<'a>> =
                case.iter().copied().filter(|e| e.implementation == *name).collect();
            let values = configs.iter().map(|c| value(&of, name, c, |e| e.config)).collect();
            let (name, look) = ((*name).to_owned(), self.look(name));
            series.push((order(&of, main), Series { name, look, values }));
        }
        if !lines {
            series.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let row: Vec<Entry<'a>> = case.iter().copied().filter(|e| e.config == main).collect();
        let column = |c: &&str| match Config::of(c) {
            Config::Workers(n) | Config::Threads(n) if lines => n.to_string(),
            config => config.words(),
        };
        Some(Chart {
            kind: if lines { Kind::Lines } else { Kind::Rows },
            title: first.case.to_owned(),
            says: words::row(&row, &Config::of(main).words()),
            unit: first.metric.units.plain().to_owned(),
            better: better(first),
            across: across.filter(|_| lines).unwrap_or_default().to_owned(),
            columns: configs.iter().map(column).collect(),
            series: series.into_iter().map(|s| s.1).collect(),
            crowded: if lines { self.crowded(&configs) } else { None },
            ..Chart::default()
        })
    }
}

/// Returns the value of `name` where `key` is `of`.
fn value<'a>(
    entries: &[Entry<'a>],
    name: &str,
    of: &str,
    key: impl Fn(&Entry<'a>) -> &'a str,
) -> Option<super::Estimate> {
    let found = entries.iter().find(|e| e.implementation == name && key(e) == of);
    found.map(Entry::estimate)
}

/// Returns what sorts a row: its value in the configuration `main`, the best first.
fn order(row: &[Entry<'_>], main: &str) -> f64 {
    let entry = row.iter().find(|e| e.config == main).or(row.first());
    let sign = |e: &Entry<'_>| if e.lower_is_better() { 1.0 } else { -1.0 };
    entry.map_or(0.0, |e| sign(e) * e.metric.value)
}

/// Returns what all of `configs` count, if it is one thing.
fn across(configs: &[&str]) -> Option<&'static str> {
    let kind = |c: &&str| match Config::of(c) {
        Config::Workers(_) => Some("workers"),
        Config::Threads(_) => Some("threads"),
        _ => None,
    };
    let first = kind(configs.first()?)?;
    configs.iter().all(|c| kind(c) == Some(first)).then_some(first)
}

/// Says what the steps bring together, and which one brings most.
fn steps_say(ours: &[Entry<'_>]) -> String {
    let ([first, .., last], Some(lower)) = (ours, ours.first().map(Entry::lower_is_better)) else {
        return String::new();
    };
    let gain = |a: &Entry<'_>, b: &Entry<'_>| {
        let (old, new) = (a.metric.value, b.metric.value);
        if lower { old / new } else { new / old }
    };
    let mut text = format!(
        "From {} to {}: {} × as fast.",
        first.case,
        last.case,
        super::number(gain(first, last))
    );
    let most = ours.windows(2).max_by(|a, b| gain(&a[0], &a[1]).total_cmp(&gain(&b[0], &b[1])));
    if let Some([a, b]) = most {
        let most = super::number(gain(a, b));
        text += &format!(" The largest step is from {} to {}: {most} ×.", a.case, b.case);
    }
    text + &additions(ours)
}

/// Returns what each of `steps` adds to the one before, as far as their descriptions say it.
fn additions(steps: &[Entry<'_>]) -> String {
    let parts = |e: &Entry<'_>| -> Vec<String> {
        let what = e.metric.description.plain().rsplit_once(':').map_or("", |(what, _)| what);
        what.split(", ").filter(|p| !p.is_empty()).map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = steps.iter().map(parts).collect();
    let everywhere = |part: &String| all.iter().all(|parts| parts.contains(part));
    let mut text = String::new();
    for (i, (step, parts)) in steps.iter().zip(&all).enumerate() {
        let before = i.checked_sub(1).map_or(&[][..], |before| &all[before]);
        let new = parts.iter().filter(|p| !before.contains(p) && !everywhere(p));
        let new: Vec<&str> = new.map(String::as_str).collect();
        if !new.is_empty() {
            text += &format!(" {}: {}.", step.case, new.join(", "));
        }
    }
    text
}

/// Returns the figures of `entries` by experiment.
pub(crate) fn by_experiment<'a>(entries: &[Entry<'a>]) -> Vec<Vec<Entry<'a>>> {
    grouped(entries, |e| e.experiment)
}
