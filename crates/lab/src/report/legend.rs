//! What letters and words of a table mean, said below the first table that has them.

use super::screen::Screen;
use super::table::distinct;
use crate::experiment::Trend;
use crate::host;
use crate::store::Record;
use std::collections::BTreeSet;

/// What has been explained so far.
#[derive(Debug, Default)]
pub(crate) struct Said(BTreeSet<String>);

/// One explanation.
struct Words {
    /// What is explained: it is said once.
    what: String,
    line: String,
}

impl Words {
    fn new(what: &str, line: impl Into<String>) -> Self {
        Self { what: what.to_owned(), line: line.into() }
    }
}

/// Returns what `records` need to be read, except for what was said before.
pub(crate) fn text(records: &[Record], said: &mut Said, screen: &Screen) -> String {
    let mut lines: Vec<String> = cases(records);
    let fresh = general(records).into_iter().filter(|words| said.0.insert(words.what.clone()));
    lines.extend(fresh.map(|words| words.line));
    lines.iter().map(|line| format!("{}\n", screen.wrapped(line, 2))).collect()
}

/// Returns all of it as Markdown.
pub(super) fn plain(records: &[Record]) -> String {
    let lines = cases(records).into_iter().chain(general(records).into_iter().map(|w| w.line));
    lines.map(|line| format!("\n- {line}")).collect::<String>() + "\n"
}

/// What each case is, in the words of its figure. Where they depend on the configuration, those of
/// the last one: its threads are the most.
fn cases(records: &[Record]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut before = "";
    for case in distinct(records.iter().map(|r| r.figure.case.as_str())) {
        let last = records.iter().rfind(|r| r.figure.case == case);
        let text = last.map_or("", |r| r.figure.description.as_str());
        // What is counted follows the last colon.
        lines.push(match text.rsplit_once(": ") {
            Some((loop_, what)) if loop_ == before => format!("{case}: the same, {what}"),
            Some((loop_, _)) => {
                before = loop_;
                format!("{case}: {text}")
            }
            None => format!("{case}: {text}"),
        });
    }
    lines
}

fn general(records: &[Record]) -> Vec<Words> {
    let mut all = Vec::new();
    for name in distinct(records.iter().map(|r| r.implementation)) {
        if let Some((_, words)) = NAMES.iter().find(|(known, _)| *known == name) {
            all.push(Words::new(name, format!("{name}: {words}")));
        }
    }
    for config in distinct(records.iter().map(|r| r.figure.config.as_str())) {
        if let Some((shape, words)) = shape(config)
            && !all.iter().any(|words| words.what == shape)
        {
            all.push(Words::new(&shape, format!("{config}: {words}")));
        }
    }
    let mut units: Vec<(&str, Trend)> = Vec::new();
    for figure in records.iter().map(|r| &r.figure) {
        if !units.contains(&(figure.unit, figure.trend)) {
            units.push((figure.unit, figure.trend));
            let line = unit(figure.unit, figure.trend);
            all.push(Words::new(&line, line.as_str()));
        }
    }
    if records.iter().any(|r| r.samples.len() > 1) {
        all.push(Words::new("±", "±: standard deviation of the runs; the figure is their median"));
    }
    let notes = distinct(records.iter().flat_map(|r| r.notes.iter().map(String::as_str)));
    if notes.iter().any(|note| host::is_crowd(note)) {
        let cores = host::cores();
        let line = format!(
            "*: more threads than this machine's {cores} core{}, so they take turns",
            host::plural(cores)
        );
        all.push(Words::new("*", line));
    }
    all.extend(host::legend(&notes).into_iter().map(|line| Words::new(&line, line.as_str())));
    all
}

/// Returns what the letters of a configuration mean, after their form, such as `p0c0`.
fn shape(config: &str) -> Option<(String, String)> {
    let mut numbers: Vec<String> = Vec::new();
    let mut form = String::new();
    for c in config.chars() {
        match numbers.last_mut() {
            Some(number) if c.is_ascii_digit() && form.ends_with('0') => number.push(c),
            _ if c.is_ascii_digit() => {
                numbers.push(c.to_string());
                form.push('0');
            }
            _ => form.push(c),
        }
    }
    let of = |i: usize, noun: &str| {
        let number = numbers.get(i).map_or("", String::as_str);
        format!("{number} {noun}{}", if number == "1" { "" } else { "s" })
    };
    let words = match form.as_str() {
        "w0" => format!("{}; a worker is a thread of a runtime", of(0, "worker")),
        "t0" => of(0, "thread"),
        "p0c0" => format!("{} and {}, a thread each", of(0, "producer"), of(1, "consumer")),
        "0x0" => format!("{} and {}", of(0, "sender"), of(1, "receiver")),
        "n0" => of(0, "task"),
        "t0-n0" => format!("{}, and the limit that is varied is {}", of(0, "thread"), numbers[1]),
        "0k" => format!("{},000 items a second are wanted", numbers[0]),
        "0m" => format!("{} million items a second are wanted", numbers[0]),
        _ => return None,
    };
    Some((form, words))
}

