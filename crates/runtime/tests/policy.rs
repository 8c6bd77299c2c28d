//! The shipped policies, priorities, and a policy of the user's.

use sateen_runtime::policy::{self, Policy, Runnable, Scheduling};
use sateen_runtime::{Priority, Runtime, Spawn, fork, join, scope, spawn, worker_index, yield_now};
use sateen_sync::{Event, Mutex};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn all_policies() -> [fn() -> Scheduling; 4] {
    [policy::work_stealing, policy::work_sharing, policy::round_robin, by_property]
}

fn with_all(f: impl Fn(&Runtime)) {
    for policy in all_policies() {
        for workers in [1, 2, 3, 8] {
            let runtime =
                Runtime::builder().workers(workers).policy(policy()).build().expect("a runtime");
            f(&runtime);
        }
    }
}

/// The smallest property comes first.
struct ByProperty(std::sync::Mutex<BinaryHeap<Item>>);

struct Item(Runnable);

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.0.property() == other.0.property()
    }
}
impl Eq for Item {}
impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Item {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.property().cmp(&self.0.property())
    }
}

impl Policy for ByProperty {
    fn awakened(&self, runnable: Runnable) {
        self.0.lock().expect("no panic").push(Item(runnable));
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.0.lock().expect("no panic").pop().map(|item| item.0)
    }
    fn has_ready(&self) -> bool {
        !self.0.lock().expect("no panic").is_empty()
    }
}

fn by_property() -> Scheduling {
    policy::custom(|_| Box::new(ByProperty(std::sync::Mutex::default())))
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        yield_now();
        return 1;
    }
    let children: Vec<_> = (0..4).map(|_| spawn(move || tree(depth - 1))).collect();
    children.into_iter().map(|child| child.join().expect("a child")).sum()
}

#[test]
fn every_policy_runs_everything() {
    with_all(|rt| {
        assert_eq!(rt.install(|| tree(5)), 1024);
        assert_eq!(rt.spawn(|| tree(5)).join().expect("done"), 1024);
        let sum = rt.install(|| {
            let total = AtomicUsize::new(0);
            scope(|s| {
                (0..100).for_each(|i| {
                    s.spawn({
                        let total = &total;
                        move |_| _ = total.fetch_add(i, SeqCst)
                    })
                })
            });
            let (a, b) = join(|| fork([1, 2, 3].map(|x| move || x)), || 4);
            total.into_inner() + a.iter().sum::<usize>() + b
        });
        assert_eq!(sum, 4950 + 10);
    });
}

#[test]
fn every_policy_lets_tasks_block() {
    with_all(|rt| {
        let (mutex, event) = (Arc::new(Mutex::new(0)), Arc::new(Event::new()));
        let tasks: Vec<_> = (0..200)
            .map(|i| {
                let (mutex, event) = (mutex.clone(), event.clone());
                rt.spawn(move || {
                    if i % 3 == 0 {
                        event.wait();
                    }
                    for _ in 0..5 {
                        let mut guard = mutex.lock();
                        yield_now();
                        *guard += 1;
                    }
                })
            })
            .collect();
        event.set();
        tasks.into_iter().for_each(|task| task.join().expect("done"));
        assert_eq!(*mutex.lock(), 1000);
    });
}

