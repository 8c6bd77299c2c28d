//! Runs a function before the process ends: on exit, and on a signal that may end the process.
//!
//! The function runs on its own thread, because little is allowed in a signal handler. The handler
//! writes to a pipe, waits until the thread is done, and then calls the earlier handler. If the
//! signalled thread holds the allocator's lock, both would wait for each other, so the wait has a
//! limit.

use super::fault::{chain, install};
use std::io;
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// Faults, and requests to terminate.
const SIGNALS: [libc::c_int; 9] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
];
/// The previously installed actions.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// How long a thread that ends the process waits at most, in milliseconds.
const LIMIT: u32 = 30_000;

/// How often the function was requested, and up to which request it has run.
static ASKED: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicU32 = AtomicU32::new(0);
/// The write end of the pipe; -1 before it exists.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The thread and its process.
static THREAD: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Arranges for `last` to be called before the process ends in any way that it can learn of: on
/// exit, and on signals of faults, aborts and requests to terminate. Other handlers of these run
/// afterwards. An ignored signal stays ignored. Only the first call of this function counts.
///
/// # Errors
/// The system's error if there is no thread or no pipe. Then nothing is installed.
pub fn at_end(last: fn()) -> io::Result<()> {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    if INSTALLED.set(()).is_err() {
        return Ok(());
    }
    let mut ends = [0; 2];
    // SAFETY: the call writes two numbers.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let [reads, writes] = ends;
    for end in ends {
        // SAFETY: it is ours; child programs do not inherit it.
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    let thread = std::thread::Builder::new().name("sateen-at-end".to_owned());
    thread.spawn(move || serve(reads, last))?;
    // SAFETY: it always succeeds.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    // Ordering: Release pairs with the Acquire in `now`.
    PIPE.store(writes, Ordering::Release);
    // SAFETY: the function may be called on exit. It does not unwind.
    unsafe { libc::atexit(exiting) };
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        install(signal, before, on_signal);
    }
    Ok(())
}

/// Calls the function given to [`at_end`], on its thread, and waits for it, for half a minute at
/// most. Safe in a signal handler. Does nothing before [`at_end`], on that thread itself, and in a
/// forked process.
pub fn end_work_now() {
    // Ordering: Acquire pairs with the Release in `at_end`.
    let pipe = PIPE.load(Ordering::Acquire);
    // SAFETY: these always succeed.
    let (process, thread) = unsafe { (libc::getpid(), libc::pthread_self() as usize) };
    if pipe < 0
        || PROCESS.load(Ordering::Relaxed) != process
        || THREAD.load(Ordering::Relaxed) == thread
    {
        return;
    }
    // Ordering: Release, so that the thread sees the caller's earlier writes.
    let number = ASKED.fetch_add(1, Ordering::Release) + 1;
    // SAFETY: the byte is valid, and the pipe is never closed.
    if unsafe { libc::write(pipe, [0u8].as_ptr().cast(), 1) } != 1 {
        return;
    }
    for _ in 0..LIMIT {
        // Ordering: Acquire pairs with the Release in `serve`.
        if DONE.load(Ordering::Acquire) >= number {
            return;
        }
        let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        // SAFETY: the call reads what it is given.
        unsafe { libc::nanosleep(&millisecond, null_mut()) };
    }
}

/// The thread's main function.
fn serve(pipe: libc::c_int, last: fn()) {
    // SAFETY: it always succeeds.
    THREAD.store(unsafe { libc::pthread_self() } as usize, Ordering::Relaxed);
    // Its writes may be impossible, and must not end the process in another way.
    super::local::block_write_signals();
    let mut byte = 0u8;
    loop {
        // SAFETY: the call writes one byte, and the pipe is this thread's.
        let read = unsafe { libc::read(pipe, (&raw mut byte).cast(), 1) };
        if read < 1 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
        // Ordering: Acquire pairs with the Release in `end_work_now`.
        let number = ASKED.load(Ordering::Acquire);
        if number != DONE.load(Ordering::Relaxed) {
            // The panic hook has reported a panic; the process ends nevertheless.
            _ = catch_unwind(last);
            // Ordering: Release pairs with the Acquire in `end_work_now`.
            DONE.store(number, Ordering::Release);
        }
    }
}

extern "C" fn exiting() {
    end_work_now();
}

unsafe extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    end_work_now();
    let index = SIGNALS.iter().position(|&s| s == signal);
    if let Some(before) = index.and_then(|index| BEFORE[index].get()) {
        // SAFETY: the arguments are unchanged, and the action was installed before.
        unsafe { chain(before, signal, info, context) }
    }
}
