//! Operating system services: one trait, one file for each system, and a portable fallback.
//!
//! The functions of this module call the implementation chosen at compile time. Any of them may
//! fail, and callers must cope: a kernel without `membarrier`, no permission to pin, no memory for
//! a stack. Miri supports few system calls and uses the portable fallback.

use crate::prim::thread;
use crate::prim::time::Duration;
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::sync::atomic::AtomicU32 as StdAtomicU32;

#[cfg_attr(not(unix), path = "no_at_end.rs")]
mod at_end;
#[cfg_attr(not(unix), path = "no_fault.rs")]
mod fault;
#[cfg(feature = "faults")]
pub mod faults;
mod file;
mod fork;
#[cfg(all(target_os = "linux", not(miri)))]
mod linux;
#[cfg(unix)]
mod local;
mod memory;
mod per_process;
#[cfg(all(target_os = "linux", not(miri)))]
mod placement;
#[cfg(any(not(any(target_os = "linux", windows)), miri, test))]
mod portable;
mod thread_end;
#[cfg(all(unix, not(miri)))]
mod unix;
pub mod valgrind;
#[cfg(all(windows, not(miri)))]
mod windows;

pub use at_end::{at_end, end_work_now};
pub use fault::{SignalStack, on_fault, write_stderr};
pub use file::create_regular;
pub use fork::{at_fork_in_child, process_generation, watch_forks};
#[cfg(unix)]
pub use local::{
    MOST_READY, Ready, at_exit, block_write_signals, connect_at_once, user_id, wait_ready,
};
pub use memory::{Mapping, StackGuard};
#[doc(hidden)]
pub use per_process::PerProcess;
pub use thread_end::{ThreadEnd, mark_thread, thread_end};

#[cfg(all(target_os = "linux", not(miri)))]
use linux::Linux as Host;
#[cfg(any(not(any(target_os = "linux", windows)), miri))]
use portable::Portable as Host;
#[cfg(all(windows, not(miri)))]
use windows::Windows as Host;

