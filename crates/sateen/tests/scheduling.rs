//! Runs the examples that have scheduling policies.

use std::path::PathBuf;
use std::process::Command;

/// What a built example prints. `cargo test` builds them beside the tests, unless it is told to
/// build one test.
fn output(example: &str) -> String {
    let test = std::env::current_exe().expect("this test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let program: PathBuf = profile.join("examples").join(name);
    assert!(program.is_file(), "{}: first `cargo build --examples`", program.display());
    let output = Command::new(program).output().expect("the example can be started");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn by_priority() {
    for _ in 0..20 {
        assert_eq!(output("priority"), "answer\nsweep\nindex\nreport\n");
    }
}

#[test]
fn by_deadline() {
    // How many are late depends on the machine. All are done on any machine.
    assert!(output("deadline").starts_with("60 jobs, "));
}
