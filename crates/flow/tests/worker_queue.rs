//! Worker queues: an item that goes in comes out once, whatever handlers do, and in order if that
//! is promised.
#![cfg(not(loom))]

use sateen_flow::{DeadReason, Overflow, Refusal, Retry, StartError, ThrottleError, WorkerQueue};
use sateen_runtime::Runtime;
use sateen_sync::{Event, block_on};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// The items that handlers saw, to be checked at the end.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u64>>>);

impl Seen {
    fn push(&self, item: u64) {
        self.0.lock().unwrap().push(item);
    }
    fn all(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
    fn sorted(&self) -> Vec<u64> {
        let mut all = self.all();
        all.sort_unstable();
        all
    }
}

fn assert_balanced(queue: &WorkerQueue<u64>) {
    let stats = queue.stats();
    let counted = stats.received + stats.in_queue + stats.dropped + stats.returned;
    assert_eq!(stats.sent, counted, "{stats:?}");
}

#[test]
fn senseless_settings_are_refused_by_name() {
    let start = |builder: sateen_flow::WorkerQueueBuilder<u64>| {
        builder.start(|_, _| ()).unwrap_err().to_string()
    };
    let builder = || WorkerQueue::builder::<u64>().workers(1);
    assert!(start(builder().workers(0)).contains("0 workers"));
    assert!(start(builder().queues(0)).contains("0 queues"));
    assert!(start(builder().workers(1 << 20)).contains("1048576 workers"));
    assert!(start(builder().queues(1 << 20)).contains("1048576 queues"));
    assert!(start(builder().capacity(usize::MAX)).contains(&usize::MAX.to_string()));
    let large = usize::try_from(1_u64 << 47).unwrap_or(1 << 31);
    assert!(start(builder().capacity(large)).contains("no memory for queues of"));
    // What a slot really takes decides, also near the limit of the memory.
    for capacity in
        (28..usize::BITS.min(48)).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])
    {
        match builder().capacity(capacity).start(|_, _| ()) {
            Ok(queue) => queue.close(),
            Err(error) => assert!(matches!(error, StartError::NoMemory(_)), "{capacity}: {error}"),
        }
    }
    let named = |name| start(builder().name(name));
    assert_eq!(named("a\0b"), r#"cannot name workers "a\0b": it contains a NUL"#);
    let burst = builder().receive_burst(0).start(|_, _| ()).unwrap_err();
    assert!(matches!(burst, StartError::Throttle(ThrottleError::ZeroBurst)));
    let batch = builder().receive_batch(0).start(|_, _| ()).unwrap_err();
    assert!(matches!(batch, StartError::Throttle(ThrottleError::ZeroBatch)));
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice() {
    for (workers, queues, senders, capacity) in
        [(1, 1, 1, 2), (1, 4, 2, 8), (4, 1, 4, 1), (3, 3, 3, 0), (8, 8, 8, 64), (2, 5, 16, 1000)]
    {
        for (steal, keyed) in [(true, false), (false, false), (true, true), (false, true)] {
            let seen = Seen::default();
            let builder = WorkerQueue::builder().workers(workers).queues(queues);
            let queue = builder.capacity(capacity).steal(steal).keyed(keyed).start({
                let seen = seen.clone();
                move |_, item: &mut u64| seen.push(*item)
            });
            let queue = queue.unwrap();
            let each = if capacity == 0 { 100 } else { 1000 };
            std::thread::scope(|s| {
                for sender in 0..senders {
                    let queue = &queue;
                    s.spawn(move || {
                        let items = (0..each).map(|i| sender * each + i);
                        match sender % 4 {
                            0 => {
                                let sender = queue.sender();
                                items.for_each(|item| sender.send(item).unwrap());
                            }
                            1 => items.for_each(|item| queue.send(item).unwrap()),
                            2 => block_on(async {
                                for item in items {
                                    queue.send_async(item).await.unwrap();
                                }
                            }),
                            _ => {
                                assert_eq!(queue.sender().send_batch(items).unwrap(), each as usize)
                            }
                        }
                    });
                }
            });
            queue.close();
            assert_eq!(seen.sorted(), (0..senders * each).collect::<Vec<_>>());
            let stats = queue.stats();
            assert_eq!((stats.sent, stats.in_queue), (senders * each, 0), "{stats:?}");
            assert_balanced(&queue);
        }
    }
}

#[test]
fn one_queue_and_one_worker_keep_the_order() {
    for capacity in [0, 1, 16] {
        let seen = Seen::default();
        let queue = WorkerQueue::builder().workers(1).queues(1).capacity(capacity).start({
            let seen = seen.clone();
            move |_, item: &mut u64| seen.push(*item)
        });
        let queue = queue.unwrap();
        std::thread::scope(|s| {
            for base in [0, 1_000_000] {
                let sender = queue.sender();
                s.spawn(move || (0..500).for_each(|i| sender.send(base + i).unwrap()));
            }
        });
        queue.close();
        let (ones, others): (Vec<_>, Vec<_>) = seen.all().into_iter().partition(|&i| i < 1_000_000);
        assert!(ones.is_sorted() && others.is_sorted() && ones.len() + others.len() == 1000);
    }
}

/// This also holds while items come again, handlers panic, and workers take each other's queues.
#[test]
fn items_of_a_key_keep_their_order_and_never_meet() {
    for capacity in [0, 3, 64] {
        let inside: Arc<Vec<AtomicBool>> = Arc::new((0..10).map(|_| false.into()).collect());
        let seen = Arc::new(Mutex::new(HashMap::<u64, Vec<u64>>::new()));
        let again = Arc::new(Mutex::new(std::collections::HashSet::new()));
        let builder = WorkerQueue::builder().workers(4).queues(7).capacity(capacity).keyed(true);
        let queue = builder.start({
            let (inside, seen, again) = (inside.clone(), seen.clone(), again.clone());
            move |_, item: &mut (u64, u64)| {
                let (key, number) = *item;
                assert!(!inside[key as usize].swap(true, SeqCst), "two of a key at once");
                std::thread::yield_now();
                let first = again.lock().unwrap().insert(*item);
                let retry = number % 10 == 3 && first;
                if !retry {
                    seen.lock().unwrap().entry(key).or_default().push(number);
                }
                inside[key as usize].store(false, SeqCst);
                retry.then_some(Retry(Duration::from_micros(50)))
            }
        });
        let queue = queue.unwrap();
        std::thread::scope(|s| {
            for half in [0, 5] {
                let sender = queue.sender();
                s.spawn(move || {
                    for number in 0..60 {
                        for key in half..half + 5 {
                            sender.send_keyed(&key, (key, number)).unwrap();
                        }
                    }
                });
            }
        });
        queue.close();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 10);
        for (key, numbers) in &*seen {
            assert_eq!(*numbers, (0..60).collect::<Vec<_>>(), "key {key}");
        }
        assert_eq!(queue.stats().panicked, 0);
    }
}

