//! `sateen advise`: every tool at the smallest size, and what is refused.

mod common;

use common::{arg, assert_refused, output, sateen, stdout};
use std::process::Stdio;

/// Runs without anybody to ask, as in a pipe.
fn advise(args: &[&str]) -> String {
    stdout(&[&["advise", "--smoke", "--no-questions", "--columns", "200"], args].concat())
}

#[test]
fn each_tool_is_ranked_with_its_line() {
    let contexts: &[(&[&str], &str, &[&str])] = &[
        (
            &["lock"],
            "--section 50ns, --reads 0",
            &["ttas-adaptive-futex", "mutex", "std", "value = "],
        ),
        (&["lock", "--threads", "1"], "a lock for 1 thread", &["mcs", "no-atomics"]),
        (
            &["lock", "--threads", "3", "--section", "1us", "--between", "0", "--reads", "90%"],
            "3 threads, held for 1µs, 0ns between, 90 % reads",
            &[
                "rwlock",
                "std-rwlock",
                "mcs",
                "least served",
                "longest wait",
                "processor",
                "What that costs:",
            ],
        ),
        (
            &["counter", "--total", "end"],
            "which is read only at the end",
            &["local-then-atomic", "striped", "atomic"],
        ),
        (&["counter", "--threads", "4"], "--total sometimes", &["striped", "ttas"]),
        (&["counter", "--total", "each", "--threads", "1"], "each increment reads", &["atomic"]),
        (
            &["pool"],
            "64 bytes, given back at once (assumed: --size 64",
            &["magazine", "lock-free-tree", "global"],
        ),
        (
            &["pool", "--size", "5", "--lifetime", "long", "--live", "100", "--threads", "2"],
            "5 bytes, given back when a thread has 100",
            &["lock-free-tree"],
        ),
        (&["pool", "--lifetime", "fifo", "--threads", "1"], "in the order taken", &["magazine"]),
        (
            &["pool", "--frees", "other"],
            "one thread takes and another gives back",
            &["lock-free-tree"],
        ),
    ];
    for (args, context, words) in contexts {
        let text = advise(args);
        assert!(text.contains(context), "{args:?}: `{context}` is missing: {text}");
        for word in *words {
            assert!(text.contains(word), "{args:?}: `{word}` is missing: {text}");
        }
        assert!(text.contains("\nTake "), "{args:?}: {text}");
        assert!(text.contains("no advice yet: 1 run"), "{args:?}: {text}");
    }
}

#[test]
fn only_what_serves_is_a_candidate() {
    let each = advise(&["counter", "--total", "each"]);
    assert!(!each.contains("striped") && !each.contains("local-then-atomic"), "{each}");
    let sometimes = advise(&["counter", "--total", "sometimes"]);
    assert!(!sometimes.contains("local-then-atomic"), "{sometimes}");
    assert!(!advise(&["lock", "--threads", "2"]).contains("rwlock"));
}

#[test]
fn more_threads_than_cores_are_said() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores >= 1024 {
        return;
    }
    let threads = (cores + 1).to_string();
    let text = advise(&["counter", "--threads", &threads]);
    assert!(
        text.contains(&format!("{threads} threads on")) && text.contains("more threads than cores"),
        "{text}"
    );
}

#[test]
fn the_file_has_every_candidate() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("advice.json");
    let text = advise(&["counter", "--threads", "2", "--json", arg(&json)]);
    let file = std::fs::read_to_string(&json).expect("written");
    let file: serde_json::Value = serde_json::from_str(&file).expect("JSON");
    let metrics = file["results"][0]["metrics"].as_array().expect("metrics");
    assert!(metrics.iter().any(|m| m["id"] == "advise/counter-sometimes/striped/t2"), "{file}");
    let words = file["machine"]["context"].as_str().expect("the context");
    assert!(text.contains(words), "{words}: {text}");
    assert_refused(
        &output(&["advise", "counter", "--no-questions", "--json", arg(dir.path())]),
        arg(dir.path()),
    );
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "TOOL is missing"),
        (&["mutex"], "'mutex'"),
        (&["lock", "--threads", "0"], "'0'"),
        (&["lock", "--threads", "1025"], "'1025'"),
        (&["lock", "--section", "2s"], "'2s'"),
        (&["lock", "--section=-1ns"], "'-1ns'"),
        (&["lock", "--between", "soon"], "'soon'"),
        (&["lock", "--reads", "101"], "'101'"),
        (&["lock", "--size", "12"], "--size is for a pool"),
        (&["counter", "--section", "2us"], "--section is for a lock"),
        (&["counter", "--total", "never"], "'never'"),
        (&["pool", "--total", "end"], "--total is for a counter"),
        (&["pool", "--size", "0"], "'0'"),
        (&["pool", "--size", "65537"], "'65537'"),
        (&["pool", "--lifetime", "eternal"], "'eternal'"),
        (&["pool", "--live", "0"], "'0'"),
        (&["pool", "--live", "10"], "--live"),
        (&["pool", "--frees", "other", "--threads", "8"], "--threads 8"),
        (&["pool", "--frees", "other", "--lifetime", "long"], "--lifetime long"),
        (&["lock", "--seconds", "0"], "'0'"),
        (&["lock", "--nosuch"], "--nosuch"),
    ];
    for (args, named) in cases {
        let args = [&["advise"], *args].concat();
        let done = sateen(&args).stdin(Stdio::null()).output().expect("the program starts");
        assert!(done.stdout.is_empty(), "{args:?} printed something");
        assert_refused(&done, named);
    }
}
