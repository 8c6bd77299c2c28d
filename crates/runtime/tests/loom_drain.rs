//! Models of the end of a runtime: the gate, and the count that tells when no work is left.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use sateen_base::prim::searched::{AtomicBool, AtomicUsize};
use sateen_runtime::models::drain::DrainCount;
use sateen_runtime::models::gate::{Gate, Life};
use sateen_testkit::model;

/// Submissions through the gate. A submitter writes its place inside the gate. A worker that sees
/// the runtime closing reads the places.
struct Door {
    gate: Gate,
    life: Life,
    shut: AtomicBool,
    places: [UnsafeCell<bool>; 2],
}

// SAFETY: a place belongs to its submitter while that is inside. The model checks this.
unsafe impl Sync for Door {}
// SAFETY: as above.
unsafe impl Send for Door {}

/// When the gate is shut, every thread that was let in has left. A thread that sees the runtime
/// closing sees what they did. No further thread is let in.
#[test]
fn a_shut_gate_has_nobody_inside() {
    model(2, || {
        let door = Arc::new(Door {
            gate: Gate::new(),
            life: Life::new(),
            shut: AtomicBool::new(false),
            places: [UnsafeCell::new(false), UnsafeCell::new(false)],
        });
        door.life.open();
        let submitters = [0, 1].map(|i| {
            let door = Arc::clone(&door);
            thread::spawn(move || {
                let Ok(_inside) = door.gate.enter() else { return false };
                // SAFETY: the gate is not shut, so no thread reads.
                door.places[i].with_mut(|place| unsafe { *place = true });
                true
            })
        });
        let worker = thread::spawn({
            let door = Arc::clone(&door);
            move || {
                if door.life.is_closing() {
                    // SAFETY: the runtime is closing, so no thread writes any more.
                    Some([0, 1].map(|i| door.places[i].with(|place| unsafe { *place })))
                } else {
                    None
                }
            }
        });
        door.gate.shut();
        door.life.close();
        let submitted = submitters.map(|submitter| submitter.join().unwrap());
        if let Some(seen) = worker.join().unwrap() {
            assert_eq!(seen, submitted);
        }
        assert!(door.gate.enter().is_err());
    });
}

/// Two workers that end. Any worker takes from `queue`. Only the second worker takes from `mail`,
/// and it looks there first.
struct End {
    count: DrainCount,
    queue: AtomicUsize,
    mail: AtomicUsize,
    stopped: AtomicBool,
}

impl End {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            count: DrainCount::new(),
            queue: AtomicUsize::new(0),
            mail: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        })
    }

    /// Reports the calling worker as drained. It has finished all that it took.
    fn drain(&self) {
        let has_work = || self.mail.load(Relaxed) != 0 || self.queue.load(Relaxed) != 0;
        if self.count.drain(2, has_work) {
            self.stopped.store(true, Relaxed);
        }
    }

    /// Each place has one taker, so a load and a store are enough. That is the weakest that a queue
    /// does.
    fn take(&self, place: &AtomicUsize) -> bool {
        let taken = place.load(Relaxed) != 0;
        if taken {
            place.store(0, Relaxed);
            assert!(!self.stopped.load(Relaxed), "ended with work left");
        }
        taken
    }
}

/// One worker wakes, takes a job that mails another job to the second worker, and drains again.
/// Meanwhile that second worker completes the count and looks around.
#[test]
fn nobody_ends_before_all_is_done() {
    model(3, || {
        let end = End::new();
        // The first worker is drained before the job comes.
        end.drain();
        end.queue.store(1, Relaxed);
        let first = thread::spawn({
            let end = Arc::clone(&end);
            move || {
                end.count.undrain();
                if end.take(&end.queue) {
                    end.mail.store(1, Relaxed);
                }
                end.drain();
            }
        });
        end.drain();
        first.join().unwrap();
        let mailed = end.mail.load(Relaxed) != 0;
        assert!(mailed || end.stopped.load(Relaxed), "not at all");
        assert!(!mailed || !end.stopped.load(Relaxed), "ended with mail");
        if mailed {
            end.count.undrain();
            assert!(end.take(&end.mail));
            end.drain();
            assert!(end.stopped.load(Relaxed));
        }
    });
}

/// A worker that wakes for nothing does not keep the others from ending, whichever of them is last.
#[test]
fn a_spurious_wake_up_delays_the_end_only() {
    model(3, || {
        let end = End::new();
        end.drain();
        let first = thread::spawn({
            let end = Arc::clone(&end);
            move || {
                if !end.stopped.load(Relaxed) {
                    end.count.undrain();
                    end.drain();
                }
            }
        });
        end.drain();
        first.join().unwrap();
        assert!(end.stopped.load(Relaxed));
    });
}
