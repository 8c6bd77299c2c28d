//! Policies of the user's that break their contract.

mod common;

use common::OneQueue;
use sateen_runtime::policy::{self, Policy, Runnable, Scheduling, Sleeper};
use sateen_runtime::{Runtime, Spawn, join, scope, spawn, spawn_async, yield_now};
use sateen_sync::Event;
use sateen_testkit::{Watchdog, waker_fn};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::thread;
use std::time::{Duration, Instant};

/// The error of a task that was dropped on a thread outside of the runtime.
const LOST: &str = "the scheduling policy dropped the task where nobody could run it";

/// One queue for all workers and for every kind of runnable.
fn mixed(queue: &OneQueue) -> Scheduling {
    let queue = queue.clone();
    policy::custom(move |_| Box::new(queue.clone()))
}

fn with_policy(workers: usize, policy: Scheduling) -> Runtime {
    Runtime::builder().workers(workers).policy(policy).build().expect("a runtime")
}

/// Waits several times and stays on its thread.
fn stays() -> u32 {
    let mine = Rc::new(thread::current().id());
    for _ in 0..10 {
        let held = Rc::clone(&mine);
        yield_now();
        assert_eq!(*held, thread::current().id());
    }
    1
}

/// As a future, it may change its worker between polls.
async fn wanders() -> u32 {
    let mut turns = 10;
    std::future::poll_fn(move |cx| {
        turns -= 1;
        cx.waker().wake_by_ref();
        if turns == 0 { std::task::Poll::Ready(1) } else { std::task::Poll::Pending }
    })
    .await
}

fn mixed_work(rt: &Runtime) {
    let tasks: Vec<_> = (0..50).map(|_| rt.spawn(stays)).collect();
    let futures: Vec<_> = (0..50).map(|_| rt.spawn_async(wanders())).collect();
    let count = AtomicUsize::new(0);
    rt.scope(|s| {
        for _ in 0..50 {
            s.spawn(|_| _ = count.fetch_add(stays() as usize, SeqCst));
        }
        join(stays, stays);
    });
    assert_eq!(count.into_inner(), 50);
    let sum: u32 = tasks.into_iter().chain(futures).map(|task| task.join().expect("done")).sum();
    assert_eq!(sum, 100);
}

#[test]
fn started_tasks_stay_at_home_whoever_picks_them() {
    let _dog = Watchdog::new("one queue for all workers");
    for workers in [1, 2, 4] {
        let rt = with_policy(workers, mixed(&OneQueue::default()));
        mixed_work(&rt);
        rt.shutdown().expect("an orderly end");
    }
}

#[test]
fn runtimes_may_mix_up_their_work() {
    let _dog = Watchdog::new("one queue for two runtimes");
    let queue = OneQueue::default();
    let runtimes = [1, 2].map(|workers| with_policy(workers, mixed(&queue)));
    thread::scope(|s| {
        for rt in &runtimes {
            s.spawn(|| mixed_work(rt));
        }
    });
}

/// Gives each runnable that `which` selects to another thread, which drops it.
struct Discards(OneQueue, fn(&Runnable) -> bool);

impl Policy for Discards {
    fn awakened(&self, runnable: Runnable) {
        if self.1(&runnable) {
            thread::spawn(move || drop(runnable)).join().expect("dropped");
        } else {
            self.0.awakened(runnable);
        }
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.0.pick_next()
    }
    fn has_ready(&self) -> bool {
        self.0.has_ready()
    }
}

fn discards(which: fn(&Runnable) -> bool) -> Scheduling {
    policy::custom(move |_| Box::new(Discards(OneQueue::default(), which)))
}

