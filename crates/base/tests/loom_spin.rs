//! Model of the spinlock's word: it has one holder at a time, and each holder sees the writes of
//! the one before.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use sateen_base::SpinWord;

struct Guarded {
    word: SpinWord,
    value: UnsafeCell<usize>,
    entered: AtomicUsize,
}

// SAFETY: only the holder of the word uses `value`; the model checks it.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

#[test]
fn one_at_a_time() {
    loom::model(|| {
        let shared = Arc::new(Guarded {
            word: SpinWord::new(),
            value: UnsafeCell::new(0),
            entered: AtomicUsize::new(0),
        });
        let enter = |shared: &Guarded| {
            if shared.word.take() {
                // SAFETY: the lock is taken.
                shared.value.with_mut(|v| unsafe { *v += 1 });
                shared.entered.fetch_add(1, Relaxed);
                shared.word.give();
            }
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || enter(&shared))
            })
            .collect();
        enter(&shared);
        threads.into_iter().for_each(|t| t.join().unwrap());
        // SAFETY: all threads are joined.
        assert_eq!(shared.value.with(|v| unsafe { *v }), shared.entered.load(Relaxed));
    });
}
