//! Fault injection: the system refuses, wakes spuriously, or stalls a thread.
//!
//! For tests of the consequences. Compiled only with the feature `faults`. A kind that is never
//! injected costs a load and a comparison beside each of its system calls.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A kind of call that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Reserving memory for stacks fails.
    Memory,
    /// Making pages inaccessible without splitting their mapping fails.
    Guard,
    /// Pages are not returned although the program asked for it.
    Discard,
    /// A sleeping thread wakes up at once.
    Wake,
    /// A thread cannot be started.
    Thread,
}

const KINDS: usize = 5;

/// One call in this many fails; 0 means none. Indexed by [`Fault`].
static RATES: [AtomicU32; KINDS] = [const { AtomicU32::new(0) }; KINDS];
/// How many calls have failed, for each kind.
static STRUCK: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];
/// Counts the calls that might fail.
static STATE: AtomicU64 = AtomicU64::new(0);

/// Makes about one call in `one_in` of this kind fail from now on; 0 for none.
///
/// ```standalone_crate
/// use sateen_base::os::{Mapping, faults};
/// faults::inject(faults::Fault::Memory, 1);
/// assert!(Mapping::reserve(Mapping::PAGE).is_err());
/// faults::inject(faults::Fault::Memory, 0);
/// assert!(Mapping::reserve(Mapping::PAGE).is_ok());
/// ```
pub fn inject(fault: Fault, one_in: u32) {
    // Ordering: Relaxed throughout this file; the numbers guard no data.
    RATES[fault as usize].store(one_in, Relaxed);
}

/// Number of injected failures of this kind.
pub fn struck(fault: Fault) -> u64 {
    STRUCK[fault as usize].load(Relaxed)
}

/// Whether this call must fail.
pub(super) fn strikes(fault: Fault) -> bool {
    let one_in = RATES[fault as usize].load(Relaxed);
    if one_in == 0 {
        return false;
    }
    // A step of splitmix64: any stretch of the sequence looks random.
    let mut x = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let strikes = ((x >> 32) as u32).is_multiple_of(one_in);
    if strikes {
        STRUCK[fault as usize].fetch_add(1, Relaxed);
    }
    strikes
}

/// How long a stalled thread sleeps, in nanoseconds.
#[cfg(target_os = "linux")]
static STALL: AtomicU64 = AtomicU64::new(0);

/// Stalls the thread `thread` of this process for `time`, wherever it is. A system call in which it
/// waits ends with `EINTR`. Returns whether there is such a thread.
///
/// The first call installs a handler for `SIGUSR2`, which the program must not use otherwise.
#[cfg(target_os = "linux")]
pub fn stall(thread: i32, time: Duration) -> bool {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: all-zero is a valid action; the call reads it. Without `SA_RESTART`, so that
        // waits are interrupted. On the signal stack, because the thread may be deep in a fiber's
        // stack.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_flags = libc::SA_ONSTACK;
            action.sa_sigaction = stand_still as *const () as usize;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
    });
    STALL.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    // SAFETY: the call takes no pointers; the handler is installed.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR2) == 0 }
}

/// The handler. It only sleeps, which a handler may do.
#[cfg(target_os = "linux")]
extern "C" fn stand_still(_signal: libc::c_int) {
    let time = Duration::from_nanos(STALL.load(Relaxed));
    let time = libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    };
    // SAFETY: the calls read `time` and the thread's own `errno`, which the interrupted code may be
    // about to read.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::nanosleep(&time, std::ptr::null_mut());
        *errno = before;
    }
}
