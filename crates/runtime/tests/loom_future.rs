//! Models of the wake word: no wake-up is lost, there is one entry at most, and the frame is freed
//! once.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use loom::sync::{Condvar, Mutex};
use loom::thread;
use sateen_runtime::models::wake_word::{Paused, Released, WakeWord};
use sateen_testkit::model;

/// A future that is ready once all `flags` are set, in a queue with one place.
struct Frame {
    word: WakeWord,
    flags: [AtomicBool; 2],
    /// The poller sleeps while the queue is empty, so a lost entry shows as a deadlock.
    queued: Mutex<usize>,
    pushed: Condvar,
    /// The future, which only its poller uses.
    future: UnsafeCell<u32>,
    freed: AtomicUsize,
    done: AtomicUsize,
}

// SAFETY: `future` is used only as the word allows. The model checks this.
unsafe impl Sync for Frame {}
// SAFETY: as above.
unsafe impl Send for Frame {}

impl Frame {
    /// Makes a queued future with a handle and `wakers`.
    fn new(wakers: usize) -> Arc<Self> {
        let frame = Self {
            word: WakeWord::new(),
            flags: [AtomicBool::new(false), AtomicBool::new(wakers < 2)],
            queued: Mutex::new(1),
            pushed: Condvar::new(),
            future: UnsafeCell::new(0),
            freed: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        };
        (0..wakers).for_each(|_| frame.word.retain());
        Arc::new(frame)
    }

    fn push(&self) {
        let mut queued = self.queued.lock().unwrap();
        *queued += 1;
        assert_eq!(*queued, 1, "queued twice");
        self.pushed.notify_one();
    }

    fn take(&self) {
        let mut queued = self.queued.lock().unwrap();
        while *queued == 0 {
            queued = self.pushed.wait(queued).unwrap();
        }
        *queued -= 1;
    }

    fn free(&self) {
        assert_eq!(self.freed.fetch_add(1, Relaxed), 0, "freed twice");
        // SAFETY: no thread refers to the frame, so this write must not race with anything.
        self.future.with_mut(|f| unsafe { *f = 99 });
    }

    fn release(&self) {
        match self.word.release() {
            Released::Kept => {}
            Released::Abandoned => self.push(),
            Released::Free => self.free(),
        }
    }

    fn waker(&self, index: usize) {
        self.flags[index].store(true, Relaxed);
        if self.word.wake() {
            self.push();
        }
        self.release();
    }

    /// Polls until nothing is left to poll.
    fn run(&self) {
        loop {
            self.take();
            self.word.begin();
            // SAFETY: the poll has begun.
            self.future.with_mut(|f| unsafe { *f += 1 });
            let ready = self.flags.iter().all(|flag| flag.load(Relaxed));
            let over = ready
                || match self.word.pause() {
                    Paused::Idle => false,
                    Paused::Again => {
                        self.push();
                        false
                    }
                    Paused::Abandoned => true,
                };
            if over {
                self.done.store(if ready { 1 } else { 2 }, Relaxed);
                if self.word.finish() {
                    self.free();
                }
                return;
            }
        }
    }
}

#[test]
fn no_wake_up_is_lost() {
    model(2, || {
        let frame = Frame::new(2);
        let wakers = [0, 1].map(|index| {
            let frame = Arc::clone(&frame);
            thread::spawn(move || frame.waker(index))
        });
        frame.run();
        assert_eq!(frame.done.load(Relaxed), 1, "dropped instead of finished");
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
        assert_eq!(frame.freed.load(Relaxed), 0, "freed under its handle");
        frame.release();
        assert_eq!(frame.freed.load(Relaxed), 1, "leaked");
    });
}

#[test]
fn what_nobody_can_wake_ends_too() {
    model(2, || {
        let frame = Frame::new(1);
        let waker = thread::spawn({
            let frame = Arc::clone(&frame);
            move || frame.release()
        });
        let handle = thread::spawn({
            let frame = Arc::clone(&frame);
            move || frame.release()
        });
        frame.run();
        assert_eq!(frame.done.load(Relaxed), 2);
        waker.join().unwrap();
        handle.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1, "leaked");
    });
}

#[test]
fn a_wake_up_and_a_dropped_handle() {
    model(2, || {
        let frame = Frame::new(1);
        let waker = thread::spawn({
            let frame = Arc::clone(&frame);
            move || frame.waker(0)
        });
        let handle = thread::spawn({
            let frame = Arc::clone(&frame);
            move || frame.release()
        });
        frame.run();
        assert_eq!(frame.done.load(Relaxed), 1, "dropped instead of finished");
        waker.join().unwrap();
        handle.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1, "leaked");
    });
}
