//! Something to do before the process ends: at its exit, and on a signal that may end it.
//!
//! It runs on a thread of its own, because little may be done in a signal handler. The handler
//! writes to a pipe, waits until the thread is done, and then calls the handler that was there
//! before. A thread that holds the allocator's lock when it gets the signal would keep the other
//! waiting for ever, so the wait has an end.

use super::fault::{chain, install};
use std::io;
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// Faults, and requests to end.
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
/// The actions that were installed before.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// How many milliseconds a thread that ends the process waits at most.
const LIMIT: u32 = 30_000;

/// How often it was asked for, and up to which number it has been done.
static ASKED: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicU32 = AtomicU32::new(0);
/// The end of the pipe to write to; -1 before there is one.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The thread, and the process that has it.
static THREAD: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Has `last` called before the process ends, in whatever way it can learn of that: at exit, and at
/// the signals of faults, aborts and requests to end. What else handles those runs afterwards. An
/// ignored signal stays ignored. Only the first call of this function counts.
///
/// # Errors
/// The system's, if there is no thread or no pipe. Nothing is installed then.
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
        // SAFETY: it is ours; programs that this one starts do not get it.
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    let thread = std::thread::Builder::new().name("sateen-at-end".to_owned());
    thread.spawn(move || serve(reads, last))?;
    // SAFETY: it always succeeds.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    // Ordering: Release pairs with the Acquire in `now`.
    PIPE.store(writes, Ordering::Release);
    // SAFETY: the function may be called at exit. It does not unwind.
    unsafe { libc::atexit(exiting) };
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        install(signal, before, on_signal);
    }
    Ok(())
}

/// Calls what [`at_end`] was given, on its thread, and waits for that, for half a minute at most.
/// Safe in a signal handler. Does nothing before [`at_end`], on that thread itself, and in a
/// process that has forked.
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
    // Ordering: Release, so that the thread sees what the caller has done.
    let number = ASKED.fetch_add(1, Ordering::Release) + 1;
    // SAFETY: the byte is there, and the pipe is never closed.
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

/// The thread's life.
fn serve(pipe: libc::c_int, last: fn()) {
    // SAFETY: it always succeeds.
    THREAD.store(unsafe { libc::pthread_self() } as usize, Ordering::Relaxed);
    // What it writes may not be possible, and must not end the process in another way.
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
            // The panic hook has reported a panic; the process ends all the same.
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
        // SAFETY: the arguments are as they came, and the action was there before.
        unsafe { chain(before, signal, info, context) }
    }
}
