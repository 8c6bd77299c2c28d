//! Models of waiting until no worker is at work, with full fences.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicBool;
use sateen_flow::quiescence::Quiescence;
use sateen_testkit::model;

/// What each worker did.
struct Work([UnsafeCell<bool>; 2]);
// SAFETY: a cell belongs to its worker until that worker has left. The model checks this.
unsafe impl Sync for Work {}
// SAFETY: as above.
unsafe impl Send for Work {}

/// The last of two workers leaves while a thread begins to wait. That thread sees what both did.
#[test]
fn the_last_one_tells() {
    model(2, || {
        let quiet = Arc::new(Quiescence::new());
        let work = Arc::new(Work([false, false].map(UnsafeCell::new)));
        let workers = [0, 1].map(|i| {
            quiet.enter();
            let (quiet, work) = (Arc::clone(&quiet), Arc::clone(&work));
            thread::spawn(move || {
                // SAFETY: this worker is at work, and the cell is its own.
                work.0[i].with_mut(|done| unsafe { *done = true });
                quiet.leave();
            })
        });
        while !quiet.is_quiet() {
            quiet.wait_unless(|| quiet.is_quiet());
        }
        // SAFETY: no worker is at work.
        assert!(work.0.iter().all(|cell| cell.with(|done| unsafe { *done })));
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// While the waiter begins to wait, something comes up that only the waiter can do.
#[test]
fn what_is_told_is_seen() {
    model(3, || {
        let shared = Arc::new((Quiescence::new(), AtomicBool::new(false)));
        let notifier = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.1.store(true, Relaxed);
                shared.0.notify();
            }
        });
        while !shared.1.load(Relaxed) {
            shared.0.wait_unless(|| shared.1.load(Relaxed));
        }
        notifier.join().unwrap();
    });
}