#[test]
fn keys_need_a_keyed_queue() {
    let queue = WorkerQueue::builder().workers(1).start(|_, _: &mut u64| ()).unwrap();
    let error = queue.sender().send_keyed("key", 9).unwrap_err();
    assert_eq!((error.item, error.reason), (9, Refusal::NotKeyed));
}

#[test]
fn a_closed_queue_gives_the_item_back() {
    for capacity in [0, 1] {
        let queue = WorkerQueue::builder().workers(1).capacity(capacity).keyed(true);
        let queue = queue.start(|_, _: &mut String| ()).unwrap();
        let sender = queue.sender();
        queue.close();
        let item = || "item".to_owned();
        for error in [
            sender.send(item()).unwrap_err(),
            sender.try_send(item()).unwrap_err(),
            sender.send_keyed(&1, item()).unwrap_err(),
            queue.send(item()).unwrap_err(),
            block_on(queue.send_async(item())).unwrap_err(),
            block_on(queue.sender().send_keyed_async(&1, item())).unwrap_err(),
            block_on(sender.send_keyed_async(&1, item())).unwrap_err(),
        ] {
            assert_eq!((error.item.as_str(), error.reason), ("item", Refusal::Closed));
        }
        assert_eq!(queue.sender().send_batch([item(), item()]).unwrap_err().item.len(), 2);
        assert_eq!(queue.stats().sent, 0);
    }
}