#[test]
fn what_another_thread_drops_is_run_or_refused() {
    let _dog = Watchdog::new("runnables dropped elsewhere");
    for workers in [1, 2] {
        let rt = with_policy(workers, discards(Runnable::is_pinned));
        mixed_work(&rt);
        drop(rt);

        let rt = with_policy(workers, discards(|runnable| runnable.name() == Some("lost")));
        let (task, future, scoped) = rt.install(|| {
            let lost = || Spawn::new().name("lost");
            let done = AtomicBool::new(false);
            // A scoped spawn has no name, so nothing is lost here.
            scope(|s| s.spawn(|_| done.store(true, SeqCst)));
            (lost().spawn(|| 1), lost().spawn_async(async { 2 }), done.into_inner())
        });
        assert!(scoped);
        assert_eq!(task.join().expect_err("lost").to_string(), LOST);
        assert_eq!(future.join().expect("polled"), 2);
        rt.shutdown().expect("an orderly end");

        // A scope waits for the work in it.
        let rt = with_policy(workers, discards(|runnable| runnable.id().is_none()));
        let count = AtomicUsize::new(0);
        rt.scope(|s| (0..10).for_each(|_| s.spawn(|_| _ = count.fetch_add(1, SeqCst))));
        assert_eq!(count.into_inner(), 10);
    }
}

#[test]
fn a_waker_is_called_though_a_policy_drops_the_work_that_calls_it() {
    let _dog = Watchdog::new("a due waker whose job is dropped elsewhere");
    let rt = with_policy(1, discards(|runnable| runnable.id().is_none()));
    let task = rt.spawn(|| {
        let told = Arc::new(Event::new());
        let tell = Arc::clone(&told);
        let waker = waker_fn(move || tell.set());
        let mut sleep = pin!(sateen_runtime::sleep_async(Duration::from_millis(1)));
        while sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            sleep.set(sateen_runtime::sleep_async(Duration::from_millis(1)));
        }
        told.wait();
    });
    task.join().expect("woken");
}

/// Withholds a started task for this many calls. Then it drops the task in a call in which it could
/// pick the task.
struct Hides(OneQueue, AtomicUsize);

impl Policy for Hides {
    fn awakened(&self, runnable: Runnable) {
        self.0.awakened(runnable);
    }
    fn pick_next(&self) -> Option<Runnable> {
        let mut queue = self.0.0.lock().expect("no panic");
        if !queue.front()?.is_pinned() {
            return queue.pop_front();
        }
        if self.1.fetch_sub(1, SeqCst) == 1 {
            drop(queue.pop_front());
        }
        None
    }
    fn has_ready(&self) -> bool {
        self.0.0.lock().expect("no panic").front().is_some_and(|first| !first.is_pinned())
    }
}

#[test]
fn a_worker_without_a_stack_counts_the_fibers_that_a_policy_drops() {
    let _dog = Watchdog::new("a policy that drops a fiber of a worker without a stack");
    // The worker asks in three places, one after another.
    for calls in 200..203 {
        let hides = move |_| -> Box<dyn Policy> {
            Box::new(Hides(OneQueue::default(), AtomicUsize::new(calls)))
        };
        let rt = Runtime::builder().workers(1).max_stacks(1).policy(policy::custom(hides)).build();
        let rt = rt.expect("a runtime");
        let (go, begun) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let (wait, tell) = (Arc::clone(&go), Arc::clone(&begun));
        let task = rt.spawn(move || {
            tell.set();
            wait.wait();
        });
        begun.wait();
        while rt.metrics().total().suspensions == 0 {
            thread::yield_now();
        }
        go.set();
        task.join().expect("gone on");
        rt.shutdown().expect("an orderly end");
    }
}

/// Keeps all runnables while the gate is shut, and reports that it has none.
struct Withholds(OneQueue, Arc<AtomicBool>);

impl Policy for Withholds {
    fn awakened(&self, runnable: Runnable) {
        self.0.awakened(runnable);
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.has_ready().then(|| self.0.pick_next()).flatten()
    }
    fn has_ready(&self) -> bool {
        self.1.load(SeqCst) && self.0.has_ready()
    }
}

