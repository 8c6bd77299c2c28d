//! A user's copy of `bikeshed.h` is measured, or refused in one line. The tests use a stand-in.

mod common;

use common::{arg, assert_refused, output, sateen};
use std::fs;
use std::path::Path;
use std::process::Output;

const STAND_IN: &str = include_str!("stand_in.h");

/// Makes a smoke run of `words` with `header`. Returns `None`, and prints a note, if there is no
/// compiler.
fn smoke(header: &Path, words: &[&str]) -> Option<Output> {
    let first = ["run", "--smoke", "--brief", "--bikeshed-header", arg(header)];
    let done = output(&[&first, words].concat());
    let errors = String::from_utf8_lossy(&done.stderr);
    if errors.contains("is not installed") {
        eprintln!("not tested: {errors}");
        return None;
    }
    Some(done)
}

#[test]
fn a_header_is_measured() {
    let dir = tempfile::tempdir().expect("a directory");
    let header = dir.path().join("any name.h");
    fs::write(&header, STAND_IN).expect("a file");
    let Some(done) = smoke(&header, &["shed/[A-E]/bikeshed"]) else { return };
    let (text, errors) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && errors.is_empty(), "{errors}");
    for test in ["A", "B", "C", "D", "E"] {
        for threads in ["p1c1", "p2c2", "p4c4", "p7c1", "p1c7"] {
            let id = format!("shed/{test}/bikeshed/{threads} ");
            assert!(text.contains(&id), "{id} is missing: {text}");
        }
    }
}

#[test]
fn what_is_executed_twice_is_noted_and_left_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let header = dir.path().join("twice.h");
    fs::write(&header, format!("#define TWICE\n{STAND_IN}")).expect("a file");
    let words = ["shed/A/bikeshed/p1c1", "shed/chain/sateen-scope/w1"];
    let Some(done) = smoke(&header, &words) else { return };
    let (text, errors) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{errors}");
    assert!(errors.contains("not measured: Bikeshed, test A: wrong result"), "{errors}");
    assert!(text.contains("shed/chain/") && !text.contains("shed/A/"), "{text}");
}

#[test]
fn a_bad_header_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = dir.path().join("missing.h");
    assert_refused(&output(&["list", "--bikeshed-header", arg(&missing)]), arg(&missing));
    let other = dir.path().join("other.h");
    for text in [&b"not C at all"[..], b"", b"\xff\xfe"] {
        fs::write(&other, text).expect("a file");
        for path in [dir.path(), &missing, &other] {
            let done = output(&["run", "--smoke", "deque/pair", "--bikeshed-header", arg(path)]);
            assert!(done.stdout.is_empty(), "something was measured");
            assert_refused(&done, &format!("--bikeshed-header `{}`", path.display()));
        }
    }
}

#[test]
fn a_missing_compiler_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let header = dir.path().join("bikeshed.h");
    fs::write(&header, STAND_IN).expect("a file");
    let mut command = sateen(&["run", "--smoke", "shed", "--bikeshed-header", arg(&header)]);
    let done = command.env("CC", "no-such-compiler -g").output().expect("it starts");
    assert_refused(&done, "`no-such-compiler` is not installed");
    assert_refused(&done, arg(&header));
}