/// A queue whose only worker waits for the event while it handles its first item.
fn stuck(builder: sateen_flow::WorkerQueueBuilder<u64>) -> (WorkerQueue<u64>, Arc<Event>, Seen) {
    let (go, began, seen) = (Arc::new(Event::new()), Arc::new(Event::new()), Seen::default());
    let queue = builder.workers(1).queues(1).start({
        let (go, began, seen) = (go.clone(), began.clone(), seen.clone());
        move |_, item| {
            began.set();
            go.wait();
            seen.push(*item);
        }
    });
    let queue = queue.unwrap();
    queue.send(0).unwrap();
    began.wait();
    (queue, go, seen)
}

#[test]
fn a_full_queue_does_what_the_rule_says() {
    let builder = || WorkerQueue::builder().capacity(3);
    for (overflow, expected) in [
        (Overflow::Error, vec![0, 1, 2, 3]),
        (Overflow::DropNewest, vec![0, 1, 2, 3]),
        (Overflow::DropOldest, vec![0, 4, 5, 6]),
    ] {
        let (queue, go, seen) = stuck(builder().overflow(overflow));
        for item in 1..=6 {
            let result = queue.send(item);
            let refused = overflow == Overflow::Error && item > 3;
            assert_eq!(result.is_err(), refused, "{overflow:?} {item}");
            if let Err(error) = result {
                assert_eq!((error.item, error.reason), (item, Refusal::Full));
            }
        }
        assert_balanced(&queue);
        go.set();
        queue.close();
        assert_eq!(seen.all(), expected, "{overflow:?}");
        assert_balanced(&queue);
        let dropped = if overflow == Overflow::Error { 0 } else { 3 };
        assert_eq!(queue.stats().dropped, dropped);
    }
    let (queue, go, _) = stuck(builder());
    (1..=3).for_each(|item| queue.try_send(item).unwrap());
    assert_eq!(queue.try_send(4).unwrap_err().reason, Refusal::Full);
    let blocked = std::thread::scope(|s| {
        let sender = s.spawn(|| queue.send(4));
        assert!(!sender.is_finished());
        go.set();
        sender.join().unwrap()
    });
    assert!(blocked.is_ok());
    queue.close();
    assert_eq!(queue.stats().received, 5);
}

#[test]
fn every_rule_conserves_under_load() {
    for overflow in [Overflow::Block, Overflow::Error, Overflow::DropOldest, Overflow::DropNewest] {
        for capacity in [0, 1, 16] {
            let handled = Arc::new(AtomicU64::new(0));
            let builder = WorkerQueue::builder().workers(3).queues(2).capacity(capacity);
            let queue = builder.overflow(overflow).start({
                let handled = handled.clone();
                move |_, _: &mut u64| _ = handled.fetch_add(1, SeqCst)
            });
            let queue = queue.unwrap();
            let refused = AtomicU64::new(0);
            std::thread::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|| {
                        let sender = queue.sender();
                        for item in 0..300 {
                            if sender.send(item).is_err() {
                                refused.fetch_add(1, SeqCst);
                            }
                        }
                    });
                }
            });
            queue.close();
            let stats = queue.stats();
            let handled = handled.load(SeqCst);
            assert_eq!(stats.received, handled);
            assert_eq!(handled + stats.dropped + refused.load(SeqCst), 1200, "{overflow:?}");
            assert_balanced(&queue);
        }
    }
}

