//! Helpers that the tests share.
#![allow(dead_code)]

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::process::{Command, Output};

/// The numbers of threads with which each behaviour is tested.
pub(crate) const THREADS: [usize; 4] = [1, 2, 3, 8];

/// A pool of `threads` threads.
pub(crate) fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Whether this process is the child of a test: then that test plays the child's part.
pub(crate) fn is_child() -> bool {
    std::env::var_os("RAYON_CORE_TEST_CHILD").is_some()
}

/// Runs the test `name` of this program in a child process, with `variables`.
pub(crate) fn run_child(name: &str, variables: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env("RAYON_CORE_TEST_CHILD", "1");
    command.env_remove("RAYON_NUM_THREADS").env_remove("RAYON_RS_NUM_CPUS");
    command.envs(variables.iter().copied());
    command.output().expect("a child process")
}

/// What a child has printed on stderr.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
