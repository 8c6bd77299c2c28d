//! Looks taken while a worker holds a lock.

use super::frame::Program;
use super::look::Look;
use super::registry::Registry;
use crate::{Runtime, Spawn};
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{AtomicBool, Ordering};

/// Makes a worker call `inside`, which holds a lock while it calls its argument. Returns a frame
/// taken at that time.
fn frame_while(inside: impl FnOnce(&Runtime, &dyn Fn()) + Send) -> serde_json::Value {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let (held, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            runtime.install(|| {
                inside(&runtime, &|| {
                    held.store(true, Ordering::Release);
                    while !over.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
            });
        });
        while !held.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let start = Instant::now();
        let mut out = Vec::new();
        Program::new("test").frame(0, &mut Look::new(), &mut out);
        over.store(true, Ordering::Release);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        serde_json::from_slice::<serde_json::Value>(&out).expect("JSON")["frame"].take()
    })
}

/// Of the one runtime with two workers that a frame shows as `wanted`.
fn is_one(frame: &serde_json::Value, wanted: impl Fn(&serde_json::Value) -> bool) -> bool {
    frame["runtimes"].as_array().is_some_and(|all| all.iter().any(wanted))
}

/// One test, because the registry is the process's.
#[test]
fn each_lock_may_be_held_by_a_worker() {
    let frame = frame_while(|_, hold| hold());
    assert!(is_one(&frame, |it| it["tasks"]["running"].as_u64() >= Some(1)), "{frame}");

    let frame = frame_while(|runtime, hold| {
        let _held = runtime.shared.fibers.lock();
        hold();
    });
    assert!(is_one(&frame, |it| it["tasks"].is_null() && it["workers"][0].is_object()), "{frame}");

    let frame = frame_while(|runtime, hold| {
        // So that it is looked at.
        drop(runtime.spawn_with(Spawn::new().on_worker(1), || ()));
        runtime.shared.workers[1].with_pinned_locked(hold);
    });
    assert!(is_one(&frame, |it| it["workers"][1].is_object()), "{frame}");

    let frame = frame_while(|_, hold| {
        let fiber = crate::context::fiber().expect("on a worker");
        fiber.with_name_locked(hold);
    });
    assert!(is_one(&frame, |it| it["tasks"].is_object()), "{frame}");

    let frame = frame_while(|runtime, hold| {
        let _held = runtime.shared.posting.lock();
        hold();
    });
    assert!(is_one(&frame, |it| it["tasks"].is_object()), "{frame}");

    let frame = frame_while(|_, hold| Registry::get().with_locked(hold));
    assert!(frame["runtimes"].is_null() && frame["queues"].is_null(), "{frame}");
}
