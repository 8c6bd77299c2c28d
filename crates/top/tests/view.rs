//! The view of `sateen-top` on a pseudo-terminal: it shows, takes keys, and ends cleanly, also if
//! the program or the terminal is gone.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/pty.rs"]
mod pty;
#[path = "common/svg.rs"]
mod svg;

use common::{Folder, frame};
use pty::{OnTerminal, ended};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const SIZE: (u16, u16) = (40, 100);

fn show(
    folder: &Folder,
    args: &[&str],
    variables: &[(&str, &str)],
    size: (u16, u16),
) -> OnTerminal {
    let mut command = folder.top(args);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    // Files are written there.
    command.current_dir(folder.path());
    OnTerminal::start(command, Stdio::piped(), size)
}

#[test]
fn it_shows_and_takes_keys() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("a task"));
    let mut view = show(&folder, &["fake", "--every", "0.02"], &[], SIZE);
    view.until(&[
        "fake (77)",
        "workers: 2, by number",
        "waits: 2, by time",
        "locks: 1",
        "queues: 1",
    ]);
    // What waits for long brings a report, and with it who holds what.
    view.until(&["last held by", "task 8", "deadlock: task 7", "all blocked, no timer pending"]);
    view.press("s");
    view.until(&["waits: 2, by name", "waits by name"]);
    view.press("1");
    view.until(&["workers: 2, by number"]);
    view.press("4");
    view.until(&["queues: 1"]);
    view.press("0 ");
    view.until(&["frozen"]);
    view.press(" /nothing\r");
    view.until(&["filter: nothing", "workers: 0"]);
    view.press("\x1b");
    view.until(&["workers: 2"]);
    view.press("?");
    view.until(&["start a trace; again: save it"]);
    view.press("?t");
    view.until(&["a trace runs; `t` ends it"]);
    view.press("t");
    view.until(&["the trace is in /a/b: 7 events"]);
    // The first name is taken: by a link to nowhere, which a write would follow.
    let taken = folder.path().join("top-fake-77-1.txt");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), taken).expect("linked");
    view.press("d");
    view.until(&["the report is in "]);
    view.press("q");
    let (status, text) = view.end();
    assert!(status.success(), "{status}: {text}");
    assert!(!folder.path().join("nowhere").exists(), "it was written through a link");
    let report = fs::read_to_string(folder.path().join("top-fake-77-2.txt")).expect("a report");
    assert_eq!(report, "runtime 1\n2 fibers\n  one\n");
}

#[test]
fn small_and_large_terminals_show_what_fits() {
    for size in [(6, 20), (24, 40), (24, 80), (60, 200), (1, 20), (2, 1)] {
        let folder = Folder::new();
        folder.serve_frame("fake-77", frame("a task with a long name, 漢字"));
        let mut view = show(&folder, &["fake", "--every", "0.02"], &[], size);
        if size.0 > 1 && size.1 > 1 {
            view.until(&["fake (77)"]);
        }
        if size.0 >= 24 {
            view.until(&["workers: 2", "waits: 2"]);
        }
        view.press("?q");
        let (status, text) = view.end();
        assert!(status.success(), "{size:?}: {status}: {text}");
    }
}

#[test]
fn colours_are_left_out_where_they_are_refused() {
    for (refused, coloured) in [("", true), ("1", false)] {
        let folder = Folder::new();
        folder.serve_frame("fake-77", frame("a task"));
        let variables = [("NO_COLOR", refused)];
        let mut view = show(&folder, &["fake", "--every", "0.02"], &variables, SIZE);
        view.until(&["waits: 2", "deadlock: task 7"]);
        view.press("q");
        let raw = String::from_utf8_lossy(&view.raw()).into_owned();
        assert!(view.end().0.success());
        // A foreground colour other than the terminal's own.
        let is_colour = |code: &str| {
            code.split(['m', ';']).next().is_some_and(|number| {
                matches!(number.parse(), Ok(30..=37 | 90..=97)) || code.starts_with("38;5;")
            })
        };
        assert_eq!(raw.split("\x1b[").any(is_colour), coloured, "{raw:?}");
    }
}

