//! Tells Valgrind where stacks are. Otherwise it takes a stack switch for a huge frame.
//!
//! A request to Valgrind is a few instructions without effect on a processor: four rotations that
//! cancel out, and an exchange of a register with itself.

const RUNNING_ON_VALGRIND: usize = 0x1001;
const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;

/// Whether the program runs under Valgrind.
#[inline]
pub fn is_running() -> bool {
    request([RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
}

/// Registers a stack from `low` to `high`; returns its id for [`deregister_stack`]. Costs a few
/// cycles without Valgrind, and does nothing on processors other than x86-64 and aarch64.
#[inline]
pub fn register_stack(low: usize, high: usize) -> usize {
    request([STACK_REGISTER, low, high, 0, 0, 0])
}

/// Deregisters a stack that is gone.
#[inline]
pub fn deregister_stack(id: usize) {
    request([STACK_DEREGISTER, id, 0, 0, 0, 0]);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn request(args: [usize; 6]) -> usize {
    let mut answer = 0usize;
    // SAFETY: on the processor only the flags change. Valgrind reads the arguments and writes the
    // answer.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const args, inout("rdx") answer, options(nostack),
        );
    }
    answer
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline]
fn request(args: [usize; 6]) -> usize {
    let mut answer = 0usize;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") &raw const args, inout("x3") answer, options(nostack),
        );
    }
    answer
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline]
fn request(_args: [usize; 6]) -> usize {
    0
}
