//! Every experiment runs, at the smallest size, and checks its own result.

mod common;

use common::{output, stdout};

#[test]
fn the_tour_shows_every_experiment() {
    let text = stdout(&["tour", "--smoke"]);
    for name in ["deque", "forkjoin", "skynet", "wake", "dispatch", "idle"] {
        assert!(text.contains(&format!("\n{name}: ")), "{name} has no sentence: {text}");
    }
    // Published figures stand beside ours.
    for published in ["51.23 / 60.23 / 60.26", "×1.18 ×1.00", "Boost.Fiber", "18800-28100"] {
        assert!(text.contains(published), "{published} is missing: {text}");
    }
}

#[test]
fn without_a_subcommand_it_is_the_tour() {
    // Help tells what the default is; the tour itself is too long for a test.
    let help = stdout(&["--help"]);
    for word in ["run", "list", "tour", "diff"] {
        assert!(help.contains(word), "{help}");
    }
    assert!(stdout(&["--version"]).starts_with("sateen "));
}

#[test]
fn a_run_measures_all_it_lists() {
    let listed = stdout(&["list"]);
    let measured = stdout(&["run", "--smoke", "--brief"]);
    let measured: Vec<&str> = measured.lines().filter_map(|l| l.split(' ').next()).collect();
    for id in listed.lines() {
        assert!(measured.contains(&id), "`{id}` was not measured");
    }
    assert_eq!(listed.lines().count(), measured.len());
}

#[test]
fn more_threads_than_cores_are_noted() {
    let text =
        stdout(&["run", "--smoke", "--brief", "--workers", "200", "deque/spawn-time/sateen/"]);
    assert!(text.contains("200 threads on "), "{text}");
}

#[cfg(feature = "peers")]
#[test]
fn peers_are_compared() {
    let text = stdout(&["run", "--smoke", "--peers", "deque/pair-pushpop1", "skynet"]);
    for word in ["crossbeam", "st3", "rayon", "chili", "forte", "tokio", "95 % interval"] {
        assert!(text.contains(word), "{word} is missing: {text}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let script = format!("{} list | head -n 1", env!("CARGO_BIN_EXE_sateen"));
    if cfg!(unix) {
        let done = std::process::Command::new("sh").args(["-c", &script]).output();
        let done = done.expect("a shell");
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    } else {
        assert!(output(&["list"]).status.success());
    }
}
