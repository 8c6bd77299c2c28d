//! The monitor's thread sleeps while all workers do. Alone in its process, for it counts a thread's
//! sleeps by the thread's name.
#![cfg(target_os = "linux")]

mod common;

use common::threads_named;
use sateen_runtime::Runtime;
use sateen_testkit::watched;
use std::sync::Barrier;
use std::time::Duration;

/// How often the monitor's thread has gone to sleep; `None` before it has a thread.
fn sleeps() -> Option<u64> {
    let thread = threads_named("sateen-monitor").pop()?;
    let status = std::fs::read_to_string(thread.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn after_a_burst_the_monitor_rests_at_its_next_look() {
    watched("a burst", || {
        let rt = Runtime::builder().workers(2).build().expect("a runtime");
        // Both workers have work at once, so the second one arms the monitor.
        let all_busy = || {
            let barrier = Barrier::new(2);
            rt.broadcast(|_| barrier.wait());
        };
        while sleeps().is_none() {
            all_busy();
        }
        for _ in 0..20 {
            all_busy();
            while rt.metrics().sleeping < 2 {
                std::thread::yield_now();
            }
            // It may be amid a look now. The next one finds all asleep, and is the last.
            let before = sleeps();
            std::thread::sleep(Duration::from_millis(100));
            let more = sleeps().zip(before).map(|(after, before)| after - before);
            assert!(more.is_some_and(|more| more <= 2), "{more:?} sleeps");
        }
        rt.shutdown().expect("an orderly end");
    });
}
