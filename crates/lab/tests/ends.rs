//! How the program ends when it cannot go on: signals, a full disk, a reader that leaves.
#![cfg(unix)]

mod common;

use common::{arg, sateen};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

fn results(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a results file")).expect("JSON")
}

/// The first table comes soon; the idle figures then take many seconds.
const LONG: [&str; 5] = ["run", "idle", "^lock/uncontended-empty/ttas/", "--budget", "0.01"];

#[test]
fn a_signal_prints_and_writes_what_there_is() {
    let dir = tempfile::tempdir().expect("a directory");
    let signals = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];
    for (signal, status) in signals {
        let json = dir.path().join(format!("{status}.json"));
        let mut command = sateen(&[&LONG[..], &["--json", arg(&json)]].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut text = String::new();
        while !text.contains("uncontended-empty/t1") {
            assert!(lines.read_line(&mut text).expect("readable") > 0, "it ended: {text}");
        }
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        lines.read_to_string(&mut text).expect("readable");
        assert_eq!(child.wait().expect("it ends").code(), Some(status), "{text}");
        let mut errors = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut errors).expect("readable");
        assert!(errors.contains("ended it early") && errors.contains("partial"), "{errors}");
        let document = results(&json);
        let partial = document["machine"]["partial"].as_str().expect("a reason");
        assert!(partial.starts_with("SIG"), "{partial}");
        let first = &document["results"][0]["metrics"][0]["id"];
        assert_eq!(first, "lock/uncontended-empty/ttas/t1", "{document}");
    }
}

/// A parent that ignores hang-ups, as `nohup` does, wants the program to go on.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_hangup_stays_ignored() {
    let script = "trap '' HUP; exec \"$SATEEN\" flow 1 100 100 1 1.5";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("SATEEN", env!("CARGO_BIN_EXE_sateen"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
    let mut lines = BufReader::new(child.stdout.take().expect("piped"));
    let mut text = String::new();
    lines.read_line(&mut text).expect("readable");
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    lines.read_to_string(&mut text).expect("readable");
    assert!(child.wait().expect("it ends").success(), "{text}");
    assert!(text.contains(" = received"), "{text}");
}

fn shell(script: &str, file: &Path) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("SATEEN", env!("CARGO_BIN_EXE_sateen")).env("FILE", file);
    command.output().expect("a shell")
}

/// Requires status 4 and a line that says why.
fn assert_unwritten(done: &Output, what: &str) {
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{what}: {errors}");
    assert!(errors.contains("cannot write"), "{what}: {errors}");
    assert!(errors.contains("No space left") || errors.contains("os error"), "{what}: {errors}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("good.json");
    let run = "run --smoke deque/pair";
    let done = shell(&format!("\"$SATEEN\" {run} --json \"$FILE\""), &json);
    assert!(done.status.success());
    let commands = [
        "list",
        "--help",
        "run --help",
        "--version",
        run,
        "run --smoke deque/pair --brief",
        "run --smoke deque/pair --format json",
        "tour --smoke",
        "scale forkjoin/fib/sateen/ --smoke --workers 1,2",
        "diff \"$FILE\" \"$FILE\"",
        "advise counter --smoke --no-questions",
        "flow 1 100 100 1 0.2",
        "doctor",
        "man",
        "completions bash",
    ];
    for command in commands {
        let done = shell(&format!("\"$SATEEN\" {command} > /dev/full"), &json);
        assert_unwritten(&done, command);
        assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1, "{command}");
    }
    // What is said beside a page may be lost; the page is not.
    let page = dir.path().join("page.html");
    for command in ["report \"$FILE\"", "history \"$(dirname \"$FILE\")\""] {
        fs::copy(&json, dir.path().join("again.json")).expect("copied");
        let script = format!("\"$SATEEN\" {command} -o '{}' 2> /dev/full", arg(&page));
        assert_eq!(shell(&script, &json).status.code(), Some(0), "{command}");
        assert!(fs::read_to_string(&page).expect("a page").contains("</html>"), "{command}");
        fs::remove_file(&page).expect("removed");
    }
    // Nobody hears why, and still the status says it.
    let done = shell("\"$SATEEN\" list > /dev/full 2> /dev/full", &json);
    assert_eq!(done.status.code(), Some(4));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_saves_what_was_measured() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("out.json");
    let run = "\"$SATEEN\" run --smoke forkjoin/fib deque/pair --brief --json";
    let done = shell(&format!("{run} \"$FILE\" > /dev/full"), &json);
    assert_eq!(done.status.code(), Some(4));
    let document = results(&json);
    assert!(document["machine"]["partial"].as_str().is_some_and(|p| p.contains("output")));
    assert_eq!(document["results"].as_array().map(Vec::len), Some(1), "only the first: {document}");
    // The file is what cannot be written: the figures are printed.
    let done = shell(&format!("{run} /dev/full"), &json);
    assert_unwritten(&done, "a full device");
    assert!(String::from_utf8_lossy(&done.stdout).contains("deque/pair-pushpop1/sateen/w1 "));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let json = dir.path().join("out.json");
    let commands = ["list", "--help", "man", "completions zsh", "run --smoke --brief deque/pair"];
    for command in commands {
        let script = format!("(\"$SATEEN\" {command}; echo $? >&2) | true");
        let done = shell(&script, &json);
        assert_eq!(String::from_utf8_lossy(&done.stderr), "0\n", "{command}");
    }
    // With a file to write it goes on to the end.
    let run = "\"$SATEEN\" run --smoke --brief forkjoin/fib deque/pair --json \"$FILE\"";
    let done = shell(&format!("({run}; echo $? >&2) | true"), &json);
    assert_eq!(String::from_utf8_lossy(&done.stderr), "0\n");
    let document = results(&json);
    assert!(document["machine"]["partial"].is_null(), "{document}");
    assert_eq!(document["results"].as_array().map(Vec::len), Some(2), "{document}");
}

