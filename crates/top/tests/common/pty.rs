//! A program on a pseudo-terminal of its own, and what it shows there.
#![allow(dead_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// More than enough on a busy machine.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);

/// The program on a terminal of its own.
pub(crate) struct OnTerminal {
    pub(crate) child: Child,
    master: File,
    /// The screen's content.
    pub(crate) screen: Arc<Mutex<vt100::Parser>>,
    /// All that was written.
    raw: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// Tells the reader to stop.
    left: Arc<AtomicBool>,
}

impl OnTerminal {
    pub(crate) fn start(mut command: Command, errors: Stdio, (rows, columns): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("resized");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let open = || {
            open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .expect("its terminal")
        };
        command.stdin(open()).stdout(open()).stderr(errors);
        let child = command.spawn().expect("the program starts");
        // The command keeps its ends open.
        drop(command);
        let master = File::from(master);
        let mut end = master.try_clone().expect("a second handle");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let left = Arc::<AtomicBool>::default();
        let raw = Arc::<Mutex<Vec<u8>>>::default();
        let written = Arc::clone(&raw);
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
                    written.lock().expect("not poisoned").extend_from_slice(&buffer[..n]);
                }
            }
        });
        Self { child, master, screen, raw, reader, left }
    }

    pub(crate) fn text(&self) -> String {
        self.screen.lock().expect("not poisoned").screen().contents()
    }

    /// Waits until the screen has all of `words`.
    pub(crate) fn until(&self, words: &[&str]) {
        let start = Instant::now();
        while !words.iter().all(|word| self.text().contains(word)) {
            assert!(start.elapsed() < SCREEN_TIMEOUT, "no {words:?}: {}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// All that was written so far.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.raw.lock().expect("not poisoned").clone()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Waits until the program has ended. Returns its status and the last screen.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let status = ended(&mut self.child);
        // The program has closed its end, so the reader gets to the end of its output.
        self.reader.join().expect("the reader does not panic");
        let text = self.screen.lock().expect("not poisoned").screen().contents();
        (status, text)
    }

    /// Waits until the program has closed its terminal. Returns the program.
    pub(crate) fn child_at_end(self) -> Child {
        self.reader.join().expect("the reader does not panic");
        self.child
    }

    /// Makes the terminal vanish. Returns the program.
    pub(crate) fn vanish(self) -> Child {
        self.left.store(true, Ordering::Relaxed);
        self.reader.join().expect("the reader does not panic");
        self.child
    }
}

pub(crate) fn ended(child: &mut Child) -> ExitStatus {
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
