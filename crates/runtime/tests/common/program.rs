//! Starts this test again as a program of its own, which can be looked at.
#![allow(dead_code)]

use super::asked::sockets;
use std::fs;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const CHILD: &str = "SATEEN_TEST_CHILD";

/// What this process is to do, if it is a child.
pub(crate) fn task() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Until standard input ends.
pub(crate) fn wait_for_the_end() {
    drop(std::io::stdin().read(&mut [0]));
}

/// A folder that is gone when this is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sateen-{}-{name}", std::process::id()));
        // An earlier process of this number may have been killed.
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).expect("made");
        Self(path)
    }

    /// Makes a folder in it that is the user's alone.
    pub(crate) fn make_private(&self, name: &str) {
        fs::DirBuilder::new().mode(0o700).create(self.0.join(name)).expect("made");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

pub(crate) struct Program(pub(crate) Child);

/// Runs the test `the_child` in a process of its own.
pub(crate) fn start(what: &str, folder: &Path, inspect: &str) -> Program {
    start_with(folder, inspect, what, Stdio::piped())
}

pub(crate) fn start_with(folder: &Path, inspect: &str, what: &str, stderr: Stdio) -> Program {
    Program(command(folder, inspect, what, stderr).spawn().expect("the child starts"))
}

pub(crate) fn command(folder: &Path, inspect: &str, what: &str, stderr: Stdio) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(["--exact", "the_child", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, what).env("SATEEN_INSPECT", inspect).env("XDG_RUNTIME_DIR", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    command
}

impl Program {
    /// Tells it to end. Returns what it said on standard error.
    pub(crate) fn ends_well(mut self) -> String {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {text}", output.status);
        text
    }
}

/// Waits until there are as many sockets.
pub(crate) fn some_sockets(folder: &Path, count: usize) -> Vec<PathBuf> {
    sateen_testkit::until_some(|| Some(sockets(folder)).filter(|found| found.len() == count))
}
