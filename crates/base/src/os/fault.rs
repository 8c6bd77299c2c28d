//! A handler for memory faults.

use super::Mapping;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Once, OnceLock};

const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
/// Bytes of a thread's signal stack beyond the kernel's needs, for the handlers called next.
const SIGNAL_STACK: usize = 64 * 1024;

/// A `fn(usize)`; null before one is installed.
static HANDLER: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The previously installed action.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; 2];

/// Installs `handler`. It is called with the address of each memory fault, in the thread that
/// caused it, on its signal stack. If it returns, the previously installed handler is called as if
/// this one did not exist. Only the first call of this function counts.
///
/// ```compile_fail,E0133
/// sateen_base::os::on_fault(|_| ());
/// ```
///
/// # Safety
/// The handler only does what is safe in a signal handler: no allocation, no locks, no panic. It
/// may interrupt any operation of the thread, so it must use nothing that may be inconsistent then.
pub unsafe fn on_fault(handler: fn(usize)) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        HANDLER.store(handler as *mut (), Ordering::Release);
        for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
            install(signal, before, on_signal);
        }
    });
}

/// A signal handler that receives the signal's information.
pub(super) type Handler =
    unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Installs `handler`, and saves the previous action in `before`. If a request to terminate is
/// ignored, it stays ignored.
pub(super) fn install(signal: libc::c_int, before: &OnceLock<libc::sigaction>, handler: Handler) {
    // SAFETY: all-zero is a valid action; the calls read and write the given actions. The previous
    // action is saved first, because a signal may arrive as soon as ours is in place.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let known = libc::sigaction(signal, std::ptr::null(), &mut action) == 0;
        let ignored = action.sa_sigaction == libc::SIG_IGN && !SIGNALS.contains(&signal);
        if !known || ignored || before.set(action).is_err() {
            return;
        }
        action = MaybeUninit::zeroed().assume_init();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        action.sa_sigaction = handler as *const () as usize;
        libc::sigaction(signal, &action, null_mut());
    }
}

unsafe extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // Ordering: Acquire pairs with the Release in `on_fault`, although the installation orders it
    // too.
    let handler = HANDLER.load(Ordering::Acquire);
    // SAFETY: set before this handler was installed. The kernel passes valid information; a code
    // above 0 says that the kernel raised the signal itself, for an address.
    unsafe {
        if (*info).si_code > 0 && !handler.is_null() {
            std::mem::transmute::<*mut (), fn(usize)>(handler)((*info).si_addr() as usize);
        }
    }
    let index = SIGNALS.iter().position(|&s| s == signal);
    if let Some(before) = index.and_then(|index| BEFORE[index].get()) {
        // SAFETY: passed on unchanged to the previously installed handler.
        unsafe { chain(before, signal, info, context) }
    }
}

/// Calls the previously installed handler.
///
/// # Safety
/// `before` was installed for the signal. The other arguments are those of its handler.
pub(super) unsafe fn chain(
    before: &libc::sigaction,
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the action was installed for this signal, so it names a handler of its kind.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                // It takes effect on return: the fault happens again, or, if the signal was sent,
                // it is sent again.
                libc::sigaction(signal, before, null_mut());
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            handler => {
                type Plain = unsafe extern "C" fn(libc::c_int);
                std::mem::transmute::<usize, Plain>(handler)(signal);
            }
        }
    }
}

/// A signal stack for the calling thread, if it had none. Dropping it, on that thread, removes it
/// again.
#[derive(Debug)]
pub struct SignalStack {
    map: Option<Mapping>,
    /// For this thread only.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl SignalStack {
    /// Gives the calling thread a signal stack if it has none.
    ///
    /// # Errors
    /// The system's error if there is no memory. The thread then handles signals on its current
    /// stack.
    pub fn ensure() -> io::Result<Self> {
        let mut map = None;
        // SAFETY: all-zero is a valid description. The calls read and write the given ones, and the
        // memory is a mapping that stays until the stack is removed.
        unsafe {
            let mut stack: libc::stack_t = MaybeUninit::zeroed().assume_init();
            if libc::sigaltstack(std::ptr::null(), &mut stack) != 0 {
                return Err(io::Error::last_os_error());
            }
            if stack.ss_flags & libc::SS_DISABLE != 0 {
                let size = SIGNAL_STACK + super::min_signal_stack().next_multiple_of(Mapping::PAGE);
                let new = Mapping::reserve(size + Mapping::PAGE)?;
                new.guard(0, Mapping::PAGE, super::StackGuard::Light)?;
                stack.ss_sp = new.base().add(Mapping::PAGE).as_ptr().cast();
                stack.ss_size = size;
                stack.ss_flags = 0;
                if libc::sigaltstack(&stack, null_mut()) != 0 {
                    return Err(io::Error::last_os_error());
                }
                map = Some(new);
            }
        }
        Ok(Self { map, _not_send: std::marker::PhantomData })
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        let Some(map) = self.map.take() else { return };
        // SAFETY: the calls read and write the descriptions given.
        unsafe {
            let mut stack: libc::stack_t = MaybeUninit::zeroed().assume_init();
            let known = libc::sigaltstack(std::ptr::null(), &mut stack) == 0;
            if known && stack.ss_sp == map.base().add(Mapping::PAGE).as_ptr().cast() {
                stack.ss_flags = libc::SS_DISABLE;
                libc::sigaltstack(&stack, null_mut());
            }
        }
    }
}

/// Writes to stderr without a buffer or a lock; safe in a signal handler.
pub fn write_stderr(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads the bytes given.
        let written = unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ => return,
        }
    }
}
