//! What this crate tells the runtime's trace: its tasks and items. Nothing without the feature
//! `trace`.

use crate::Map;
#[cfg(feature = "trace")]
use crate::map::Label;
use sateen_shed::TaskId;
#[cfg(feature = "trace")]
use std::panic::Location;

#[cfg(feature = "trace")]
pub(crate) use sateen_runtime::trace::{Slice, arrow, is_running, shed_task, slice};

/// What runs from now on until this is dropped; nothing here.
#[cfg(not(feature = "trace"))]
pub(crate) struct Slice;

/// Begins a slice; nothing here.
#[cfg(not(feature = "trace"))]
#[inline(always)]
pub(crate) fn slice(_kind: &'static str, _name: &str, _arrow: u64) -> Slice {
    Slice
}

/// Begins a slice with a name that is made only if a trace is taken.
#[inline(always)]
pub(crate) fn named(kind: &'static str, name: impl FnOnce() -> String) -> Option<Slice> {
    #[cfg(feature = "trace")]
    return is_running().then(|| slice(kind, &name(), 0));
    #[cfg(not(feature = "trace"))]
    {
        let _ = (kind, name);
        None
    }
}

/// What a shed's tasks are called; nothing without the feature.
pub(crate) struct Tasks {
    #[cfg(feature = "trace")]
    label: Label,
    #[cfg(feature = "trace")]
    place: &'static Location<'static>,
}

impl Tasks {
    /// Of a shed that the caller builds.
    #[cfg_attr(feature = "trace", track_caller)]
    pub(crate) fn new(map: Map) -> Self {
        #[cfg(not(feature = "trace"))]
        drop(map);
        Self {
            #[cfg(feature = "trace")]
            label: map.label,
            #[cfg(feature = "trace")]
            place: Location::caller(),
        }
    }

    /// A task begins. It ends when the result is dropped.
    #[inline(always)]
    pub(crate) fn begins(&self, task: TaskId) -> Option<Slice> {
        #[cfg(feature = "trace")]
        return match &self.label {
            Label::None => None,
            Label::Place => Some(shed_task("", self.place, task.to_bits())),
            Label::Name(name) => Some(shed_task(name, self.place, task.to_bits())),
        };
        #[cfg(not(feature = "trace"))]
        {
            let _ = task;
            None
        }
    }
}
