//! Helpers for the models of the spinlock family: threads that lock and count.

use lock_api::RawMutex;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

pub(crate) struct Guarded<K> {
    lock: K,
    value: UnsafeCell<usize>,
}

// SAFETY: only the holder uses `value`. The model checks this.
unsafe impl<K: Sync> Sync for Guarded<K> {}
// SAFETY: as above.
unsafe impl<K: Send> Send for Guarded<K> {}

impl<K: RawMutex> Guarded<K> {
    fn section(&self, lingers: bool) {
        if lingers {
            thread::yield_now();
        }
        // SAFETY: the lock is held.
        self.value.with_mut(|value| unsafe { *value += 1 });
        // SAFETY: locked by the caller.
        unsafe { self.lock.unlock() };
    }
}

/// `threads` threads lock, each for this many `turns`. If `tries`, the first thread tries to lock
/// before that. It lets others run in a section that it got by trying, and in all sections if it
/// has several turns. So others come to wait without spending a preemption on it.
pub(crate) fn model<K: RawMutex + Default + Send + Sync + 'static>(
    preemptions: usize,
    threads: usize,
    turns: usize,
    tries: bool,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model.check(move || {
        let shared = Arc::new(Guarded { lock: K::default(), value: UnsafeCell::new(0) });
        let lock = move |shared: &Guarded<K>, lingers| {
            for _ in 0..turns {
                shared.lock.lock();
                shared.section(lingers);
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || lock(&shared, false))
            })
            .collect();
        let mut done = threads * turns;
        if tries && shared.lock.try_lock() {
            done += 1;
            shared.section(true);
        }
        lock(&shared, turns > 1);
        others.into_iter().for_each(|other| other.join().unwrap());
        // SAFETY: all threads are joined.
        assert_eq!(shared.value.with(|value| unsafe { *value }), done);
        assert!(shared.lock.try_lock(), "free in the end");
    });
}
