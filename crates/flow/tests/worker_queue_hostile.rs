//! Worker queues whose handlers, callbacks, items, payloads and wakers break the rules.
#![cfg(not(loom))]

use sateen_flow::{DeadReason, Overflow, Refusal, Retry, WorkerQueue, WorkerQueueBuilder};
use sateen_runtime::Runtime;
use sateen_sync::Event;
use sateen_testkit::{in_time, waker_fn};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;

/// A payload whose destructor panics with another such payload.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new(Smaller));
    }
}

struct Smaller;

impl Drop for Smaller {
    fn drop(&mut self) {
        resume_unwind(Box::new("that was all"));
    }
}

fn explode<R>() -> R {
    resume_unwind(Box::new(Bomb))
}

type Numbers = Arc<Mutex<Vec<u64>>>;

fn sorted(numbers: &Numbers) -> Vec<u64> {
    let mut numbers = numbers.lock().unwrap().clone();
    numbers.sort_unstable();
    numbers
}

/// A queue of one worker that keeps its dead letters.
fn builder() -> (WorkerQueueBuilder<u64>, Numbers) {
    let dead = Numbers::default();
    let builder = WorkerQueue::builder().workers(1).dead_letter({
        let dead = Arc::clone(&dead);
        move |letter| dead.lock().unwrap().push(letter.item)
    });
    (builder, dead)
}

// ---- Panics ----

/// A queue that cannot be started, or that ends, drops its handler and callbacks.
#[test]
fn destructors_of_handlers_and_callbacks_take_no_errors_place() {
    struct AtEnd<F: FnMut()>(F);
    impl<F: FnMut()> Drop for AtEnd<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let builder = || {
        let [first, second, third] = [Bomb, Bomb, Bomb];
        WorkerQueue::builder::<u64>()
            .workers(1)
            .on_panic(move |_, _| _ = &first)
            .dead_letter(move |_| _ = &second)
            .describe(move |_| {
                let _kept = &third;
                String::new()
            })
    };
    let rounds = move || {
        drop(builder());
        let bomb = Bomb;
        let refused = builder().workers(0).start(move |_, _| _ = &bomb);
        assert_eq!(refused.unwrap_err().to_string(), "a worker queue with 0 workers");
        let bomb = Bomb;
        let queue = builder().start(move |_, _| _ = &bomb).expect("a queue");
        queue.send(1).expect("open");
        queue.close();
    };
    in_time(move || {
        rounds();
        let unwound = std::panic::catch_unwind(|| {
            let _at_end = AtEnd(rounds);
            resume_unwind(Box::new("unwinds"));
        });
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"unwinds"));
    });
}

#[test]
fn payloads_that_panic_cost_no_worker_and_no_item() {
    in_time(|| {
        let (builder, dead) = builder();
        let queue = builder.start(|_, _| explode::<()>()).unwrap();
        (0..10).for_each(|item| queue.send(item).unwrap());
        queue.close();
        assert_eq!(sorted(&dead), (0..10).collect::<Vec<_>>());
        assert_eq!((queue.stats().received, queue.stats().panicked), (10, 10));
    });
}

#[test]
fn callbacks_that_panic_with_anything_cost_no_item() {
    in_time(|| {
        let dead = Numbers::default();
        let queue = WorkerQueue::builder()
            .workers(1)
            .on_panic(|_, _| explode())
            .describe(|_| explode())
            .dead_letter({
                let dead = Arc::clone(&dead);
                move |letter| {
                    dead.lock().unwrap().push(letter.item);
                    explode()
                }
            })
            .start(|_, item: &mut u64| {
                if item.is_multiple_of(2) {
                    explode()
                }
            })
            .unwrap();
        (0..10).for_each(|item| queue.send(item).unwrap());
        queue.close();
        assert_eq!(sorted(&dead), [0, 2, 4, 6, 8]);
        assert_eq!((queue.stats().received, queue.stats().panicked), (10, 5));
    });
}

struct Explosive(Arc<AtomicUsize>);

impl Drop for Explosive {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        explode()
    }
}