/// The services of a platform. Every method has a correct, if slower, fallback.
trait Os {
    /// Announces the use of [`Os::heavy_barrier`]; false if the kernel has none.
    fn register_heavy_barrier() -> bool;
    /// A full fence on every core that runs this process.
    fn heavy_barrier();
    /// Sleeps while `word` holds `expected`, for `timeout` at most; may return spuriously.
    fn futex_wait(word: &StdAtomicU32, expected: u32, timeout: Option<Duration>);
    /// Wakes one sleeper on `word`.
    fn futex_wake_one(word: &StdAtomicU32);
    /// Binds the calling thread to core `core`.
    fn pin_current_thread(core: usize) -> io::Result<()>;
    /// See [`current_core`].
    fn current_core() -> Option<usize> {
        None
    }
    /// See [`misplaces_threads`].
    fn misplaces_threads() -> bool {
        false
    }
    /// See [`move_to_core`].
    fn move_to_core(_core: usize) -> bool {
        false
    }
    /// See [`wait_for_cores`].
    fn wait_for_cores() {}
    /// See [`wait_no_longer`].
    fn wait_no_longer() {}
    /// The cores on which the calling thread may run, in ascending order; empty if unknown.
    fn allowed_cores() -> Vec<usize>;
    /// Reserves `size` bytes of zeroed read-write memory, if `spare` more bytes of address space
    /// remain. Where that is unknown, it may check for fewer, or none.
    fn reserve(size: usize, spare: usize) -> io::Result<*mut u8>;
    /// Releases memory from [`Os::reserve`].
    ///
    /// # Safety
    /// `base` and `size` are those of the reservation; nothing uses the memory any more.
    unsafe fn release(base: *mut u8, size: usize);
    /// Makes whole pages inaccessible without splitting their mapping.
    ///
    /// # Safety
    /// They lie in memory from [`Os::reserve`] and nothing uses them.
    unsafe fn guard(_at: *mut u8, _len: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// [`Os::guard`] for `count` ranges, one every `stride` bytes, in one call. Returns how many
    /// were made, starting with the first.
    ///
    /// # Safety
    /// As for [`Os::guard`].
    unsafe fn guard_each(_at: *mut u8, _len: usize, _stride: usize, _count: usize) -> usize {
        0
    }
    /// Makes whole pages inaccessible by changing their protection.
    ///
    /// # Safety
    /// As for [`Os::guard`].
    unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()>;
    /// Discards whole pages until they are touched again, if the system can.
    ///
    /// # Safety
    /// They lie in memory from [`Os::reserve`] and no code needs their contents.
    unsafe fn discard(_at: *mut u8, _len: usize) {}
    /// See [`advise_huge_pages`].
    fn advise_huge_pages(_at: *const u8, _len: usize) {}
    /// See [`untouched_prefix`].
    ///
    /// # Safety
    /// The memory is mapped.
    unsafe fn untouched_prefix(_at: *const u8, _len: usize) -> usize {
        0
    }
    /// How many mappings the process may have.
    fn map_limit() -> usize {
        usize::MAX
    }
    /// See [`min_signal_stack`].
    fn min_signal_stack() -> usize {
        2048
    }
    /// See [`thread_stack`].
    fn thread_stack() -> Option<Range<usize>> {
        None
    }
    /// See [`only_one_core`].
    fn only_one_core() -> bool {
        usable_cores() == 1
    }
    /// See [`has_gained_privileges`].
    fn has_gained_privileges() -> bool {
        false
    }
    /// CPU time this process has used so far.
    fn process_cpu_time() -> Option<Duration>;
    /// The name of the calling thread as the system knows it; its first byte is 0 if there is none.
    fn thread_name() -> [u8; 16] {
        [0; 16]
    }
    /// See [`ThreadClock::current`].
    fn thread_clock() -> Option<i32> {
        None
    }
    /// See [`ThreadClock::time`].
    fn thread_cpu_time(_clock: i32) -> Option<Duration> {
        None
    }
    /// See [`ThreadClock::thread_sleeps`].
    fn thread_sleeps(_clock: i32) -> bool {
        false
    }
    /// See [`thread_limit`].
    fn thread_limit() -> Option<usize> {
        None
    }
    /// See [`at_fork_in_child`].
    ///
    /// # Safety
    /// See there.
    unsafe fn at_fork_in_child(_handler: extern "C" fn()) {}
    /// Calls `f` on the calling thread when it ends, before the destructors of all thread-locals
    /// that exist by now. Returns false if the system cannot.
    fn at_thread_end(_f: fn()) -> bool {
        false
    }
}

/// See [`crate::fence::is_asymmetric`].
pub(crate) fn register_heavy_barrier() -> bool {
    Host::register_heavy_barrier()
}

/// See [`crate::fence::heavy`].
pub(crate) fn heavy_barrier() {
    Host::heavy_barrier();
}

/// Sleeps in the kernel while `word` holds `expected`, for `timeout` at most. May return
/// spuriously.
pub fn futex_wait(word: &StdAtomicU32, expected: u32, timeout: Option<Duration>) {
    #[cfg(feature = "faults")]
    if faults::strikes(faults::Fault::Wake) {
        return;
    }
    Host::futex_wait(word, expected, timeout);
}

/// Wakes one thread that sleeps on `word` in [`futex_wait`].
pub fn futex_wake_one(word: &StdAtomicU32) {
    Host::futex_wake_one(word);
}

/// Starts a thread that calls `life`. `stack` is the size of its stack in bytes, or `None` for the
/// default. `life` is boxed so that this is compiled once, not once for each caller.
///
/// # Errors
/// The system's error: no more threads, or no memory. With the feature `faults`, tests inject it.
pub fn start_thread(
    name: Option<String>,
    stack: Option<usize>,
    life: Box<dyn FnOnce() + Send>,
) -> io::Result<thread::JoinHandle<()>> {
    #[cfg(feature = "faults")]
    if faults::strikes(faults::Fault::Thread) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let mut builder = thread::Builder::new();
    if let Some(name) = name {
        builder = builder.name(name);
    }
    if let Some(stack) = stack {
        builder = builder.stack_size(stack);
    }
    builder.spawn(life)
}

/// Binds the calling thread to core `core`.
///
/// # Errors
/// The system's error: no such core, not permitted, or not supported.
pub fn pin_current_thread(core: usize) -> io::Result<()> {
    Host::pin_current_thread(core)
}

/// The core on which the calling thread runs, where the system reports it. It may have moved since.
///
/// # Cost
/// A few nanoseconds.
#[inline]
pub fn current_core() -> Option<usize> {
    Host::current_core()
}

/// Whether the system often wakes a thread on a busy core while others are free, and
/// [`move_to_core`] can repair that. This is so in Linux guests: the kernel treats an idle virtual
/// core like one that the host has taken away. False with `SATEEN_NO_MOVES=1`, and if system calls
/// are filtered, because a filter may end the process.
pub fn misplaces_threads() -> bool {
    Host::misplaces_threads()
}

/// Moves the calling thread to `core`, if it may run on all cores. Afterwards it may again run on
/// all. Returns whether it was moved. A concurrent change of its affinity by another thread is
/// lost.
///
/// # Cost
/// Three system calls and a thread switch.
pub fn move_to_core(core: usize) -> bool {
    Host::move_to_core(core)
}

/// Makes the calling thread wait for a free core whenever it is woken, from now on. Otherwise it
/// might preempt a thread that computes. The wait takes some milliseconds at most. Threads that it
/// starts wait as well. Does nothing if the system has no such policy, if the thread already has a
/// scheduling policy, or if system calls are filtered, because a filter may end the process.
pub fn wait_for_cores() {
    Host::wait_for_cores();
}

/// Undoes [`wait_for_cores`].
pub fn wait_no_longer() {
    Host::wait_no_longer();
}

/// The cores on which the calling thread may run, in ascending order; empty if unknown.
pub fn allowed_cores() -> Vec<usize> {
    Host::allowed_cores()
}

/// CPU time (user and system) used by the process, where the system reports it.
pub fn process_cpu_time() -> Option<Duration> {
    Host::process_cpu_time()
}

/// The clock that counts the CPU time of one thread. Any thread may read it, even after that thread
/// has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadClock(i32);

impl ThreadClock {
    /// The calling thread's clock, where the system has such clocks.
    ///
    /// ```
    /// use sateen_base::os::ThreadClock;
    ///
    /// if let Some(clock) = ThreadClock::current() {
    ///     assert!(clock.time() <= clock.time());
    /// }
    /// ```
    pub fn current() -> Option<Self> {
        Host::thread_clock().map(Self)
    }

