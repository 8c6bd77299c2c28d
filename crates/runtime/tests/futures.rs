//! Spawned futures: the workers poll them, and they have the same handles as closures.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::policy::{round_robin, work_sharing};
use sateen_runtime::{
    CancelToken, JoinError, Priority, Runtime, Spawn, block_on, blocking, current_task, fork, join,
    spawn_async, timeout, worker_index, yield_now,
};
use sateen_sync::{Event, Mutex, oneshot};
use sateen_testkit::{Watchdog, message};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Is pending once, after it has woken itself.
async fn once_more() {
    let mut first = true;
    poll_fn(|cx| {
        if std::mem::replace(&mut first, false) {
            cx.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// Counts the living ones.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn joined_from_threads_tasks_and_futures() {
    at_all_counts(|rt| {
        assert_eq!(rt.spawn_async(async { 1 }).join().unwrap(), 1);
        let inside = rt.spawn(|| spawn_async(async { 2 }).join().unwrap());
        assert_eq!(inside.join().unwrap(), 2);
        let awaited = rt.spawn_async(async { spawn_async(async { 3 }).await.unwrap() });
        assert_eq!(block_on(awaited).unwrap(), 3);
        let name = Spawn::new().name("n").priority(Priority::High);
        let named = rt.spawn_async_with(name, async {
            once_more().await;
            let current = current_task().expect("a task");
            assert_eq!(current.priority, Priority::High);
            current.name.expect("named").to_string()
        });
        let id = named.id();
        assert_eq!(named.join().unwrap(), "n");
        let own = rt.spawn_async(async { current_task().expect("a task").id });
        assert_ne!(own.id(), id);
    });
}

#[test]
fn a_hundred_thousand_that_wait_for_one_event() {
    at_all_counts(|rt| {
        let (event, woken) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let count = if rt.workers() == 2 { 100_000 } else { 10_000 };
        let handles: Vec<_> = (0..count)
            .map(|i| {
                let (event, woken) = (Arc::clone(&event), Arc::clone(&woken));
                rt.spawn_async(async move {
                    event.wait_async().await;
                    once_more().await;
                    woken.fetch_add(1, SeqCst);
                    i as u64
                })
            })
            .collect();
        event.set();
        let sum: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, count as u64 * (count as u64 - 1) / 2);
        assert_eq!(woken.load(SeqCst), count);
    });
}

#[test]
fn futures_that_spawn_futures() {
    fn tree(depth: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return 1;
            }
            let children: Vec<_> = (0..4).map(|_| spawn_async(tree(depth - 1))).collect();
            let mut sum = 0;
            for child in children {
                sum += child.await.unwrap();
            }
            sum
        })
    }
    at_all_counts(|rt| assert_eq!(rt.spawn_async(tree(6)).join().unwrap(), 4096));
    for policy in [work_sharing, round_robin] {
        let rt = Runtime::builder().workers(2).policy(policy()).build().unwrap();
        assert_eq!(rt.spawn_async(tree(5)).join().unwrap(), 1024);
    }
}

#[test]
fn panics_travel_to_the_handle() {
    at_all_counts(|rt| {
        let early = rt.spawn_async(async { panic!("early") });
        let late = rt.spawn_async(async {
            once_more().await;
            panic!("late")
        });
        for (task, text) in [(early, "early"), (late, "late")] {
            let error: Result<(), JoinError> = task.join();
            assert_eq!(message(error.unwrap_err().try_into_panic().unwrap()), text);
        }
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("in a destructor");
            }
        }
        let task = rt.spawn_async(async {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
        });
        task.cancel();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        assert_eq!(rt.spawn_async(async { 1 }).join().unwrap(), 1);
    });
}

#[test]
fn cancelled_at_every_stage() {
    at_all_counts(|rt| {
        let alive = Arc::new(AtomicUsize::new(0));
        for i in 0..200 {
            let (event, polled) = (Arc::new(Event::new()), Arc::new(Event::new()));
            let guard = Counted::new(&alive);
            let task = rt.spawn_async({
                let (event, polled) = (Arc::clone(&event), Arc::clone(&polled));
                async move {
                    let _guard = guard;
                    polled.set();
                    if i % 2 == 0 {
                        event.wait_async().await;
                    } else {
                        event.wait(); // This blocks in the poll and suspends the fiber.
                    }
                }
            });
            if i % 3 == 0 {
                polled.wait();
            }
            task.cancel();
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        }
        assert_eq!(alive.load(SeqCst), 0, "a future was not dropped");
        let token = CancelToken::new();
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let guard = Counted::new(&alive);
                rt.spawn_async_with(Spawn::new().token(&token), async move {
                    let _guard = guard;
                    std::future::pending::<()>().await;
                })
            })
            .collect();
        token.cancel();
        for task in tasks {
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        }
        let late = rt.spawn_async_with(Spawn::new().token(&token), async {});
        assert!(matches!(late.join(), Err(JoinError::Cancelled)));
        assert_eq!(alive.load(SeqCst), 0);
    });
}

