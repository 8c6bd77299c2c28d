//! Runs the program and looks at what it did. Each test binary uses a part of it.
#![allow(dead_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the program with `args`, in an environment without our variables. It is the one that was
/// built with the test, unless `SATEEN_BIN` names another build.
pub(crate) fn sateen(args: &[&str]) -> Command {
    let built = OsString::from(env!("CARGO_BIN_EXE_sateen"));
    let mut command = Command::new(std::env::var_os("SATEEN_BIN").unwrap_or(built));
    command.args(args).env_remove("SATEEN_WORKERS");
    command
}

/// Runs it to its end.
pub(crate) fn output(args: &[&str]) -> Output {
    sateen(args).output().expect("the program starts")
}

/// Runs it and requires success. Returns standard output.
pub(crate) fn stdout(args: &[&str]) -> String {
    let done = output(args);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{args:?}: {}: {errors}", done.status);
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// Returns `path` as an argument.
pub(crate) fn arg(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

/// Requires exit status 2 and one line on standard error that contains `named`.
pub(crate) fn assert_refused(done: &Output, named: &str) {
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "not one line: {errors}");
    assert!(errors.contains(named), "`{named}` is not named: {errors}");
}
