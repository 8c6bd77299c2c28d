//! Limits for tests that might hang, and the one way to wait for what has no event of its own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing that a test waits for takes so long, on a loaded machine either.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds.
///
/// # Panics
/// If it does not hold within a minute.
#[track_caller]
pub fn until(mut condition: impl FnMut() -> bool) {
    until_some(|| condition().then_some(()));
}

/// Asks until there is an answer, and returns it.
///
/// # Panics
/// If there is none within a minute.
#[track_caller]
pub fn until_some<T>(answer: impl FnMut() -> Option<T>) -> T {
    within_patience(answer).expect("what the test waits for comes within a minute")
}

/// [`until_some`], or `None` after a minute.
pub(crate) fn within_patience<T>(mut answer: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    for turn in 0_u64.. {
        if let Some(answer) = answer() {
            return Some(answer);
        }
        if start.elapsed() > PATIENCE {
            break;
        }
        // What is a file, a process or far away takes its time.
        if turn < 100 { thread::yield_now() } else { thread::sleep(Duration::from_millis(1)) }
    }
    None
}

/// Lets other threads run, where nothing can be observed of what they do.
pub fn give_way() {
    (0..20).for_each(|_| thread::yield_now());
}

/// Ends the process if this lives for a minute, so that a test that would hang fails.
#[derive(Debug)]
pub struct Watchdog(#[expect(dead_code, reason = "its drop tells")] Sender<()>);

impl Watchdog {
    /// It prints `what` when the time has passed.
    pub fn new(what: &str) -> Self {
        let what = what.to_owned();
        let (alive, over) = channel();
        thread::spawn(move || {
            if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("hangs: {what}");
                std::process::abort();
            }
        });
        Self(alive)
    }
}

/// Runs `f`, and ends the process with the message `what` if `f` does not end in time.
pub fn watched<R>(what: &str, f: impl FnOnce() -> R) -> R {
    let _dog = Watchdog::new(what);
    f()
}

/// [`watched`], with the name of the test.
pub fn in_time<R>(f: impl FnOnce() -> R) -> R {
    watched(thread::current().name().unwrap_or("a test"), f)
}
