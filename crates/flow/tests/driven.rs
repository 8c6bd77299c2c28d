//! Sheds on workers.

use sateen_flow::{Driven, Map, RunError, RunOn, WaitError};
use sateen_runtime::{Runtime, worker_index};
use sateen_shed::{BuildError, Central, Error, Layout, Outcome, Sharded, Shed, TaskId, Template};
use sateen_sync::{Event, Mutex, Semaphore};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

fn at_all_counts(f: impl Fn(&Runtime)) {
    for workers in WORKERS {
        let runtime = runtime(workers);
        f(&runtime);
        runtime.shutdown().expect("an orderly end");
    }
}

/// A payload that is a closure, called with the shed.
type Job = Box<dyn FnMut(&Shed<Job2>, TaskId) -> Outcome + Send>;
struct Job2(Job);

fn job(f: impl FnMut(&Shed<Job2>, TaskId) -> Outcome + Send + 'static) -> Job2 {
    Job2(Box::new(f))
}

fn once(f: impl FnOnce() + Send + 'static) -> Job2 {
    let mut f = Some(f);
    job(move |_, _| {
        f.take().expect("once")();
        Outcome::Complete
    })
}

fn jobs(runtime: &Runtime, channels: u64, map: Map) -> Driven<Job2> {
    Shed::builder()
        .tasks(10_000)
        .dependencies(10_000)
        .channels(channels)
        .run_on(runtime, map, |shed, id, job: &mut Job2| (job.0)(shed, id))
        .expect("a shed")
}

#[test]
fn every_task_runs_once_after_what_it_depends_on() {
    fn with<L: Layout>(runtime: &Runtime) {
        static RAN: [AtomicU32; 3000] = [const { AtomicU32::new(0) }; 3000];
        RAN.iter().for_each(|ran| ran.store(0, Relaxed));
        let shed = Shed::builder()
            .tasks(3000)
            .dependencies(20_000)
            .layout::<L>()
            .run_on(
                runtime,
                Map::new(),
                |_, _, &mut (index, ref needs): &mut (usize, Vec<usize>)| {
                    assert!(needs.iter().all(|&need| RAN[need].load(Relaxed) == 1));
                    RAN[index].fetch_add(1, Relaxed);
                    Outcome::Complete
                },
            )
            .unwrap();
        let mut random = 7u32;
        let mut needs = |index: usize| -> Vec<usize> {
            let mut needs: Vec<_> = (0..index.min(5))
                .map(|_| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (random >> 8) as usize % index
                })
                .collect();
            needs.sort_unstable();
            needs.dedup();
            needs
        };
        let needs: Vec<_> =
            (0..3000).map(|i| if i % 10 == 0 { vec![] } else { needs(i) }).collect();
        let mut ids = vec![TaskId::NONE; 3000];
        shed.create_all(&mut needs.iter().cloned().enumerate(), &mut ids).unwrap();
        for (index, needs) in needs.iter().enumerate() {
            let needs: Vec<_> = needs.iter().map(|&need| ids[need]).collect();
            shed.depend(&[ids[index]], &needs).unwrap();
        }
        let free: Vec<_> = (0..3000).filter(|&i| needs[i].is_empty()).map(|i| ids[i]).collect();
        free.chunks(16).for_each(|some| shed.ready(some).unwrap());
        shed.wait().unwrap();
        assert!(RAN.iter().all(|ran| ran.load(Relaxed) == 1));
    }
    at_all_counts(|runtime| {
        with::<Central>(runtime);
        with::<Sharded>(runtime);
    });
}

#[test]
fn producers_outside_and_consumers_that_sleep() {
    fn with<L: Layout>(runtime: &Runtime, batch: u32) {
        const EACH: u64 = if cfg!(debug_assertions) { 5_000 } else { 50_000 };
        let sum = Arc::new(AtomicUsize::new(0));
        let shed = Shed::builder()
            .tasks(1000)
            .layout::<L>()
            .run_on(runtime, Map::new().batch(0, batch), {
                let sum = Arc::clone(&sum);
                move |_, _, number: &mut u64| {
                    sum.fetch_add(*number as usize, Relaxed);
                    Outcome::Complete
                }
            })
            .unwrap();
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let (mut numbers, mut ids) = (1..=EACH, [TaskId::NONE; 16]);
                    loop {
                        match shed.create_some(&mut numbers, &mut ids) {
                            0 if numbers.is_empty() => break,
                            0 => shed.wait().unwrap(),
                            made => shed.ready(&ids[..made]).unwrap(),
                        }
                    }
                });
            }
        });
        shed.wait().unwrap();
        assert_eq!(sum.load(Relaxed) as u64, 3 * EACH * (EACH + 1) / 2);
    }
    at_all_counts(|runtime| {
        with::<Central>(runtime, 1);
        with::<Central>(runtime, 16);
        with::<Sharded>(runtime, 1);
        with::<Sharded>(runtime, 16);
    });
}

