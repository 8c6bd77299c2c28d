//! The view of `sateen flow` on a pseudo-terminal: it shows, takes keys, and ends cleanly, even if
//! the terminal is gone.
#![cfg(target_os = "linux")]

mod common;
#[path = "flow_view/picture.rs"]
mod picture;

use common::sateen;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// More than enough on a busy machine.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);

const ROWS: u16 = 30;
const COLUMNS: u16 = 100;

/// The program on a terminal of its own.
struct OnTerminal {
    child: Child,
    master: File,
    /// The screen's content.
    screen: Arc<Mutex<vt100::Parser>>,
    reader: JoinHandle<()>,
    /// Tells the reader to stop.
    left: Arc<AtomicBool>,
}

impl OnTerminal {
    fn start(args: &[&str], errors: Stdio) -> Self {
        Self::start_as("xterm-256color", args, errors)
    }

    fn start_as(kind: &str, args: &[&str], errors: Stdio) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("resized");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let open = || {
            open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .expect("its terminal")
        };
        let mut command = sateen(&[&["flow"], args].concat());
        command.env("TERM", kind).stdin(open()).stdout(open()).stderr(errors);
        let child = command.spawn().expect("the program starts");
        // The command keeps its ends open.
        drop(command);
        let master = File::from(master);
        let mut end = master.try_clone().expect("a second handle");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)));
        let left = Arc::<AtomicBool>::default();
        let (shown, leave) = (Arc::clone(&screen), Arc::clone(&left));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while !leave.load(Ordering::Relaxed) {
                let short = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
                let ready = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&short));
                if ready.is_ok_and(|n| n > 0) {
                    // Reading fails once the program has closed its end.
                    let Ok(n @ 1..) = end.read(&mut buffer) else { break };
                    shown.lock().expect("not poisoned").process(&buffer[..n]);
                }
            }
        });
        Self { child, master, screen, reader, left }
    }

    fn text(&self) -> String {
        self.screen.lock().expect("not poisoned").screen().contents()
    }

    /// Waits until the screen has all of `words`.
    fn until(&self, words: &[&str]) {
        let start = Instant::now();
        while !words.iter().all(|word| self.text().contains(word)) {
            assert!(start.elapsed() < SCREEN_TIMEOUT, "no {words:?}: {}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Waits until the program has ended. Returns its status and the last screen.
    fn end(mut self) -> (ExitStatus, String) {
        let status = ended(&mut self.child);
        // The program has closed its end, so the reader gets to the end of its output.
        self.reader.join().expect("the reader does not panic");
        let text = self.screen.lock().expect("not poisoned").screen().contents();
        (status, text)
    }

    /// Makes the terminal vanish. Returns the program.
    fn vanish(self) -> Child {
        self.left.store(true, Ordering::Relaxed);
        self.reader.join().expect("the reader does not panic");
        self.child
    }
}

fn ended(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status;
        }
        if start.elapsed() > SCREEN_TIMEOUT {
            let _ = child.kill();
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn it_shows_and_takes_keys() {
    let mut view = OnTerminal::start(&["2", "1000", "2000", "3"], Stdio::inherit());
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
    let mut view = OnTerminal::start(&["8", "100k", "125k", "8"], Stdio::inherit());
    view.until(&["sateen flow", "items a second"]);
    for (keys, seconds) in [("", 5), ("\x1b[D\x1b[D", 3), ("\x1b[C\x1b[C", 5), ("s", 7)] {
        view.press(keys);
        thread::sleep(Duration::from_secs(seconds));
    }
    let picture = || picture::svg(view.screen.lock().expect("not poisoned").screen());
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
    let view = OnTerminal::start(&["2", "1000", "1000", "2"], Stdio::piped());
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
    let dumb = OnTerminal::start_as("dumb", &["1", "100", "100", "1"], Stdio::inherit());
    dumb.until(&["1.0 s  sent"]);
    kill_process(Pid::from_child(&dumb.child), Signal::INT).expect("it runs");
    let (status, text) = dumb.end();
    assert!(
        status.success() && text.contains("1 thread, 1 queue") && text.contains(" = "),
        "{text}"
    );
}