#[test]
fn what_nobody_can_wake_is_dropped() {
    let alive = Arc::new(AtomicUsize::new(0));
    at_all_counts(|rt| {
        for _ in 0..100 {
            let guard = Counted::new(&alive);
            drop(rt.spawn_async(async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }));
            // Only wakers are left, and then these are dropped.
            let (keep, kept) = oneshot::channel::<Waker>();
            let (guard, mut keep) = (Counted::new(&alive), Some(keep));
            drop(rt.spawn_async(async move {
                let _guard = guard;
                poll_fn(|cx| {
                    if let Some(keep) = keep.take() {
                        keep.send(cx.waker().clone()).unwrap();
                    }
                    Poll::<()>::Pending
                })
                .await;
            }));
            drop(kept.recv().unwrap());
        }
    });
    assert_eq!(alive.load(SeqCst), 0, "leaked");
}

#[test]
fn wakers_outlive_the_runtime() {
    for workers in [1, 2, 3, 8] {
        let wakers: Arc<std::sync::Mutex<Vec<Waker>>> = Arc::default();
        with_runtime(workers, |rt| {
            for _ in 0..100 {
                let wakers = Arc::clone(&wakers);
                drop(rt.spawn_async(poll_fn(move |cx| {
                    wakers.lock().unwrap().push(cx.waker().clone());
                    Poll::Ready(())
                })));
            }
        });
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!(wakers.len(), 100);
        for waker in wakers {
            waker.wake_by_ref();
            let second = waker.clone();
            waker.wake();
            drop(second);
        }
    }
}

#[test]
fn shutdown_waits_for_what_a_thread_will_wake() {
    for workers in [1, 2, 3, 8] {
        let done = Arc::new(AtomicUsize::new(0));
        let rt = Runtime::builder().workers(workers).build().unwrap();
        let mut senders = Vec::new();
        for _ in 0..50 {
            let (sender, receiver) = oneshot::channel();
            senders.push(sender);
            let done = Arc::clone(&done);
            drop(rt.spawn_async(async move {
                receiver.await.unwrap();
                // An accepted future may spawn more.
                spawn_async(once_more()).await.unwrap();
                done.fetch_add(1, SeqCst);
            }));
        }
        let waker = std::thread::spawn(move || {
            senders.into_iter().for_each(|sender| sender.send(()).unwrap());
        });
        rt.shutdown().unwrap();
        assert_eq!(done.load(SeqCst), 50);
        waker.join().unwrap();
        let late = rt.spawn_async(async {});
        assert!(matches!(late.join(), Err(JoinError::ShutDown)));
    }
}

#[test]
fn a_shutdown_in_time_drops_what_is_pending() {
    let alive = Arc::new(AtomicUsize::new(0));
    for workers in [1, 2, 3, 8] {
        let rt = Runtime::builder().workers(workers).build().unwrap();
        let event = Arc::new(Event::new());
        let tasks: Vec<_> = (0..1000)
            .map(|i| {
                let (event, guard) = (Arc::clone(&event), Counted::new(&alive));
                rt.spawn_async(async move {
                    let _guard = guard;
                    match i % 3 {
                        0 => event.wait_async().await,
                        1 => spawn_async(std::future::pending()).await.unwrap(),
                        _ => std::future::pending().await,
                    }
                })
            })
            .collect();
        rt.shutdown_timeout(Duration::from_millis(10)).unwrap();
        for task in tasks {
            // A task that waits for another one may have seen that end first.
            let error = task.join().unwrap_err();
            assert!(matches!(error, JoinError::Cancelled) || error.is_panic());
        }
    }
    assert_eq!(alive.load(SeqCst), 0, "a future was not dropped");
}

#[test]
fn woken_by_threads_while_polled() {
    at_all_counts(|rt| {
        let stop = AtomicBool::new(false);
        let place: std::sync::Mutex<Option<Waker>> = Default::default();
        let place = Arc::new(place);
        let task = rt.spawn_async({
            let (place, mut polls) = (Arc::clone(&place), 0);
            poll_fn(move |cx| {
                *place.lock().unwrap() = Some(cx.waker().clone());
                polls += 1;
                if polls < 1000 { Poll::Pending } else { Poll::Ready(()) }
            })
        });
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    while !stop.load(SeqCst) {
                        let waker = place.lock().unwrap().take();
                        waker.inspect(Waker::wake_by_ref);
                        std::thread::yield_now();
                    }
                });
            }
            task.join().unwrap();
            stop.store(true, SeqCst);
        });
    });
}