#[test]
fn a_worker_sleeps_while_a_started_task_is_withheld() {
    let _dog = Watchdog::new("a policy that withholds a fiber");
    let open = Arc::new(AtomicBool::new(true));
    let gate = Arc::clone(&open);
    let policy =
        policy::custom(move |_| Box::new(Withholds(OneQueue::default(), Arc::clone(&gate))));
    let rt = with_policy(1, policy);
    let (go, begun) = (Arc::new(Event::new()), Arc::new(Event::new()));
    let task = rt.spawn({
        let (go, begun) = (Arc::clone(&go), Arc::clone(&begun));
        move || {
            begun.set();
            go.wait();
        }
    });
    begun.wait();
    let asleep = |before: u64| {
        while rt.metrics().sleeping == 0 || rt.metrics().total().parks == before {
            thread::yield_now();
        }
    };
    asleep(0);
    open.store(false, SeqCst);
    let before = rt.metrics().total().parks;
    go.set();
    asleep(before);
    assert!(!task.is_finished());
    // The runtime does not end while the policy keeps its task.
    thread::scope(|s| {
        s.spawn(|| rt.shutdown().expect("an orderly end"));
        // Accepted tasks are withheld, too. Refused ones end at once.
        while !rt.spawn(|| ()).is_finished() {
            thread::yield_now();
        }
        assert!(!task.is_finished());
        open.store(true, SeqCst);
        // Something has to wake the worker.
        while !task.is_finished() {
            rt.fibers();
        }
    });
    task.join().expect("gone on");
}

#[test]
fn what_a_policy_holds_at_the_end_is_refused() {
    let _dog = Watchdog::new("a policy that keeps tasks");
    let open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&open);
    let policy =
        policy::custom(move |_| Box::new(Withholds(OneQueue::default(), Arc::clone(&gate))));
    let rt = with_policy(2, policy);
    let task = rt.install(|| spawn(|| ()));
    rt.shutdown().expect("an orderly end");
    drop(rt);
    assert_eq!(task.join().expect_err("lost").to_string(), LOST);
}

/// Uses the runtime in each of its methods, as a hook might do.
struct Busy(OneQueue, sateen_sync::Mutex<u32>);

impl Busy {
    fn work(&self) {
        *self.1.lock() += 1;
        let (a, b) = join(|| 1, || 2);
        scope(|s| s.spawn(move |_| assert_eq!(a + b, 3)));
        assert!(spawn(|| ()).join().is_err(), "nobody would run it");
        assert!(spawn_async(async {}).join().is_err(), "nobody would run it");
        yield_now();
        sateen_runtime::sleep(Duration::from_micros(10));
    }
}

impl Policy for Busy {
    fn awakened(&self, runnable: Runnable) {
        self.work();
        self.0.awakened(runnable);
        self.work();
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.work();
        self.0.pick_next()
    }
    fn has_ready(&self) -> bool {
        self.work();
        self.0.has_ready()
    }
    fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        self.work();
        sleeper.sleep_until(deadline);
    }
    fn notify(&self) {
        self.work();
    }
    fn property_change(&self, _: sateen_runtime::TaskId, _: u64) {
        self.work();
    }
}

#[test]
fn a_policy_may_use_the_runtime_as_a_hook_may() {
    let _dog = Watchdog::new("a policy that uses the runtime");
    for workers in [1, 2] {
        let policy = policy::custom(|_| Box::new(Busy(OneQueue::default(), Default::default())));
        let rt = with_policy(workers, policy);
        mixed_work(&rt);
        let task = rt.spawn_with(Spawn::new().property(1), yield_now);
        task.set_property(2);
        task.join().expect("done");
    }
}