#[test]
fn tasks_may_wait_for_each_other() {
    at_all_counts(|runtime| {
        let shed = jobs(runtime, 1, Map::new());
        let ready = Arc::new(Semaphore::new(0));
        let locked = Arc::new(Mutex::new(0));
        // The first hundred tasks wait for the others, whatever the number of workers.
        let takers = (0..100).map(|_| {
            let (ready, locked) = (Arc::clone(&ready), Arc::clone(&locked));
            once(move || {
                ready.acquire(1).unwrap().forget();
                let mut locked = locked.lock();
                sateen_runtime::yield_now();
                *locked += 1;
            })
        });
        let givers = (0..100).map(|_| {
            let ready = Arc::clone(&ready);
            once(move || ready.add_permits(1))
        });
        let mut ids = [TaskId::NONE; 200];
        shed.create_all(&mut takers.chain(givers), &mut ids).unwrap();
        // The channel is last in, first out, so the takers come first.
        ids.reverse();
        ids.chunks(8).for_each(|some| shed.ready(some).unwrap());
        shed.wait().unwrap();
        assert_eq!(*locked.lock(), 100);
    });
}

/// A task waits for `after`, which becomes ready only when `child` ends. `child` waits in the same
/// way, 30 deep.
#[test]
fn what_a_task_readies_before_it_waits_is_found() {
    at_all_counts(|runtime| {
        let shed = jobs(runtime, 1, Map::new());
        let rounds = Arc::new(AtomicU32::new(0));
        fn nested(depth: u32, rounds: &Arc<AtomicU32>) -> Job2 {
            let rounds = Arc::clone(rounds);
            job(move |shed, _| {
                rounds.fetch_add(1, Relaxed);
                if depth > 0 {
                    let event = Arc::new(Event::new());
                    let inner = Arc::clone(&event);
                    let [child] = shed.create([nested(depth - 1, &rounds)]).ok().unwrap();
                    let [after] = shed.create([once(move || inner.set())]).ok().unwrap();
                    shed.depend(&[after], &[child]).unwrap();
                    shed.ready(&[child]).unwrap();
                    event.wait();
                }
                Outcome::Complete
            })
        }
        shed.ready(&shed.create([nested(30, &rounds), nested(30, &rounds)]).ok().unwrap()).unwrap();
        shed.wait().unwrap();
        assert_eq!(rounds.load(Relaxed), 62);
    });
}

#[test]
fn blocked_tasks_run_again_once_they_are_ready() {
    at_all_counts(|runtime| {
        let shed = jobs(runtime, 1, Map::new());
        let left = Arc::new(AtomicU32::new(0));
        // Pairs of tasks: each blocks three times, and its partner makes it ready again.
        let mut ids = Vec::new();
        for _ in 0..20 {
            let names = Arc::new(Mutex::new([TaskId::NONE; 2]));
            let player = |me: usize| {
                let (names, left) = (Arc::clone(&names), Arc::clone(&left));
                let mut rounds = 0;
                left.fetch_add(1, Relaxed);
                job(move |shed, _| {
                    let partner = names.lock()[1 - me];
                    // The partner may be gone, ready, or not yet blocked, which counts as well. All
                    // of these are fine.
                    let told = shed.ready(&[partner]);
                    assert!(!matches!(told, Err(Error::Running(_))), "taken for itself: {told:?}");
                    rounds += 1;
                    if rounds <= 3 {
                        return Outcome::Blocked;
                    }
                    left.fetch_sub(1, Relaxed);
                    Outcome::Complete
                })
            };
            let pair = shed.create([player(0), player(1)]).ok().unwrap();
            *names.lock() = pair;
            ids.extend(pair);
        }
        shed.ready(&ids).unwrap();
        loop {
            shed.wait().unwrap();
            let blocked: Vec<_> =
                ids.iter().copied().filter(|&id| shed.state(id).is_ok()).collect();
            if blocked.is_empty() {
                break;
            }
            shed.ready(&blocked).unwrap();
        }
        assert_eq!(left.load(Relaxed), 0);
    });
}

