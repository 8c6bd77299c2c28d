//! Implementations that are programs or need processes of their own.

use crate::error::Error;
use std::path::PathBuf;

/// Returns the environment variable that the processes of an implementation need, if any.
///
/// # Errors
/// [`Error::Absent`] if the implementation cannot run on this machine.
pub(crate) type Environment = fn() -> Result<Option<(&'static str, PathBuf)>, Error>;

/// What a program is asked to do.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) case: &'static str,
    pub(crate) workers: usize,
    pub(crate) size: u64,
    /// The result that every run must have.
    pub(crate) check: u64,
    /// Computes the figures' values from the program's.
    pub(crate) values: fn(&[f64], &Job) -> Vec<f64>,
}
