//! Systems without signals, where faults are left to the system.

use std::io;

/// Does nothing here.
///
/// # Safety
/// As for systems that have signals.
pub unsafe fn on_fault(_handler: fn(usize)) {}

/// Nothing here.
#[derive(Debug)]
pub struct SignalStack(());

impl SignalStack {
    /// Does nothing here.
    ///
    /// # Errors
    /// Never.
    pub fn ensure() -> io::Result<Self> {
        Ok(Self(()))
    }
}

/// Writes to stderr without a buffer or a lock.
pub fn write_stderr(bytes: &[u8]) {
    drop(io::Write::write_all(&mut io::stderr(), bytes));
}
