//! Helpers that the models share.
#![allow(dead_code, reason = "each model uses some of it")]

use loom::cell::UnsafeCell;
use sateen_shed::{Builder, Outcome, Packed, Shed, TaskId};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub type Model<T> = Shed<T, Packed>;

/// A shed with few list heads, because the model pays for each.
pub fn builder<T>(tasks: u64, dependencies: u64) -> Builder<T, Packed> {
    Shed::builder().tasks(tasks).dependencies(dependencies).layout()
}

pub fn shed<T>(tasks: u64, dependencies: u64) -> loom::sync::Arc<Model<T>> {
    loom::sync::Arc::new(builder(tasks, dependencies).build().expect("small"))
}

/// Executes one task of channel 0.
pub fn one<T>(shed: &Model<T>) -> Option<TaskId> {
    shed.execute_one(0, |_, _| Outcome::Complete).expect("channel 0")
}

/// Executes until no task is ready. Returns how many it executed.
pub fn drain<T>(shed: &Model<T>) -> usize {
    std::iter::from_fn(|| one(shed)).count()
}

/// A payload whose uses the model watches.
pub struct Watched {
    value: UnsafeCell<u32>,
    dropped: &'static AtomicUsize,
}

/// How many [`Watched`] values were dropped. The count is leaked, because a fault may drop a value
/// twice, which the model has to find.
pub fn drops() -> &'static AtomicUsize {
    Box::leak(Box::default())
}

// SAFETY: the model fails if two threads use it at once.
unsafe impl Send for Watched {}

impl Watched {
    pub fn new(value: u32, dropped: &'static AtomicUsize) -> Self {
        Self { value: UnsafeCell::new(value), dropped }
    }

    /// Adds one. Returns the value before.
    pub fn add(&mut self) -> u32 {
        // SAFETY: the model fails if another thread uses it.
        self.value.with_mut(|value| unsafe {
            *value += 1;
            *value - 1
        })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.value.with_mut(|value| unsafe { *value = u32::MAX });
        self.dropped.fetch_add(1, Relaxed);
    }
}
