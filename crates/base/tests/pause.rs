//! Pauses of a measured length, where the allocator pauses too.
#![cfg(not(any(loom, miri)))]

use sateen_base::pause;
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An allocator that waits at each allocation, as one under a contended lock does.
struct Waiting;

static WAITS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Waiting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        WAITS.fetch_add(1, Ordering::Relaxed);
        pause::pause(1);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Waiting = Waiting;

/// The first pause of the process reads the environment. A value that is there is allocated.
#[test]
fn an_allocator_may_pause() {
    const VARIABLE: &str = "SATEEN_PAUSES";
    if std::env::var_os(VARIABLE).is_some() {
        assert!(WAITS.load(Ordering::Relaxed) > 0, "the allocator is not in use");
        assert_eq!(pause::per_unit(), 7);
        return;
    }
    let this = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(this);
    let status = child.env(VARIABLE, "7").arg("an_allocator_may_pause").status();
    assert!(status.expect("this program runs again").success());
}