/// This holds wherever an item is dropped: after its handler, by the overflow rule, or with the
/// queue.
#[test]
fn items_whose_destructors_panic_are_dropped_and_counted() {
    in_time(|| {
        for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
            for capacity in [0, 2] {
                let dropped = Arc::new(AtomicUsize::new(0));
                let (go, began) = (Arc::new(Event::new()), Arc::new(Event::new()));
                let builder = WorkerQueue::builder().workers(1).capacity(capacity);
                let queue = builder.overflow(overflow).start({
                    let (go, began) = (Arc::clone(&go), Arc::clone(&began));
                    move |_, _: &mut Explosive| {
                        began.set();
                        go.wait();
                    }
                });
                let queue = queue.unwrap();
                let mut sent = 0;
                while !began.is_set() {
                    queue.send(Explosive(Arc::clone(&dropped))).unwrap();
                    sent += 1;
                }
                (0..5).for_each(|_| queue.send(Explosive(Arc::clone(&dropped))).unwrap());
                go.set();
                queue.close();
                let stats = queue.stats();
                assert_eq!((stats.sent, stats.received + stats.dropped), (sent + 5, sent + 5));
                assert_eq!(dropped.load(SeqCst) as u64, sent + 5);
            }
        }
    });
}

// ---- Wakers ----

/// A worker wakes a future that waits for room after it takes an item and before it handles it.
#[test]
fn wakers_that_panic_cost_no_worker_and_no_item() {
    in_time(|| {
        for capacity in [0, 1] {
            let handled = Numbers::default();
            let (go, began) = (Arc::new(Event::new()), Arc::new(Event::new()));
            let queue = WorkerQueue::builder().workers(1).queues(1).capacity(capacity).start({
                let (go, began, handled) = (go.clone(), began.clone(), handled.clone());
                move |_, item: &mut u64| {
                    began.set();
                    go.wait();
                    handled.lock().unwrap().push(*item);
                }
            });
            let queue = queue.unwrap();
            queue.send(0).unwrap();
            began.wait();
            if capacity == 1 {
                queue.send(1).unwrap();
            }
            let waker = waker_fn(explode);
            let mut waits: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
            for item in 2..5 {
                waits.push(Box::pin(queue.send_async(item)));
                let wait = waits.last_mut().unwrap();
                assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            go.set();
            while handled.lock().unwrap().len() < 1 + capacity {
                std::thread::yield_now();
            }
            drop(waits);
            // The worker still exists, and the waiting sender is told.
            (10..20).for_each(|item| queue.send(item).unwrap());
            queue.close();
            assert_eq!(handled.lock().unwrap().len(), 1 + capacity + 10);
            assert!(queue.stats().in_queue == 0);
        }
    });
}

// ---- Without capacity ----

/// An item whose key is busy takes no idle worker from the others.
#[test]
fn a_busy_key_holds_up_no_other_without_capacity() {
    in_time(|| {
        let (go, handled) = (Arc::new(Event::new()), Numbers::default());
        let builder = WorkerQueue::builder().workers(2).queues(64).capacity(0).keyed(true);
        let queue = builder.start({
            let (go, handled) = (Arc::clone(&go), Arc::clone(&handled));
            move |_, item: &mut u64| {
                if *item == 0 {
                    go.wait();
                }
                handled.lock().unwrap().push(*item);
            }
        });
        let queue = Arc::new(queue.unwrap());
        queue.sender().send_keyed(&0, 0).unwrap();
        std::thread::scope(|s| {
            // These senders wait for the key.
            for item in 1..4 {
                let queue = &queue;
                s.spawn(move || queue.sender().send_keyed(&0, item).unwrap());
            }
            // Senders of other keys go on, perhaps only once those senders wait.
            for round in 0..200 {
                for key in 1..=10 {
                    queue.sender().send_keyed(&(key * 1000), 1000 * key + round).unwrap();
                }
            }
            go.set();
        });
        queue.close();
        let handled = handled.lock().unwrap();
        assert_eq!(handled.len(), 2004);
        let of_key = |key| handled.iter().copied().filter(move |item| item / 1000 == key);
        (1..=10).for_each(|key| assert!(of_key(key).is_sorted()));
    });
}

/// Handlers send to other keys. As many handlers as there are workers may wait for each other's
/// end.
#[test]
fn keys_do_not_wait_for_each_other_without_capacity() {
    in_time(|| {
        let queue: Arc<OnceLock<WorkerQueue<u64>>> = Arc::default();
        let done = Arc::new(AtomicU64::new(0));
        let builder = WorkerQueue::builder().workers(3).queues(16).capacity(0).keyed(true);
        let started = builder.start({
            let (queue, done) = (Arc::clone(&queue), Arc::clone(&done));
            move |_, item: &mut u64| {
                if *item == 1 {
                    // This handler is still busy.
                    let own = queue.get().unwrap().try_send(9);
                    assert!(own.is_ok() || own.unwrap_err().reason == Refusal::Full);
                }
                done.fetch_add(1, SeqCst);
                (*item == 2).then(|| *item = 3).map(|()| Retry(Duration::from_micros(50)))
            }
        });
        assert!(queue.set(started.unwrap()).is_ok());
        let queue = queue.get().unwrap();
        std::thread::scope(|s| {
            for thread in 0..6u64 {
                s.spawn(move || {
                    for item in 0..200 {
                        queue.sender().send_keyed(&(thread % 2), 1 + item % 2).unwrap();
                        queue.send(0).unwrap();
                    }
                });
            }
        });
        queue.close();
        let stats = queue.stats();
        assert_eq!((stats.sent, stats.in_queue), (stats.received, 0));
        assert_eq!(done.load(SeqCst), stats.received + stats.retried);
    });
}

/// A sender takes an idle worker of any of several crews.
#[test]
fn a_sender_waits_for_any_worker_without_capacity() {
    in_time(|| {
        for awaits in [false, true] {
            let (go, handled) = (Arc::new(Event::new()), Arc::new(AtomicU64::new(0)));
            let builder = WorkerQueue::builder().workers(3).capacity(0).steal(false);
            let queue = builder.start({
                let (go, handled) = (Arc::clone(&go), Arc::clone(&handled));
                move |_, item: &mut u64| {
                    if *item == 0 {
                        go.wait();
                    }
                    handled.fetch_add(1, SeqCst);
                }
            });
            let queue = queue.unwrap();
            // Two of the three workers hang.
            (0..2).for_each(|_| queue.send(0).unwrap());
            for item in 1..=100 {
                if awaits {
                    sateen_sync::block_on(queue.send_async(item)).unwrap();
                } else {
                    queue.send(item).unwrap();
                }
            }
            while handled.load(SeqCst) < 100 {
                std::thread::yield_now();
            }
            go.set();
            queue.close();
        }
    });
}

/// A sender that waits for a busy key and gives up leaves the key and the idle workers to others.
#[test]
fn who_gives_up_leaves_the_key_to_others_without_capacity() {
    in_time(|| {
        let (go, began) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let builder = WorkerQueue::builder().workers(1).queues(4).capacity(0).keyed(true);
        let queue = builder.start({
            let (go, began) = (Arc::clone(&go), Arc::clone(&began));
            move |_, _: &mut u64| {
                began.set();
                go.wait();
            }
        });
        let queue = queue.unwrap();
        queue.sender().send_keyed("a", 0).unwrap();
        began.wait();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            // Senders of the same key wait, and so do senders of other keys, which wait for the
            // worker.
            let sender = queue.sender();
            let mut waits: Vec<_> =
                ["a", "b", "b", "c"].map(|key| Box::pin(sender.send_keyed_async(key, 1))).into();
            for wait in &mut waits {
                assert!(wait.as_mut().poll(&mut cx).is_pending());
            }
        }
        go.set();
        for item in 0..10 {
            for key in ["a", "b", "c"] {
                queue.sender().send_keyed(key, item).unwrap();
            }
        }
        queue.close();
        assert_eq!(queue.stats().received, 31);
    });
}