/// Cancels, spawns and closes in `notify`, wherever `notify` is called.
#[test]
fn a_notification_may_do_anything() {
    struct Notified(OneQueue, Arc<Mutex<Option<Arc<Runtime>>>>);
    impl Policy for Notified {
        fn awakened(&self, runnable: Runnable) {
            self.0.awakened(runnable);
        }
        fn pick_next(&self) -> Option<Runnable> {
            self.0.pick_next()
        }
        fn has_ready(&self) -> bool {
            self.0.has_ready()
        }
        fn notify(&self) {
            thread_local! { static INSIDE: Cell<bool> = const { Cell::new(false) } }
            let runtime = self.1.lock().ok().and_then(|place| place.clone());
            // Spawns from here notify in turn, so once is enough.
            if let Some(runtime) = runtime
                && !INSIDE.replace(true)
            {
                drop(runtime.spawn(|| ()));
                drop(runtime.spawn_async(async {}));
                runtime.fibers();
                runtime.metrics();
                INSIDE.set(false);
            }
        }
    }
    let _dog = Watchdog::new("a notification that uses the runtime");
    let place = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&place);
    let policy =
        policy::custom(move |_| Box::new(Notified(OneQueue::default(), Arc::clone(&inside))));
    let rt = Arc::new(with_policy(2, policy));
    *place.lock().expect("no panic") = Some(Arc::clone(&rt));
    let event = Arc::new(Event::new());
    for _ in 0..20 {
        let event = Arc::clone(&event);
        drop(rt.spawn(move || event.wait()));
        drop(rt.spawn_async(std::future::pending::<()>()));
    }
    mixed_work(&rt);
    // Cancels the waiting tasks, whatever lists the policy keeps.
    rt.shutdown_timeout(Duration::from_millis(50)).expect("all ended");
    *place.lock().expect("no panic") = None;
}

#[test]
fn policies_whose_destructors_panic() {
    struct Bomb(OneQueue);
    impl Policy for Bomb {
        fn awakened(&self, runnable: Runnable) {
            self.0.awakened(runnable);
        }
        fn pick_next(&self) -> Option<Runnable> {
            self.0.pick_next()
        }
        fn has_ready(&self) -> bool {
            self.0.has_ready()
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a policy's destructor");
        }
    }
    let rt = with_policy(2, policy::custom(|_| Box::new(Bomb(OneQueue::default()))));
    mixed_work(&rt);
    drop(rt);
}

/// Panics in one method, once it is armed.
struct Panics(OneQueue, &'static str, Arc<AtomicBool>);

impl Panics {
    fn come(&self, method: &str) {
        assert!(method != self.1 || !self.2.load(SeqCst), "in {method}");
    }
}

impl Policy for Panics {
    fn awakened(&self, runnable: Runnable) {
        self.come("awakened");
        self.0.awakened(runnable);
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.come("pick_next");
        self.0.pick_next()
    }
    fn has_ready(&self) -> bool {
        self.come("has_ready");
        self.0.has_ready()
    }
    fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        self.come("suspend_until");
        sleeper.sleep_until(deadline);
    }
    fn notify(&self) {
        self.come("notify");
    }
    fn property_change(&self, _: sateen_runtime::TaskId, _: u64) {
        self.come("property_change");
    }
}

/// Runs this test for each method in a child process. That process ends at once and says why.
#[test]
fn a_panic_ends_the_process_before_anything_is_lost() {
    const METHODS: [&str; 6] =
        ["awakened", "pick_next", "has_ready", "suspend_until", "notify", "property_change"];
    const NAME: &str = "SATEEN_TEST_PANICS_IN";
    if let Ok(method) = std::env::var(NAME) {
        let method = METHODS.into_iter().find(|&known| known == method).expect("a method");
        let _dog = Watchdog::new(method);
        let armed = Arc::new(AtomicBool::new(false));
        let arm = Arc::clone(&armed);
        let policy = policy::custom(move |_| {
            Box::new(Panics(OneQueue::default(), method, Arc::clone(&arm)))
        });
        let rt = with_policy(2, policy);
        loop {
            // Both workers sleep, so that the next submission notifies one of them.
            while rt.metrics().sleeping < 2 {
                thread::yield_now();
            }
            armed.store(true, SeqCst);
            let task = rt.spawn_with(Spawn::new().property(1), || {
                scope(|s| s.spawn(|_| yield_now()));
                let child = Spawn::new().property(1).spawn(yield_now);
                child.set_property(2);
                child.join().expect("done");
            });
            task.set_property(3);
            task.join().expect("done");
            rt.install(|| join(yield_now, yield_now));
        }
    }
    for method in METHODS {
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "a_panic_ends_the_process_before_anything_is_lost", "--nocapture"])
            .env(NAME, method)
            .output()
            .expect("the child runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{method}: {errors}");
        let told = errors.contains("a scheduling policy panicked");
        assert!(told && errors.contains(&format!("in {method}")), "{method}: {errors}");
    }
}
