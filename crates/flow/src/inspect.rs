//! What this crate tells `sateen-top`: its worker queues. Nothing without the feature `inspect`.

#[cfg(all(feature = "inspect", unix))]
pub(crate) use sateen_runtime::inspect::{Listed, Queue, QueueLook, list_queue, patiently};

/// What is in no list.
#[cfg(not(all(feature = "inspect", unix)))]
pub(crate) struct Listed;
