//! The view of `sateen flow` on a pseudo-terminal: it shows, takes keys, and ends cleanly, even if
//! the terminal is gone.
#![cfg(target_os = "linux")]

mod common;
#[path = "flow_view/picture.rs"]
mod picture;
#[path = "../../top/tests/common/pty.rs"]
mod pty;
#[path = "../../top/tests/common/svg.rs"]
mod svg;

use pty::{OnTerminal, ended};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

fn show(args: &[&str], errors: Stdio) -> OnTerminal {
    show_as("xterm-256color", args, errors)
}

fn show_as(kind: &str, args: &[&str], errors: Stdio) -> OnTerminal {
    let mut command = common::sateen(&[&["flow"], args].concat());
    command.env("TERM", kind);
    OnTerminal::start(command, errors, (30, 100))
}

#[test]
fn it_shows_and_takes_keys() {
    let mut view = show(&["2", "1000", "2000", "3"], Stdio::inherit());
    view.until(&["sateen flow", "2 threads, 3 queues of 65,536", "items a second"]);
    view.until(&["sent 2000/s = 2 × 1000", "received 4000/s = 2 × 2000"]);
    // Up for the senders, left for the workers, two slow handlers of which one is taken back, a
    // pause.
    view.press("\x1b[A");
    view.until(&["sent 4000/s = 2 × 2000"]);
    view.press("\x1b[D");
    view.until(&["received 2000/s = 2 × 1000"]);
    view.press("ss");
    view.until(&["2 slow"]);
    view.press("S");
    view.until(&["1 slow"]);
    view.press("p");
    view.until(&[" paused ", "sent ", "(0/s)"]);
    view.press("q");
    let (status, text) = view.end();
    assert!(status.success(), "{status}: {text}");
    // The program is back on the first screen, with the summary.
    assert!(text.starts_with("sent ") && text.contains(" = received "), "{text}");
}

fn guides_picture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sateen/src/guide/flow.svg")
}

/// With `SATEEN_DRAW` set, which `scripts/pictures flow` does, it is drawn first.
#[test]
fn the_picture_in_the_guide_adds_up() {
    if std::env::var_os("SATEEN_DRAW").is_some() {
        fs::write(guides_picture(), drawn()).expect("the guide can be written");
    }
    let svg = fs::read_to_string(guides_picture()).expect("the guide has the picture");
    picture::assert_adds_up(&svg);
}

/// The workers' limit falls, the queues fill, it rises, then one handler becomes slow.
fn drawn() -> String {
    let mut view = show(&["8", "100k", "125k", "8"], Stdio::inherit());
    view.until(&["sateen flow", "items a second"]);
    for (keys, seconds) in [("", 5), ("\x1b[D\x1b[D", 3), ("\x1b[C\x1b[C", 5), ("s", 7)] {
        view.press(keys);
        thread::sleep(Duration::from_secs(seconds));
    }
    let picture =
        || svg::svg(view.screen.lock().expect("not poisoned").screen(), "flow", "sateen flow");
    let next = || {
        thread::sleep(Duration::from_millis(100));
        picture()
    };
    let svg = (0..600).map(|_| next()).find(|svg| picture::is_of_one_moment(svg));
    let svg = svg.expect("a screen whose counts are of one moment");
    view.press("q");
    let (status, text) = view.end();
    assert!(status.success(), "{status}: {text}");
    svg
}

/// Starts a view on a terminal that will vanish.
fn shown() -> OnTerminal {
    let view = show(&["2", "1000", "1000", "2"], Stdio::piped());
    view.until(&["sateen flow", "items a second"]);
    view
}

fn assert_clean(mut child: Child) {
    let status = ended(&mut child);
    let errors = child.stderr.take().expect("a pipe");
    let errors = std::io::read_to_string(errors).expect("UTF-8");
    assert!(status.success() && errors.is_empty(), "{status}: {errors}");
}

#[test]
fn it_ends_when_its_terminal_vanishes() {
    assert_clean(shown().vanish());
}

#[test]
fn it_ends_when_it_is_told_that_its_terminal_has_vanished() {
    let view = shown();
    kill_process(Pid::from_child(&view.child), Signal::HUP).expect("it runs");
    assert_clean(view.vanish());
}

#[test]
fn a_dumb_terminal_gets_lines() {
    let dumb = show_as("dumb", &["1", "100", "100", "1"], Stdio::inherit());
    dumb.until(&["1.0 s  sent"]);
    kill_process(Pid::from_child(&dumb.child), Signal::INT).expect("it runs");
    let (status, text) = dumb.end();
    assert!(
        status.success() && text.contains("1 thread, 1 queue") && text.contains(" = "),
        "{text}"
    );
}
