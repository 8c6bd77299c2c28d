//! The other libraries, with one adapter a folder. The Cargo feature `peers` compiles them. The
//! standard library's adapter and the programs in other languages are always there.

use crate::adapter::{Job, ThrottleClock};
use crate::experiment::Group;

#[cfg(feature = "peers")]
pub(crate) mod allocators;
#[cfg(feature = "peers")]
pub(crate) mod chili;
#[cfg(feature = "peers")]
pub(crate) mod corosensei;
#[cfg(feature = "peers")]
pub(crate) mod crossbeam;
#[cfg(feature = "peers")]
pub(crate) mod crossfire;
#[cfg(feature = "peers")]
pub(crate) mod disruptor;
#[cfg(feature = "peers")]
pub(crate) mod flume;
#[cfg(feature = "peers")]
pub(crate) mod forte;
#[cfg(feature = "peers")]
mod governor;
#[cfg(feature = "peers")]
pub(crate) mod kanal;
#[cfg(feature = "peers")]
pub(crate) mod may;
#[cfg(feature = "peers")]
pub(crate) mod parking_lot;
mod programs;
#[cfg(feature = "peers")]
pub(crate) mod rayon;
#[cfg(feature = "peers")]
pub(crate) mod rtrb;
#[cfg(feature = "peers")]
pub(crate) mod sharded_slab;
#[cfg(feature = "peers")]
pub(crate) mod slab;
#[cfg(feature = "peers")]
pub(crate) mod spin;
#[cfg(feature = "peers")]
pub(crate) mod st3;
pub(crate) mod std;
#[cfg(feature = "peers")]
pub(crate) mod tokio;

pub(crate) use programs::bikeshed;

/// Refuses blocks of another size than [`BLOCK`](crate::adapter::BLOCK), for pools of a fixed type.
///
/// # Errors
/// [`Error::Absent`](crate::error::Error::Absent).
#[cfg(feature = "peers")]
fn fixed_size(size: usize) -> Result<(), crate::error::Error> {
    if size == crate::adapter::BLOCK.size() {
        return Ok(());
    }
    Err(crate::error::Error::Absent(format!(
        "pools of a fixed type: their blocks have {} bytes here, not {size}",
        crate::adapter::BLOCK.size()
    )))
}

/// Adds to `group` the other libraries' throttles with `clock`.
pub(crate) fn add_throttles(group: &mut Group, clock: ThrottleClock, checks: u32) {
    #[cfg(feature = "peers")]
    governor::add_throttles(group, clock, checks);
    let _ = (group, clock, checks);
}

/// Adds to `group` each program in another language that has one of `cases`, with the first case
/// that it has.
pub(crate) fn add_programs(group: &mut Group, cases: &[&'static str], job: Job) {
    programs::add_all(group, cases, job);
}

/// Adds to `group` the two programs of rayon's users: on our rayon-core and on upstream's. They
/// have all cases of the experiment `rayon`.
pub(crate) fn add_rayons(group: &mut Group, job: Job) {
    programs::add_rayons(group, job);
}
