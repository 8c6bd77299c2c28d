//! A worker hangs within an allocator that all threads share a lock of: the program can still be
//! looked at. This file has the allocator for itself.

#![cfg(all(feature = "inspect", target_os = "linux", not(miri)))]

#[path = "common/asked.rs"]
mod asked;

use sateen_runtime::Runtime;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// The size that a worker hangs with.
const TRAP: usize = 12_345_679;

static LOCK: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicBool = AtomicBool::new(false);
static LEAVE: AtomicBool = AtomicBool::new(false);

struct OneLock;

fn wait_until(what: impl Fn() -> bool) {
    while !what() {
        // SAFETY: it does nothing but give up the core.
        unsafe { libc::sched_yield() };
    }
}

fn locked<R>(f: impl FnOnce() -> R) -> R {
    wait_until(|| !LOCK.swap(true, SeqCst));
    let result = f();
    LOCK.store(false, SeqCst);
    result
}

// SAFETY: the system's, one call after the other.
unsafe impl GlobalAlloc for OneLock {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        locked(|| {
            if layout.size() == TRAP {
                INSIDE.store(true, SeqCst);
                wait_until(|| LEAVE.load(SeqCst));
            }
            // SAFETY: as the caller promises.
            unsafe { System.alloc(layout) }
        })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        locked(|| unsafe { System.dealloc(at, layout) });
    }
}

#[global_allocator]
static ALLOCATOR: OneLock = OneLock;

fn ask(stream: &mut UnixStream, buffer: &mut [u8]) -> usize {
    stream.write_all(b"{\"version\":1,\"command\":\"frame\"}\n").expect("sent");
    let mut len = 0;
    while !buffer[..len].ends_with(b"\n") {
        len += stream.read(&mut buffer[len..]).expect("an answer in time");
    }
    len
}

#[test]
fn a_worker_hangs_in_the_allocator() {
    asked::folder();
    let runtime = Runtime::builder().workers(2).inspect(true).build().expect("a runtime");
    let [socket] = &asked::sockets(asked::folder())[..] else { panic!("not one socket") };
    let mut stream = UnixStream::connect(socket).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    let mut buffer = vec![0; 1 << 20];
    ask(&mut stream, &mut buffer);
    let hung = runtime.spawn(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(TRAP))));
    wait_until(|| INSIDE.load(SeqCst));
    // From here on nothing may allocate in this thread either.
    let lens = [0; 3].map(|_| ask(&mut stream, &mut buffer));
    let has = |text: &[u8]| buffer[..lens[2]].windows(text.len()).any(|it| it == text);
    let found = has(b"\"frame\":{\"program\":") && has(b"\"running\":1");
    LEAVE.store(true, SeqCst);
    assert!(found, "{}", String::from_utf8_lossy(&buffer[..lens[2]]));
    hung.join().expect("ended");
}
