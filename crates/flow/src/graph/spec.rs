//! The specification of a graph.

use super::On;
use super::results::Runs;
use sateen_base::unwind::discard;
use sateen_sync::{Mutex, MutexGuard};
use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

/// A task's closure, result and all.
pub(super) type Call = Box<dyn FnMut() + Send>;

/// Shared by the graph and its handles.
#[derive(Default)]
pub(super) struct Spec {
    tasks: Mutex<Tasks>,
    pub(super) runs: Arc<Runs>,
    failure: Mutex<Option<Failure>>,
}

#[derive(Default)]
struct Tasks {
    tasks: Vec<Task>,
    /// Goes up with each change.
    version: u64,
    /// The name of a task of another graph that was given as a predecessor.
    foreign: Option<String>,
}

struct Task {
    name: Option<Box<str>>,
    on: On,
    after: Vec<usize>,
    /// The same as `after`, once a linear search would take long.
    known: HashSet<usize>,
    node: Arc<Node>,
}

/// Up to this many predecessors are searched linearly.
const FEW: usize = 16;

impl Task {
    /// Makes the task run after another. Returns whether that is new.
    fn add_after(&mut self, after: usize) -> bool {
        if self.after.len() < FEW {
            if self.after.contains(&after) {
                return false;
            }
        } else {
            if self.known.is_empty() {
                self.known.extend(&self.after);
            }
            if !self.known.insert(after) {
                return false;
            }
        }
        self.after.push(after);
        true
    }
}

/// A task's payload in the shed.
pub(super) struct Node {
    pub(super) index: usize,
    /// No thread ever waits for the lock: a run calls each closure once, and there is one run at a
    /// time.
    call: Mutex<Call>,
}

impl Node {
    #[inline]
    pub(super) fn call(&self) {
        (self.call.lock())();
    }
}

/// The first panic of a run.
pub(super) struct Failure {
    pub(super) task: usize,
    pub(super) payload: Box<dyn Any + Send>,
    pub(super) others: u64,
}

impl Spec {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock()
    }

    pub(super) fn add(&self, call: Call) -> usize {
        let mut tasks = self.tasks();
        let index = tasks.tasks.len();
        let node = Arc::new(Node { index, call: Mutex::new(call) });
        tasks.tasks.push(Task {
            name: None,
            on: On::Any,
            after: vec![],
            known: HashSet::new(),
            node,
        });
        tasks.version += 1;
        index
    }

    pub(super) fn set_name(&self, task: usize, name: String) {
        self.tasks().tasks[task].name = Some(name.into());
    }

    pub(super) fn set_on(&self, task: usize, on: On) {
        let mut tasks = self.tasks();
        tasks.tasks[task].on = on;
        tasks.version += 1;
    }

    pub(super) fn add_after(&self, task: usize, after: usize) {
        let mut tasks = self.tasks();
        if tasks.tasks[task].add_after(after) {
            tasks.version += 1;
        }
    }

    pub(super) fn add_foreign(&self, name: String) {
        let mut tasks = self.tasks();
        tasks.foreign.get_or_insert(name);
        tasks.version += 1;
    }

    pub(super) fn foreign(&self) -> Option<String> {
        self.tasks().foreign.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.tasks().tasks.len()
    }

    pub(super) fn version(&self) -> u64 {
        self.tasks().version
    }

    /// The task's name, or its number.
    pub(super) fn name(&self, task: usize) -> String {
        match &self.tasks().tasks[task].name {
            Some(name) => name.to_string(),
            None => format!("task {task}"),
        }
    }

    pub(super) fn nodes(&self) -> Vec<Arc<Node>> {
        self.tasks().tasks.iter().map(|task| Arc::clone(&task.node)).collect()
    }

    /// Where each task runs, and what it comes after.
    pub(super) fn links(&self) -> Vec<(On, Vec<usize>)> {
        self.tasks().tasks.iter().map(|task| (task.on, task.after.clone())).collect()
    }

    /// Every `On` that occurs: their indices are channels.
    pub(super) fn all_on(&self) -> Vec<On> {
        let mut all: Vec<On> = self.tasks().tasks.iter().map(|task| task.on).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Name of the first task that runs there.
    pub(super) fn first_on(&self, on: &On) -> String {
        let task = self.tasks().tasks.iter().position(|task| task.on == *on);
        self.name(task.unwrap_or(0))
    }

    #[cold]
    pub(super) fn note_failure(&self, task: usize, payload: Box<dyn Any + Send>) {
        let mut failure = self.failure.lock();
        match &mut *failure {
            Some(first) => {
                first.others += 1;
                drop(failure);
                discard(payload);
            }
            none => *none = Some(Failure { task, payload, others: 0 }),
        }
    }

    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().take()
    }
}
