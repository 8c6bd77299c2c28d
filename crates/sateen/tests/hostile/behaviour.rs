//! What hostile code does at the moment when it is called.

use crate::cell::Cell;
use sateen::{join, scope, sleep, spawn, yield_now};
use std::panic::panic_any;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Returns: the cell itself is right.
    Nothing,
    Panic,
    /// Panics with a payload whose destructor panics.
    EvilPayload,
    /// Sleeps, yields, and takes a lock that another holds.
    Wait,
    /// Spawns a task and joins it.
    Spawn,
    /// Forks and opens a scope.
    Nest,
    /// Cancels the task in which the cell runs.
    Cancel,
    /// Shuts down the runtime on which the cell runs.
    Shutdown,
    /// Calls the entry point again.
    Reenter,
    /// Does nothing; what the entry point returned is leaked instead of dropped.
    Leak,
}

impl Behaviour {
    pub(crate) const ALL: [Self; 10] = [
        Self::Nothing,
        Self::Panic,
        Self::EvilPayload,
        Self::Wait,
        Self::Spawn,
        Self::Nest,
        Self::Cancel,
        Self::Shutdown,
        Self::Reenter,
        Self::Leak,
    ];

    /// Behaves so. The user code of an entry calls this.
    pub(crate) fn strike(self, cell: &Arc<Cell>) {
        match self {
            Self::Nothing | Self::Leak => {}
            // A second panic would end the process, by the rules of the language.
            Self::Panic | Self::EvilPayload if std::thread::panicking() => {}
            Self::Panic => panic!("hostile"),
            Self::EvilPayload => panic_any(Evil),
            Self::Wait => {
                yield_now();
                sleep(Duration::from_micros(200));
                cell.wait_for_a_lock();
            }
            Self::Spawn => {
                let item = cell.item();
                // Refused if the runtime has ended.
                _ = spawn(move || drop(item)).join();
            }
            Self::Nest => {
                let (a, b) = (cell.item(), cell.item());
                join(|| drop(a), || drop(b));
                let item = cell.item();
                scope(|s| s.spawn(move |_| drop(item)));
            }
            Self::Cancel => cell.token.cancel(),
            Self::Shutdown => cell.shut_down(),
            Self::Reenter => cell.enter_again(),
        }
    }
}

/// A payload that panics when it is dropped.
struct Evil;

impl Drop for Evil {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the payload of a panic");
        }
    }
}
