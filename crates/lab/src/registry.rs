//! The table of all implementations: which types each row of a comparison measures.
//!
//! The traits of [`adapter`](crate::adapter) say what an implementation can do, the modules of
//! [`ours`](crate::ours) and [`peers`](crate::peers) implement them, and this table lists the
//! implementations. An experiment never names one; it runs a generic function for each type of a
//! row:
//!
//! ```text
//! for_each!(D in deques(plan.peers) => add::<D>(&mut group));
//! ```
//!
//! This module depends on `adapter`, `ours` and `peers`, and none of them on it.

/// `for_each!(T in ROW(PEERS) => EXPR)` evaluates `EXPR` once for each type of `ROW`, where `T`
/// stands for the type: first ours, then the standard library's and the other libraries', as far as
/// `PEERS` says (an `Others`, or a `bool` for all or none), in the order of the row.
///
/// Pools have no name of their own, so their rows hold one:
/// `for_each!((P, name) in pools(…) => …)`.
macro_rules! for_each {
    ($T:ident in deques($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [deques::Plain, deques::Padded, deques::Cached, deques::Asymmetric]
            peers [crossbeam::Crossbeam, st3::St3] }
    };
    ($T:ident in fork_joins($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [rayon::Rayon, chili::Chili, forte::Forte] }
    };
    ($T:ident in iterators($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [rayon::Rayon] }
    };
    ($T:ident in scopes($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [rayon::Rayon] }
    };
    ($T:ident in submits($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [rayon::Rayon, tokio::Tokio, forte::Forte] }
    };
    ($T:ident in tasks($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [tokio::Tokio, may::May] }
    };
    // The tasks of each scheduling policy.
    ($T:ident in policies($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [tasks::Stealing, tasks::Sharing, tasks::RoundRobin]
            peers [tokio::Tokio, may::May] }
    };
    // No peer suspends a task that blocks.
    ($T:ident in fibers($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen]
            peers [] }
    };
    ($T:ident in turns($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen, turns::Local]
            peers [corosensei::Corosensei, tokio::Tokio, may::May, parking_lot::ParkingLot]
            std [std::Std] }
    };
    ($T:ident in crowds($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [runtime::Sateen, crowds::SmallStacks, crowds::Futures]
            peers [tokio::Tokio, may::May] }
    };
    ($T:ident in queues($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [queue::Sateen]
            peers [crossbeam::Seg, crossbeam::Array] }
    };
    ($T:ident in pipes($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [
                pipes::Spsc, pipes::SpscBatch, pipes::Bounded, pipes::BoundedBatch,
                pipes::Unbounded, pipes::UnboundedBatch
            ]
            peers [
                disruptor::Disruptor, disruptor::DisruptorBatch, rtrb::Rtrb, rtrb::RtrbBatch,
                crossbeam::ArrayPipe, crossbeam::SegPipe
            ] }
    };
    ($T:ident in channels($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [channels::Sateen]
            std [std::Std]
            peers [
                crossbeam::Crossbeam, flume::Flume, kanal::Kanal,
                // At most one of them serves a use.
                crossfire::Spsc, crossfire::SpscUnbounded, crossfire::Mpsc,
                crossfire::MpscUnbounded, crossfire::Mpmc, crossfire::MpmcUnbounded
            ] }
    };
    // Locks that threads can share.
    ($T:ident in shared_locks($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [
                locks::Mutex, locks::Ttas, locks::TtasAdaptive, locks::TtasFutex,
                locks::TtasAdaptiveFutex, locks::Ticket, locks::Mcs, locks::OsMutex, locks::Kernel
            ]
            std [std::Std]
            peers [parking_lot::ParkingLot, spin::Spin] }
    };
    // The same, with those that stay on one thread.
    ($T:ident in locks($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [
                locks::Mutex, locks::LocalMutex, locks::Ttas, locks::TtasAdaptive,
                locks::TtasFutex, locks::TtasAdaptiveFutex, locks::Ticket, locks::Mcs,
                locks::OsMutex, locks::Kernel, locks::NoAtomics
            ]
            std [std::Std]
            peers [parking_lot::ParkingLot, spin::Spin] }
    };
    ($T:ident in read_write_locks($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [locks::RwLock]
            std [std::StdRwLock]
            peers [parking_lot::ParkingLotRwLock] }
    };
    // Raw locks that threads can share, with which our scheduler can be built.
    ($T:ident in raw_locks($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @run $T, $peers, $do;
            ours [
                locks::spin::Ttas, locks::spin::TtasAdaptive, locks::spin::TtasFutex,
                locks::spin::TtasAdaptiveFutex, locks::spin::Ticket, locks::spin::Mcs,
                locks::spin::OsMutex, locks::spin::Kernel
            ]
            peers [] }
    };
    // Pools that threads can share.
    (($T:ident, $name:ident) in pools($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @named $T, $name, $peers, $do;
            ours [
                "global" => pools::Global,
                "lock-free-flags" => pools::LockFreeFlags,
                "locked-flags-ttas-adaptive-futex" => pools::LockedFlagsFutex,
                "locked-bits-ttas-adaptive-futex" => pools::LockedBitsFutex,
                "locked-tree-ttas-adaptive-futex" => pools::LockedTreeFutex,
                // The lock matters alike to the three strategies: one of them has the other locks.
                "locked-bits-ttas" => pools::LockedBitsTtas,
                "locked-bits-os-mutex" => pools::LockedBitsOsMutex,
                "lock-free-tree" => pools::LockFreeTree,
                "magazine" => pools::Magazine
            ]
            peers [
                "locked-flags-parking_lot" => parking_lot::LockedFlags,
                "locked-bits-parking_lot" => parking_lot::LockedBits,
                "locked-tree-parking_lot" => parking_lot::LockedTree,
                "mimalloc" => allocators::MiMalloc,
                "jemalloc" => allocators::Jemalloc,
                "snmalloc" => allocators::SnMalloc,
                "sharded-slab" => sharded_slab::Sharded,
                "slab-mutex" => slab::Locked
            ] }
    };
    // Our strategies with a probe that counts. What is counted does not depend on the lock.
    (($T:ident, $name:ident) in counting_pools($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @named $T, $name, $peers, $do;
            ours [
                "lock-free-flags" => pools::CountingLockFreeFlags,
                "locked-flags" => pools::CountingLockedFlags,
                "locked-bits" => pools::CountingLockedBits,
                "locked-tree" => pools::CountingLockedTree,
                "lock-free-tree" => pools::CountingLockFreeTree,
                "magazine" => pools::CountingMagazine
            ]
            peers [] }
    };
    // Pools for one thread: without atomics where a pool has such a form.
    (($T:ident, $name:ident) in lone_pools($peers:expr) => $do:expr) => {
        $crate::registry::for_each! { @named $T, $name, $peers, $do;
            ours [
                "global" => pools::Global,
                "lock-free-flags" => pools::LockFreeFlags,
                "locked-flags-no-atomics" => pools::LockedFlagsNoAtomics,
                "locked-bits-no-atomics" => pools::LockedBitsNoAtomics,
                "locked-tree-no-atomics" => pools::LockedTreeNoAtomics,
                "lock-free-tree" => pools::LockFreeTree,
                "magazine" => pools::Magazine
            ]
            peers [
                "mimalloc" => allocators::MiMalloc,
                "jemalloc" => allocators::Jemalloc,
                "snmalloc" => allocators::SnMalloc,
                "slab-unshared" => slab::Unshared
            ] }
    };

    (@run $T:ident, $peers:expr, $do:expr;
        ours [$($($ours:ident)::+),*]
        $(std [$($first:ident)::+])?
        peers [$($($peer:ident)::+),*]
        $(std [$($last:ident)::+])?
    ) => {{
        $({
            type $T = $crate::ours::$($ours)::+;
            $do;
        })*
        let others = $crate::experiment::Others::from($peers);
        if others.std() {
            $({
                type $T = $crate::peers::$($first)::+;
                $do;
            })?
        }
        if others.all() {
            $(#[cfg(feature = "peers")]
            {
                type $T = $crate::peers::$($peer)::+;
                $do;
            })*
        }
        if others.std() {
            $({
                type $T = $crate::peers::$($last)::+;
                $do;
            })?
        }
    }};
    (@named $T:ident, $name:ident, $peers:expr, $do:expr;
        ours [$($our_name:literal => $($ours:ident)::+),*]
        peers [$($peer_name:literal => $($peer:ident)::+),*]
    ) => {{
        $({
            type $T = $crate::ours::$($ours)::+;
            let $name = $our_name;
            $do;
        })*
        if $crate::experiment::Others::from($peers).all() {
            $(#[cfg(feature = "peers")]
            {
                type $T = $crate::peers::$($peer)::+;
                let $name = $peer_name;
                $do;
            })*
        }
    }};
}
pub(crate) use for_each;
