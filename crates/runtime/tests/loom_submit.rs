//! Models of a submission while the runtime ends. Work that was let in is done, and no thread is
//! inside when others are notified.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::atomic::fence;
use loom::thread;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::drain::DrainCount;
use sateen_runtime::models::gate::{Gate, Life};
use sateen_runtime::models::sleepers::Sleepers;
use sateen_testkit::model;

/// A runtime of one worker.
struct Runtime {
    gate: Gate,
    life: Life,
    drained: DrainCount,
    sleep: Sleepers,
    queue: AtomicUsize,
    /// What a job needs. The submitter writes it inside, and the worker reads it.
    jobs: [UnsafeCell<bool>; 2],
    done: AtomicUsize,
}

// SAFETY: a job's place belongs to its submitter, then to the worker. The model checks this.
unsafe impl Sync for Runtime {}
// SAFETY: as above.
unsafe impl Send for Runtime {}

impl Runtime {
    fn new() -> Arc<Self> {
        let runtime = Arc::new(Self {
            gate: Gate::new(),
            life: Life::new(),
            drained: DrainCount::new(),
            sleep: Sleepers::new(1, None),
            queue: AtomicUsize::new(0),
            jobs: [UnsafeCell::new(false), UnsafeCell::new(false)],
            done: AtomicUsize::new(0),
        });
        runtime.life.open();
        runtime
    }

    /// Submits as `Shared::submit` does. Returns whether the job was let in.
    fn submit(&self, job: usize) -> bool {
        let Ok(inside) = self.gate.enter() else { return false };
        let queue = || {
            // SAFETY: no other thread has the job yet.
            self.jobs[job].with_mut(|place| unsafe { *place = true });
            self.queue.fetch_or(1 << job, SeqCst);
        };
        let announce = |()| {
            // A policy that is notified may end the runtime, which waits for all that are inside.
            assert!(job != 0 || self.gate.inside() == 0, "it would wait for itself");
            fence(SeqCst);
            self.sleep.wake_searcher();
        };
        inside.submit(queue, announce);
        true
    }

    /// Closes as `Shared::close` does.
    fn close(&self) {
        self.gate.shut();
        self.life.close();
        fence(SeqCst);
        self.sleep.notify(0);
    }

    fn work(&self) {
        let has_work = || self.queue.load(Relaxed) != 0;
        while !self.life.is_stopped() {
            let jobs = self.queue.swap(0, SeqCst);
            for job in (0..2).filter(|job| jobs & (1 << job) != 0) {
                // SAFETY: the job was taken from the queue.
                assert!(self.jobs[job].with(|place| unsafe { *place }));
                self.done.fetch_add(1, Relaxed);
            }
            if !self.sleep.announce(0, || has_work() || self.life.is_stopped()) {
                continue;
            }
            let drains = self.life.is_closing();
            if drains && self.drained.drain(1, has_work) {
                self.life.stop();
                self.sleep.cancel(0);
                continue;
            }
            self.sleep.sleep(0, None);
            if drains {
                self.drained.undrain();
            }
        }
    }
}

/// A job is submitted before, while or after the runtime closes. If it was let in, it is done, and
/// the worker ends.
#[test]
fn what_was_let_in_is_done() {
    model(2, || {
        let runtime = Runtime::new();
        let worker = thread::spawn({
            let runtime = Arc::clone(&runtime);
            move || runtime.work()
        });
        let closer = thread::spawn({
            let runtime = Arc::clone(&runtime);
            move || runtime.close()
        });
        let accepted = usize::from(runtime.submit(0));
        closer.join().unwrap();
        assert!(!runtime.submit(1), "let in after it was shut");
        worker.join().unwrap();
        assert_eq!(runtime.done.load(Relaxed), accepted, "accepted and not done");
    });
}
