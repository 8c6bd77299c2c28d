//! `report` and `history`: what they write, and what they refuse.

mod common;

use common::{arg, assert_refused, output, sateen};
use std::fs;
use std::path::Path;

/// Results of two implementations in two configurations.
fn results(factor: f64) -> String {
    let mut metrics = Vec::new();
    for (name, value) in [("sateen", 10.0), ("rayon", 20.0)] {
        for workers in [1, 2] {
            let value = value * factor / f64::from(workers);
            metrics.push(format!(
                r#"{{"id": "forkjoin/fib/{name}/w{workers}", "name": "n", "value": {value},
                "units": "ns", "trend": "lower-is-better", "description": "d", "best": {value},
                "worst": {value}, "mean": {value}, "median": {value}, "sd": 0.1, "runs": 5}}"#
            ));
        }
    }
    format!(
        r#"{{"schema": 1, "machine": {{"cpu": "a processor", "cores": 2}},
        "results": [{{"name": "forkjoin", "metrics": [{}]}}]}}"#,
        metrics.join(",")
    )
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}

#[test]
fn a_run_becomes_a_page() {
    let dir = tempfile::tempdir().expect("a directory");
    let (json, html) = (dir.path().join("run.json"), dir.path().join("out.html"));
    let args = ["run", "--smoke", "forkjoin/fib", "deque/pair", "--json", arg(&json)];
    assert!(output(&args).status.success());
    let plots = dir.path().join("plots");
    let done = output(&["report", arg(&json), "-o", arg(&html), "--plot", arg(&plots)]);
    assert!(done.status.success() && done.stdout.is_empty());
    assert!(plots.join("deque-pair-pushpop64.svg").is_file());
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("figures are on") && said.contains(arg(&html)), "{said}");
    let text = fs::read_to_string(&html).expect("a page");
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
    assert!(text.contains("<h2>forkjoin</h2>") && text.contains("The smallest sizes"));
    // Two runs, of which one has a name that the other one has too.
    let folder = dir.path().join("other");
    fs::create_dir(&folder).expect("a directory");
    let other = folder.join("run.json");
    fs::copy(&json, &other).expect("copied");
    assert!(output(&["report", arg(&json), arg(&other), "-o", arg(&html)]).status.success());
    let text = fs::read_to_string(&html).expect("a page");
    assert!(text.contains(">run<") && text.contains(">run (2)<"));
}

#[test]
fn files_that_are_no_results_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let good = results(1.0);
    let newer = good.replacen("\"schema\": 1", "\"schema\": 7", 1);
    let cases: &[(&[u8], &str)] = &[
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (&good.as_bytes()[..good.len() / 2], "it ends too early"),
        (b"PNG\x89\xff", "UTF-8"),
        (b"<html></html>", "not JSON"),
        (b"[1, 2, 3]", "not a results file"),
        (br#"{"name": "package", "version": "1"}"#, "not a results file"),
        (newer.as_bytes(), "schema 7 is newer than 1"),
        (br#"{"schema": 1, "machine": {}, "results": 5}"#, "not a results file"),
        (br#"{"schema": 1, "machine": {}, "results": []}"#, "has no figures"),
    ];
    let (json, html) = (dir.path().join("run.json"), dir.path().join("out.html"));
    for (content, named) in cases {
        fs::write(&json, content).expect("written");
        let done = output(&["report", arg(&json), "-o", arg(&html)]);
        assert_refused(&done, named);
        assert_refused(&done, arg(&json));
        assert!(!html.exists(), "half a page was written");
    }
    let missing = dir.path().join("missing.json");
    assert_refused(&output(&["report", arg(&missing), "-o", arg(&html)]), arg(&missing));
    assert_refused(&output(&["report"]), "<RUN.json>");
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "something is left");
}

#[test]
fn a_page_that_cannot_be_written_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("run.json");
    write(&json, &results(1.0));
    let missing = dir.path().join("missing").join("out.html");
    for path in [dir.path(), &missing] {
        assert_refused(&output(&["report", arg(&json), "-o", arg(path)]), arg(path));
        assert_refused(&output(&["history", arg(dir.path()), "-o", arg(path)]), arg(path));
    }
    if cfg!(target_os = "linux") {
        let commits = tempfile::tempdir().expect("a directory");
        for name in ["a.json", "b.json"] {
            write(&commits.path().join(name), &results(1.0));
        }
        for (command, input) in [("report", json.as_path()), ("history", commits.path())] {
            let done = output(&[command, arg(input), "-o", "/dev/full"]);
            assert!(!done.status.success());
            let errors = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(errors.contains("cannot write `/dev/full`"), "{errors}");
        }
    }
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "something is left");
}

#[test]
fn a_page_may_go_to_standard_output() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["a.json", "b.json"] {
        write(&dir.path().join(name), &results(1.0));
    }
    let json = dir.path().join("a.json");
    for args in [["report", arg(&json), "-o", "-"], ["history", arg(dir.path()), "-o", "-"]] {
        let done = sateen(&args).current_dir(dir.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() && said.contains("on standard output"), "{said}");
        let page = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(page.starts_with("<!doctype html>"), "{}", &page[..60]);
        assert!(page.ends_with("</html>\n"), "the page is cut");
    }
    let names = fs::read_dir(dir.path()).expect("readable").count();
    assert_eq!(names, 2, "a file is left");
    #[cfg(target_os = "linux")]
    for args in [["report", arg(&json), "-o", "-"], ["history", arg(dir.path()), "-o", "-"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let done = sateen(&args).stdout(full).output().expect("it starts");
        assert!(!done.status.success(), "{args:?} fits on a full disk");
    }
}

#[test]
fn a_history_marks_what_changed() {
    let dir = tempfile::tempdir().expect("a directory");
    let html = dir.path().join("out.html");
    for commit in 0..20 {
        // Noise of a few per cent, and a step of a third after the twelfth.
        let factor = 1.0 + f64::from(commit * 7 % 5) / 100.0;
        let factor = if commit < 12 { factor } else { factor * 1.33 };
        let name = format!("20261101T{commit:02}0000Z-abcdef{commit:02}.json");
        write(&dir.path().join(name), &results(factor));
    }
    // Neither a file of another kind nor one that is being written is looked at.
    write(&dir.path().join("notes.txt"), "x");
    write(&dir.path().join(".new.json.1.tmp"), "x");
    let done = output(&["history", arg(dir.path()), "-o", arg(&html)]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("4 figures of 20 commits"), "{said}");
    let text = fs::read_to_string(&html).expect("a page");
    assert!(text.contains("4 of 4 figures changed"), "no change is marked");
    assert!(text.contains(" % (worse) with abcdef12, from "), "it is somewhere else");
}

#[test]
fn a_directory_without_a_history_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let html = dir.path().join("out.html");
    let run = || output(&["history", arg(dir.path()), "-o", arg(&html)]);
    assert_refused(&run(), "has no file");
    write(&dir.path().join("a.json"), &results(1.0));
    assert_refused(&run(), "has one file");
    let bad = dir.path().join("b.json");
    write(&bad, "{}");
    assert_refused(&run(), arg(&bad));
    write(&bad, &results(1.0).replace("forkjoin/fib", "other/case"));
    assert_refused(&run(), "no figure is in two of the 2 files");
    write(&bad, &results(1.0));
    assert!(run().status.success());
    let missing = dir.path().join("missing");
    assert_refused(&output(&["history", arg(&missing), "-o", arg(&html)]), arg(&missing));
    assert_refused(&output(&["history", arg(&bad), "-o", arg(&html)]), arg(&bad));
}
