//! A hook for runners that panics. This is a separate file, because a process has one hook.
#![cfg(all(feature = "std", not(loom)))]

use sateen_shed::{Outcome, Shed, set_runner_hook};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// The hook is called while several tasks are being made ready. None of them is lost.
#[test]
fn a_hook_that_panics_costs_no_task() {
    assert!(set_runner_hook(|| {
        assert!(!PANICS.get(), "boom");
        Some(7)
    }));
    let shed = Shed::builder().build().expect("small");
    let [first, running] = shed.create(["first", "running"]).expect("room");
    shed.ready(&[running]).expect("idle");
    let ran = shed.execute_one(0, |_, _| {
        PANICS.set(true);
        let _ = catch_unwind(AssertUnwindSafe(|| shed.ready(&[first, running])));
        PANICS.set(false);
        Outcome::Complete
    });
    assert_eq!(ran, Ok(Some(running)));
    // The task is ready now, or as it was.
    let _ = shed.ready(&[first]);
    assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete), Ok(Some(first)));
    // The hook panics before anything is taken. The panic goes on, and the task stays.
    let [last] = shed.create(["last"]).expect("room");
    shed.ready(&[last]).expect("idle");
    for batch in [false, true] {
        PANICS.set(true);
        let run = || match batch {
            true => shed.execute_batch(0, 8, |_, _| Outcome::Complete).is_ok(),
            false => shed.execute_one(0, |_, _| Outcome::Complete).is_ok(),
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        PANICS.set(false);
        assert_eq!(shed.has_ready(0), Ok(true));
    }
    assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete), Ok(Some(last)));
}
