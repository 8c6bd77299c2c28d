//! Linux: `membarrier`, futex, affinity, lightweight guard pages.

use super::Os;
use super::placement;
use super::unix;
use super::valgrind;
use crate::prim::time::Duration;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Linux on any processor.
pub(super) struct Linux;

const MEMBARRIER_CMD_PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
/// Makes pages inaccessible without splitting the mapping (Linux 6.13), so that a million stacks
/// stay below the limit on mappings. Fails on older kernels and on locked memory.
const MADV_GUARD_INSTALL: libc::c_int = 102;
/// The process itself, in place of a descriptor (Linux 6.14).
const PIDFD_SELF: libc::c_int = -10_000;

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: the call takes no pointers; an unknown command is refused with an error.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

/// Reads the beginning of the file at `path`, which ends with a zero. Allocates nothing.
fn read_file<'a>(path: &[u8], text: &'a mut [u8]) -> Option<&'a [u8]> {
    debug_assert!(path.last() == Some(&0), "a path without an end");
    // SAFETY: the path is terminated, the call writes into `text`, and this function owns the
    // descriptor.
    let read = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        usize::try_from(read).ok()?
    };
    text.get(..read)
}

/// Bytes that the process may still map; `None` if there is no limit, or it is unknown. Allocates
/// nothing.
fn room_left() -> Option<usize> {
    [address_space_left(), commitment_left()].into_iter().flatten().min()
}

/// Bytes that the system can still commit, if it does not overcommit (`vm.overcommit_memory` 2). A
/// stack counts in full there.
fn commitment_left() -> Option<usize> {
    static IS_STRICT: OnceLock<bool> = OnceLock::new();
    let policy = || read_file(b"/proc/sys/vm/overcommit_memory\0", &mut [0; 8])?.first().copied();
    if !IS_STRICT.get_or_init(|| policy() == Some(b'2')) {
        return None;
    }
    let mut text = [0; 4096];
    let text = std::str::from_utf8(read_file(b"/proc/meminfo\0", &mut text)?).ok()?;
    let kib = |key: &str| -> Option<usize> {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let left = kib("CommitLimit:")?.saturating_sub(kib("Committed_AS:")?);
    Some(left.saturating_mul(1024))
}

/// The process's address space in bytes: a limit on it (`ulimit -v`), or the range of a 32-bit
/// pointer. `None` if there is neither.
fn address_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the limit.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } != 0;
    let set = (!failed && limit.rlim_cur != libc::RLIM_INFINITY)
        .then(|| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX));
    // The program's name is at the upper end of the address space, whose size the kernel chooses:
    // usually 3 or 4 GiB.
    // SAFETY: reads the auxiliary vector; 0 if it lacks the entry.
    let top = || (unsafe { libc::getauxval(libc::AT_EXECFN) } as usize);
    let all = (usize::BITS < 64).then(top).filter(|&top| top != 0);
    set.into_iter().chain(all).min()
}

/// The remaining address space.
fn address_space_left() -> Option<usize> {
    let limit = address_limit()?;
    let mut text = [0u8; 64];
    let text = read_file(b"/proc/self/statm\0", &mut text)?;
    let pages = text.split(|&byte| byte == b' ').next()?;
    let pages: usize = std::str::from_utf8(pages).ok()?.parse().ok()?;
    // SAFETY: takes no pointers.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(page)))
}

impl Os for Linux {
    fn register_heavy_barrier() -> bool {
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0
    }

    fn heavy_barrier() {
        if membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 {
            crate::abort_with("membarrier failed after it was registered");
        }
    }

    fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        let limit = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs().min(i32::MAX as u64) as libc::time_t,
            tv_nsec: t.subsec_nanos() as libc::c_long,
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: `word` and `limit` outlive the call. On every outcome (woken, changed, signal,
        // timed out) the caller checks again.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, expected, limit) };
    }

