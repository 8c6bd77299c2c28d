//! A runner task that has had its turns, and what is ready then.

use sateen_flow::{Map, RunOn};
use sateen_runtime::Runtime;
use sateen_shed::{Outcome, Shed, TaskId};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Tasks in a chain: many times as many as a runner task has turns.
const TASKS: usize = 5000;

#[test]
fn what_one_runner_task_leaves_another_executes() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    for map in [Map::new(), Map::new().worker(0, 1)] {
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let shed = Shed::builder()
            .tasks(TASKS as u64)
            .dependencies(TASKS as u64)
            .run_on(&runtime, map, move |_, _, (): &mut ()| {
                count.fetch_add(1, Relaxed);
                Outcome::Complete
            })
            .expect("a shed");
        let mut ids = [TaskId::NONE; TASKS];
        shed.create_all(&mut (0..TASKS).map(|_| ()), &mut ids).expect("room for all");
        // One after another: the end of the last turn's task makes the next one ready.
        ids.windows(2).for_each(|pair| shed.depend(&pair[1..], &pair[..1]).expect("no cycle"));
        shed.ready(&ids[..1]).expect("a task");
        shed.wait().expect("none panics");
        assert_eq!(ran.load(Relaxed), TASKS);
    }
    runtime.shutdown().expect("an orderly end");
}