fn unit(unit: &str, trend: Trend) -> String {
    let words = match unit {
        "ns" => "nanoseconds",
        "µs" => "microseconds",
        "ms" => "milliseconds",
        "K/s" => "thousands a second",
        "M/s" => "millions a second",
        "B" => "bytes",
        "%" => "per cent",
        "share" => "a part of 1",
        _ => "",
    };
    let better = if trend == Trend::Lower { "less" } else { "more" };
    if words.is_empty() {
        format!("{unit}: {better} is better")
    } else {
        format!("{unit}: {words}, {better} is better")
    }
}

/// Implementations of ours whose names say too little.
const NAMES: &[(&str, &str)] = &[
    ("serial", "the same program without a library"),
    ("sateen-stealing", "our workers take work from each other (the default)"),
    ("sateen-sharing", "our workers share one queue"),
    ("sateen-roundrobin", "our workers each have a queue, filled in turn"),
    ("sateen-local", "our runtime of one thread, with locks that have no atomics"),
    ("sateen-async", "our tasks as futures"),
    ("sateen-64k", "our tasks on stacks of 64 KiB"),
    ("sateen-batch", "ours, 16 at once"),
    ("sateen-fifo", "our shed, ready tasks in the order in which they became ready"),
    ("sateen-plain", "our deque as in textbooks"),
    ("sateen-padded", "the same, shared data on cache lines of its own"),
    ("sateen-asymmetric", "the default, thieves pay for the fence"),
    ("sateen-singly", "our throttle, one item at a time"),
    ("sateen-hand", "a thread's share of our throttle"),
    ("sateen-bound", "ours, each worker bound to its queue"),
    ("sateen-sharded", "our shed, ready tasks striped over threads"),
    ("sateen-driven", "our shed, run by a runtime's workers"),
    ("sateen-scope", "scopes and counters written by hand"),
    ("mutex", "our default lock, which suspends tasks"),
    ("ttas", "spins and never sleeps (test and test-and-set)"),
    ("ttas-adaptive", "spins as long as that has helped, then yields its time slice"),
    ("ttas-futex", "spins a while, then sleeps"),
    ("ttas-adaptive-futex", "spins as long as that has helped, then sleeps"),
    ("ticket", "first come, first served, all spin on one number"),
    ("mcs", "first come, first served, each spins on a line of its own"),
    ("os-mutex", "the platform's lock"),
    ("kernel", "enters the kernel each time"),
    ("no-atomics", "for one thread only"),
    ("mutex-local", "for the tasks of one thread"),
    ("lock-free", "no lock: a queue without"),
    ("naive", "a spinlock without a pause"),
    ("yielding", "a spinlock that yields its time slice"),
    ("global", "the system's allocator, no pool"),
    ("magazine", "our default pool: each thread keeps some free blocks"),
    ("lock-free-flags", "a flag a block, no lock"),
    ("lock-free-tree", "a tree of bits, no lock"),
    ("std", "the standard library"),
    ("mutex-condvar", "a queue under a mutex, with a condition variable"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_explained() {
        let words = |config| shape(config).map(|(_, words)| words);
        assert_eq!(words("w2").as_deref(), Some("2 workers; a worker is a thread of a runtime"));
        assert_eq!(words("t16").as_deref(), Some("16 threads"));
        let four = "4 producers and 4 consumers, a thread each";
        assert_eq!(words("p4c4").as_deref(), Some(four));
        assert_eq!(words("16x1").as_deref(), Some("16 senders and 1 receiver"));
        for config in ["n1000000", "t2-n16", "100k", "1m"] {
            assert!(shape(config).is_some(), "{config}");
        }
        assert_eq!(words("full"), None);
        assert_eq!(unit("ns", Trend::Lower), "ns: nanoseconds, less is better");
    }
}
