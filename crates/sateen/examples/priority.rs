//! A scheduling policy: the highest number first. Numbers change while tasks wait.
//!
//! ```text
//! cargo run -p sateen --example priority
//! ```

use sateen::policy::{self, Policy, Runnable};
use sateen::sync::Event;
use sateen::{JoinHandle, Runtime, Spawn, TaskId, yield_now};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The highest property first; among equals, the one that came first.
#[derive(Default)]
struct Highest(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: BTreeMap<(Reverse<u64>, u64), Runnable>,
    arrivals: u64,
}

impl Queue {
    fn push(&mut self, property: u64, runnable: Runnable) {
        self.arrivals += 1;
        self.waiting.insert((Reverse(property), self.arrivals), runnable);
    }
}

impl Highest {
    /// Only this worker's thread takes this lock, so it is always free.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for Highest {
    fn awakened(&self, runnable: Runnable) {
        self.queue().push(runnable.property(), runnable);
    }

    fn pick_next(&self) -> Option<Runnable> {
        self.queue().waiting.pop_first().map(|(_, runnable)| runnable)
    }

    fn has_ready(&self) -> bool {
        !self.queue().waiting.is_empty()
    }

    fn property_change(&self, task: TaskId, property: u64) {
        let mut queue = self.queue();
        let found = queue.waiting.iter().find(|(_, runnable)| runnable.id() == Some(task));
        let key = found.map(|(&key, _)| key);
        if let Some(runnable) = key.and_then(|key| queue.waiting.remove(&key)) {
            queue.push(property, runnable);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = policy::custom(|_worker| Box::new(Highest::default()));
    let runtime = Runtime::builder().workers(1).policy(policy).build()?;
    let gate = Arc::new(Event::new());
    let start = |(name, priority): (&'static str, u64)| -> JoinHandle<()> {
        let gate = Arc::clone(&gate);
        Spawn::new().name(name).property(priority).spawn(move || {
            gate.wait();
            println!("{name}");
        })
    };
    // Spawned inside, so that the policy sees them at once. Work from outside waits in a queue of
    // its own until a worker asks for more.
    let tasks = runtime.install(|| {
        let tasks = [("sweep", 1), ("answer", 9), ("index", 5), ("report", 5)].map(start);
        // Whether a task is started, suspended or queued makes no difference to the order.
        tasks[0].set_property(7);
        yield_now();
        gate.set();
        tasks
    });
    for task in tasks {
        task.join()?;
    }
    Ok(())
}
