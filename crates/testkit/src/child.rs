//! Tests whose failure would end the process or hang for ever. Each runs in a child process.

use crate::time::{PATIENCE, within_patience};
use std::process::{Command, Stdio};

/// In the child process, returns true, and no other test runs there. The parent starts that child
/// for the test `name` and gets false. It panics if the child fails, dies or takes too long.
pub fn in_child(name: &str) -> bool {
    const MARK: &str = "SATEEN_TEST_CHILD";
    // Miri starts no processes, and says itself what has not ended.
    if cfg!(miri) || std::env::var_os(MARK).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program)
        .args(["--exact", name, "--test-threads=1"])
        .env(MARK, "1")
        .stdout(Stdio::null())
        .spawn()
        .expect("this program can be started");
    let Some(status) = within_patience(|| child.try_wait().expect("it is our child")) else {
        child.kill().expect("it is our child");
        panic!("{name} did not end within {PATIENCE:?}");
    };
    assert!(status.success(), "{name} ended with {status}");
    false
}
