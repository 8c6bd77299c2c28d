//! A time limit for tests that might hang: they fail instead of waiting for ever.
#![allow(unreachable_pub, dead_code, reason = "each test takes what it needs")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Long enough for a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs `f` on a thread of its own and returns its result. Fails if that takes too long.
pub fn in_time<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = channel();
    let thread = std::thread::spawn(move || {
        let result = f();
        // The test may have given up by now.
        _ = done.send(());
        result
    });
    match wait.recv_timeout(LIMIT) {
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        // If it is disconnected, the thread has panicked, and that panic is passed on.
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
