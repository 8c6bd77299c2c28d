//! Pages of what is usual, and of what is hostile.

use super::runs::Run;
use super::{page, shell};
use crate::report::json::{Document, Machine, Metric, Section};
use serde_json::json;

fn run(label: &str, document: Document) -> Run {
    Run::new(label.to_owned(), document)
}

fn metric(id: &str, value: f64) -> Metric {
    Metric {
        id: id.into(),
        value,
        best: value * 0.9,
        worst: value * 1.1,
        units: "ns".into(),
        trend: "lower-is-better".into(),
        runs: 9,
        interval: Some([value * 0.95, value * 1.05]),
        ..Metric::default()
    }
}

fn machine() -> Machine {
    let machine = json!({
        "cpu": "a processor", "cores": 2, "commit": "0123456789ab", "load_1min": 1.5,
        "unix_time": 1_795_515_604, "opt_level": "3", "sizes": "full", "budget_s": 0.5,
        "notes": {"x/fib/rayon/w8": ["8 threads on 2 cores"], "x/fib/rayon/w2": ["busy 20 %"]},
    });
    serde_json::from_value(machine).expect("an object")
}

fn usual(factor: f64) -> Document {
    let mut metrics = Vec::new();
    for (name, base) in [("sateen", 10.0), ("rayon", 20.0), ("tokio", 8.0)] {
        for (w, share) in [(1, 1.0), (2, 0.5), (8, 0.6)] {
            metrics.push(metric(&format!("x/fib/{name}/w{w}"), base * share * factor));
        }
    }
    let results = vec![Section { name: "x".into(), metrics }];
    Document { schema: 1, machine: machine(), results }
}

#[test]
fn a_page_has_everything() {
    let html = page(&[run("a", usual(1.0))]).expect("a page");
    for part in [
        "a processor",
        "0123456789ab",
        "2026-11-24 10:20 UTC",
        "9; 1 with more threads than cores",
        "1 disturbed by other programs",
        "The machine was busy before the run: load 1.50 on 2 cores.",
        "ours is ahead in 3, even in 0 and behind in 3",
        "2.00 × faster than rayon",
        "1.25 × slower than tokio",
        "<caption>All figures of x</caption>",
    ] {
        assert!(html.contains(part), "`{part}` is missing");
    }
    assert!(!html.contains("http://") && !html.contains("https://"), "it asks for something");
}

#[test]
fn runs_stand_side_by_side() {
    let slower = usual(1.5);
    let html = page(&[run("old", usual(1.0)), run("new", slower)]).expect("a page");
    assert!(html.contains("x: ours beside the run old"), "no picture of what changed");
    assert!(html.contains("<h3>fib: old</h3>") && html.contains("<h3>fib: new</h3>"));
    assert!(html.contains(">old<") && html.contains(">new<") && html.contains(">1.50"));
    // A figure that only one of them has is there, too.
    let mut other = usual(1.0);
    other.results[0].metrics.push(metric("y/only/sateen/w1", 3.0));
    let html = page(&[run("a", usual(1.0)), run("b", other)]).expect("a page");
    assert!(html.contains("<td>only<td>w1<td>sateen<td class=n><td class=n>3.00"));
}

#[test]
fn what_comes_from_the_file_is_escaped() {
    const EVIL: &str = "</title></svg><script>alert(1)</script>\"'& onload=x \0";
    let mut document = usual(1.0);
    for name in ["cpu", "kernel", "commit", "partial", "rustc"] {
        document.machine.insert(name, EVIL.into());
    }
    for section in &mut document.results {
        section.name = EVIL.into();
        for metric in &mut section.metrics {
            metric.units = EVIL.into();
            metric.name = EVIL.into();
            metric.description = EVIL.into();
            metric.trend = EVIL.into();
        }
    }
    let id = format!("{0}/{0}/{0}/{0}", EVIL.replace('/', ""));
    let second = format!("{id}2");
    document.machine.insert("notes", json!({ &*id: [EVIL], &*second: [EVIL] }));
    document.results[0].metrics.extend([metric(&id, 1.0), metric(&second, 2.0)]);
    document.results[0].metrics.push(metric(EVIL, 1.0));
    let html = page(&[run(EVIL, document)]).expect("a page");
    assert_eq!(html.matches("<script>").count(), 1, "a script got in");
    assert_eq!(html.matches("</script>").count(), 1);
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert!(!html.contains("alert(1)<") && !html.contains('\0'));
    let titles = html.matches("<title").count();
    assert_eq!(titles, html.matches("</title>").count());
}

#[test]
fn values_without_sense_make_a_page() {
    for value in [0.0, -1.0, f64::MAX, 5e-324] {
        let mut document = usual(value);
        document.machine = Machine::default();
        for metric in &mut document.results[0].metrics {
            metric.interval = None;
            metric.sd = f64::MAX;
        }
        page(&[run("a", document.clone()), run("b", document)]).expect("a page");
    }
}

/// A run of all experiments with peers has 3,300 figures.
#[test]
fn a_page_of_a_full_run_is_small() {
    let mut results = Vec::new();
    for experiment in 0..20 {
        let mut metrics = Vec::new();
        for case in 0..14 {
            for implementation in ["sateen", "rayon", "tokio", "may", "go", "erlang"] {
                for (i, config) in ["w1", "w2"].into_iter().enumerate() {
                    let id = format!("e{experiment}/a-case-{case}/{implementation}/{config}");
                    metrics.push(metric(&id, 123.456_789 / (1 + i) as f64));
                }
            }
        }
        results.push(Section { name: format!("e{experiment}").into(), metrics });
    }
    let document = Document { schema: 1, machine: machine(), results };
    let count = document.metrics().count();
    let html = page(&[run("full", document)]).expect("a page");
    assert!(count > 3_300 && html.len() < 1_500_000, "{count} figures, {} bytes", html.len());
}

#[test]
fn the_policy_forbids_a_network() {
    let html = shell::page("t", &[], "");
    assert!(html.contains("default-src 'none'"), "{html}");
}
