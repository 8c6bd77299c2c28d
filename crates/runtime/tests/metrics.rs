//! What a runtime tells of itself: counts that fit what was done, and times that fit the clock.

mod common;

use sateen_runtime::{
    Builder, Runtime, Spawn, WorkerMetrics, policy, spawn, spawn_async, worker_index,
};
use sateen_sync::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn runtime(workers: usize) -> Runtime {
    common::builder().workers(workers).build().expect("a runtime")
}

/// Waits until the workers sleep, so that the counts stand.
fn quiet(rt: &Runtime) {
    let end = Instant::now() + Duration::from_secs(60);
    while rt.metrics().sleeping < rt.workers() {
        assert!(Instant::now() < end, "the workers do not come to rest");
        std::thread::yield_now();
    }
}

#[test]
fn every_start_has_its_end() {
    for workers in common::WORKERS {
        let rt = runtime(workers);
        let tasks: Vec<_> = (0..100).map(|i| rt.spawn(move || assert!(i % 10 != 0))).collect();
        let failed = tasks.into_iter().filter_map(|task| task.join().err()).count();
        assert_eq!(failed, 10);
        // One that spawns and joins in place, and futures that are polled several times.
        rt.install(|| {
            spawn(|| spawn(|| ()).join()).join().expect("no panic").expect("no panic");
            let yields = async {
                for _ in 0..5 {
                    let mut first = true;
                    std::future::poll_fn(|cx| {
                        cx.waker().wake_by_ref();
                        let pending = std::mem::replace(&mut first, false);
                        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
                    })
                    .await;
                }
            };
            spawn_async(yields).join().expect("no panic");
        });
        quiet(&rt);
        let total = rt.metrics().total();
        assert_eq!((total.started, total.ended), (103, 103));
        assert_eq!(total.suspensions, total.resumptions);
        assert!(total.tasks_woken >= 5, "{total:?}");
    }
}

#[test]
fn waits_are_counted_while_they_last() {
    let rt = runtime(2);
    let event = Arc::new(Event::new());
    let waiter = |settings: Spawn| {
        let event = Arc::clone(&event);
        rt.spawn_with(settings.name("waiter").on_worker(0), move || event.wait())
    };
    let tasks: Vec<_> = (0..20).map(|_| waiter(Spawn::new())).collect();
    while rt.metrics().workers[0].suspended < 20 {
        std::thread::yield_now();
    }
    let metrics = rt.metrics();
    assert!(metrics.workers[0].stacks >= 20, "{metrics:?}");
    assert_eq!(metrics.workers[1].suspended, 0);
    event.set();
    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    quiet(&rt);
    let metrics = rt.metrics();
    assert_eq!(metrics.total().suspended, 0);
    assert!(metrics.workers[0].most_stacks >= 20);
    assert!(metrics.workers[0].stacks <= metrics.workers[0].most_stacks);
    // Twenty starts and twenty resumptions.
    let times = &metrics.ready_times;
    assert_eq!(times.iter().map(|t| (&*t.name, t.count)).collect::<Vec<_>>(), [("waiter", 40)]);
    assert_eq!(times[0].buckets().map(|(_, count)| count).sum::<u64>(), 40);
    assert!(times[0].max <= times[0].sum);
}

#[test]
fn names_are_told_apart_where_tasks_run_in_tasks() {
    let rt = runtime(1);
    rt.install(|| {
        let outer = Spawn::new().name("outer").spawn(|| {
            // Runs in place, and waits: a task without a name.
            spawn(sateen_runtime::yield_now).join().expect("no panic");
            sateen_runtime::sleep(Duration::from_millis(1));
            Spawn::new().name("inner").spawn(|| ()).join().expect("no panic");
        });
        outer.join().expect("no panic");
        let future = async { sateen_runtime::sleep_async(Duration::from_millis(1)).await };
        sateen_runtime::spawn_async(future).join().expect("no panic");
    });
    let metrics = rt.metrics();
    let counts: Vec<_> = metrics.ready_times.iter().map(|t| (&*t.name, t.count)).collect();
    assert_eq!(counts, [("inner", 1), ("outer", 2)]);
}

