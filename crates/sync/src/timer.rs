//! Timers: what wakes a waiter when its time has come.

/// Pending timers of one worker, or of everybody else.
#[derive(Debug, Default)]
pub struct TimerQueue {}