// ---- Ends ----

/// Workers that are made to end turn the items that they cannot handle into dead letters. None is
/// lost.
#[test]
fn a_runtime_that_ends_by_force_loses_no_item() {
    in_time(|| {
        for has_callback in [true, false] {
            let runtime = Runtime::builder().workers(2).build().unwrap();
            let dead = Numbers::default();
            let mut builder = WorkerQueue::builder().workers(2).on(&runtime);
            if has_callback {
                let dead = Arc::clone(&dead);
                builder = builder.dead_letter(move |letter| {
                    assert_ne!(letter.reason, DeadReason::Aborted);
                    dead.lock().unwrap().push(letter.item);
                });
            }
            let (never, began) = (Arc::new(Event::new()), Arc::new(Event::new()));
            let queue = builder.start({
                let (never, began) = (Arc::clone(&never), Arc::clone(&began));
                move |_, item: &mut u64| {
                    if *item == 0 {
                        return Some(Retry(Duration::from_secs(1 << 30)));
                    }
                    began.set();
                    never.wait();
                    None
                }
            });
            let queue = queue.unwrap();
            (0..100).for_each(|item| queue.send(item).unwrap());
            began.wait();
            _ = runtime.shutdown_timeout(Duration::ZERO);
            queue.close();
            assert_eq!(queue.send(100).unwrap_err().reason, Refusal::Closed);
            let left = queue.abort();
            let stats = queue.stats();
            if has_callback {
                assert_eq!(sorted(&dead), (0..100).collect::<Vec<_>>());
                assert!(left.is_empty());
            } else {
                // All items but those that workers held at that moment.
                assert!((98..=100).contains(&left.len()), "{}", left.len());
            }
            assert_eq!(stats.sent, stats.received + stats.returned + stats.in_queue, "{stats:?}");
        }
    });
}

