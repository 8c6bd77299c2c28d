//! Windows: `FlushProcessWriteBuffers`, `WaitOnAddress`, affinity masks, reserved pages.

use super::Os;
use crate::prim::time::Duration;
use std::io;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc, VirtualFree,
    VirtualProtect,
};
use windows_sys::Win32::System::Threading::{
    FlushProcessWriteBuffers, GetCurrentThread, GetCurrentThreadStackLimits, INFINITE,
    SetThreadAffinityMask, WaitOnAddress, WakeByAddressSingle,
};

/// Windows 8 and later.
pub(super) struct Windows;

impl Os for Windows {
    fn register_heavy_barrier() -> bool {
        true
    }

    fn heavy_barrier() {
        // SAFETY: takes nothing and cannot fail.
        unsafe { FlushProcessWriteBuffers() }
    }

    fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        let limit =
            timeout.map_or(INFINITE, |t| t.as_micros().div_ceil(1000).min(0xFFFF_FFFE) as u32);
        // SAFETY: both addresses are valid for four bytes during the call.
        unsafe {
            WaitOnAddress(word.as_ptr().cast(), std::ptr::from_ref(&expected).cast(), 4, limit)
        };
    }

    fn futex_wake_one(word: &AtomicU32) {
        // SAFETY: the address is only a key.
        unsafe { WakeByAddressSingle(word.as_ptr().cast()) }
    }

    fn pin_current_thread(core: usize) -> io::Result<()> {
        if core >= usize::BITS as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no core {core}")));
        }
        // SAFETY: the pseudo handle of the calling thread is always valid.
        if unsafe { SetThreadAffinityMask(GetCurrentThread(), 1 << core) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn allowed_cores() -> Vec<usize> {
        Vec::new()
    }

    fn reserve(size: usize, _spare: usize) -> io::Result<*mut u8> {
        // SAFETY: a fresh reservation touches nothing that exists.
        let base = unsafe {
            VirtualAlloc(std::ptr::null(), size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)
        };
        if base.is_null() { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
    }

    unsafe fn release(base: *mut u8, _size: usize) {
        // SAFETY: the caller hands back a reservation; releasing takes size 0.
        let done = unsafe { VirtualFree(base.cast(), 0, MEM_RELEASE) };
        debug_assert!(done != 0, "VirtualFree failed");
    }

    unsafe fn protect(at: *mut u8, len: usize) -> io::Result<()> {
        let mut before = 0;
        // SAFETY: passed on to the caller; `before` is a place for the answer.
        if unsafe { VirtualProtect(at.cast(), len, PAGE_NOACCESS, &mut before) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn thread_stack() -> Option<Range<usize>> {
        let (mut low, mut high) = (0, 0);
        // SAFETY: the call fills both.
        unsafe { GetCurrentThreadStackLimits(&mut low, &mut high) };
        Some(low..high)
    }

    fn process_cpu_time() -> Option<Duration> {
        None
    }
}
