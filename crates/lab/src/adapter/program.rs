//! Programs of their own: see `crate::peers`, which has them.

/// What a program is asked to do.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) case: &'static str,
    pub(crate) workers: usize,
    pub(crate) size: u64,
    /// The result that every run must have.
    pub(crate) check: u64,
    /// The figures' values from the program's.
    pub(crate) values: fn(&[f64], &Job) -> Vec<f64>,
}
