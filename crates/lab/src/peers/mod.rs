//! The other libraries, one adapter a folder. Compiled only with the Cargo feature `peers`, except for the
//! programs in other languages; without it the visits find nobody.

use crate::adapter::{
    ChannelsVisitor, CrowdsVisitor, DequeVisitor, ForkJoinVisitor, Job, LockVisitor,
    LonePoolVisitor, PipeKind, PipeVisitor, PoolVisitor, QueueVisitor, ScopesVisitor,
    SubmitVisitor, TasksVisitor, TurnsVisitor,
};
use crate::experiment::Group;
use crate::experiments::throttle::Case;

#[cfg(feature = "peers")]
mod allocators;
#[cfg(feature = "peers")]
mod chili;
#[cfg(feature = "peers")]
mod corosensei;
#[cfg(feature = "peers")]
mod crossbeam;
#[cfg(feature = "peers")]
mod disruptor;
#[cfg(feature = "peers")]
mod flume;
#[cfg(feature = "peers")]
mod forte;
#[cfg(feature = "peers")]
mod governor;
#[cfg(feature = "peers")]
mod kanal;
#[cfg(feature = "peers")]
mod may;
#[cfg(feature = "peers")]
mod parking_lot;
mod programs;
#[cfg(feature = "peers")]
mod rayon;
#[cfg(feature = "peers")]
mod sharded_slab;
#[cfg(feature = "peers")]
mod slab;
#[cfg(feature = "peers")]
mod spin;
#[cfg(feature = "peers")]
mod st3;
mod std;
#[cfg(feature = "peers")]
mod tokio;

pub(crate) use programs::Bikeshed;

/// Shows `visitor` the other libraries' deques.
pub(crate) fn visit_deques(visitor: &mut impl DequeVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<crossbeam::Crossbeam>();
        visitor.visit::<st3::St3>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other fork-join libraries.
pub(crate) fn visit_fork_joins(visitor: &mut impl ForkJoinVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<rayon::Rayon>();
        visitor.visit::<chili::Chili>();
        visitor.visit::<forte::Forte>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries that have scopes.
pub(crate) fn visit_scopes(visitor: &mut impl ScopesVisitor) {
    #[cfg(feature = "peers")]
    visitor.visit::<rayon::Rayon>();
    let _ = visitor;
}

/// Shows `visitor` the other libraries that take closures from outside.
pub(crate) fn visit_submits(visitor: &mut impl SubmitVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<rayon::Rayon>();
        visitor.visit::<tokio::Tokio>();
        visitor.visit::<forte::Forte>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries whose tasks can be waited for.
pub(crate) fn visit_tasks(visitor: &mut impl TasksVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<tokio::Tokio>();
        visitor.visit::<may::May>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries in which two tasks can take turns.
pub(crate) fn visit_turns(visitor: &mut impl TurnsVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<corosensei::Corosensei>();
        visitor.visit::<tokio::Tokio>();
        visitor.visit::<may::May>();
        visitor.visit::<parking_lot::ParkingLot>();
    }
    visitor.visit::<std::Std>();
}

/// Shows `visitor` the other libraries that can have many tasks waiting.
pub(crate) fn visit_crowds(visitor: &mut impl CrowdsVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<tokio::Tokio>();
        visitor.visit::<may::May>();
    }
    let _ = visitor;
}

/// Refuses a size that is not a block's: for pools of a type.
///
/// # Errors
/// [`Error::Absent`](crate::error::Error::Absent).
#[cfg(feature = "peers")]
fn fixed_size(size: usize) -> Result<(), crate::error::Error> {
    if size == crate::adapter::BLOCK.size() {
        return Ok(());
    }
    Err(crate::error::Error::Absent(format!(
        "pools of a fixed type with blocks of {size} bytes: here they have {}",
        crate::adapter::BLOCK.size()
    )))
}

/// Shows `visitor` the other pools and allocators.
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    #[cfg(feature = "peers")]
    {
        parking_lot::visit_pools(visitor);
        allocators::visit_pools(visitor);
        visitor.visit::<sharded_slab::Sharded>("sharded-slab");
        visitor.visit::<slab::Locked>("slab-mutex");
    }
    let _ = visitor;
}

/// Shows `visitor` the other pools and allocators for a thread alone.
pub(crate) fn visit_lone_pools(visitor: &mut impl LonePoolVisitor) {
    #[cfg(feature = "peers")]
    {
        allocators::visit_lone_pools(visitor);
        visitor.visit::<slab::Unshared>("slab-unshared");
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries' locks. The standard library's is always there.
pub(crate) fn visit_locks(visitor: &mut impl LockVisitor) {
    visitor.visit::<std::Std>();
    #[cfg(feature = "peers")]
    {
        visitor.visit::<parking_lot::ParkingLot>();
        visitor.visit::<spin::Spin>();
    }
}

/// Shows `visitor` the other libraries' reader-writer locks. The standard library's is always there.
pub(crate) fn visit_read_write(visitor: &mut impl LockVisitor) {
    visitor.visit::<std::StdRwLock>();
    #[cfg(feature = "peers")]
    visitor.visit::<parking_lot::ParkingLotRwLock>();
}

/// Shows `visitor` the other libraries' queues.
pub(crate) fn visit_queues(visitor: &mut impl QueueVisitor) {
    #[cfg(feature = "peers")]
    {
        visitor.visit::<crossbeam::Seg>();
        visitor.visit::<crossbeam::Array>();
    }
    let _ = visitor;
}

/// Shows `visitor` the other libraries' queues of a kind.
pub(crate) fn visit_pipes(kind: PipeKind, batches: bool, visitor: &mut impl PipeVisitor) {
    #[cfg(feature = "peers")]
    match (kind, batches) {
        (PipeKind::Spsc, false) => visitor.visit::<disruptor::Disruptor>(),
        (PipeKind::Spsc, true) => visitor.visit::<disruptor::DisruptorBatch>(),
        (PipeKind::Bounded, false) => visitor.visit::<crossbeam::ArrayPipe>(),
        (PipeKind::Unbounded, false) => visitor.visit::<crossbeam::SegPipe>(),
        // They have no batches.
        (PipeKind::Bounded | PipeKind::Unbounded, true) => {}
    }
    let _ = (kind, batches, visitor);
}

/// Shows `visitor` the other libraries' channels. The standard library's are always there.
pub(crate) fn visit_channels(visitor: &mut impl ChannelsVisitor) {
    visitor.visit::<std::Std>();
    #[cfg(feature = "peers")]
    {
        visitor.visit::<crossbeam::Crossbeam>();
        visitor.visit::<flume::Flume>();
        visitor.visit::<kanal::Kanal>();
    }
}

/// Adds to `group` the other libraries' throttles with the clock of `case`.
pub(crate) fn add_throttles(group: &mut Group, case: Case, checks: u32) {
    #[cfg(feature = "peers")]
    governor::add_throttles(group, case, checks);
    let _ = (group, case, checks);
}

/// Adds to `group` each program in another language that has one of `cases`, the first that it has.
pub(crate) fn add_programs(group: &mut Group, cases: &[&'static str], job: Job) {
    programs::add_all(group, cases, job);
}