/// A signal ends a filter whose input never ends, and the lines that are done come out.
#[test]
fn a_filter_that_waits_for_input_can_be_ended() {
    let mut command = sateen(&["flow", "--stdin", "--builtin", "count"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut input, b"one\ntwo three\n").expect("it reads");
    std::thread::sleep(std::time::Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(143));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "2 3 14\n");
    drop(input);
}

/// Returns a filter that runs `command` for each line of `input`, in order, and whose input never
/// ends. Waits until the commands have said `lines` lines on standard error, and returns those too.
fn filtering(
    command: &str,
    input: &str,
    lines: usize,
) -> (Child, BufReader<ChildStderr>, Vec<String>) {
    let mut filter = sateen(&["flow", "--stdin", "--exec", command, "--ordered", "--threads", "2"]);
    filter.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = filter.spawn().expect("the program starts");
    let lines_in = child.stdin.as_mut().expect("piped");
    std::io::Write::write_all(lines_in, input.as_bytes()).expect("it reads");
    let mut errors = BufReader::new(child.stderr.take().expect("piped"));
    let said = (0..lines).map(|_| {
        let mut line = String::new();
        assert!(errors.read_line(&mut line).expect("readable") > 0, "it ended");
        line
    });
    let said = said.collect();
    (child, errors, said)
}

/// The shell waits for a process of its own. Each holds standard error, which ends with the last of
/// them.
const STAYS: &str = "echo half; echo begun >&2; sleep 60; echo survived >&2";

#[test]
fn commands_end_with_a_filter_that_is_killed() {
    let (mut child, mut errors, _) = filtering(STAYS, "one\ntwo\n", 2);
    kill_process(Pid::from_child(&child), Signal::KILL).expect("it runs");
    let mut text = String::new();
    errors.read_to_string(&mut text).expect("readable");
    assert!(text.is_empty(), "{text}");
    assert_eq!(child.wait().expect("it ends").code(), None);
}

#[test]
fn commands_end_with_a_signal_to_their_filter_and_what_they_said_comes_out() {
    let command = format!("read n; [ $n = 1 ] || {{ echo quick; echo begun >&2; exit; }}; {STAYS}");
    for (signal, name, status) in
        [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143), (Signal::HUP, "SIGHUP", 129)]
    {
        let (mut child, mut errors, _) = filtering(&command, "1\n2\n", 2);
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let mut text = String::new();
        errors.read_to_string(&mut text).expect("readable");
        assert_eq!(text, format!("sateen: {name} ended it early\n"));
        // The second line waited for the first one, which has no end.
        let input = child.stdin.take();
        let done = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "half\nquick\n");
        assert_eq!(done.status.code(), Some(status));
        drop(input);
    }
}

/// A filter that comes to its end leaves alone what a command has left behind on purpose.
#[test]
fn what_a_command_starts_for_later_outlives_a_filter_that_is_done() {
    let dir = tempfile::tempdir().expect("a directory");
    let fifo = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let path = arg(&fifo).to_owned();
    let command = format!("(read x <'{path}'; echo alive >&2) >/dev/null & echo begun >&2");
    let (mut child, mut errors, _) = filtering(&command, "1\n", 1);
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    // Opening it may take as long as nobody reads it.
    std::thread::spawn(move || fs::write(path, "go on\n"));
    let mut text = String::new();
    errors.read_to_string(&mut text).expect("readable");
    assert_eq!(text, "alive\n");
}

/// What measures for a process that is gone measures for nobody.
#[test]
fn a_turn_ends_with_its_parent() {
    let for_ever = ["0", "1000000000", "1000000000", "3600000000", "3600000000"];
    let turn = ["turn", "lock/uncontended-empty/ttas/t1", "--end-with-input"];
    let mut command = sateen(&[&turn[..], &for_ever].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.next().is_some_and(|line| line.is_ok()), "it measures");
    // The system does this when the parent is killed.
    drop(child.stdin.take());
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
