//! Models of the task state word: the closure runs once, the frame is freed once, and the joiner
//! wakes.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use sateen_runtime::models::task_state::{Claim, Completion, TaskState};
use sateen_testkit::model;

/// A frame with the fields that the state word guards.
struct Frame {
    state: TaskState,
    /// 0 is the closure, 1 the result.
    body: UnsafeCell<u32>,
    /// Stands for the place of the waker.
    waker: UnsafeCell<u32>,
    freed: AtomicUsize,
    woken: AtomicUsize,
}

// SAFETY: `body` and `waker` are used only as the state word allows. The model checks this.
unsafe impl Sync for Frame {}
// SAFETY: as above.
unsafe impl Send for Frame {}

impl Frame {
    fn new() -> Arc<Self> {
        Self::with(TaskState::new())
    }

    fn with(state: TaskState) -> Arc<Self> {
        Arc::new(Self {
            state,
            body: UnsafeCell::new(0),
            waker: UnsafeCell::new(0),
            freed: AtomicUsize::new(0),
            woken: AtomicUsize::new(0),
        })
    }

    fn run(&self) {
        // SAFETY: the task was claimed.
        self.body.with_mut(|b| unsafe {
            assert_eq!(*b, 0, "the closure ran twice");
            *b = 1;
        });
    }

    fn free(&self) {
        assert_eq!(self.freed.fetch_add(1, Relaxed), 0, "freed twice");
        // SAFETY: no thread refers to the frame, so writing all of it must not race with anything.
        self.body.with_mut(|b| unsafe { *b = 2 });
        self.waker.with_mut(|w| unsafe { *w = 2 });
    }

    /// Does what the thread does that takes the entry.
    fn taker(&self) {
        match self.state.claim_from_queue(false) {
            Claim::Run => {
                self.run();
                match self.state.complete() {
                    Completion::Left => {}
                    Completion::Free => self.free(),
                    Completion::Wake => {
                        // SAFETY: the waker is registered and was not taken back.
                        assert_eq!(self.waker.with(|w| unsafe { *w }), 1);
                        self.woken.fetch_add(1, Relaxed);
                        if self.state.drop_entry() {
                            self.free();
                        }
                    }
                }
            }
            Claim::Stale => {}
            Claim::Free => self.free(),
        }
    }

    fn drop_handle(&self) {
        if self.state.drop_handle() {
            self.free();
        }
    }

    fn take_result(&self) {
        // SAFETY: the task is done.
        assert_eq!(self.body.with(|b| unsafe { *b }), 1);
    }
}

#[test]
fn a_joiner_and_a_taker_compete_for_the_closure() {
    model(2, || {
        let frame = Frame::new();
        let taker = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || frame.taker())
        };
        if frame.state.claim_inline() {
            frame.run();
            frame.take_result();
        } else if frame.state.is_done() {
            frame.take_result();
        }
        frame.drop_handle();
        taker.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1);
    });
}

#[test]
fn a_waiting_joiner_is_woken_or_sees_the_result() {
    model(2, || {
        let frame = Frame::new();
        let taker = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || frame.taker())
        };
        if !frame.state.is_done() {
            // SAFETY: the waker is not registered, so this thread owns the place.
            frame.waker.with_mut(|w| unsafe { *w = 1 });
            if frame.state.register() && frame.state.unregister() {
                // Changes its waker and registers again.
                // SAFETY: the waker was taken back in time, so this thread owns the place.
                frame.waker.with_mut(|w| unsafe { *w = 1 });
                frame.state.register();
            }
        }
        if frame.state.is_done() {
            frame.take_result();
        }
        frame.drop_handle();
        taker.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1);
    });
}

#[test]
fn a_detached_task_frees_itself() {
    model(2, || {
        let frame = Frame::new();
        let taker = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || frame.taker())
        };
        frame.drop_handle();
        taker.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1);
    });
}

#[test]
fn a_task_that_was_never_joined_frees_itself() {
    model(2, || {
        let frame = Frame::with(TaskState::detached());
        let taker = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || frame.taker())
        };
        taker.join().unwrap();
        assert_eq!(frame.freed.load(Relaxed), 1);
    });
}
