//! Input that makes no sense: one line that names the value, exit status 2, nothing half-written.

mod common;

use common::{arg, assert_refused, output, sateen};
use std::fs;

#[test]
fn values_are_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--workers", "0"], "'0'"),
        (&["run", "--workers", "65536"], "'65536'"),
        (&["run", "--workers", "99999999999999999999"], "'99999999999999999999'"),
        (&["run", "--workers", "two"], "'two'"),
        (&["run", "--workers", "1,0"], "'0'"),
        (&["run", "--budget", "0"], "'0'"),
        (&["run", "--budget", "-1"], "-1"),
        (&["run", "--budget", "soon"], "'soon'"),
        (&["run", "--budget", "NaN"], "'NaN'"),
        (&["run", "--filter", "no such figure"], "`no such figure`"),
        (&["run", "--filter", "("], "`(`"),
        (&["run", "nosuch"], "unknown experiment `nosuch`"),
        (&["run", "deque/pair", "nosuch/fib"], "unknown experiment `nosuch/fib`"),
        (&["run", "deque/nosuch"], "`deque/nosuch`"),
        (&["run", "deque", "--filter", "skynet"], "`skynet`"),
        (&["list", "nosuch"], "unknown experiment `nosuch`"),
        (&["run", "--nosuch"], "--nosuch"),
        (&["nosuch"], "nosuch"),
        (&["diff"], "<BASE.json>"),
        (&["run", "--json"], "--json"),
        (&["run", "--json", "-"], "--json `-`"),
        (&["help", "runn"], "'runn'"),
        (&["tour", "--budget", "1"], "--budget"),
        (&["diff", "a.json", "b.json", "--threshold", "0.5"], "'0.5'"),
    ];
    for (args, named) in cases {
        let done = output(args);
        assert!(done.stdout.is_empty(), "{args:?} printed something");
        assert_refused(&done, named);
    }
}

#[test]
fn the_variable_is_refused_by_name() {
    for value in ["abc", "0", "65536", ""] {
        let done = sateen(&["list"]).env("SATEEN_WORKERS", value).output().expect("it starts");
        assert_refused(&done, &format!("SATEEN_WORKERS=`{value}`"));
    }
    let done = sateen(&["list"]).env("SATEEN_WORKERS", "3").output().expect("it starts");
    assert!(done.status.success());
}

#[cfg(not(feature = "peers"))]
#[test]
fn peers_need_the_feature() {
    assert_refused(&output(&["run", "--peers"]), "feature `peers`");
    assert_refused(&output(&["list", "--peers"]), "feature `peers`");
}

#[test]
fn an_unwritable_file_is_found_before_measuring() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = dir.path().join("missing").join("out.json");
    for path in [dir.path(), &missing] {
        let done = output(&["run", "--smoke", "deque/pair", "--json", arg(path)]);
        assert!(done.stdout.is_empty());
        assert_refused(&done, arg(path));
    }
    let file = dir.path().join("file");
    fs::write(&file, "").expect("a file");
    let below = file.join("plots");
    assert_refused(&output(&["run", "--smoke", "--plot", arg(&below)]), arg(&below));
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "something was left behind");
}

#[test]
fn a_broken_base_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let base = dir.path().join("base.json");
    let good = dir.path().join("good.json");
    let args = ["run", "--smoke", "deque/pair", "--json", arg(&good)];
    assert!(output(&args).status.success());
    let whole = fs::read_to_string(&good).expect("results");

    assert_refused(&output(&["run", "--smoke", "--diff", arg(&base)]), arg(&base));
    let broken = [
        (String::new(), "it is empty"),
        (" \n".to_owned(), "it is empty"),
        (whole[..whole.len() / 2].to_owned(), "it ends too early"),
        ("not even JSON".to_owned(), "not JSON"),
        (r#"{"schema": 0}"#.to_owned(), "schema 0 is not 1"),
        ("{}".to_owned(), "schema"),
        ("[1, 2]".to_owned(), "schema"),
        (whole.replacen("\"schema\": 1", "\"schema\": 2", 1), "schema 2 is newer than 1"),
        (r#"{"schema": 1, "machine": {}}"#.to_owned(), "results"),
        (whole.replacen("\"units\"", "\"unit\"", 1), "units"),
    ];
    for (text, named) in broken {
        fs::write(&base, &text).expect("written");
        let done = output(&["run", "--smoke", "deque/pair", "--diff", arg(&base)]);
        assert!(done.stdout.is_empty(), "measured before looking at the base");
        assert_refused(&done, named);
        assert_refused(&output(&["diff", arg(&base), arg(&good)]), arg(&base));
        assert_refused(&output(&["diff", arg(&good), arg(&base)]), arg(&base));
    }
    fs::write(&base, b"\xff\xfe\x00").expect("written");
    assert_refused(&output(&["diff", arg(&base), arg(&good)]), "UTF-8");
    assert_refused(&output(&["diff", arg(dir.path()), arg(&good)]), arg(dir.path()));
    fs::write(&base, r#"{"schema": 1, "machine": {}, "results": []}"#).expect("written");
    assert_refused(&output(&["diff", arg(&base), arg(&good)]), "no figure in common");
}

/// The largest possible number of threads is more than the usual limit of memory maps allows.
#[cfg(target_os = "linux")]
#[test]
fn more_threads_than_the_system_has_room_for_are_refused() {
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    if limit.trim().parse::<u64>().is_ok_and(|maps| maps < 250_000) {
        assert_refused(&output(&["run", "--smoke", "--workers", "65535"]), "65535");
    }
}

/// There is address space for some threads, not for twenty. Their stacks are huge, so that a stack
/// is what does not fit. It is never one of the small maps that std needs in a thread and aborts
/// without.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_be_created_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("out.json");
    let script = format!(
        "ulimit -v 1500000; exec {} run --smoke --workers 20 forkjoin/fib/sateen --json {}",
        env!("CARGO_BIN_EXE_sateen"),
        json.display()
    );
    let done = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("RUST_MIN_STACK", "300000000")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("a shell");
    assert_refused(&done, "forkjoin/fib/sateen/w20: cannot start the thread of worker");
    assert!(!json.exists(), "results of a failed run were written");
}

/// A file without an end is not read to its end.
#[cfg(target_os = "linux")]
#[test]
fn a_base_that_is_too_large_is_refused() {
    let none = "cannot use `/dev/zero`: it is larger than 64 MiB";
    assert_refused(&output(&["diff", "/dev/zero", "/dev/zero"]), none);
    assert_refused(&output(&["report", "/dev/zero", "-o", "-"]), none);
    assert_refused(&output(&["run", "--smoke", "deque/pair", "--diff", "/dev/zero"]), none);
}