/// A suspended task and a task that runs on the same worker count as different runners.
#[test]
fn a_suspended_task_is_woken_by_another_of_its_worker() {
    let runtime = runtime(1);
    let shed = jobs(&runtime, 1, Map::new());
    let event = Arc::new(Event::new());
    let runs = Arc::new(AtomicU32::new(0));
    let waiter = {
        let (event, runs) = (Arc::clone(&event), Arc::clone(&runs));
        job(move |shed, me| {
            assert_eq!(shed.ready(&[me]), Err(Error::Running(me)));
            if runs.fetch_add(1, Relaxed) == 0 {
                event.wait();
                return Outcome::Blocked;
            }
            Outcome::Complete
        })
    };
    let [waiter] = shed.create([waiter]).ok().unwrap();
    let waker = job(move |shed, _| {
        assert_eq!(shed.ready(&[waiter]), Ok(()));
        event.set();
        Outcome::Complete
    });
    let [waker] = shed.create([waker]).ok().unwrap();
    // The tasks are chained in this order, so the waiter is popped first.
    shed.ready(&[waiter, waker]).unwrap();
    shed.wait().unwrap();
    assert_eq!(runs.load(Relaxed), 2);
}

#[test]
fn channels_run_where_the_map_says() {
    at_all_counts(|runtime| {
        let last = runtime.workers() - 1;
        let pair = [0, last];
        let map = Map::new().all(0).worker(1, last).caller(2).workers(3, pair).caller(4);
        let shed = jobs(runtime, 5, map);
        let caller = std::thread::current().id();
        let mut ids = [TaskId::NONE; 500];
        let ran = Arc::new(AtomicU32::new(0));
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut payloads = (0..500).map(|i| {
            let (ran, order) = (Arc::clone(&ran), Arc::clone(&order));
            once(move || {
                ran.fetch_add(1, Relaxed);
                match i % 5 {
                    0 => assert!(worker_index().is_some()),
                    1 => assert_eq!(worker_index(), Some(last)),
                    3 => assert!(pair.contains(&worker_index().unwrap())),
                    channel => {
                        assert_eq!(std::thread::current().id(), caller);
                        order.lock().push(channel);
                    }
                }
            })
        });
        shed.create_all(&mut payloads, &mut ids).unwrap();
        for (i, id) in ids.iter().enumerate() {
            shed.set_channel(&[*id], (i % 5) as u16).unwrap();
        }
        shed.ready(&ids).unwrap();
        shed.wait().unwrap();
        assert_eq!(ran.load(Relaxed), 500);
        assert!(order.lock().is_sorted(), "channel 2 comes before channel 4");
    });
}

/// While a task of the runtime waits, its worker is free for the shed.
#[test]
fn a_task_of_the_runtime_can_wait() {
    at_all_counts(|runtime| {
        let ran = Arc::new(AtomicU32::new(0));
        let shed = jobs(runtime, 2, Map::new().caller(1));
        runtime.install(|| {
            let count = |_| {
                let ran = Arc::clone(&ran);
                once(move || _ = ran.fetch_add(1, Relaxed))
            };
            let tasks = shed.create([0, 1, 2, 3].map(count)).ok().unwrap();
            shed.set_channel(&tasks[2..], 1).unwrap();
            shed.ready(&tasks).unwrap();
            shed.wait().unwrap();
        });
        assert_eq!(ran.load(Relaxed), 4);
    });
}