#[test]
fn a_rendezvous_waits_for_an_idle_worker() {
    let (queue, go, seen) = stuck(WorkerQueue::builder().capacity(0));
    assert_eq!(queue.try_send(1).unwrap_err().reason, Refusal::Full);
    std::thread::scope(|s| {
        s.spawn(|| queue.send(2).unwrap());
        go.set();
    });
    queue.close();
    assert_eq!(seen.all(), [0, 2]);
}

#[test]
fn a_handler_that_always_panics_loses_nothing_silently() {
    let (told, dead) = (Arc::new(AtomicUsize::new(0)), Seen::default());
    let queue = WorkerQueue::builder()
        .workers(2)
        .on_panic({
            let told = told.clone();
            move |worker, payload| {
                assert!(worker < 2 && payload.is::<&str>());
                told.fetch_add(1, SeqCst);
                std::panic::resume_unwind(Box::new("a callback panics, too"));
            }
        })
        .dead_letter({
            let dead = dead.clone();
            move |letter| {
                assert_eq!(letter.reason, DeadReason::Panicked("always".to_owned()));
                dead.push(letter.item);
            }
        })
        .start(|_, _: &mut u64| -> () { std::panic::resume_unwind(Box::new("always")) })
        .unwrap();
    (0..100).for_each(|item| queue.send(item).unwrap());
    queue.close();
    assert_eq!(dead.sorted(), (0..100).collect::<Vec<_>>());
    assert_eq!((told.load(SeqCst), queue.stats().panicked), (100, 100));
    assert_balanced(&queue);
}

