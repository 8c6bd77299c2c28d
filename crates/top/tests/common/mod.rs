//! Programs that `sateen-top` looks at, and that are none: a folder with sockets, whose answers are
//! given. Each test binary uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// A user's folder for sockets.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let private = fs::DirBuilder::new().mode(0o700).create(folder.path().join("sateen"));
        private.expect("made");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        self.0.path().join("sateen").join(format!("{name}.sock"))
    }

    /// `sateen-top` with `args`, for this user.
    pub(crate) fn top(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sateen-top"));
        command.args(args).env("XDG_RUNTIME_DIR", self.0.path()).env_remove("NO_COLOR");
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.top(args).output().expect("the program starts")
    }

    /// Serves a socket: `answer` gets each line and how many came before, and says what is written.
    /// None ends the connection.
    pub(crate) fn serve(
        &self,
        name: &str,
        answer: impl Fn(&str, usize) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) {
        let listener = UnixListener::bind(self.socket(name)).expect("bound");
        thread::spawn(move || {
            thread::scope(|scope| {
                for stream in listener.incoming() {
                    let answer = &answer;
                    scope.spawn(move || {
                        let stream = stream.expect("accepted");
                        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                        for (count, line) in lines.enumerate() {
                            let Some(bytes) = answer(&line, count) else { return };
                            if (&stream).write_all(&bytes).is_err() {
                                return;
                            }
                        }
                    });
                }
            });
        });
    }

    /// Serves a program of this name with a frame.
    pub(crate) fn serve_frame(&self, name: &str, frame: String) {
        let hello = r#"{"version":1,"hello":{"program":"x","pid":1,"can_trace":false}}"#;
        self.serve(name, move |line, _| {
            let answer = match line {
                line if line.contains("hello") => hello.to_owned(),
                line if line.contains("report") => REPORT.replace('\n', " "),
                line if line.contains("trace start") => {
                    r#"{"version":1,"trace":{"running":true}}"#.to_owned()
                }
                line if line.contains("trace stop") => {
                    r#"{"version":1,"trace":{"running":false,"file":"/a/b","events":7}}"#.to_owned()
                }
                _ => frame.clone(),
            };
            Some(format!("{answer}\n").into_bytes())
        });
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Requires this exit status and one line on standard error that contains `named`.
#[track_caller]
pub(crate) fn assert_ended(done: &Output, status: i32, named: &str) {
    let errors = text(&done.stderr);
    assert_eq!(done.status.code(), Some(status), "{errors}");
    assert_eq!(errors.lines().count(), 1, "not one line: {errors}");
    assert!(errors.contains(named), "`{named}` is not named: {errors}");
}

/// It refuses what the user asks for.
#[track_caller]
pub(crate) fn assert_refused(done: &Output, named: &str) {
    assert_ended(done, 2, named);
}

/// The program that is looked at has ended, or makes no sense.
#[track_caller]
pub(crate) fn assert_lost(done: &Output, named: &str) {
    assert_ended(done, 5, named);
}

const REPORT: &str = r#"{"version":1,"report":{"runtimes":[{"number":1,
"text":"2 fibers\n  one","deadlocks":["deadlock: task 7 \"\u001b[31mred\" waits for mutex 0x10"],
"blocked":"all blocked, no timer pending","busy":0,"held":[{"address":"0x10","by":"task 8"}]}]}}"#;

/// A frame of a program with everything in it. The text is in many places.
pub(crate) fn frame(text: &str) -> String {
    let text = serde_json::to_string(text).expect("JSON");
    let worker = |index: u32| {
        format!(
            r#"{{"index":{index},"doing":"works","busy_ns":9,"idle_ns":1,"asleep_ns":0,"started":1,
            "ended":3,"taken":4,"steals":0,
            "counts":{{"thefts":3,"new":4,{text}:5,"zero":0}},
            "queued":2,"pinned":1,"ready":0,"suspended":2,
            "runs":{{"id":5,"name":{text},
            "spawned_at":"src/a/b/main.rs:3:4","for_ns":2500000000}}}}"#
        )
    };
    let wait = |id: u32| {
        format!(
            r#"{{"worker":0,"kind":"mutex","address":"0x10","id":{id},"name":{text},
            "spawned_at":"src/main.rs:9:9","for_ns":12000000000}}"#
        )
    };
    format!(
        r#"{{"version":1,"frame":{{"program":"fake","pid":77,"can_trace":false,"time_ns":5,
        "runtimes":[{{"number":1,"workers":[{},{}],
        "tasks":{{"running":1,"ready":0,"waiting":2,"queued":5,"futures":4}},
        "queued_outside":0,"without_stack":0,"sleeping":0,"searching":0,"waits":[{},{}],
        "places":[{{"kind":"mutex","address":"0x10","waiters":2,"longest_ns":12000000000}}]}}],
        "queues":[{{"number":2,"name":{text},"depth":12,"capacity":1000,"sent":50,"handled":38,
        "dropped":1,"workers":2,"busy":1,"deepest":12,"lanes":1,"closed":false}}],
        "later_field":[1,2,3]}}}}"#,
        worker(0),
        worker(1),
        wait(7),
        wait(8)
    )
    .replace('\n', " ")
}
