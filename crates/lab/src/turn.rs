//! One turn of an implementation: a fresh session, warmed up and run for a while.

use crate::error::Error;
use crate::experiment::Subject;
use std::time::{Duration, Instant};

/// The extent of one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    pub(crate) warmups: u32,
    pub(crate) at_least: u32,
    pub(crate) at_most: u32,
    /// How long to go on after the fewest runs.
    pub(crate) share: Duration,
}

/// Runs `subject` for one turn, and passes the values of every run to `each`.
///
/// # Errors
/// A session cannot be set up, or computed something wrong.
pub(crate) fn take(
    subject: &Subject,
    quota: Quota,
    mut each: impl FnMut(&[f64]),
) -> Result<(), Error> {
    let mut session = (subject.open)()?;
    for _ in 0..quota.warmups {
        session.warm()?;
    }
    let start = Instant::now();
    for done in 1.. {
        each(&session.run()?);
        if done >= quota.at_most || (done >= quota.at_least && start.elapsed() >= quota.share) {
            break;
        }
    }
    Ok(())
}
