//! A broken invariant ends the process with its reason, and no `catch_unwind` prevents that. This
//! holds with the feature `std`. Without it, this holds where other code ends the process.
#![cfg(not(any(loom, miri)))]

use sateen_base::{AbortGuard, abort_with};
use std::panic::catch_unwind;
use std::process::Command;

/// The variable that names the test to run. It is set in the process that must end.
const ENDING: &str = "SATEEN_TEST_ENDING";

/// Runs `end` in a child process, which must end with "the reason".
#[track_caller]
fn ends(test: &str, end: impl FnOnce() + std::panic::UnwindSafe) {
    if std::env::var_os(ENDING).is_some() {
        let _ = catch_unwind(end);
        println!("it went on");
        return;
    }
    let program = std::env::current_exe().expect("its own path");
    let mut command = Command::new(program);
    let output = command
        .args(["--exact", test, "--nocapture"])
        .env(ENDING, test)
        .output()
        .expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("sateen: internal error: the reason"), "{said}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("it went on"));
    assert!(!output.status.success());
}

#[test]
fn abort_with_ends_the_process() {
    ends("abort_with_ends_the_process", || abort_with("the reason"));
}

#[test]
fn a_guard_ends_the_process_of_a_panic() {
    ends("a_guard_ends_the_process_of_a_panic", || {
        let _guard = AbortGuard::new("the reason");
        panic!("this must not pass");
    });
}

#[test]
fn a_disarmed_guard_ends_nothing() {
    AbortGuard::new("no reason").disarm();
}