#[test]
fn round_robin_keeps_everything_where_it_was_spawned() {
    for workers in [1, 2, 3, 8] {
        let policy = policy::round_robin();
        let rt = Runtime::builder().workers(workers).policy(policy).build().expect("a runtime");
        let places = rt.broadcast(|_| ());
        assert_eq!(places.len(), workers);
        let tasks: Vec<_> = (0..workers)
            .map(|i| {
                rt.spawn_with(Spawn::new().on_worker(i), move || {
                    let here = worker_index();
                    for _ in 0..20 {
                        let places = fork([0; 16].map(|_| {
                            || {
                                yield_now();
                                worker_index()
                            }
                        }));
                        assert!(places.iter().all(|&place| place == here));
                        let child = spawn(worker_index);
                        assert_eq!(child.join().expect("done"), here);
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("done"));
        assert_eq!(rt.metrics().total().branches_stolen, 0);
        assert_eq!(rt.metrics().total().thefts, 0);
    }
}

/// Spawns with these settings on one busy worker. Returns the order in which the tasks then ran.
fn order(policy: Scheduling, settings: Vec<Spawn>) -> Vec<usize> {
    let rt = Runtime::builder().workers(1).policy(policy).build().expect("a runtime");
    rt.install(|| {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = settings
            .into_iter()
            .enumerate()
            .map(|(i, settings)| {
                let ran = ran.clone();
                settings.spawn(move || ran.lock().push(i))
            })
            .collect();
        while ran.lock().len() < tasks.len() {
            yield_now();
        }
        std::mem::take(&mut *ran.lock())
    })
}

#[test]
fn priorities_are_kept() {
    use Priority::{High, Low, Normal};
    let settings =
        || [Low, High, Normal, High, Low, Normal].map(|p| Spawn::new().priority(p)).into();
    assert_eq!(order(policy::work_sharing(), settings()), [1, 3, 2, 5, 0, 4]);
    assert_eq!(order(policy::round_robin(), settings()), [1, 3, 2, 5, 0, 4]);
    // The youngest task comes first.
    assert_eq!(order(policy::work_stealing(), settings()), [3, 1, 5, 2, 4, 0]);
}

#[test]
fn a_policy_of_ones_own_decides() {
    let settings = [5, 1, 4, 2, 3].map(|p| Spawn::new().property(p)).into();
    assert_eq!(order(by_property(), settings), [1, 3, 4, 2, 0]);
}

#[test]
fn high_priority_is_stolen_first() {
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    for _ in 0..20 {
        let ran = Arc::new(AtomicUsize::new(0));
        rt.install(|| {
            let tasks: Vec<_> = (0..100)
                .map(|i| {
                    let priority = if i % 2 == 0 { Priority::High } else { Priority::Low };
                    let ran = ran.clone();
                    Spawn::new().priority(priority).spawn(move || _ = ran.fetch_add(1, SeqCst))
                })
                .collect();
            tasks.into_iter().for_each(|task| task.join().expect("done"));
        });
        assert_eq!(ran.load(SeqCst), 100);
    }
}

#[test]
fn a_dropped_runnable_is_not_lost() {
    #[derive(Default)]
    struct Careless(std::sync::Mutex<(Vec<Runnable>, u32)>);
    impl Policy for Careless {
        fn awakened(&self, runnable: Runnable) {
            let mut state = self.0.lock().expect("no panic");
            state.1 += 1;
            if !state.1.is_multiple_of(3) {
                state.0.push(runnable);
            }
        }
        fn pick_next(&self) -> Option<Runnable> {
            self.0.lock().expect("no panic").0.pop()
        }
        fn has_ready(&self) -> bool {
            !self.0.lock().expect("no panic").0.is_empty()
        }
    }
    for workers in [1, 2, 3] {
        let policy = policy::custom(|_| Box::new(Careless::default()));
        let rt = Runtime::builder().workers(workers).policy(policy).build().expect("a runtime");
        assert_eq!(rt.install(|| tree(5)), 1024);
    }
}

/// The first of `tasks` wakes a waiting task. Returns how many have run when that task goes on.
fn go_before(tasks: usize, each: impl Fn() + Send + Sync + Copy + 'static) -> usize {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    runtime.install(|| {
        let (event, ran) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        for _ in 0..tasks {
            let (event, ran) = (event.clone(), ran.clone());
            let task = move || {
                event.set();
                each();
                ran.fetch_add(1, SeqCst);
            };
            Spawn::new().detach(task).expect("spawned");
        }
        event.wait();
        ran.load(SeqCst)
    })
}

#[test]
fn who_is_woken_waits_for_few_tasks() {
    for _ in 0..10 {
        let before = go_before(1_000, || ());
        assert!((1..=33).contains(&before), "{before} tasks went first");
        // These are the task that woke it and the task that began at once. None begins after the
        // first look at the clock.
        let before = go_before(10, || std::thread::sleep(std::time::Duration::from_micros(50)));
        assert!((1..=2).contains(&before), "{before} long tasks went first");
    }
}

/// Each pinned task leaves the next one in the worker's queue, until work from outside has run.
#[test]
fn work_from_outside_runs_while_pinned_work_keeps_arriving() {
    fn again(seen: Arc<AtomicBool>, until: Instant) {
        if !seen.load(SeqCst) && Instant::now() < until {
            drop(Spawn::new().on_worker(0).spawn(move || again(seen, until)));
        }
    }
    for policy in all_policies() {
        let rt = Runtime::builder().workers(1).policy(policy()).build().expect("a runtime");
        let seen = Arc::new(AtomicBool::new(false));
        let until = Instant::now() + Duration::from_secs(20);
        let inner = Arc::clone(&seen);
        rt.spawn(move || again(inner, until)).join().expect("the first");
        let outside = rt.spawn(move || (seen.store(true, SeqCst), Instant::now()).1);
        assert!(outside.join().expect("runs") < until, "its turn never came");
    }
}
