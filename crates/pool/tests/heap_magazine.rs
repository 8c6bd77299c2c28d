//! `HeapMagazine`: no block is lost, and the number of blocks kept is bounded. This is a separate
//! program because it counts allocations.
#![cfg(not(any(loom, miri)))]

use sateen_pool::{HeapMagazine, HeapSizes};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, mpsc};
use std::thread;

/// A block size that nothing else here asks for.
const BLOCK: Layout = match Layout::from_size_align(7 * 64, 64) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};
static LIVE: AtomicIsize = AtomicIsize::new(0);
/// The tests run one at a time, because of the count.
static TURN: Mutex<()> = Mutex::new(());

struct Counting;

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(isize::from(layout == BLOCK), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(isize::from(layout == BLOCK), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A block that holds a count of its users, which is never more than one.
struct Held<'a>(&'a HeapMagazine, NonNull<AtomicU32>);
// SAFETY: any thread may give a block.
unsafe impl Send for Held<'_> {}

fn take(from: &HeapMagazine) -> Held<'_> {
    let block = from.take().expect("memory").cast::<AtomicU32>();
    assert!(block.as_ptr().addr().is_multiple_of(BLOCK.align()));
    // SAFETY: this thread owns the block, which is large enough and aligned. The count is at its
    // end, which no list of free blocks uses.
    let word = unsafe { block.add(BLOCK.size() / 4 - 1) };
    // SAFETY: as above.
    unsafe { word.write(AtomicU32::new(1)) };
    Held(from, word)
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: written in `take`.
        assert_eq!(unsafe { self.1.as_ref() }.swap(0, Relaxed), 1);
        // SAFETY: this is the start of the block, which was taken once and is not used from here
        // on.
        unsafe { self.0.give(self.1.sub(BLOCK.size() / 4 - 1).cast()) };
    }
}

fn turn() -> impl Drop {
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn keeps_some_and_returns_all() {
    let _turn = turn();
    let before = LIVE.load(Relaxed);
    let heap = HeapMagazine::of(BLOCK);
    let mut held: Vec<_> = (0..20_000).map(|_| take(&heap)).collect();
    assert!(LIVE.load(Relaxed) >= before + 20_000);
    held.truncate(10_000);
    drop(held);
    let kept = LIVE.load(Relaxed) - before;
    assert!((1..=4096 + 122).contains(&kept), "{kept} kept");
    // These come from the blocks that were kept.
    drop((0..4000).map(|_| take(&heap)).collect::<Vec<_>>());
    assert_eq!(LIVE.load(Relaxed) - before, kept);
    drop(heap);
    assert_eq!(LIVE.load(Relaxed), before);
}

#[test]
fn threads_hand_over_and_end() {
    let _turn = turn();
    let before = LIVE.load(Relaxed);
    let heap = HeapMagazine::of(BLOCK);
    for _ in 0..5 {
        thread::scope(|s| {
            let (send, receive) = mpsc::sync_channel::<Held<'_>>(300);
            s.spawn(move || receive.into_iter().for_each(drop));
            for seed in 1..=3 {
                let (send, heap) = (send.clone(), &heap);
                s.spawn(move || {
                    let mut random = sateen_base::XorShift::new(seed);
                    let mut held = Vec::new();
                    for _ in 0..3000 {
                        match random.below(3) {
                            0 => send.send(take(heap)).expect("it receives"),
                            1 => held.push(take(heap)),
                            _ => drop(held.pop()),
                        }
                    }
                });
            }
        });
    }
    // Four threads run at a time. The test counts the blocks that all of them keep together.
    let kept = LIVE.load(Relaxed) - before;
    assert!(kept <= 4096 + 8 * 122, "{kept} kept");
    drop(heap);
    assert_eq!(LIVE.load(Relaxed), before);
}

#[test]
fn a_layout_without_a_size_has_a_byte() {
    let tiny = HeapMagazine::new::<()>();
    assert_eq!(tiny.layout(), Layout::new::<u8>());
    let block = tiny.take().expect("memory");
    // SAFETY: the block was just taken.
    unsafe { tiny.give(block) };
    assert_eq!(tiny.take(), Some(block));
    // SAFETY: the block was just taken.
    unsafe { tiny.give(block) };
}

#[test]
fn each_layout_has_blocks_of_its_size_and_alignment() {
    let sizes = HeapSizes::<4, 64, 32>::new();
    for (size, align) in
        [(0, 1), (1, 1), (64, 8), (65, 32), (256, 32), (257, 8), (24, 64), (9999, 4096)]
    {
        let layout = Layout::from_size_align(size, align).expect("a layout");
        let blocks: Vec<_> = (0..40).map(|_| sizes.take(layout).expect("memory")).collect();
        for (n, &block) in blocks.iter().enumerate() {
            assert_eq!(block.as_ptr() as usize % align, 0);
            // SAFETY: this thread owns these `size` bytes.
            unsafe { block.write_bytes(n as u8, size) };
        }
        for (n, &block) in blocks.iter().enumerate() {
            // SAFETY: as above; the bytes were written before.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), size) };
            assert!(bytes.iter().all(|&byte| byte == n as u8));
            // SAFETY: the block was taken for this layout and is not used any more.
            unsafe { sizes.give(block, layout) };
        }
    }
}
