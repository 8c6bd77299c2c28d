//! What people see: tables that fit, other forms, help, completions and the manual.

mod common;

use common::{arg, assert_refused, output, sateen, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Requires that no line of `text` is longer than `width`. Whole commands and paths are left out:
/// a reader copies them.
fn assert_fits(text: &str, width: usize, what: &str) {
    for line in text.lines().filter(|line| !line.contains("sateen-tour-")) {
        let length = line.chars().count();
        assert!(length <= width, "{what}: {length} columns, not {width}: `{line}`");
    }
}

/// Returns a results file of some figures with many runs, so that there are verdicts.
fn write_results(path: &Path, factor: f64) {
    let metric = |i: u32| {
        let value = if i == 3 { 100.0 } else { 100.0 * factor };
        serde_json::json!({
            "id": format!("pool/short-fresh/locked-flags-ttas-adaptive-futex/t{i}"),
            "name": "x", "value": value, "units": "ns", "trend": "lower-is-better",
            "description": "", "best": value, "worst": value, "mean": value, "median": value,
            "sd": 1.0, "runs": 20,
        })
    };
    let metrics: Vec<Value> = (1..4).map(metric).collect();
    let document = serde_json::json!({
        "schema": 1,
        "machine": {"cpu": format!("a processor with a rather long name {factor}")},
        "results": [{"name": "pool", "metrics": metrics}],
    });
    fs::write(path, document.to_string()).expect("written");
}

#[test]
fn every_table_fits() {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, new) = (dir.path().join("base.json"), dir.path().join("new.json"));
    write_results(&base, 1.0);
    write_results(&new, 1.5);
    let runs: &[&[&str]] = &[
        &["run", "--smoke"],
        &["advise", "lock", "--smoke", "--no-questions", "--threads", "3", "--reads", "50"],
        &["advise", "counter", "--smoke", "--no-questions"],
        &["advise", "pool", "--smoke", "--no-questions", "--threads", "2"],
        &["diff", arg(&base), arg(&new)],
    ];
    for width in ["80", "100", "140"] {
        for args in runs {
            let text = stdout(&[args, &["--columns", width][..]].concat());
            assert_fits(&text, width.parse().expect("a number"), &format!("{args:?}"));
        }
    }
}

#[test]
fn a_pipe_has_a_hundred_columns() {
    let text = stdout(&["run", "--smoke", "^(lock|pool|deque)/"]);
    assert_fits(&text, 100, "piped");
    assert!(text.lines().any(|line| line.chars().count() > 80), "{text}");
    assert!(!text.contains('\x1b'), "colours in a pipe");
}

#[test]
fn the_narrowest_screen_shows_everything() {
    let text = stdout(&["run", "--smoke", "--columns", "20", "^lock/t2-short/", "forkjoin/fib"]);
    for word in ["ttas-adaptive-futex", "sateen", "serial", "fib/w1", "nanoseconds"] {
        assert!(text.contains(word), "{word} is missing: {text}");
    }
    // Only names are longer.
    for line in text.lines().filter(|line| line.chars().count() > 20) {
        assert_eq!(line.trim().split("  ").count(), 1, "{line}");
    }
}

#[test]
fn widths_and_forms_are_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--columns", "19"], "'19'"),
        (&["run", "--columns", "-1"], "'-1'"),
        (&["tour", "--columns", "wide"], "'wide'"),
        (&["run", "--format", "xml"], "'xml'"),
        (&["diff", "a", "b", "--format", ""], "''"),
        (&["runn"], "did you mean 'run'?"),
        (&["top", "x"], "subcommand 'top'; the view of a running program is `sateen-top`"),
        (&["run", "--budgte", "1"], "did you mean '--budget'?"),
        (&["run", "--budget", "-1"], "not a number of seconds"),
        (&["advise", "lock", "--threads", "-1"], "'-1'"),
        (&["completions", "tcsh"], "'tcsh'"),
        (&["man", "nosuch"], "`nosuch`"),
    ];
    for (args, named) in cases {
        let done = output(args);
        assert!(done.stdout.is_empty(), "{args:?} printed something");
        assert_refused(&done, named);
    }
}

