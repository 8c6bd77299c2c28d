//! Worker queues at their rates, on a runtime, and with very many senders.
#![cfg(not(loom))]

use sateen_flow::{Clock, ManualClock, Rate, WorkerQueue};
use sateen_runtime::Runtime;
use sateen_sync::Event;
use sateen_testkit::{in_child, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn workers_hold_to_their_rate_in_virtual_time() {
    let clock = ManualClock::new();
    let rate = Rate::per_second(10.0).unwrap();
    let builder = WorkerQueue::builder().workers(1).receive_rate(rate).receive_batch(1);
    let queue = builder.clock(clock.clone()).start(|_, _: &mut u64| ()).unwrap();
    queue.sender().send_batch(0..=100).unwrap();
    queue.close();
    let took = clock.elapsed().as_secs_f64();
    assert!((10.0..10.001).contains(&took), "{took}");
}

/// A worker that waits years for a token learns of a new rate, and of the end.
#[test]
fn a_rate_can_be_changed_while_workers_wait_for_it() {
    let queue =
        WorkerQueue::builder().workers(2).receive_rate(Rate::per_second(Rate::LEAST).unwrap());
    let queue = queue.start(|_, _: &mut u64| ()).unwrap();
    (0..10).for_each(|item| queue.send(item).unwrap());
    while queue.stats().received < 2 {
        std::thread::yield_now();
    }
    queue.set_receive_rate(Rate::UNLIMITED);
    while queue.stats().received < 10 {
        std::thread::yield_now();
    }
    queue.set_receive_rate(Rate::per_second(Rate::LEAST).unwrap());
    (0..10).for_each(|item| queue.send(item).unwrap());
    let given_back = queue.abort().len() as u64;
    queue.close();
    assert_eq!(queue.stats().received + given_back, 20);
}

/// The workers' next tokens are due in years. Closing reports that an item waits, and aborting
/// returns that item.
#[test]
fn workers_that_wait_for_years_can_be_aborted() {
    let rate = Rate::per_second(Rate::LEAST).unwrap();
    let queue = WorkerQueue::builder().workers(2).receive_rate(rate).start(|_, _: &mut u64| ());
    let queue = queue.unwrap();
    (0..3).for_each(|item| queue.send(item).unwrap());
    until(|| queue.stats().received == 2);
    assert_eq!(queue.close_timeout(Duration::from_millis(60)).unwrap_err().waiting, 1);
    assert_eq!(queue.abort(), [2]);
    assert!(queue.close_timeout(SOON).is_ok());
}

#[test]
fn workers_may_be_tasks_of_a_runtime() {
    for workers in [1, 2, 5] {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let (go, handled) = (Arc::new(Event::new()), Arc::new(AtomicU64::new(0)));
        let queue = WorkerQueue::builder().workers(workers).capacity(4).on(&runtime).start({
            let (go, handled) = (go.clone(), handled.clone());
            move |_, item: &mut u64| {
                if *item == 7 {
                    go.wait();
                }
                handled.fetch_add(1, SeqCst);
            }
        });
        let queue = Arc::new(queue.unwrap());
        // A task that waits for room is suspended.
        let task = runtime.spawn({
            let queue = queue.clone();
            move || (0..1000).for_each(|item| queue.send(item).unwrap())
        });
        runtime.spawn(move || go.set()).join().unwrap();
        task.join().unwrap();
        let other = queue.clone();
        runtime.spawn_async(async move { other.send_async(8).await.unwrap() }).join().unwrap();
        runtime.install(|| queue.close());
        assert_eq!(handled.load(SeqCst), 1001);
    }
}

/// The cost of making and dropping a sender does not depend on how many there are.
#[test]
fn many_senders_come_and_go() {
    if !in_child("many_senders_come_and_go") {
        return;
    }
    let queue = WorkerQueue::builder().workers(1).start(|_, _: &mut u64| ()).unwrap();
    let senders: Vec<_> = (0..200_000).map(|_| queue.sender()).collect();
    senders.iter().step_by(1000).for_each(|sender| sender.send(1).unwrap());
    let clones = senders[..10].to_vec();
    drop(senders);
    let more: Vec<_> = (0..10).map(|_| queue.sender()).collect();
    clones.iter().chain(&more).for_each(|sender| sender.send(1).unwrap());
    assert_eq!(queue.stats().sent, 220);
    drop((clones, more));
    assert_eq!(queue.stats().sent, 220);
    queue.close();
    assert_eq!(queue.stats().received, 220);
}
