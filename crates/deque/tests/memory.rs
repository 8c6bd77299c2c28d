//! Memory comes back when a deque shrinks or is dropped, and nothing leaks while thieves steal.
//! This is a separate program because it counts every allocation of the process.

#[cfg(any(loom, miri))]
fn main() {}

#[cfg(not(any(loom, miri)))]
fn main() {
    counted::run();
}

#[cfg(not(any(loom, miri)))]
mod counted {
    use sateen_deque::{Asymmetric, Cached, Plain, Stage, Worker};
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

    struct Counting;

    static IN_USE: AtomicIsize = AtomicIsize::new(0);

    // SAFETY: passes every call on to the system's allocator.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
            // SAFETY: the caller's contract.
            unsafe { System.alloc(layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
            // SAFETY: the caller's contract.
            unsafe { System.alloc_zeroed(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
            // SAFETY: the caller's contract.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    fn in_use() -> isize {
        IN_USE.load(Ordering::Relaxed)
    }

    pub(super) fn run() {
        for lifo in [true, false] {
            shrinks::<Plain>(lifo);
            shrinks::<Cached>(lifo);
            shrinks::<Asymmetric>(lifo);
            thieves::<Cached>(lifo);
            thieves::<Asymmetric>(lifo);
        }
        drained_by_thieves();
    }

    /// The deque grows to 100,000 items and shrinks again, three times. In between it holds no more
    /// memory than it needs.
    fn shrinks<S: Stage>(lifo: bool) {
        let before = in_use();
        let w: Worker<u64, S> = Worker::for_tests(lifo, 0, 0, true);
        let least = in_use() - before;
        for _ in 0..3 {
            (0..100_000).for_each(|i| w.push(i));
            let full = in_use() - before;
            // Eight bytes for an item and one for its mark, in a buffer of the next power of two.
            // No older buffer remains beside it.
            assert!(full < (1 << 17) * 9 + least + 4096, "{full} bytes for 100,000 items");
            while w.pop().is_some() {}
            // A deque that stays small halves its buffer step by step.
            for i in 0..300_000 {
                w.push(i);
                w.pop();
            }
            let drained = in_use() - before;
            assert!(drained <= 4 * least, "{drained} bytes kept, {least} at first");
        }
        drop(w);
        assert_eq!(in_use(), before);
    }

    /// Only thieves take items. The owner goes on pushing, and notices that the deque has become
    /// small.
    fn drained_by_thieves() {
        let before = in_use();
        let w = Worker::new_lifo();
        let s = w.stealer();
        let least = in_use() - before;
        (0..100_000u64).for_each(|i| w.push(i));
        while s.steal().is_success() {}
        for i in 0..400_000 {
            w.push(i);
            assert!(s.steal().is_success());
        }
        let drained = in_use() - before;
        assert!(drained <= 4 * least, "{drained} bytes kept, {least} at first");
    }

    /// Buffers are replaced while thieves steal. All of them are freed in the end.
    fn thieves<S: Stage>(lifo: bool) {
        // The system keeps memory for its threads. The first round warms up, and the next ones
        // count.
        rob::<S>(lifo);
        let before = in_use();
        rob::<S>(lifo);
        assert_eq!(in_use(), before);
    }

    fn rob<S: Stage>(lifo: bool) {
        let w: Worker<Box<u64>, S> = Worker::for_tests(lifo, 0, 0, true);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let steal = || {
                let (s, over) = (w.stealer(), &over);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        if !s.steal().is_success() {
                            std::thread::yield_now();
                        }
                    }
                })
            };
            let thieves = [steal(), steal(), steal()];
            for round in 0..40 {
                (0..1_000).for_each(|i| w.push(Box::new(i)));
                (0..900 + round).for_each(|_| drop(w.pop()));
            }
            over.store(true, Ordering::Relaxed);
            // The threads are joined, so that their own memory is back too.
            thieves.into_iter().for_each(|t| t.join().expect("a thief panicked"));
        });
    }
}
