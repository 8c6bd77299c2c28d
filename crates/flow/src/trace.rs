//! What this crate tells the runtime's trace: its tasks and items. Nothing without the feature
//! `trace`.

#[cfg(feature = "trace")]
pub(crate) use sateen_runtime::trace::{Slice, arrow, is_running, slice};

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