    fn futex_wake_one(word: &AtomicU32) {
        let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel uses the address as a key and does not read through it.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1) };
    }

    fn pin_current_thread(core: usize) -> io::Result<()> {
        if core >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no core {core}")));
        }
        // SAFETY: an all-zero set is a valid empty set; `core` is in range; the call reads it.
        let failed = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
        };
        if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn current_core() -> Option<usize> {
        // SAFETY: the call has no arguments.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    fn misplaces_threads() -> bool {
        placement::misplaces_threads()
    }

    fn move_to_core(core: usize) -> bool {
        placement::move_to_core(core)
    }

    fn wait_for_cores() {
        placement::wait_for_cores();
    }

    fn wait_no_longer() {
        placement::wait_no_longer();
    }

    fn allowed_cores() -> Vec<usize> {
        // SAFETY: an all-zero set is valid; the call fills it; the index stays in range.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
                return Vec::new();
            }
            (0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect()
        }
    }

    fn only_one_core() -> bool {
        // SAFETY: all-zero sets are valid; the calls fill them.
        unsafe {
            let [mut here, mut first]: [libc::cpu_set_t; 2] = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            libc::sched_getaffinity(0, size, &mut here) == 0
                && libc::sched_getaffinity(libc::getpid(), size, &mut first) == 0
                && libc::CPU_COUNT(&here) == 1
                && libc::CPU_EQUAL(&here, &first)
        }
    }

    fn has_gained_privileges() -> bool {
        unix::has_gained_privileges()
    }

    fn reserve(size: usize, spare: usize) -> io::Result<*mut u8> {
        let spare = match room_left() {
            // Unlike a mapping, this check takes nothing from other threads meanwhile.
            Some(left) if left < size.saturating_add(spare) => {
                return Err(io::Error::from_raw_os_error(libc::ENOMEM));
            }
            Some(_) => 0,
            None => spare,
        };
        let base = unix::reserve(size, spare, libc::MAP_NORESERVE)?;
        // With huge pages every touched stack would cost 2 MiB. The advice comes before the first
        // guard: while the flags are equal and no page is present, the kernel merges the mapping
        // with its neighbour. An old kernel may refuse, which is harmless.
        // SAFETY: advice on memory that was mapped just now.
        unsafe { libc::madvise(base.cast(), size, libc::MADV_NOHUGEPAGE) };
        Ok(base)
    }

    unsafe fn release(base: *mut u8, size: usize) {
        // SAFETY: passed on to the caller.
        unsafe { unix::release(base, size) }
    }

    unsafe fn guard(at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: passed on to the caller; an unknown advice is refused.
        if unsafe { libc::madvise(at.cast(), len, MADV_GUARD_INSTALL) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    unsafe fn guard_each(at: *mut u8, len: usize, stride: usize, count: usize) -> usize {
        const MOST: usize = 64;
        let mut done = 0;
        // Valgrind does not know the call, and complains at length.
        while done < count && !valgrind::is_running() {
            // Entries beyond the count are not read. With 32 bits their address may overflow.
            let part = |index: usize| at.wrapping_add((done + index).wrapping_mul(stride)).cast();
            let parts: [_; MOST] =
                std::array::from_fn(|index| libc::iovec { iov_base: part(index), iov_len: len });
            let n = MOST.min(count - done);
            let (call, advice) = (libc::SYS_process_madvise, MADV_GUARD_INSTALL);
            // SAFETY: passed on to the caller. The kernel reads the list, and refuses what it does
            // not know.
            let bytes = unsafe { libc::syscall(call, PIDFD_SELF, parts.as_ptr(), n, advice, 0) };
            let guarded = usize::try_from(bytes).unwrap_or(0) / len;
            done += guarded;
            if guarded < n {
                break;
            }
        }
        done
    }

    unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { unix::protect(at, len) }
    }

    unsafe fn discard(at: *mut u8, len: usize) {
        // Locked memory refuses, and cannot be returned. Guards of both kinds stay.
        // SAFETY: passed on to the caller.
        unsafe { libc::madvise(at.cast(), len, libc::MADV_DONTNEED) };
    }

    fn advise_huge_pages(at: *const u8, len: usize) {
        const PAGE: usize = super::Mapping::PAGE;
        let from = at.addr().checked_next_multiple_of(PAGE).unwrap_or(usize::MAX);
        let to = at.addr().checked_add(len).map_or(0, |end| end / PAGE * PAGE);
        if from < to {
            // SAFETY: this advice changes neither contents nor permissions, and is refused for
            // unmapped memory.
            unsafe {
                libc::madvise(at.with_addr(from).cast_mut().cast(), to - from, libc::MADV_HUGEPAGE)
            };
        }
    }

    unsafe fn untouched_prefix(at: *const u8, len: usize) -> usize {
        const PAGE: usize = super::Mapping::PAGE;
        let first = at as usize;
        let from = first / PAGE * PAGE;
        let mut pages = [0u8; 1024];
        let mut done = 0;
        while from + done < first + len {
            let step = (first + len - from - done).min(pages.len() * PAGE);
            let page = (from + done) as *mut libc::c_void;
            // SAFETY: the kernel writes a byte for each page of the step, whether of its own size
            // or ours.
            let failed =
                PAGE != 4096 || unsafe { libc::mincore(page, step, pages.as_mut_ptr()) } != 0;
            let touched = pages[..step.div_ceil(PAGE)].iter().position(|page| page & 1 != 0);
            if failed || touched.is_some() {
                return (from + done + touched.unwrap_or(0) * PAGE).saturating_sub(first);
            }
            done += step;
        }
        len
    }

    fn map_limit() -> usize {
        static LIMIT: OnceLock<usize> = OnceLock::new();
        *LIMIT.get_or_init(|| {
            let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count");
            maps.ok().and_then(|maps| maps.trim().parse().ok()).unwrap_or(65_530)
        })
    }

    fn min_signal_stack() -> usize {
        // SAFETY: reads the auxiliary vector; 0 if it lacks the entry.
        (unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize).max(libc::MINSIGSTKSZ)
    }

    fn thread_stack() -> Option<Range<usize>> {
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: the calling thread is running. The attributes are created by the first call, read
        // by the second, and destroyed.
        let failed = unsafe {
            let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
            if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
                return None;
            }
            let failed = libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            failed
        };
        (failed == 0).then(|| low.addr()..low.addr() + size)
    }

    fn process_cpu_time() -> Option<Duration> {
        unix::process_cpu_time()
    }

    fn thread_name() -> [u8; 16] {
        let mut name = [0; 16];
        // SAFETY: the kernel writes 16 bytes at most.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        name
    }

    fn thread_clock() -> Option<i32> {
        let mut clock = 0;
        // SAFETY: the calling thread is running, and `clock` is a valid place for the result.
        let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) } != 0;
        (!failed).then_some(clock)
    }

    /// The number identifies the thread to the kernel, which refuses it once the thread has ended.
    fn thread_cpu_time(clock: i32) -> Option<Duration> {
        unix::read_clock(clock)
    }

    fn thread_sleeps(clock: i32) -> bool {
        // The kernel's thread id is part of its clock's number, inverted, above three bits.
        let path = format!("/proc/self/task/{}/stat\0", !(clock >> 3));
        let mut text = [0u8; 256];
        let Some(text) = read_file(path.as_bytes(), &mut text) else { return false };
        // The state follows the name, which is in parentheses and may contain anything.
        let state = text.iter().rposition(|&byte| byte == b')').map(|end| text.get(end + 2));
        matches!(state, Some(Some(b'S' | b'D')))
    }

    /// A thread maps its stack and its signal stack, each with a guard. If the signal stack does
    /// not fit, the standard library aborts.
    fn thread_limit() -> Option<usize> {
        const MAPS_PER_THREAD: usize = 5;
        Some((Self::map_limit() / MAPS_PER_THREAD).max(1))
    }

    unsafe fn at_fork_in_child(handler: extern "C" fn()) {
        // SAFETY: passed on to the caller.
        unsafe { unix::at_fork_in_child(handler) };
    }

    /// Like `std` where the C library has this function: the youngest destructor runs first.
    fn at_thread_end(f: fn()) -> bool {
        type Destructor = unsafe extern "C" fn(*mut libc::c_void);
        type Register =
            unsafe extern "C" fn(Destructor, *mut libc::c_void, *mut libc::c_void) -> libc::c_int;
        /// # Safety
        /// `f` was registered by [`Linux::at_thread_end`].
        unsafe extern "C" fn call(f: *mut libc::c_void) {
            // SAFETY: by contract; functions are as large as pointers here.
            let f = unsafe { std::mem::transmute::<*mut libc::c_void, fn()>(f) };
            f();
        }
        // SAFETY: the name is that of a function of this type, if there is one.
        let register = unsafe {
            let place = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_thread_atexit_impl".as_ptr());
            std::mem::transmute::<*mut libc::c_void, Option<Register>>(place)
        };
        // The last argument is any address of this library, which then stays loaded until the call.
        let here = call as Destructor as *mut libc::c_void;
        // SAFETY: `call` gets what it expects.
        register.is_some_and(|register| unsafe { register(call, f as *mut _, here) } == 0)
    }
}