#[test]
fn a_future_that_wakes_itself_lets_others_through() {
    at_all_counts(|rt| {
        let stop = Arc::new(AtomicBool::new(false));
        let restless: Vec<_> = (0..rt.workers() + 1)
            .map(|_| {
                let stop = Arc::clone(&stop);
                rt.spawn_async(async move {
                    while !stop.load(SeqCst) {
                        once_more().await;
                    }
                })
            })
            .collect();
        // New tasks, fibers and other futures all get their turn.
        let event = Arc::new(Event::new());
        let fiber = rt.spawn({
            let event = Arc::clone(&event);
            move || event.wait()
        });
        let other = rt.spawn_async({
            let event = Arc::clone(&event);
            async move { event.wait_async().await }
        });
        rt.spawn(|| (0..10).for_each(|_| yield_now())).join().unwrap();
        event.set();
        fiber.join().unwrap();
        other.join().unwrap();
        stop.store(true, SeqCst);
        restless.into_iter().for_each(|task| task.join().unwrap());
    });
}

#[test]
fn blocking_calls_inside_a_poll_suspend_it() {
    at_all_counts(|rt| {
        let mutex = Arc::new(Mutex::new(0u64));
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let mutex = Arc::clone(&mutex);
                rt.spawn_async(async move {
                    let mut guard = mutex.lock();
                    let (a, ()) = join(|| 1, yield_now);
                    *guard += a + fork([|| 1, || 1]).iter().sum::<u64>();
                    drop(guard);
                    once_more().await;
                    *mutex.lock_async().await += block_on(async { 1 });
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*mutex.lock(), 400);
    });
}

#[test]
fn placed_and_dispatched() {
    with_runtime(3, |rt| {
        let stays = Spawn::new().on_worker(2);
        let task = rt.spawn_async_with(stays, async {
            for _ in 0..20 {
                assert_eq!(worker_index(), Some(2));
                once_more().await;
                spawn_async(once_more()).await.unwrap();
            }
        });
        task.join().unwrap();
        let nowhere = rt.spawn_async_with(Spawn::new().on_worker(3), async {});
        assert!(matches!(nowhere.join(), Err(JoinError::NoWorker { worker: 3, workers: 3 })));
        let ran = rt.spawn(|| {
            let ran = Arc::new(AtomicBool::new(false));
            let tell = Arc::clone(&ran);
            let task = Spawn::new().dispatch().spawn_async(async move {
                tell.store(true, SeqCst);
            });
            let at_once = ran.load(SeqCst);
            task.join().unwrap();
            at_once
        });
        assert!(ran.join().unwrap(), "not started at once");
    });
    // Each worker works alone: a future stays where it began.
    let rt = Runtime::builder().workers(3).policy(round_robin()).build().unwrap();
    let event = Arc::new(Event::new());
    let tasks: Vec<_> = (0..9)
        .map(|_| {
            let event = Arc::clone(&event);
            rt.spawn_async(async move {
                let here = worker_index();
                event.wait_async().await;
                assert_eq!(worker_index(), here);
            })
        })
        .collect();
    rt.spawn(move || event.set()).join().unwrap();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

/// A sleeping worker is woken for the future that only it may poll. Under round robin, workers
/// sleep for good at once.
#[test]
fn a_future_wakes_the_worker_where_it_stays() {
    let _watchdog = Watchdog::new("a worker sleeps though its future was woken");
    let rt = Runtime::builder().workers(2).policy(round_robin()).build().unwrap();
    for _ in 0..50 {
        let event = Arc::new(Event::new());
        let tasks: Vec<_> = (0..2)
            .map(|worker| {
                let event = Arc::clone(&event);
                rt.spawn_async_with(Spawn::new().on_worker(worker), async move {
                    event.wait_async().await;
                    assert_eq!(worker_index(), Some(worker));
                })
            })
            .collect();
        while rt.metrics().sleeping < 2 {
            std::thread::yield_now();
        }
        event.set();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    }
}

#[test]
fn where_every_task_keeps_a_thread() {
    let rt = Runtime::builder().workers(2).strict(true).build().unwrap();
    let event = Arc::new(Event::new());
    let tasks: Vec<_> = (0..20)
        .map(|i| {
            let event = Arc::clone(&event);
            rt.spawn_async(async move {
                match i % 4 {
                    0 => event.wait_async().await,
                    1 => event.wait(),
                    2 => blocking(|| event.wait()),
                    _ => timeout(Duration::from_secs(600), || event.wait()).unwrap(),
                }
                once_more().await;
            })
        })
        .collect();
    event.set();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

#[test]
fn a_forgotten_handle_and_a_dropped_result() {
    let alive = Arc::new(AtomicUsize::new(0));
    at_all_counts(|rt| {
        for _ in 0..50 {
            let value = Counted::new(&alive);
            drop(rt.spawn_async(async move { value }));
            let value = Counted::new(&alive);
            let mut handle = rt.spawn_async(async move {
                once_more().await;
                value
            });
            let waker = Waker::noop();
            let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(waker));
            drop((polled, handle));
        }
        std::mem::forget(rt.spawn_async(async {}));
    });
    assert_eq!(alive.load(SeqCst), 0, "a result was leaked");
}
