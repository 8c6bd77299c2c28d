//! CPU placement of threads in Linux guests.
//!
//! When a thread is woken, the kernel looks for a free core. In a guest it avoids an idle virtual
//! core, because it cannot tell whether the host will run it soon (`vcpu_is_preempted`). So the
//! thread often gets its waker's core, and preempts the waker.
//!
//! A thread moves by binding itself to a core and undoing that at once. Afterwards it is bound to
//! all cores, including those that the system gets later.

use std::cell::Cell;
use std::mem::zeroed;
use std::sync::OnceLock;

const SIZE: usize = size_of::<libc::cpu_set_t>();

/// The number of cores, if threads may be moved.
fn cores() -> Option<usize> {
    static CORES: OnceLock<Option<usize>> = OnceLock::new();
    *CORES.get_or_init(|| {
        let wanted = super::variable("SATEEN_NO_MOVES").is_none();
        // SAFETY: takes no pointers.
        let count = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok();
        let count = count.filter(|&count| (2..=libc::CPU_SETSIZE as usize).contains(&count));
        count.filter(|_| wanted && is_guest() && !is_filtered())
    })
}

/// Whether this is a virtual machine.
fn is_guest() -> bool {
    #[cfg(target_arch = "x86_64")]
    #[allow(unused_unsafe)] // newer compilers have a safe function
    {
        const HYPERVISOR: u32 = 1 << 31;
        // SAFETY: every x86-64 processor has the instruction, and this leaf.
        unsafe { core::arch::x86_64::__cpuid(1).ecx & HYPERVISOR != 0 }
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether system calls are filtered, or that is unknown.
fn is_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.map(str::trim) != Some("0")
}

pub(super) fn misplaces_threads() -> bool {
    cores().is_some_and(may_use)
}

/// Whether the calling thread may run on `count` cores.
fn may_use(count: usize) -> bool {
    // SAFETY: an all-zero set is valid; the call fills it.
    unsafe {
        let mut all: libc::cpu_set_t = zeroed();
        libc::sched_getaffinity(0, SIZE, &mut all) == 0
            && usize::try_from(libc::CPU_COUNT(&all)) == Ok(count)
    }
}

thread_local! {
    /// Whether the thread has the policy set by [`wait_for_cores`].
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn wait_for_cores() {
    // SAFETY: takes no pointers.
    let is_usual = || unsafe { libc::sched_getscheduler(0) } == libc::SCHED_OTHER;
    // A user's policy stays.
    if !is_filtered() && is_usual() {
        WAITS.set(set_policy(libc::SCHED_BATCH));
    }
}

pub(super) fn wait_no_longer() {
    if WAITS.replace(false) {
        set_policy(libc::SCHED_OTHER);
    }
}

/// Returns whether the thread now has the policy.
fn set_policy(policy: libc::c_int) -> bool {
    // SAFETY: an all-zero value is valid; the call reads it. One that fails changes nothing.
    unsafe {
        let param: libc::sched_param = zeroed();
        libc::sched_setscheduler(0, policy, &raw const param) == 0
    }
}

pub(super) fn move_to_core(core: usize) -> bool {
    // A thread that was bound to some cores stays bound to them.
    if core >= libc::CPU_SETSIZE as usize || !cores().is_some_and(may_use) {
        return false;
    }
    // SAFETY: an all-zero set is valid, and one of ones; `core` is in range; the calls read them.
    unsafe {
        let (mut one, mut all): (libc::cpu_set_t, libc::cpu_set_t) = (zeroed(), zeroed());
        std::ptr::write_bytes(&raw mut all, 0xFF, 1);
        libc::CPU_SET(core, &mut one);
        // The kernel moves the thread within the first call.
        let moved = libc::sched_setaffinity(0, SIZE, &one) == 0;
        moved && libc::sched_setaffinity(0, SIZE, &all) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{allowed_cores, current_core, pin_current_thread};

    #[test]
    fn a_thread_that_moves_is_not_bound() {
        let before = allowed_cores();
        let moved = before.iter().map(|&core| (core, move_to_core(core)));
        for (core, moved) in moved.collect::<Vec<_>>() {
            assert_eq!(moved, misplaces_threads(), "core {core}");
        }
        assert_eq!(allowed_cores(), before);
        assert!(current_core().is_some_and(|core| before.contains(&core)));
        assert!(!move_to_core(usize::MAX));
    }

    #[test]
    fn a_thread_gives_up_preempting_others() {
        // SAFETY: takes no pointers.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let waits = std::thread::spawn(move || {
            let before = policy();
            wait_for_cores();
            let waiting = policy();
            wait_no_longer();
            let made = std::thread::spawn(policy).join().unwrap();
            (before, waiting, policy(), made)
        });
        let (before, waiting, after, made) = waits.join().unwrap();
        let changes = !is_filtered() && before == libc::SCHED_OTHER;
        assert_eq!(waiting, if changes { libc::SCHED_BATCH } else { before });
        assert_eq!((after, made), (before, before));
    }

    #[test]
    fn a_policy_of_the_users_stays() {
        let idle = std::thread::spawn(|| {
            // SAFETY: an all-zero value is valid, and the call reads it.
            unsafe {
                let param: libc::sched_param = zeroed();
                libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const param);
                let before = libc::sched_getscheduler(0);
                wait_for_cores();
                wait_no_longer();
                before == libc::SCHED_OTHER || libc::sched_getscheduler(0) == before
            }
        });
        assert!(idle.join().unwrap());
    }

    #[test]
    fn a_thread_that_is_bound_stays_bound() {
        let Some(&core) = allowed_cores().first().filter(|_| allowed_cores().len() > 1) else {
            return;
        };
        let bound = std::thread::spawn(move || {
            pin_current_thread(core).unwrap();
            assert!(!misplaces_threads() && !move_to_core(core));
            assert_eq!(allowed_cores(), [core]);
        });
        bound.join().unwrap();
    }
}