#[test]
fn queues_and_timers_are_as_long_as_they_are() {
    for policy in [policy::work_stealing, policy::work_sharing, policy::round_robin] {
        let rt = Builder::default().workers(1).policy(policy()).build().expect("a runtime");
        let (queued, timers) = rt.install(|| {
            let event = Arc::new(Event::new());
            let sleepers: Vec<_> = (0..3)
                .map(|_| {
                    let event = Arc::clone(&event);
                    spawn(move || event.wait_timeout(Duration::from_secs(3600)))
                })
                .collect();
            while rt.metrics().total().timers < 3 {
                sateen_runtime::yield_now();
            }
            let tasks: Vec<_> = (0..50).map(|_| spawn(|| ())).collect();
            let metrics = rt.metrics();
            let queued = metrics.total().queued + metrics.queued;
            let timers = metrics.total().timers;
            tasks.into_iter().for_each(|task| task.join().expect("no panic"));
            event.set();
            sleepers.into_iter().for_each(|task| assert!(task.join().expect("no panic")));
            (queued, timers)
        });
        assert_eq!((queued, timers), (50, 3));
        // The tasks ran in their joiner's place. The worker still has to come by what it queued.
        sateen_testkit::until(|| {
            let metrics = rt.metrics();
            (metrics.total().queued + metrics.queued, metrics.total().timers) == (0, 0)
        });
    }
}

#[test]
fn times_sum_to_the_clock() {
    let rt = runtime(2);
    rt.broadcast(|_| ());
    let sum = |w: &WorkerMetrics| w.busy + w.idle + w.asleep;
    let (start, before) = (Instant::now(), rt.metrics());
    rt.install(|| {
        let until = Instant::now() + Duration::from_millis(100);
        while Instant::now() < until {}
    });
    std::thread::sleep(Duration::from_millis(50));
    let (after, wall) = (rt.metrics(), start.elapsed());
    for (before, after) in before.workers.iter().zip(&after.workers) {
        let difference = (sum(after) - sum(before)).abs_diff(wall);
        // Counters of two cores, and the clock's calibration, differ by little.
        assert!(difference < wall / 20 + Duration::from_millis(1), "{difference:?} of {wall:?}");
        assert!(after.busy >= before.busy && after.asleep >= before.asleep);
    }
    let busy: Duration = after.total().busy - before.total().busy;
    assert!(busy >= Duration::from_millis(95), "{busy:?}");
}

#[test]
fn counts_never_go_back_while_any_thread_reads() {
    let rt = runtime(3);
    let reads = || {
        let mut before = rt.metrics().total();
        for _ in 0..300 {
            let now = rt.metrics().total();
            let mut pairs = before.counts().zip(now.counts());
            assert!(pairs.all(|(before, now)| before.2 <= now.2), "{before:?} {now:?}");
            before = now;
        }
    };
    std::thread::scope(|s| {
        s.spawn(reads);
        s.spawn(reads);
        for _ in 0..20 {
            rt.scope(|s| (0..100).for_each(|_| s.spawn(|_| sateen_runtime::yield_now())));
        }
    });
}