/// A sender of a batch is cancelled while it waits for room. The items that went in are counted.
#[test]
fn a_batch_whose_sender_is_cancelled_is_counted_as_far_as_it_went() {
    in_time(|| {
        for handle in [false, true] {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let go = Arc::new(Event::new());
            let queue = WorkerQueue::builder().workers(1).queues(1).capacity(4).start({
                let go = Arc::clone(&go);
                move |_, _: &mut u64| go.wait()
            });
            let queue = Arc::new(queue.unwrap());
            let sender = runtime.spawn({
                let queue = Arc::clone(&queue);
                move || match handle {
                    true => queue.sender().send_batch(0..100).is_ok(),
                    false => queue.sender().send_batch(0..100).is_ok(),
                }
            });
            while queue.stats().queues[0] < 4 {
                std::thread::yield_now();
            }
            sender.cancel();
            assert!(sender.join().is_err());
            go.set();
            queue.close();
            let stats = queue.stats();
            assert!(stats.received >= 4);
            assert_eq!(stats.sent, stats.received);
        }
    });
}

/// A callback that waits is cancelled like any other code. The item still becomes a dead letter.
#[test]
fn a_cancelled_callback_costs_no_item() {
    in_time(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let (builder, dead) = builder();
        let (never, began) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let builder = builder.on_panic({
            let (never, began) = (Arc::clone(&never), Arc::clone(&began));
            move |_, _| {
                began.set();
                never.wait();
            }
        });
        let queue = builder.on(&runtime).start(|_, _| explode::<()>()).unwrap();
        queue.send(7).unwrap();
        began.wait();
        _ = runtime.shutdown_timeout(Duration::ZERO);
        queue.close();
        assert_eq!(sorted(&dead), [7]);
    });
}

/// The handler owns the queue, so the queue's own worker drops the rest of it.
#[test]
fn a_handler_that_owns_its_queue_ends_it() {
    in_time(|| {
        for late in [false, true] {
            let place: Arc<OnceLock<WorkerQueue<u64>>> = Arc::default();
            let (go, ended) = (Arc::new(Event::new()), Arc::new(Event::new()));
            struct Tell(Arc<Event>);
            impl Drop for Tell {
                fn drop(&mut self) {
                    self.0.set();
                }
            }
            let tell = Tell(Arc::clone(&ended));
            let queue = WorkerQueue::builder().workers(2).start({
                let (place, go) = (Arc::clone(&place), Arc::clone(&go));
                move |_, _: &mut u64| {
                    let _both = (&place, &tell);
                    go.wait();
                }
            });
            assert!(place.set(queue.unwrap()).is_ok());
            let queue = place.get().unwrap();
            queue.send(1).unwrap();
            if late {
                // The queue goes on, and only the handler owns it.
                assert!(queue.close_timeout(Duration::from_millis(1)).is_err());
            }
            go.set();
            if !late {
                queue.close();
            }
            drop(place);
            ended.wait();
        }
    });
}

/// Closing from inside a handler does not wait. Once a worker has ended, its context counts as
/// outside.
#[test]
fn a_task_that_was_a_worker_waits_for_the_next_queue() {
    in_time(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        for _ in 0..20 {
            let handled = Arc::new(AtomicU64::new(0));
            let queue = WorkerQueue::builder().workers(2).on(&runtime).start({
                let handled = Arc::clone(&handled);
                move |_, _: &mut u64| {
                    sateen_runtime::yield_now();
                    handled.fetch_add(1, SeqCst);
                }
            });
            let queue = Arc::new(queue.unwrap());
            (0..50).for_each(|item| queue.send(item).unwrap());
            let other = Arc::clone(&queue);
            runtime.spawn(move || other.close()).join().unwrap();
            let other = Arc::clone(&queue);
            runtime.spawn(move || other.close()).join().unwrap();
            assert_eq!(handled.load(SeqCst), 50);
        }
    });
}
