//! Worker queues whose handlers ask to get an item again.
#![cfg(not(loom))]

use sateen_flow::{Retry, Sender, WorkerQueue};
use sateen_sync::Event;
use sateen_testkit::until;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn items_that_come_again_do_so_until_they_are_done() {
    for keyed in [false, true] {
        let queue = WorkerQueue::builder().workers(3).keyed(keyed).capacity(4);
        let queue = queue
            .start(|_, left: &mut u64| {
                *left -= 1;
                if *left > 0 { Err(Retry(Duration::from_micros(10))) } else { Ok(()) }
            })
            .unwrap();
        (1..=50).for_each(|left| queue.send(left).unwrap());
        queue.close();
        let stats = queue.stats();
        assert_eq!((stats.received, stats.retried), (50, 49 * 50 / 2));
        assert_eq!(stats.sent, 50);
    }
}

/// One sleeper keeps the time. If that worker is called to other work, another sleeper takes over.
#[test]
fn an_item_comes_again_while_all_but_one_are_blocked() {
    for _ in 0..if cfg!(debug_assertions) { 5 } else { 20 } {
        let again = Arc::new(Event::new());
        let queue = WorkerQueue::builder().workers(3).start({
            let again = Arc::clone(&again);
            move |_, item: &mut u64| match *item {
                0 => {
                    *item = 1;
                    Some(Retry(Duration::from_millis(3)))
                }
                1 => {
                    again.set();
                    None
                }
                _ => {
                    assert!(again.wait_timeout(Duration::from_secs(20)), "nobody kept the time");
                    None
                }
            }
        });
        let queue = queue.unwrap();
        queue.send(0).unwrap();
        until(|| queue.stats().retried == 1);
        (10..12).for_each(|item| queue.send(item).unwrap());
        queue.close();
        assert_eq!((queue.stats().received, queue.stats().panicked), (3, 0));
    }
}

#[test]
fn new_items_do_not_keep_old_ones_from_coming_again() {
    let (again, sends) = (Arc::new(Event::new()), Arc::new(Mutex::new(None::<Sender<u64>>)));
    let queue = WorkerQueue::builder().workers(1).start({
        let (again, sends) = (Arc::clone(&again), Arc::clone(&sends));
        move |_, item: &mut u64| match *item {
            0 => {
                *item = 1;
                Some(Retry(Duration::ZERO))
            }
            1 => {
                again.set();
                None
            }
            _ => {
                // A new item takes the place of each one that is done.
                _ = sends.lock().unwrap().as_ref().map(|sends| sends.try_send(2));
                None
            }
        }
    });
    let queue = queue.unwrap();
    *sends.lock().unwrap() = Some(queue.sender());
    (10..1000).for_each(|item| queue.send(item).unwrap());
    queue.send(0).unwrap();
    assert!(again.wait_timeout(Duration::from_secs(20)), "it never came");
    *sends.lock().unwrap() = None;
    queue.abort();
}

/// Workers fall asleep and wake for new and old items, in all orders. The test would hang if no
/// worker kept the time.
#[test]
fn old_and_new_items_all_come_to_an_end() {
    for (steal, keyed, capacity) in [(true, false, 64), (false, true, 64), (true, true, 0)] {
        let queue = WorkerQueue::builder().workers(4).steal(steal).keyed(keyed).capacity(capacity);
        let queue = queue.start(|_, left: &mut u64| {
            *left = left.wrapping_mul(0x5DEE_CE66D).wrapping_add(11) % (1 << 32);
            let again = Retry(Duration::from_micros(*left % 300));
            if left.is_multiple_of(4) { Ok(()) } else { Err(again) }
        });
        let queue = queue.unwrap();
        let sender = queue.sender();
        for item in 0..1000 {
            sender.send(item * 7919).unwrap();
            if item % 50 == 0 {
                until(|| queue.stats().received == item + 1);
            }
        }
        assert!(queue.close_timeout(Duration::from_secs(20)).is_ok(), "{:?}", queue.stats());
        assert_eq!(queue.stats().received, 1000);
    }
}