#[test]
fn a_program_that_ends_ends_the_view_with_a_line() {
    let folder = Folder::new();
    let over = Arc::new(AtomicBool::new(false));
    let (ends, whole) = (Arc::clone(&over), format!("{}\n", frame("x")).into_bytes());
    folder.serve("dies-1", move |line, _| {
        let goes_on = !ends.load(Ordering::Relaxed) && line.contains("frame");
        goes_on.then(|| whole.clone())
    });
    let view = show(&folder, &["dies", "--every", "0.02"], &[], SIZE);
    view.until(&["fake (77)"]);
    over.store(true, Ordering::Relaxed);
    let mut child = view.child_at_end();
    assert_eq!(ended(&mut child).code(), Some(5));
    let errors = std::io::read_to_string(child.stderr.take().expect("a pipe")).expect("UTF-8");
    assert_eq!(errors, "sateen-top: dies (1) has ended\n");
}

#[test]
fn it_ends_when_its_terminal_vanishes() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("x"));
    let view = show(&folder, &["fake", "--every", "0.02"], &[], SIZE);
    view.until(&["fake (77)"]);
    let mut child = view.vanish();
    let status = ended(&mut child);
    let errors = std::io::read_to_string(child.stderr.take().expect("a pipe")).expect("UTF-8");
    assert!(status.success() && errors.is_empty(), "{status}: {errors}");
}

#[test]
fn signals_end_it_like_q() {
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        folder.serve_frame("fake-77", frame("x"));
        let view = show(&folder, &["fake", "--every", "0.02"], &[], SIZE);
        view.until(&["fake (77)"]);
        kill_process(Pid::from_child(&view.child), signal).expect("it runs");
        let (status, text) = view.end();
        assert!(status.success() && text.is_empty(), "{signal:?}: {status}: {text}");
    }
}

#[test]
fn a_dumb_terminal_is_none() {
    let folder = Folder::new();
    folder.serve_frame("fake-77", frame("x"));
    let view = show(&folder, &["fake"], &[("TERM", "dumb")], SIZE);
    let mut child = view.child_at_end();
    assert_eq!(ended(&mut child).code(), Some(2));
    let errors = std::io::read_to_string(child.stderr.take().expect("a pipe")).expect("UTF-8");
    assert!(errors.contains("there is no terminal to show the program on"), "{errors}");
}

fn guides_picture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sateen/src/guide/top.svg")
}

/// With `SATEEN_DRAW` set, which `scripts/pictures top` does, it is drawn first.
#[test]
fn the_picture_in_the_guide_shows_a_program() {
    if let Some(program) = std::env::var_os("SATEEN_DRAW") {
        fs::write(guides_picture(), drawn(Path::new(&program))).expect("the guide can be written");
    }
    let svg = fs::read_to_string(guides_picture()).expect("the guide has the picture");
    for part in
        ["workers: ", "waits: ", "locks: 1", "kitchen", "baker", "night watch", "deadlock: "]
    {
        assert!(svg.contains(part), "no `{part}`");
    }
}

/// A screen of the example `inspect`.
fn drawn(program: &Path) -> String {
    let folder = Folder::new();
    let mut child = Command::new(program)
        .arg("30")
        .env("XDG_RUNTIME_DIR", folder.path())
        .spawn()
        .expect("the program starts");
    thread::sleep(Duration::from_secs(6));
    let mut view = show(&folder, &["inspect"], &[("NO_COLOR", "")], (42, 110));
    view.until(&["deadlock: ", "last held by"]);
    // Its bars grow.
    thread::sleep(Duration::from_secs(8));
    let is_whole =
        |svg: &String| ["baker", "deadlock: ", "last held by"].iter().all(|it| svg.contains(it));
    let picture = || {
        thread::sleep(Duration::from_millis(50));
        svg::svg(view.screen.lock().expect("not poisoned").screen(), "top", "sateen-top")
    };
    let svg = (0..100).map(|_| picture()).find(is_whole).expect("a screen with all of it");
    view.press("q");
    assert!(view.end().0.success());
    child.kill().expect("killed");
    child.wait().expect("ended");
    svg
}
