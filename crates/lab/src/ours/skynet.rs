//! Skynet by tasks of `sateen`, one function for each form. The lab's small programs with other
//! allocators include this file too.

use sateen::Spawn;
use sateen::channel::bounded;
use sateen::sync::Event;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the sum of the ordinals of `leaves` leaves from `first`. A node joins the handles of its
/// subtasks.
pub(crate) fn join(first: u64, leaves: u64) -> u64 {
    tree(first, leaves, || {})
}

/// The same. Every leaf yields once, so that it becomes a fiber with a stack.
pub(crate) fn suspend(first: u64, leaves: u64) -> u64 {
    tree(first, leaves, sateen::yield_now)
}

fn tree(first: u64, leaves: u64, leaf: impl Fn() + Copy + Send + 'static) -> u64 {
    if leaves == 1 {
        leaf();
        return first;
    }
    let tenth = leaves / 10;
    let children: [_; 10] =
        std::array::from_fn(|i| sateen::spawn(move || tree(first + i as u64 * tenth, tenth, leaf)));
    children.into_iter().map(|c| c.join().expect("no task of skynet panics")).sum()
}

/// The same by futures, whose handles a node awaits.
pub(crate) fn future(first: u64, leaves: u64) -> u64 {
    sateen::block_on(future_tree(first, leaves))
}

fn future_tree(first: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let tenth = leaves / 10;
        let children: [_; 10] = std::array::from_fn(|i| {
            sateen::spawn_async(future_tree(first + i as u64 * tenth, tenth))
        });
        let mut sum = 0;
        for child in children {
            sum += child.await.expect("no task of skynet panics");
        }
        sum
    })
}

/// What ten detached subtasks deliver to.
struct Sum {
    sum: AtomicU64,
    missing: AtomicU64,
    complete: Event,
}

/// The same with detached subtasks. A node blocks until the last of them has delivered.
pub(crate) fn detach(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let tenth = leaves / 10;
    let (sum, missing) = (AtomicU64::new(0), AtomicU64::new(10));
    let all = Arc::new(Sum { sum, missing, complete: Event::new() });
    for i in 0..10 {
        let all = Arc::clone(&all);
        let subtask = move || {
            all.sum.fetch_add(detach(first + i * tenth, tenth), Ordering::Relaxed);
            // Ordering: the last subtask sees the sums of all, and the event passes them on.
            if all.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
                all.complete.set();
            }
        };
        Spawn::new().detach(subtask).expect("spawned");
    }
    all.complete.wait();
    all.sum.load(Ordering::Relaxed)
}

/// The same with a channel for each node, to which its detached subtasks send.
pub(crate) fn channel(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let tenth = leaves / 10;
    let (sender, sums) = bounded(10);
    for i in 0..10 {
        let sender = sender.clone();
        let subtask = move || {
            // The node receives until all have sent.
            let _ = sender.send(channel(first + i * tenth, tenth));
        };
        Spawn::new().detach(subtask).expect("spawned");
    }
    drop(sender);
    sums.iter().sum()
}
