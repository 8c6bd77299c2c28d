//! `SATEEN_TRACE`: what the pools of a program did is in the file.

#![cfg(all(feature = "trace", unix, not(miri)))]

mod common;
#[path = "../../runtime/tests/common/traced.rs"]
mod traced;

use common::{is_child, pool, run_child, stderr};
use rayon_core::ThreadPoolBuilder;
use std::process::Output;
use std::sync::mpsc::channel;

/// The trace of a child that plays the test `name`, and what it printed.
fn trace_of(name: &str) -> (traced::Read, Output) {
    let file = std::env::temp_dir().join(format!("rayon-core-{}-{name}", std::process::id()));
    let output = run_child(name, &[("SATEEN_TRACE", file.to_str().expect("UTF-8"))]);
    let bytes = std::fs::read(&file).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    std::fs::remove_file(&file).expect("removed");
    (traced::read(&bytes), output)
}

#[test]
fn pools_are_in_the_trace() {
    const NAME: &str = "pools_are_in_the_trace";
    if is_child() {
        let both = pool(2);
        // One branch waits for the other, so one is stolen.
        let (go, wait) = channel();
        both.install(|| {
            rayon_core::join(
                move || wait.recv().expect("sent"),
                move || go.send(()).expect("received"),
            )
        });
        let (end, ended) = channel();
        pool(1).spawn(move || end.send(()).expect("received"));
        return ended.recv().expect("sent");
    }
    let (read, output) = trace_of(NAME);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read.workers().len(), 3);
    assert!(!read.on_workers("working").is_empty());
    assert!(!read.instants("steals a branch").is_empty(), "{:?}", read.workers());
}

#[test]
fn the_calling_thread_is_in_the_trace_when_it_panics() {
    const NAME: &str = "the_calling_thread_is_in_the_trace_when_it_panics";
    if is_child() {
        let threads = if cfg!(any(target_os = "linux", windows)) { 2 } else { 1 };
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        let pool = if threads == 2 { builder.use_current_thread() } else { builder };
        let pool = pool.build().expect("a pool");
        pool.install(|| panic!("in the pool"));
    }
    let (read, output) = trace_of(NAME);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("in the pool"), "{}", stderr(&output));
    assert!(!read.workers().is_empty());
    assert!(!read.on_workers("working").is_empty());
}

#[test]
fn a_file_that_cannot_be_written_is_said_in_a_line() {
    const NAME: &str = "a_file_that_cannot_be_written_is_said_in_a_line";
    if is_child() {
        assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
        return;
    }
    let output = run_child(NAME, &[("SATEEN_TRACE", "/no/such/folder/trace")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = "sateen: SATEEN_TRACE: cannot write the trace `/no/such/folder/trace`: ";
    assert_eq!(stderr(&output).matches(said).count(), 1, "{}", stderr(&output));
}