#[test]
fn abort_gives_back_all_that_was_not_begun() {
    let dead = Seen::default();
    let builder = WorkerQueue::builder().dead_letter({
        let dead = dead.clone();
        move |letter| {
            assert_eq!(letter.reason, DeadReason::Aborted);
            dead.push(letter.item);
        }
    });
    let go = Arc::new(Event::new());
    let began = Arc::new(Event::new());
    let queue = builder.workers(1).start({
        let (go, began) = (go.clone(), began.clone());
        move |_, item: &mut u64| match *item {
            0 => Some(Retry(Duration::from_secs(1000))),
            _ => {
                began.set();
                go.wait();
                Some(Retry(Duration::ZERO))
            }
        }
    });
    let queue = queue.unwrap();
    (0..10).for_each(|item| queue.send(item).unwrap());
    began.wait();
    assert_balanced(&queue);
    let mut items = queue.abort();
    items.sort_unstable();
    assert_eq!(items, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(queue.send(11).unwrap_err().reason, Refusal::Closed);
    assert!(queue.abort().is_empty());
    go.set();
    queue.close();
    assert_eq!(dead.all(), [1]);
    assert_balanced(&queue);
}

#[test]
fn close_says_who_hangs() {
    let builder = WorkerQueue::builder().describe(|item: &u64| format!("item {item}"));
    let (queue, go, seen) = stuck(builder);
    queue.send(1).unwrap();
    let error = queue.close_timeout(Duration::from_millis(1)).unwrap_err();
    assert_eq!((error.hanging.len(), error.waiting), (1, 1));
    let said = error.to_string();
    assert!(said.contains("worker 0 hangs in its item 1 (item 0)"), "{said}");
    assert_eq!(queue.send(2).unwrap_err().reason, Refusal::Closed);
    go.set();
    assert!(queue.close_timeout(SOON).is_ok());
    assert_eq!(seen.all(), [0, 1]);
}

#[test]
fn a_handler_that_never_returns_does_not_keep_an_aborted_queue() {
    let (queue, go, _) = stuck(WorkerQueue::builder());
    queue.send(1).unwrap();
    assert_eq!(queue.abort(), [1]);
    drop(queue);
    go.set();
}

#[test]
fn a_handler_may_send_close_and_be_the_last_to_know_the_queue() {
    let seen = Seen::default();
    let place: Arc<Mutex<Option<WorkerQueue<u64>>>> = Arc::default();
    let queue = WorkerQueue::builder().workers(1).start({
        let (seen, place) = (seen.clone(), place.clone());
        move |_, item: &mut u64| {
            seen.push(*item);
            let queue = place.lock().unwrap().take();
            let Some(queue) = queue else { return };
            queue.send(*item + 1).unwrap();
            queue.close();
            assert!(queue.send(9).is_err());
        }
    });
    let queue = queue.unwrap();
    let sender = queue.sender();
    *place.lock().unwrap() = Some(queue);
    sender.send(1).unwrap();
    while seen.all().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(seen.all(), [1, 2]);
}

/// One worker is stuck. All other items are still handled. Without stealing, those in its own queue
/// are not.
#[test]
fn a_stuck_worker_strands_nothing() {
    for steal in [true, false] {
        let (go, stuck, handled) =
            (Arc::new(Event::new()), Arc::new(Event::new()), Arc::new(AtomicU64::new(0)));
        let queue = WorkerQueue::builder().workers(4).capacity(1000).steal(steal).start({
            let (go, stuck, handled) = (go.clone(), stuck.clone(), handled.clone());
            move |_, item: &mut u64| {
                if *item == 0 {
                    stuck.set();
                    go.wait();
                }
                handled.fetch_add(1, SeqCst);
            }
        });
        let queue = queue.unwrap();
        queue.send(0).unwrap();
        stuck.wait();
        (1..=400).for_each(|item| queue.send(item).unwrap());
        if steal {
            while handled.load(SeqCst) < 400 {
                std::thread::yield_now();
            }
        } else {
            while queue.stats().queues.iter().filter(|&&len| len > 0).count() > 1 {
                std::thread::yield_now();
            }
            assert!(queue.stats().queues.iter().sum::<usize>() > 10);
        }
        go.set();
        queue.close();
        assert_eq!(handled.load(SeqCst), 401);
    }
}

#[test]
fn a_runtime_that_has_ended_gives_no_workers() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let builder = WorkerQueue::builder::<u64>().workers(2).on(&runtime);
    drop(runtime);
    assert!(matches!(builder.start(|_, _| ()).unwrap_err(), StartError::NoRuntime(_)));
}

#[test]
fn figures_tell_what_happened() {
    let queue = WorkerQueue::builder().workers(2).queues(3).start(|_, _: &mut u64| ()).unwrap();
    let sender = queue.sender();
    (0..1000).for_each(|item| sender.send(item).unwrap());
    drop(sender);
    queue.close();
    let stats = queue.stats();
    assert_eq!((stats.sent, stats.received, stats.in_queue), (1000, 1000, 0));
    assert_eq!((stats.workers.len(), stats.queues.len()), (2, 3));
    assert_eq!(stats.workers.iter().map(|worker| worker.received).sum::<u64>(), 1000);
    assert!(stats.waits.count() >= 1000 / 32);
    assert!(stats.waits.percentile(50.0) <= stats.waits.max());
    assert!(stats.waits.max() < SOON);
}

/// Items are dropped exactly once, wherever they end.
#[test]
fn items_that_own_something_are_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    for overflow in [Overflow::DropOldest, Overflow::DropNewest, Overflow::Error] {
        drops.store(0, SeqCst);
        let queue = WorkerQueue::builder().workers(1).queues(2).capacity(2).overflow(overflow);
        let queue = queue.start(|_, _: &mut Counted| ()).unwrap();
        for _ in 0..100 {
            _ = queue.send(Counted(drops.clone()));
        }
        drop(queue.abort());
        drop(queue);
        while Arc::strong_count(&drops) > 1 {
            std::thread::yield_now();
        }
        assert_eq!(drops.load(SeqCst), 100);
    }
}
