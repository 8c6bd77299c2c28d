//! Properties that change while a task is queued or suspended.

mod common;

use sateen_runtime::policy::{self, Policy, Runnable};
use sateen_runtime::{JoinHandle, Runtime, Spawn, TaskId};
use sateen_sync::{Event, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The smallest property comes first. The policy goes by the property that it last read or was
/// told.
#[derive(Default)]
struct ByProperty(std::sync::Mutex<Vec<(u64, Runnable)>>);

impl Policy for ByProperty {
    fn awakened(&self, runnable: Runnable) {
        self.0.lock().unwrap().push((runnable.property(), runnable));
    }

    fn pick_next(&self) -> Option<Runnable> {
        let mut queue = self.0.lock().unwrap();
        let least = (0..queue.len()).min_by_key(|&i| queue[i].0)?;
        Some(queue.remove(least).1)
    }

    fn has_ready(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }

    fn property_change(&self, task: TaskId, property: u64) {
        let mut queue = self.0.lock().unwrap();
        let queued = queue.iter_mut().find(|(_, runnable)| runnable.id() == Some(task));
        queued.into_iter().for_each(|item| item.0 = property);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum When {
    Suspended,
    Ready,
}

/// Runs three tasks in the order of their properties, except that the last one comes first.
fn order(workers: usize, when: When, futures: bool) -> Vec<u64> {
    let policy = policy::custom(|_| Box::new(ByProperty::default()));
    let rt = Runtime::builder().workers(workers).policy(policy).build().unwrap();
    let (gate, begun) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
    let order = Arc::new(Mutex::new(Vec::new()));
    let last = Spawn::new().on_worker(workers - 1);
    let tasks: [JoinHandle<()>; 3] = [10, 20, 30].map(|number| {
        let (gate, begun, order) = (Arc::clone(&gate), Arc::clone(&begun), Arc::clone(&order));
        let settings = last.clone().property(number);
        if futures {
            return rt.spawn_async_with(Spawn::new().property(number), async move {
                begun.fetch_add(1, SeqCst);
                gate.wait_async().await;
                order.lock().push(number);
            });
        }
        rt.spawn_with(settings, move || {
            begun.fetch_add(1, SeqCst);
            gate.wait();
            order.lock().push(number);
        })
    });
    while begun.load(SeqCst) < 3 {
        std::thread::yield_now();
    }
    let tasks = Arc::new(tasks);
    let (all, open) = (Arc::clone(&tasks), Arc::clone(&gate));
    // This runs on the tasks' own worker, so that none of them runs meanwhile.
    let changer = rt.spawn_with(last, move || {
        if when == When::Ready {
            open.set();
        }
        assert!(all[2].set_property(5));
        open.set();
    });
    changer.join().unwrap();
    let tasks = Arc::into_inner(tasks).expect("the changer has ended");
    tasks.into_iter().for_each(|task| task.join().unwrap());
    let mut order = order.lock();
    std::mem::take(&mut *order)
}

#[test]
fn a_queued_fiber_moves() {
    for workers in [1, 2, 3, 8] {
        assert_eq!(order(workers, When::Ready, false), [30, 10, 20]);
        assert_eq!(order(workers, When::Suspended, false), [30, 10, 20]);
    }
}

#[test]
fn a_queued_future_moves() {
    assert_eq!(order(1, When::Ready, true), [30, 10, 20]);
    assert_eq!(order(1, When::Suspended, true), [30, 10, 20]);
}

#[test]
fn other_policies_do_not_care() {
    common::at_all_counts(|rt| {
        let task = rt.spawn_with(Spawn::new().property(1), || ());
        assert!(task.set_property(2));
        task.join().unwrap();
        let task = rt.spawn(|| ());
        assert!(!task.set_property(2));
        task.join().unwrap();
    });
}
