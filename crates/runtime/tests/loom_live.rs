//! Models of the list of live futures: a runtime that closes cancels all that is listed, while some
//! of it ends by itself.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use loom_common::{ParkingFiber, check};
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::live::{Links, Live, LiveFutures};
use sateen_runtime::models::started_on::StartedOn;
use sateen_runtime::models::task_state::{Cancel, TaskState};
use sateen_runtime::models::wake_word::{Paused, WakeWord};
use std::ptr::NonNull;

/// What polls: freed when the last worker has left.
struct Fiber {
    parking: ParkingFiber,
    there: UnsafeCell<bool>,
}

impl Fiber {
    fn new() -> Self {
        Self { parking: ParkingFiber::new(), there: UnsafeCell::new(true) }
    }

    fn count(&self) -> &Self {
        // SAFETY: what is modelled: nobody writes it at this time.
        assert!(self.there.with(|there| unsafe { *there }), "used after it was freed");
        self
    }
}

/// A future that nobody waits for, in a frame that in the model is never freed.
struct Frame {
    links: Links<Frame>,
    task: TaskState,
    word: WakeWord,
    started_on: StartedOn<Fiber>,
    ended: AtomicUsize,
}

impl Live for Frame {
    unsafe fn links<'a>(frame: NonNull<Self>) -> &'a Links<Self> {
        // SAFETY: by contract.
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

// SAFETY: `there` is written when nobody uses the fiber any more; that is what is modelled.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    /// The first `listed` frames are queued, each with a waker, and listed in the same list.
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
            // SAFETY: they leave before the model ends.
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

    /// As `LiveFutures::cancel` with `Header::mark_cancelled` and `future::interrupt`.
    fn cancel(&self) {
        let marked = self.futures.mark_all(|frame| {
            // SAFETY: the model keeps all frames.
            let frame = unsafe { frame.as_ref() };
            let Cancel::Deliver { started: true, .. } = frame.task.cancel() else {
                return (None, None);
            };
            let entry = frame.word.wake().then(|| self.index(frame));
            // SAFETY: null, or the fiber of this model.
            let fiber = unsafe { frame.started_on.now().as_ref() }.map(Fiber::count);
            frame.task.cancel_delivered();
            (entry, fiber)
        });
        for (entry, fiber) in marked {
            entry.map(|index| self.push(index));
            fiber.map(|fiber| fiber.parking.unpark());
        }
    }

    /// As `poll_queued`. `poll` gets what says whether the future is cancelled.
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
        // SAFETY: it was entered.
        unsafe { self.futures.leave(NonNull::from(frame)) };
        frame.task.complete();
        assert_eq!(frame.ended.fetch_add(1, Relaxed), 0, "ended twice");
        frame.word.finish();
    }

    /// The last worker leaves.
    fn leave(&self) {
        assert_eq!(self.futures.count(), 0);
        // SAFETY: nothing is left that could need the fiber.
        self.fiber.there.with_mut(|there| unsafe { *there = false });
    }
}

/// Two futures end by themselves, before they are marked or after: nobody looks for their fiber
/// when that is gone.
#[test]
fn what_has_ended_is_left_alone() {
    check(3, || {
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

/// One that is idle, or about to be, and one that is woken at that moment: each ends, and once.
#[test]
fn what_waits_ends() {
    check(2, || {
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

/// One whose poll waits on its fiber until it is cancelled: it is found there, whenever that poll
/// begins.
#[test]
fn a_poll_that_waits_is_woken() {
    check(3, || {
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
