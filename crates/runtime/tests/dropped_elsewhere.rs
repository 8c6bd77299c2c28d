//! Another thread drops work of a runtime that ends at that moment. Freed memory is overwritten
//! here, so a thread that still uses it fails.

mod common;

use common::{OneQueue, Overwrites};
use sateen_runtime::Runtime;
use sateen_runtime::policy::{self, Policy, Runnable, Scheduling, Sleeper};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Overwrites = Overwrites;

const INTACT: u64 = 0x5afe_5afe_5afe_5afe;

/// The state that the test and the policies share.
#[derive(Default)]
struct Common {
    queue: OneQueue,
    /// The runnable that another thread drops.
    taken: Mutex<Option<Runnable>>,
    /// Whether the next runnable of that kind is to be taken.
    takes: AtomicBool,
    /// The worker sleeps.
    asleep: AtomicBool,
    /// If set, the next notification waits for `over`.
    armed: AtomicBool,
    /// Set at the end of the test.
    over: Event,
    /// Set when the policy is freed, and with it the runtime.
    freed: AtomicBool,
}

struct Gives {
    common: Arc<Common>,
    which: fn(&Runnable) -> bool,
    state: u64,
}

impl Policy for Gives {
    fn awakened(&self, runnable: Runnable) {
        if (self.which)(&runnable) && self.common.takes.swap(false, SeqCst) {
            *self.common.taken.lock().expect("no panic") = Some(runnable);
        } else {
            self.common.queue.awakened(runnable);
        }
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.common.queue.pick_next()
    }
    fn has_ready(&self) -> bool {
        self.common.queue.has_ready()
    }
    fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        self.common.asleep.store(true, SeqCst);
        sleeper.sleep_until(deadline);
        self.common.asleep.store(false, SeqCst);
    }
    fn notify(&self) {
        if self.common.armed.swap(false, SeqCst) {
            let common = Arc::clone(&self.common);
            common.over.wait();
            assert_eq!(self.state, INTACT, "a policy is freed while it is called");
        }
    }
}

impl Drop for Gives {
    fn drop(&mut self) {
        self.common.freed.store(true, SeqCst);
    }
}

fn gives(common: &Arc<Common>, which: fn(&Runnable) -> bool) -> Scheduling {
    let common = Arc::clone(common);
    policy::custom(move |_| Box::new(Gives { common: Arc::clone(&common), which, state: INTACT }))
}

/// Another thread drops the runnable that `which` selects. The runtime ends while that thread
/// notifies the worker. `begin` spawns the task that waits for the runnable.
fn ends_under_a_notification(
    which: fn(&Runnable) -> bool,
    begin: impl Fn(&Runtime, &Common) -> sateen_runtime::JoinHandle<()>,
) {
    // An earlier notification may wake the worker just before the runnable is dropped. The worker
    // then needs no other one, and that round shows nothing.
    while !ends_if_notified(which, &begin) {}
}

/// One round. Returns whether the worker was notified.
fn ends_if_notified(
    which: fn(&Runnable) -> bool,
    begin: impl Fn(&Runtime, &Common) -> sateen_runtime::JoinHandle<()>,
) -> bool {
    let common = Arc::new(Common::default());
    let rt = Runtime::builder().workers(1).policy(gives(&common, which)).build();
    let rt = rt.expect("a runtime");
    let task = begin(&rt, &common);
    let runnable = loop {
        if let Some(runnable) = common.taken.lock().expect("no panic").take() {
            break runnable;
        }
        thread::yield_now();
    };
    // It has looked for the last time, so it needs a notification.
    while !common.asleep.load(SeqCst) {
        thread::yield_now();
    }
    common.armed.store(true, SeqCst);
    let dropper = thread::spawn(move || drop(runnable));
    task.join().expect("goes on");
    let is_notified = !common.armed.swap(false, SeqCst);
    drop(rt);
    // Whatever is kept until the notification has ended is not freed in this time either.
    let end = Instant::now() + Duration::from_millis(300);
    while !common.freed.load(SeqCst) && Instant::now() < end {
        thread::yield_now();
    }
    common.over.set();
    dropper.join().expect("dropped");
    is_notified
}

#[test]
fn a_started_task_goes_home_from_a_thread_that_keeps_nothing() {
    let _dog = Watchdog::new("a fiber dropped elsewhere");
    ends_under_a_notification(Runnable::is_pinned, |rt, common| {
        let (go, begun) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let (wait, tell) = (Arc::clone(&go), Arc::clone(&begun));
        let task = rt.spawn(move || {
            tell.set();
            wait.wait();
        });
        begun.wait();
        rt.spawn(|| ()).join().expect("done");
        common.takes.store(true, SeqCst);
        go.set();
        task
    });
}

#[test]
fn the_work_of_a_scope_goes_home_from_a_thread_that_keeps_nothing() {
    let _dog = Watchdog::new("a scope's job dropped elsewhere");
    ends_under_a_notification(
        |runnable| runnable.id().is_none(),
        |rt, common| {
            common.takes.store(true, SeqCst);
            rt.spawn(|| sateen_runtime::scope(|s| s.spawn(|_| ())))
        },
    );
}
