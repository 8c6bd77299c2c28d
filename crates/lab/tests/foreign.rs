//! Text of others does nothing where it is printed: from results files, their names, and what is
//! refused.

mod common;

use common::{arg, output};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Steers terminals of both kinds, rubs out, turns what follows, and begins cells, tags and code.
const EVIL: &str = "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}|<script>alert(1)</script>`,\"=\n\t\u{7}";

/// Requires that nothing in `text` acts on a terminal.
fn assert_tame(text: &[u8], what: &str) {
    let text = String::from_utf8(text.to_vec()).expect("UTF-8");
    let acts = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!text.contains(acts), "{what}: {text:?}");
}

fn document(value: f64, unit: &str) -> Value {
    let metric = |id: String, unit: &str| {
        json!({
            "id": id, "name": EVIL, "value": value, "units": unit, "trend": EVIL,
            "description": format!("{EVIL}: x"), "best": value, "worst": value, "mean": value,
            "median": value, "sd": 0.0, "runs": 9,
        })
    };
    let id = EVIL.replace('/', "");
    let mut machine = json!({"partial": EVIL, "notes": {EVIL: [EVIL]}, "cores": 2});
    for key in ["cpu", "kernel", "rustc", "profile", "sizes", "commit", "lab", "target"] {
        machine[key] = format!("{EVIL}{value}").into();
    }
    let usual = metric("x/fib/sateen/w1".to_owned(), unit);
    let hostile = metric(format!("{id}/{id}/{id}/{id}"), unit);
    let section = json!({"name": EVIL, "metrics": [usual, hostile]});
    json!({"schema": 1, "machine": machine, "results": [section]})
}

fn write(path: &Path, document: &Value) {
    fs::write(path, document.to_string()).expect("written");
}

#[test]
fn results_are_compared_in_every_form() {
    let dir = tempfile::tempdir().expect("a directory");
    let (base, new) = (dir.path().join("base.json"), dir.path().join("new.json"));
    write(&base, &document(1.0, EVIL));
    write(&new, &document(3.0, EVIL));
    for form in ["text", "csv", "markdown", "json"] {
        let args = ["diff", arg(&base), arg(&new), "--format", form, "--threshold", "1.1"];
        let done = output(&args);
        assert_eq!(done.status.code(), Some(1), "the threshold");
        assert_tame(&done.stdout, form);
        assert_tame(&done.stderr, form);
        let text = String::from_utf8(done.stdout).expect("UTF-8");
        assert!(text.contains("x/fib/sateen/w1"), "{text}");
        match form {
            "csv" => {
                let rows: Vec<&str> = text.lines().collect();
                assert_eq!(rows.len(), 3, "a line end got in: {text}");
            }
            "markdown" => {
                let rows = text.lines().filter(|line| line.starts_with('|'));
                let bars = |line: &str| line.replace("\\|", "").matches('|').count();
                assert!(rows.map(bars).all(|count| count == 9), "a cell got in: {text}");
                assert!(!text.contains("<script>") && !text.replace("\\`", "").contains('`'));
            }
            "json" => {
                let all: Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(all[1]["units"], EVIL, "as the file says it");
            }
            _ => {}
        }
    }
    write(&new, &document(3.0, "ns"));
    let done = output(&["diff", arg(&base), arg(&new)]);
    assert_eq!(done.status.code(), Some(2));
    assert_tame(&done.stderr, "another unit");
    assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1);
}

#[test]
fn pages_hold_no_letter_that_acts() {
    let dir = tempfile::tempdir().expect("a directory");
    // Names of files are others' text too.
    let name = |number: u32| format!("{number}\u{1b}[2J\u{202e}<b>.json");
    let paths = [dir.path().join(name(1)), dir.path().join(name(2))];
    for (path, value) in paths.iter().zip([1.0, 3.0]) {
        write(path, &document(value, EVIL));
    }
    let svgs = dir.path().join("svgs");
    let page = output(&["report", arg(&paths[0]), arg(&paths[1]), "-o", "-", "--plot", arg(&svgs)]);
    let history = output(&["history", arg(dir.path()), "-o", "-"]);
    for (done, what) in [(page, "report"), (history, "history")] {
        assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
        assert_tame(&done.stdout, what);
        assert_tame(&done.stderr, what);
        let text = String::from_utf8(done.stdout).expect("UTF-8");
        assert!(!text.contains("<b>") && text.matches("<script>").count() == 1, "{what}");
    }
    for svg in fs::read_dir(svgs).expect("drawn") {
        assert_tame(&fs::read(svg.expect("an entry").path()).expect("readable"), "SVG");
    }
}

#[test]
fn what_is_refused_is_quoted_harmlessly() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x\u{1b}[2J\u{9b}\u{202e}.json");
    let broken = [
        json!({"schema": 1, "machine": EVIL, "results": []}),
        json!({"schema": 1, "machine": {}, "results": [{"name": 1, "metrics": EVIL}]}),
        json!({"schema": EVIL}),
        json!({"schema": 2}),
        json!({"schema": 1, "machine": {}, "results": []}),
    ];
    for document in broken {
        write(&path, &document);
        for args in [&["diff", arg(&path), arg(&path)][..], &["report", arg(&path)]] {
            let done = output(args);
            assert_eq!(done.status.code(), Some(2), "{args:?}");
            assert_tame(&done.stderr, "an error");
        }
    }
    for args in [&["run", EVIL][..], &["run", "--filter", EVIL], &[EVIL]] {
        let done = output(args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert_tame(&done.stderr, "an error");
    }
}