#[test]
fn panics_are_counted_and_cancel_what_depends_on_them() {
    at_all_counts(|runtime| {
        let shed = jobs(runtime, 2, Map::new().caller(1).batch(0, 4));
        let ran = Arc::new(AtomicU32::new(0));
        let count = || {
            let ran = Arc::clone(&ran);
            once(move || _ = ran.fetch_add(1, Relaxed))
        };
        let bad = || job(|_, _| panic!("on purpose"));
        let [a, b, c, child, free, own] =
            shed.create([bad(), bad(), bad(), count(), count(), bad()]).ok().unwrap();
        shed.set_channel(&[own], 1).unwrap();
        shed.depend(&[child], &[a, free]).unwrap();
        shed.ready(&[a, b, c, free, own]).unwrap();
        match shed.wait() {
            Err(error @ WaitError::Panicked { others: 3, .. }) => {
                assert_eq!(error.to_string(), "a task panicked: on purpose; so did 3 others");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(ran.load(Relaxed), 1);
        // The shed is as good as new.
        let again: Vec<_> = (0..100).map(|_| shed.create([count()]).ok().unwrap()[0]).collect();
        shed.ready(&again).unwrap();
        shed.wait().unwrap();
        assert_eq!(ran.load(Relaxed), 101);
    });
}

#[test]
fn dropping_waits_for_what_is_ready() {
    at_all_counts(|runtime| {
        let dropped = Arc::new(());
        let ran = Arc::new(AtomicU32::new(0));
        let shed = jobs(runtime, 2, Map::new().caller(1));
        let mut ids = [TaskId::NONE; 100];
        let mut payloads = (0..100).map(|_| {
            let (ran, kept) = (Arc::clone(&ran), Arc::clone(&dropped));
            once(move || {
                let _kept = kept;
                sateen_runtime::yield_now();
                ran.fetch_add(1, Relaxed);
            })
        });
        shed.create_all(&mut payloads, &mut ids).unwrap();
        shed.set_channel(&ids[..20], 1).unwrap();
        shed.ready(&ids[..90]).unwrap();
        drop(shed);
        assert_eq!(ran.load(Relaxed), 90);
        // The payloads of the others go with the shed, once the last runner task has dropped it.
        drop(payloads);
        while Arc::strong_count(&dropped) > 1 {
            std::thread::yield_now();
        }
    });
}

/// The last owner of a shed is one of its own tasks.
#[test]
fn a_shed_dropped_by_its_own_task() {
    let runtime = runtime(2);
    let place = Arc::new(Mutex::new(None));
    let done = Arc::new(Event::new());
    let shed = jobs(&runtime, 1, Map::new());
    let task = {
        let (place, done) = (Arc::clone(&place), Arc::clone(&done));
        once(move || {
            let shed: Driven<Job2> = loop {
                match place.lock().take() {
                    Some(shed) => break shed,
                    None => sateen_runtime::yield_now(),
                }
            };
            assert!(matches!(shed.wait(), Err(WaitError::Inside)));
            drop(shed);
            done.set();
        })
    };
    shed.ready(&shed.create([task]).ok().unwrap()).unwrap();
    *place.lock() = Some(shed);
    done.wait();
    runtime.shutdown().unwrap();
}

#[test]
fn a_runtime_that_ends_finishes_what_was_queued_and_refuses_the_rest() {
    at_all_counts(|_| {});
    for workers in WORKERS {
        let runtime = runtime(workers);
        let shed = jobs(&runtime, 1, Map::new());
        let ran = Arc::new(AtomicU32::new(0));
        let chain = |next: u32| {
            let ran = Arc::clone(&ran);
            once(move || assert_eq!(ran.fetch_add(1, Relaxed), next))
        };
        let ids: Vec<_> = (0..100).map(|i| shed.create([chain(i)]).ok().unwrap()[0]).collect();
        ids.windows(2).for_each(|pair| shed.depend(&pair[1..], &pair[..1]).unwrap());
        shed.ready(&ids[..1]).unwrap();
        runtime.shutdown().unwrap();
        assert_eq!(ran.load(Relaxed), 100, "what was on its way comes to its end");
        shed.wait().unwrap();
        let late = shed.create([once(|| ())]).ok().unwrap();
        shed.ready(&late).unwrap();
        assert!(matches!(shed.wait(), Err(WaitError::Refused)));
        assert!(matches!(shed.wait(), Err(WaitError::Refused)), "again");
        assert_eq!(shed.has_ready(0), Ok(true));
    }
}

#[test]
fn a_runtime_that_ends_by_force_cancels_the_task_that_waits() {
    let runtime = runtime(2);
    let cancelled = Arc::new(AtomicBool::new(false));
    let shed = Shed::builder()
        .on_cancel({
            let cancelled = Arc::clone(&cancelled);
            move |_, _| cancelled.store(true, Relaxed)
        })
        .run_on(&runtime, Map::new(), |shed, id, job: &mut Job2| (job.0)(shed, id))
        .unwrap();
    let (started, never) = (Arc::new(Event::new()), Event::new());
    let waits = {
        let started = Arc::clone(&started);
        once(move || {
            started.set();
            never.wait();
        })
    };
    shed.ready(&shed.create([waits]).ok().unwrap()).unwrap();
    started.wait();
    runtime.shutdown_timeout(std::time::Duration::ZERO).unwrap();
    assert!(cancelled.load(Relaxed));
    shed.wait().unwrap();
}

#[test]
fn what_cannot_be_is_refused() {
    let runtime = runtime(2);
    let refusal = |channels, map| {
        let run = |_: &Shed<()>, _, _: &mut ()| Outcome::Complete;
        Shed::builder().channels(channels).run_on(&runtime, map, run).map(drop).unwrap_err()
    };
    assert_eq!(refusal(0, Map::new()), RunError::Build(BuildError::Channels(0)));
    assert_eq!(refusal(2, Map::new().all(2)), RunError::NoChannel { channel: 2, channels: 2 });
    assert_eq!(
        refusal(2, Map::new().worker(1, 2)),
        RunError::NoWorker { channel: 1, worker: 2, workers: 2 }
    );
    assert_eq!(refusal(1, Map::new().workers(0, [])), RunError::NoWorkers { channel: 0 });
}

/// A channel keeps its order on one worker, in a strict runtime too.
#[test]
fn the_oldest_first() {
    for strict in [false, true] {
        let runtime = Runtime::builder().workers(2).strict(strict).build().expect("a runtime");
        let order = Arc::new(Mutex::new(Vec::new()));
        let shed = Shed::builder()
            .fifo(0)
            .run_on(&runtime, Map::new().worker(0, 1), |shed, id, job: &mut Job2| (job.0)(shed, id))
            .unwrap();
        for i in 0..500 {
            let order = Arc::clone(&order);
            shed.ready(&shed.create([once(move || order.lock().push(i))]).ok().unwrap()).unwrap();
        }
        shed.wait().unwrap();
        assert_eq!(order.lock().len(), 500);
        assert!(order.lock().is_sorted());
    }
}

/// A template in a driven shed.
#[test]
fn a_template_runs_again_and_again() {
    let runtime = runtime(2);
    let ran = Arc::new(AtomicU32::new(0));
    let mut template = Template::new();
    let mut task = |_| {
        let ran = Arc::clone(&ran);
        template.task(job(move |_, _| {
            ran.fetch_add(1, Relaxed);
            Outcome::Complete
        }))
    };
    let (first, middle, last) = (task(0), [1, 2, 3, 4].map(&mut task), task(5));
    template.depend(&middle, &[first]).unwrap();
    template.depend(&[last], &middle).unwrap();
    let shed = jobs(&runtime, 1, Map::new());
    let instance = template.install(Arc::clone(shed.shared())).unwrap();
    for run in 1..=100 {
        instance.start().unwrap();
        shed.wait().unwrap();
        assert!(instance.is_done());
        assert_eq!(ran.load(Relaxed), 6 * run);
    }
}

/// While nothing is ready, no worker is awake.
#[test]
fn idle_consumers_sleep() {
    let runtime = runtime(2);
    let shed = jobs(&runtime, 1, Map::new());
    let tasks = |n: usize| (0..n).map(|_| shed.create([once(|| ())]).ok().unwrap()[0]);
    for id in tasks(10) {
        shed.ready(&[id]).unwrap();
    }
    shed.wait().unwrap();
    while runtime.metrics().sleeping < 2 {
        std::thread::yield_now();
    }
    // One task wakes one worker, and one runner task executes it.
    let before = runtime.metrics().total().taken;
    for id in tasks(10) {
        shed.ready(&[id]).unwrap();
        shed.wait().unwrap();
    }
    assert_eq!(runtime.metrics().total().taken - before, 10);
    let seen: HashSet<_> = tasks(3).collect();
    assert_eq!(seen.len(), 3);
}

/// Payloads of panics are dropped, even if no caller takes them. A panic in the destructor of such
/// a payload reaches no caller.
#[test]
fn payloads_of_all_panics_are_dropped() {
    struct Payload(Arc<AtomicUsize>);
    impl Drop for Payload {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
            panic!("a payload");
        }
    }
    let runtime = runtime(1);
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let shed = Shed::builder()
        .tasks(5)
        .run_on(&runtime, Map::new(), move |_, _, ()| std::panic::panic_any(Payload(count.clone())))
        .expect("small");
    shed.ready(&shed.create([(); 5]).expect("room")).expect("idle");
    let Err(WaitError::Panicked { payload, others: 4 }) = shed.wait() else {
        panic!("five tasks panic")
    };
    assert_eq!(dropped.load(Relaxed), 4);
    std::mem::forget(payload);
    shed.ready(&shed.create([(); 5]).expect("room")).expect("idle");
    drop(shed);
    assert_eq!(dropped.load(Relaxed), 9);
    runtime.shutdown().expect("an orderly end");
}
