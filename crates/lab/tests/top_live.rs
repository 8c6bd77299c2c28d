//! `sateen top` looks at a real program, which this is when it is started again with one more
//! variable.
#![cfg(all(feature = "inspect", target_os = "linux"))]

mod common;

use common::sateen;
use rustix::process::{Pid, Signal, kill_process};
use sateen::flow::WorkerQueue;
use sateen::sync::Mutex;
use sateen::{Runtime, Spawn};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CHILD: &str = "SATEEN_TEST_CHILD";
/// A name that would do something to a terminal, and to JSON.
const EVIL: &str = "\u{1b}[2J\"\\\n\u{202e}";
const PATIENCE: Duration = Duration::from_secs(60);

/// Not a test by itself: the program that is looked at, until standard input ends.
#[test]
fn the_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let met = Arc::new(AtomicUsize::new(0));
    for (name, first, second) in [("north", &a, &b), ("south", &b, &a)] {
        let (first, second, met) = (Arc::clone(first), Arc::clone(second), Arc::clone(&met));
        drop(runtime.spawn_with(Spawn::new().name(name), move || {
            let _first = first.lock();
            met.fetch_add(1, Ordering::Relaxed);
            while met.load(Ordering::Relaxed) < 2 {
                sateen::yield_now();
            }
            let _second = second.lock();
        }));
    }
    let queue = WorkerQueue::builder().workers(1).name("mill").start(|_, _: &mut u32| {
        thread::sleep(Duration::from_millis(1));
    });
    let queue = Arc::new(queue.expect("a queue"));
    let evil = WorkerQueue::builder().name(EVIL).start(|_, _: &mut u32| ());
    let _evil = evil.expect("a queue");
    let sends = Arc::clone(&queue);
    thread::spawn(move || while sends.send(1).is_ok() {});
    drop(std::io::read_to_string(std::io::stdin()));
    // The two never end.
    std::process::exit(0);
}

fn child(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this test has a path"));
    command.args(["--exact", "the_child", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").env("SATEEN_INSPECT", "1").env("XDG_RUNTIME_DIR", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the child starts")
}

fn top(folder: &Path, args: &[&str]) -> Output {
    let mut command = sateen(&[&["top"], args].concat());
    command.env("XDG_RUNTIME_DIR", folder).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Looks until what is printed has all of `words`.
fn until(folder: &Path, program: &str, words: &[&str]) -> String {
    let start = Instant::now();
    loop {
        let done = top(folder, &[program, "--once", "--columns", "150"]);
        let printed = text(&done.stdout);
        if words.iter().all(|word| printed.contains(word)) {
            return printed;
        }
        let errors = text(&done.stderr);
        assert!(start.elapsed() < PATIENCE, "no {words:?}: {printed}{errors}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_deadlock_and_a_queue_are_seen_until_the_program_dies() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = child(folder.path());
    let program = child.id().to_string();
    let words = [
        "2 workers; tasks: 0 running, 0 ready, 2 waiting, 0 queued",
        "north",
        "south",
        "deadlock: task ",
        "mill",
        "1 of 1 busy",
        "/s",
    ];
    let printed = until(folder.path(), &program, &words);
    assert!(printed.contains("which waits for mutex 0x"), "{printed}");
    let json = text(&top(folder.path(), &[&program, "--format", "json"]).stdout);
    assert!(json.contains("\"name\":\"mill\""), "{json}");
    let frame: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let queues = frame["frame"]["queues"].as_array().expect("a list");
    assert!(queues.iter().any(|queue| queue["name"] == EVIL), "{json}");
    assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed}");
    assert!(text(&top(folder.path(), &[]).stdout).contains(&program));
    // A process that is stopped does not answer.
    let process = Pid::from_child(&child);
    kill_process(process, Signal::STOP).expect("it runs");
    let stopped = top(folder.path(), &[&program, "--once"]);
    assert_eq!(stopped.status.code(), Some(5), "{}", text(&stopped.stderr));
    assert!(text(&stopped.stderr).contains("does not answer"));
    kill_process(process, Signal::CONT).expect("it is there");
    until(folder.path(), &program, &["deadlock: task "]);
    child.kill().expect("killed");
    child.wait().expect("ended");
    let gone = top(folder.path(), &[&program, "--once"]);
    assert_eq!(gone.status.code(), Some(2));
    assert!(text(&gone.stderr).contains("is gone: nobody serves its socket"));
}

#[test]
fn two_programs_of_one_name_are_both_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = [child(folder.path()), child(folder.path())];
    for child in &both {
        until(folder.path(), &child.id().to_string(), &["north"]);
    }
    let listed = text(&top(folder.path(), &[]).stdout);
    let name = listed.split_whitespace().nth(1).expect("a name").to_owned();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let done = top(folder.path(), &[&name, "--once"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("2 programs have the name `"), "{}", text(&done.stderr));
    for mut child in both {
        drop(child.stdin.take());
        assert!(child.wait().expect("ended").success());
    }
    assert_eq!(top(folder.path(), &[]).status.code(), Some(2), "they have removed their sockets");
}
