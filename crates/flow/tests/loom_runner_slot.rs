//! Models of how work is found. As in a runtime, a worker sleeps until a runner task is queued for
//! it. So work for which no runner task was queued shows as a deadlock.
#![cfg(loom)]

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicUsize;
use sateen_flow::runner_slot::RunnerSlot;
use sateen_testkit::model;

/// A group has one producer. It holds how much was made ready, how much was taken, the runner slot,
/// and the worker's queue of runner tasks.
struct Group {
    pushed: AtomicUsize,
    taken: AtomicUsize,
    slot: RunnerSlot,
    queued: Mutex<usize>,
    changed: Condvar,
}

impl Group {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            pushed: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            slot: RunnerSlot::new(),
            queued: Mutex::new(0),
            changed: Condvar::new(),
        })
    }

    fn push(&self, all: usize) {
        self.pushed.store(all, Relaxed);
    }

    fn notify(&self) {
        if self.slot.notify() {
            *self.queued.lock().unwrap() += 1;
            self.changed.notify_all();
        }
    }

    /// Waits for a runner task and begins it.
    fn start(&self) {
        let mut queued = self.queued.lock().unwrap();
        while *queued == 0 {
            queued = self.changed.wait(queued).unwrap();
        }
        *queued -= 1;
        drop(queued);
        self.slot.begin();
    }

    fn is_ready(&self) -> bool {
        self.pushed.load(Relaxed) > self.taken.load(Relaxed)
    }

    fn take(&self) -> bool {
        let mut taken = self.taken.load(Relaxed);
        while self.pushed.load(Relaxed) > taken {
            match self.taken.compare_exchange(taken, taken + 1, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(now) => taken = now,
            }
        }
        false
    }
}

/// Tasks are pushed while a runner task is queued, begins, looks and ends. All of them are taken.
#[test]
fn what_is_notified_is_found() {
    model(3, || {
        let group = Group::new();
        let worker = thread::spawn({
            let group = Arc::clone(&group);
            move || {
                let mut ran = 0;
                while ran < 2 {
                    group.start();
                    while group.take() {
                        ran += 1;
                    }
                }
            }
        });
        for all in 1..=2 {
            group.push(all);
            RunnerSlot::announce();
            group.notify();
        }
        worker.join().unwrap();
    });
}

/// An event that one task sets for another.
#[derive(Default)]
struct Event(Mutex<bool>, Condvar);

impl Event {
    fn set(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let mut set = self.0.lock().unwrap();
        while !*set {
            set = self.1.wait(set).unwrap();
        }
    }
}

/// There are two tasks. The first that is taken waits for the other, so its worker first queues
/// another runner task.
#[test]
fn a_task_that_waits_does_not_hide_the_rest() {
    model(2, || {
        let group = Group::new();
        let event = Arc::new(Event::default());
        let workers = [0, 1].map(|_| {
            let (group, event) = (Arc::clone(&group), Arc::clone(&event));
            thread::spawn(move || {
                group.start();
                if !group.take() {
                    return;
                }
                if group.is_ready() {
                    RunnerSlot::announce();
                    group.notify();
                }
                if group.is_ready() { event.wait() } else { event.set() }
            })
        });
        group.push(2);
        RunnerSlot::announce();
        group.notify();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// The end of a task makes two tasks ready without notifying, while another thread's runner task
/// begins, looks and ends. The task that is taken waits for the other one.
#[test]
fn what_an_end_makes_ready_is_announced_before_the_next_task() {
    model(3, || {
        let group = Group::new();
        let event = Arc::new(Event::default());
        let other = thread::spawn({
            let (group, event) = (Arc::clone(&group), Arc::clone(&event));
            move || {
                loop {
                    group.start();
                    if group.taken.load(Relaxed) == 1 && group.take() {
                        return event.set();
                    }
                }
            }
        });
        // Takes the place of a task that is gone before any worker sees it.
        group.notify();
        // This thread takes the first task.
        group.taken.store(1, Relaxed);
        group.push(2);
        RunnerSlot::announce();
        group.notify();
        event.wait();
        other.join().unwrap();
    });
}