#[test]
fn letters_and_units_are_explained_once() {
    let text = stdout(&["run", "--smoke", "shed/[A-G]/.*/p4c4", "^lock/t2-short"]);
    let words = [
        "A: tasks that add 1",
        "p4c4: 4 producers and 4 consumers",
        "t2: 2 threads",
        "ns: nanoseconds, less is better",
        "ttas: spins and never sleeps",
    ];
    for word in words {
        assert_eq!(text.matches(word).count(), 1, "{word}: {text}");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 8 {
        assert_eq!(text.matches("more threads than this machine's").count(), 1, "{text}");
        assert!(text.contains("/p4c4*"), "{text}");
    }
}

#[test]
fn figures_come_in_other_forms() {
    let words = ["run", "--smoke", "deque/pair", "--format"];
    let csv = stdout(&[&words[..], &["csv"]].concat());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 3 * 4, "{csv}");
    assert_eq!(rows[0][..4], ["experiment", "case", "implementation", "config"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let json: Value =
        serde_json::from_str(&stdout(&[&words[..], &["json"]].concat())).expect("JSON");
    assert_eq!(json["results"][0]["metrics"].as_array().map(Vec::len), Some(12));
    let markdown = stdout(&[&words[..], &["markdown"]].concat());
    assert!(markdown.contains("\n## deque\n\n| figure | unit |"), "{markdown}");
    let bars = |line: &str| line.matches(" | ").count();
    let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() == 5 && table.iter().all(|l| bars(l) == bars(table[0])), "{markdown}");
}

#[test]
fn a_diff_comes_in_other_forms_with_verdicts() {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, new) = (dir.path().join("base.json"), dir.path().join("new.json"));
    write_results(&base, 1.0);
    write_results(&new, 1.5);
    let text = stdout(&["diff", arg(&base), arg(&new)]);
    assert!(text.contains("150.00 ns = 1.50 x 100.00 ns, 1.5 × slower than before"), "{text}");
    assert!(text.contains("100.00 ns = 1.00 x 100.00 ns, as fast as before"), "{text}");
    assert!(text.contains("New against base: behind in 2 of 3 figures:"), "{text}");
    let csv = stdout(&["diff", arg(&base), arg(&new), "--format", "csv"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let json = stdout(&["diff", arg(&base), arg(&new), "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["verdict"], "1.5 × slower than before");
    let markdown = stdout(&["diff", arg(&base), arg(&new), "--format", "markdown"]);
    assert!(markdown.starts_with("| id | unit |"), "{markdown}");
    assert_refused(
        &output(&["run", "--smoke", "pool/short-fresh", "--diff", arg(&base), "--format", "csv"]),
        "--diff with --format csv",
    );
}

#[test]
fn every_command_has_examples_and_a_page() {
    let help = stdout(&["--help"]);
    for word in ["Examples:", "Exit status:", "130 SIGINT", "completions", "man"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    // The same statuses as in the table of the README.
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    for row in ["| 0 |", "| 1 |", "| 2 |", "| 4 |", "| 129, 130, 143 |"] {
        assert!(readme.contains(row), "{row}");
        let numbers = row.split([' ', '|', ',']).filter(|word| !word.is_empty());
        numbers.for_each(|number| assert!(help.contains(number), "{number}: {help}"));
    }
    let commands = [
        "run",
        "list",
        "tour",
        "advise",
        "flow",
        "soak",
        "scale",
        "doctor",
        "diff",
        "completions",
        "man",
    ];
    for command in commands {
        let help = stdout(&[command, "--help"]);
        assert!(help.contains("Examples:\n  ") && help.contains("sateen "), "{command}: {help}");
        let page = stdout(&["man", command]);
        assert!(page.contains(&format!(".TH sateen-{command} 1")), "{command}: {page}");
    }
    assert!(stdout(&["man"]).contains(".TH sateen 1"));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("advise") && script.contains("columns"), "{shell}");
    }
}

#[test]
fn the_tour_says_what_comes_and_what_next() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = sateen(&["tour", "--smoke", "--columns", "80"]);
    let done = command.env("TMPDIR", dir.path()).env_remove("CARGO").output().expect("it starts");
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    assert!(done.status.success(), "{text}");
    assert_fits(&text, 80, "the tour");
    let parts = ["The tour takes about", "\n  1 forkjoin", "\n1/8 forkjoin: ", "\n8/8 shed: "];
    let at: Vec<_> = parts.iter().map(|part| text.find(part).expect(part)).collect();
    assert!(at.is_sorted(), "{text}");
    let end: Vec<&str> = text.lines().rev().take(6).collect();
    assert!(end[..3].iter().all(|line| line.starts_with("  sateen ")), "{text}");
    if cfg!(unix) {
        let page = end[4].strip_prefix("The report is ").expect("a path");
        assert!(fs::read_to_string(page).expect("written").contains("<html"), "{page}");
        let file = end[5].strip_prefix("The figures are in ").expect("a path");
        assert!(Path::new(file).starts_with(dir.path()), "{file}");
        let file = fs::read_to_string(file).expect("written");
        assert_eq!(serde_json::from_str::<Value>(&file).expect("JSON")["schema"], 1);
    }
}
