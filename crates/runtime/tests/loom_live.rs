//! Models of the list of live futures. A runtime that closes cancels all listed futures, while some
//! of them end by themselves.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use loom_common::ParkingFiber;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::live::{Links, Live, LiveFutures};
use sateen_runtime::models::started_on::StartedOn;
use sateen_runtime::models::task_state::{Cancel, TaskState};
use sateen_runtime::models::wake_word::{Paused, WakeWord};
use sateen_testkit::model;
use std::ptr::NonNull;

/// The fiber that polls. It is freed when the last worker has left.
struct Fiber {
    parking: ParkingFiber,
    there: UnsafeCell<bool>,
}

impl Fiber {
    fn new() -> Self {
        Self { parking: ParkingFiber::new(), there: UnsafeCell::new(true) }
    }

    fn count(&self) -> &Self {
        // SAFETY: no thread writes it at this time. The model checks this.
        assert!(self.there.with(|there| unsafe { *there }), "used after it was freed");
        self
    }
}

/// A future for which no thread waits. In the model its frame is never freed.
struct Frame {
    links: Links<Frame>,
    task: TaskState,
    word: WakeWord,
    started_on: StartedOn<Fiber>,
    ended: AtomicUsize,
}

impl Live for Frame {
    unsafe fn links<'a>(frame: NonNull<Self>) -> &'a Links<Self> {
        // SAFETY: by the caller's contract.
        unsafe { &frame.as_ref().links }
    }
}

struct Model {
    futures: LiveFutures<Frame>,
    frames: [Frame; 2],
    fiber: Fiber,
    queue: Mutex<Vec<usize>>,
    pushed: Condvar,
}

// SAFETY: `there` is written when no thread uses the fiber any more. The model checks this.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    /// Queues the first `listed` frames, each with a waker, and enters them in the same list.
    fn new(listed: usize) -> Arc<Self> {
        let frame = || {
            let frame = Frame {
                links: Links::new(Some(0), 1),
                task: TaskState::claimed(),
                word: WakeWord::new(),
                started_on: StartedOn::new(),
                ended: AtomicUsize::new(0),
            };
            assert!(!frame.task.drop_handle());
            frame
        };
        let model = Arc::new(Self {
            futures: LiveFutures::new(1),
            frames: [frame(), frame()],
            fiber: Fiber::new(),
            queue: Mutex::new((0..listed).collect()),
            pushed: Condvar::new(),
        });
        for frame in &model.frames[..listed] {
            // SAFETY: the frames leave the list before the model ends.
            unsafe { model.futures.enter(NonNull::from(frame)) };
        }
        model
    }

    fn push(&self, index: usize) {
        let mut queue = self.queue.lock().unwrap();
        assert!(!queue.contains(&index), "queued twice");
        queue.push(index);
        self.pushed.notify_one();
    }

    fn take(&self) -> usize {
        let mut queue = self.queue.lock().unwrap();
        loop {
            match queue.pop() {
                Some(index) => return index,
                None => queue = self.pushed.wait(queue).unwrap(),
            }
        }
    }

    fn index(&self, frame: &Frame) -> usize {
        self.frames.iter().position(|other| std::ptr::eq(other, frame)).unwrap()
    }

    /// Cancels as `LiveFutures::cancel` does with `Header::mark_cancelled` and `future::interrupt`.
    fn cancel(&self) {
        let marked = self.futures.mark_all(|frame| {
            // SAFETY: the model keeps all frames.
            let frame = unsafe { frame.as_ref() };
            let Cancel::Deliver { started: true, .. } = frame.task.cancel() else {
                return (None, None);
            };
            let entry = frame.word.wake().then(|| self.index(frame));
            // SAFETY: the pointer is null, or leads to the fiber of this model.
            let fiber = unsafe { frame.started_on.now().as_ref() }.map(Fiber::count);
            frame.task.cancel_delivered();
            (entry, fiber)
        });
        for (entry, fiber) in marked {
            entry.map(|index| self.push(index));
            fiber.map(|fiber| fiber.parking.unpark());
        }
    }

    /// Polls as `poll_queued` does. `poll` gets the frame, which says whether the future is
    /// cancelled.
    fn poll(&self, index: usize, poll: impl Fn(&Frame) -> bool) {
        let frame = &self.frames[index];
        frame.started_on.set(&self.fiber);
        frame.word.begin();
        let ready = frame.task.is_cancelled() || poll(frame);
        if !ready && !frame.task.is_cancelled() {
            frame.started_on.clear();
            match frame.word.pause() {
                Paused::Idle => return,
                Paused::Again => return self.push(index),
                Paused::Abandoned => panic!("its waker is there"),
            }
        }
        // SAFETY: the frame was entered.
        unsafe { self.futures.leave(NonNull::from(frame)) };
        frame.task.complete();
        assert_eq!(frame.ended.fetch_add(1, Relaxed), 0, "ended twice");
        frame.word.finish();
    }

    /// Does what happens when the last worker leaves.
    fn leave(&self) {
        assert_eq!(self.futures.count(), 0);
        // SAFETY: no future is left that could need the fiber.
        self.fiber.there.with_mut(|there| unsafe { *there = false });
    }
}

/// Two futures end by themselves, before or after they are marked. No thread looks for their fiber
/// once that is gone.
#[test]
fn what_has_ended_is_left_alone() {
    model(3, || {
        let model = Model::new(2);
        let worker = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                for index in [0, 1] {
                    model.poll(index, |_| true);
                }
                model.leave();
            }
        });
        model.cancel();
        worker.join().unwrap();
    });
}

/// One future is idle or about to be. Another is woken at that moment. Each of them ends, and only
/// once.
#[test]
fn what_waits_ends() {
    model(2, || {
        let model = Model::new(2);
        model.frames.iter().for_each(|frame| frame.word.retain());
        let waker = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                if model.frames[1].word.wake() {
                    model.push(1);
                }
            }
        });
        let worker = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while model.futures.count() != 0 {
                    model.poll(model.take(), |_| false);
                }
            }
        });
        model.cancel();
        worker.join().unwrap();
        waker.join().unwrap();
        model.leave();
    });
}

/// A future's poll waits on its fiber until it is cancelled. The canceller finds it there, whenever
/// that poll begins.
#[test]
fn a_poll_that_waits_is_woken() {
    model(3, || {
        let model = Model::new(1);
        let worker = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                let index = model.take();
                model.poll(index, |frame| {
                    while !frame.task.is_cancelled() {
                        model.fiber.parking.park();
                    }
                    false
                });
                model.leave();
            }
        });
        model.cancel();
        worker.join().unwrap();
    });
}
