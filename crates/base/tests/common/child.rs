//! Tests whose failure would end the process or hang for ever. Each runs in a child process.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a child may take. Only a child that hangs takes it all.
const LIMIT: Duration = Duration::from_secs(60);

/// In the child process, returns true, and no other test runs there. The parent starts that child
/// for the test `name` and gets false. It panics if the child fails, dies or takes too long.
pub(crate) fn in_child(name: &str) -> bool {
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
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().expect("it is our child");
            panic!("{name} did not end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{name} ended with {status}");
    false
}