    /// CPU time used by the thread; `None` once it has ended.
    ///
    /// # Cost
    /// A system call.
    pub fn time(self) -> Option<Duration> {
        Host::thread_cpu_time(self.0)
    }

    /// Whether the system reports that the thread sleeps, that is, waits and would not run even if
    /// a core were free.
    ///
    /// # Cost
    /// Three system calls.
    pub fn thread_sleeps(self) -> bool {
        Host::thread_sleeps(self.0)
    }
}

/// The calling thread's name as the system knows it: at most 15 bytes, then zeros. All zeros if
/// there is none. It works at any time of the thread's life.
///
/// # Cost
/// A system call.
pub fn thread_name() -> [u8; 16] {
    Host::thread_name()
}

/// Writes a line to stderr, prefixed with the library's name. Ignores errors; `eprintln!` would
/// panic, in whatever the program does.
pub fn say(line: std::fmt::Arguments<'_>) {
    write_stderr(format!("sateen: {line}\n").as_bytes());
}

/// Approximately how many more threads the process can have, where the system has a limit at which
/// thread creation crashes instead of failing.
pub fn thread_limit() -> Option<usize> {
    Host::thread_limit()
}

/// How many threads can run at once, within affinity and cgroup limits; at least 1.
pub fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether all threads of this process share one core, so that spinning only delays others. Judged
/// by the affinity of the calling thread and of the first one. Allocates nothing on Linux.
pub fn only_one_core() -> bool {
    Host::only_one_core()
}

/// Whether the process has more privileges than whoever started it: its program is set-user-ID or
/// set-group-ID, or has capabilities. Its environment is then untrusted. The result stays the same
/// if the process drops its privileges.
pub fn has_gained_privileges() -> bool {
    Host::has_gained_privileges()
}

/// The environment variable `name`, if it is set. `None` if the process [has gained
/// privileges](has_gained_privileges), because its environment is then untrusted. All of our
/// variables are read here.
pub fn variable(name: &str) -> Option<OsString> {
    if has_gained_privileges() {
        return None;
    }
    #[allow(clippy::disallowed_methods, reason = "the one place")]
    std::env::var_os(name)
}

/// Requests huge pages for the whole pages in the `len` bytes at `at`. In memory that is used
/// throughout, this means fewer page faults and fewer TLB misses. Does nothing if the system has no
/// huge pages, or the memory is not mapped.
pub fn advise_huge_pages(at: *const u8, len: usize) {
    Host::advise_huge_pages(at, len);
}

/// How many of the `len` bytes at `at` precede the first page that was touched; 0 where the system
/// cannot tell.
///
/// # Safety
/// The memory is mapped while this runs.
pub unsafe fn untouched_prefix(at: *const u8, len: usize) -> usize {
    // SAFETY: passed on to the caller.
    unsafe { Host::untouched_prefix(at, len) }
}

/// Bytes of stack that the kernel needs to deliver a signal, which saves all registers of this
/// processor.
pub fn min_signal_stack() -> usize {
    Host::min_signal_stack()
}

/// The addresses of the calling thread's stack; `None` where the system does not report them. The
/// first thread's stack may grow further if its limit is raised.
pub fn thread_stack() -> Option<Range<usize>> {
    Host::thread_stack()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TELLS_STACK: bool = cfg!(all(any(target_os = "linux", windows), not(miri)));

    #[test]
    fn a_thread_s_stack_holds_its_frames() {
        let inside = || {
            let here = 0u8;
            thread_stack().is_none_or(|stack| stack.contains(&std::ptr::from_ref(&here).addr()))
        };
        assert!(inside());
        assert!(std::thread::spawn(inside).join().unwrap());
        assert_eq!(thread_stack().is_some(), TELLS_STACK);
    }

    fn futex_hands_over<O: Os>() {
        let word = StdAtomicU32::new(0);
        std::thread::scope(|s| {
            s.spawn(|| {
                word.store(1, std::sync::atomic::Ordering::Release);
                O::futex_wake_one(&word);
            });
            while word.load(std::sync::atomic::Ordering::Acquire) == 0 {
                O::futex_wait(&word, 0, None);
            }
        });
        // A value that does not match returns at once; a matching one returns after the time-out.
        O::futex_wait(&word, 0, None);
        O::futex_wait(&word, 1, Some(Duration::from_millis(1)));
    }

    #[test]
    fn futex_of_the_host() {
        futex_hands_over::<Host>();
    }

    #[test]
    fn futex_portable() {
        futex_hands_over::<portable::Portable>();
    }
}
