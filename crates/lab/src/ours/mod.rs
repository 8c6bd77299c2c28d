//! Adapters of Sateen itself, of the same kind as those of the peers.

pub(crate) mod channels;
pub(crate) mod crowds;
pub(crate) mod deques;
pub(crate) mod locks;
pub(crate) mod pipes;
pub(crate) mod pools;
pub(crate) mod queue;
pub(crate) mod runtime;
mod skynet;
pub(crate) mod tasks;
pub(crate) mod turns;

use crate::adapter::{LockKind, OURS, STAGES, STRATEGY};
pub(crate) use locks::{LOCK_FREE, RawKind};
pub(crate) use runtime::scheduled;
pub(crate) use skynet::join as skynet_join;

/// What a user of ours gets who chooses nothing: they are compared with peers.
pub(crate) const DEFAULTS: [&str; 4] =
    [OURS, STRATEGY, <locks::Mutex as LockKind>::NAME, <locks::RwLock as LockKind>::NAME];

/// Returns whether `implementation` is one of ours.
pub(crate) fn is_ours(implementation: &str) -> bool {
    implementation == OURS
        || locks::NAMES.contains(&implementation)
        || is_strategy(implementation)
        || implementation.strip_prefix(OURS).is_some_and(|v| v.starts_with('-'))
}

/// Returns whether `implementation` is a strategy of our pools, with any lock, or the transport
/// that the experiment measures alone. The system's allocator is a peer.
fn is_strategy(implementation: &str) -> bool {
    let families = ["lock-free-", "locked-", "transport-"];
    implementation == STRATEGY || families.iter().any(|f| implementation.starts_with(f))
}

/// Returns whether `implementation` is one of ours that is compared with peers: neither a stage on
/// the way to the default, nor one strategy of many.
pub(crate) fn is_compared(implementation: &str) -> bool {
    let history = STAGES.iter().take_while(|s| **s != OURS).any(|s| *s == implementation);
    let other_strategy = is_strategy(implementation) && implementation != STRATEGY;
    is_ours(implementation) && !history && !other_strategy
}
