//! A shutdown cancels futures, and some of these end by themselves at that moment. Freed memory is
//! overwritten here, so a thread that still uses it fails.

mod common;

use common::{OneQueue, Overwrites};
use sateen_runtime::Runtime;
use sateen_runtime::policy::{self, Policy, Runnable, Sleeper};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Overwrites = Overwrites;

/// The runtime under test, which the policy ends.
static RUNTIME: OnceLock<Runtime> = OnceLock::new();
/// Whether the next notification waits.
static ARMED: AtomicBool = AtomicBool::new(false);
static OVER: AtomicBool = AtomicBool::new(false);
static GO: OnceLock<Event> = OnceLock::new();

/// One queue. A notification waits until the runtime has ended, or has not ended after some time.
#[derive(Default)]
struct HoldsUp(OneQueue);

impl Policy for HoldsUp {
    fn awakened(&self, runnable: Runnable) {
        self.0.awakened(runnable);
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.0.pick_next()
    }
    fn has_ready(&self) -> bool {
        self.0.has_ready()
    }
    fn suspend_until(&self, sleeper: &Sleeper<'_>, deadline: Option<Instant>) {
        sleeper.sleep_until(deadline);
    }
    fn notify(&self) {
        if !ARMED.swap(false, SeqCst) {
            return;
        }
        GO.get().expect("made before").set();
        let end = Instant::now() + Duration::from_millis(500);
        while !OVER.load(SeqCst) && Instant::now() < end {
            std::thread::yield_now();
        }
        _ = RUNTIME.get().expect("made before").shutdown_timeout(Duration::ZERO);
    }
}

struct Tells;
impl Drop for Tells {
    fn drop(&mut self) {
        OVER.store(true, SeqCst);
    }
}

#[test]
fn a_future_that_ends_before_its_turn_is_left_alone() {
    let _dog = Watchdog::new("a shutdown that cancels futures");
    let policy = policy::custom(|_| Box::<HoldsUp>::default());
    let rt = Runtime::builder().workers(1).policy(policy).build().expect("a runtime");
    let rt = RUNTIME.get_or_init(|| rt);
    GO.get_or_init(Event::new);
    // The runtime goes through the list from the youngest future on.
    drop(rt.spawn_async(async {
        let _tells = Tells;
        GO.get().expect("made before").wait_async().await;
    }));
    let never = Arc::new(Event::new());
    let wait = Arc::clone(&never);
    drop(rt.spawn_async(async move { wait.wait_async().await }));
    rt.spawn(|| ()).join().expect("done");
    ARMED.store(true, SeqCst);
    // This is long enough for the worker to fall asleep again.
    let ended = rt.shutdown_timeout(Duration::from_millis(100));
    assert_eq!(ended, Ok(()));
    assert!(OVER.load(SeqCst));
}