/// A worker that empties the queue of outside work does not search for each piece of it.
#[test]
fn one_search_stands_for_many_pieces_of_outside_work() {
    let rt = Arc::new(runtime(1));
    let go = Arc::new(AtomicBool::new(false));
    let first = rt.spawn({
        let go = Arc::clone(&go);
        move || {
            while !go.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
    });
    while rt.metrics().total().taken == 0 {
        std::thread::yield_now();
    }
    let rounds = |rt: &Runtime| rt.metrics().total().search_rounds;
    let before = rounds(&rt);
    let tasks: Vec<_> = (0..640).map(|_| rt.spawn(|| ())).collect();
    let last = rt.spawn({
        let rt = Arc::clone(&rt);
        move || rounds(&rt)
    });
    go.store(true, Ordering::Release);
    let searched = last.join().expect("no panic") - before;
    assert!(searched < 100, "{searched} rounds of search for 640 tasks");
    first.join().expect("no panic");
    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
}

#[test]
fn wakers_of_workers_are_counted() {
    let rt = runtime(2);
    quiet(&rt);
    let before = rt.metrics();
    assert_eq!(rt.install(worker_index).map(|index| index < 2), Some(true));
    assert!(rt.metrics().woken_from_outside > before.woken_from_outside);
    quiet(&rt);
    let before = rt.metrics().total().workers_woken;
    rt.install(|| {
        let event = Arc::new(Event::new());
        let at = worker_index().map_or(0, |index| 1 - index);
        let set = Arc::clone(&event);
        Spawn::new().on_worker(at).detach(move || set.set()).expect("spawned");
        event.wait();
    });
    assert!(rt.metrics().total().workers_woken > before);
}

/// A worker without a stack takes what lies at others, where any worker with a stack finds it.
#[test]
fn what_a_starved_worker_takes_from_others_is_counted() {
    let rt = Runtime::builder().workers(2).max_stacks(2).build().expect("a runtime");
    let [begun, go, over] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let until = |flag: &AtomicBool| {
        while !flag.load(Ordering::Relaxed) {
            std::thread::yield_now();
            sateen_runtime::poll_requests();
        }
    };
    // One worker has the first stack, and is busy.
    let busy = rt.spawn_with(Spawn::new().on_worker(1), {
        let (begun, go, over) = (Arc::clone(&begun), Arc::clone(&go), Arc::clone(&over));
        move || {
            begun.store(true, Ordering::Relaxed);
            until(&go);
            let tasks: Vec<_> = (0..100).map(|_| spawn(|| ())).collect();
            until(&over);
            tasks
        }
    });
    while !begun.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    // A task of the other has the second, and waits.
    let event = Arc::new(Event::new());
    let waits = Arc::clone(&event);
    let holder = rt.spawn_with(Spawn::new().on_worker(0), move || waits.wait());
    while rt.metrics().workers[0].suspended == 0 {
        std::thread::yield_now();
    }
    go.store(true, Ordering::Relaxed);
    let end = Instant::now() + Duration::from_secs(60);
    while rt.metrics().workers[0].thefts == 0 && Instant::now() < end {
        std::thread::yield_now();
    }
    let metrics = rt.metrics();
    event.set();
    over.store(true, Ordering::Relaxed);
    holder.join().expect("no panic");
    for task in busy.join().expect("no panic") {
        // Some may have failed for want of a stack.
        drop(task.join());
    }
    rt.shutdown().expect("an orderly end");
    assert!(metrics.workers[0].thefts > 0, "thefts that nobody counts: {metrics:?}");
}

/// What the workers say after a mixed load adds up to what was done.
#[test]
fn what_workers_say_adds_up() {
    use std::sync::atomic::AtomicU64;
    const BATCH: u64 = 32;
    for workers in [1, 2, 8] {
        let rt = runtime(workers);
        let [ran, moved, branches] = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
        let add = |count: &Arc<AtomicU64>, n: u64| _ = count.fetch_add(n, Ordering::Relaxed);
        let mut others = 0;
        for round in 0..200 {
            let tasks: Vec<_> = (0..20)
                .map(|i| {
                    let (ran, moved) = (Arc::clone(&ran), Arc::clone(&moved));
                    let branches = Arc::clone(&branches);
                    rt.spawn(move || {
                        add(&ran, 1);
                        let here = worker_index();
                        let inner = {
                            let (ran, moved) = (Arc::clone(&ran), Arc::clone(&moved));
                            spawn(move || {
                                add(&ran, 1);
                                add(&moved, u64::from(worker_index() != here));
                            })
                        };
                        sateen_runtime::join(
                            || (0..i).for_each(|_| sateen_runtime::yield_now()),
                            || add(&branches, u64::from(worker_index() != here)),
                        );
                        inner.join().expect("no panic");
                    })
                })
                .collect();
            let future =
                rt.spawn_async(async { sateen_runtime::sleep_async(Duration::ZERO).await });
            let cancelled = rt.spawn(|| ());
            cancelled.cancel();
            others += u64::from(cancelled.join().is_ok()) + 1;
            future.join().expect("no panic");
            tasks.into_iter().for_each(|task| task.join().expect("no panic"));
            rt.install(|| sateen_runtime::scope(|s| (0..round % 5).for_each(|_| s.spawn(|_| ()))));
        }
        quiet(&rt);
        let total = rt.metrics().total();
        let ran = ran.load(Ordering::Relaxed) + others;
        assert_eq!((total.started, total.ended), (ran, ran), "{workers} workers: {total:?}");
        assert_eq!(total.suspensions, total.resumptions, "{workers} workers: {total:?}");
        assert!(total.branches_stolen >= branches.load(Ordering::Relaxed), "{workers}: {total:?}");
        let moved = moved.load(Ordering::Relaxed);
        assert!(total.thefts * BATCH >= moved, "{workers} workers, {moved}: {total:?}");
        assert_eq!((total.queued, total.suspended, total.timers), (0, 0, 0), "{total:?}");
        rt.shutdown().expect("an orderly end");
    }
}

#[test]
fn each_count_has_a_name_a_text_and_its_value() {
    let rt = runtime(1);
    rt.spawn(|| ()).join().expect("no panic");
    quiet(&rt);
    let total = rt.metrics().total();
    let counts: Vec<_> = total.counts().collect();
    let parks = ("parks", "How often it slept in the kernel for lack of work.", total.parks);
    assert!(counts.contains(&parks), "{counts:?}");
    let of = |name: &str| counts.iter().find(|count| count.0 == name).map(|count| count.2);
    assert_eq!((of("started"), of("thefts")), (Some(1), Some(0)), "{counts:?}");
    for (name, about, _) in &counts {
        assert_eq!(counts.iter().filter(|count| count.0 == *name).count(), 1, "{name}");
        let is_plain = about.ends_with(['.', ')']) && about.trim() == *about;
        assert!(is_plain && !about.contains("  "), "{name}: {about:?}");
    }
}
