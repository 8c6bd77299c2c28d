//! Discarded panics, values that must not meet one, and programs in which nothing unwinds.

#[cfg(not(target_family = "wasm"))]
pub(crate) use sateen_base::unwind::run_and_discard;
pub(crate) use sateen_base::unwind::{Held, discard};

/// Whether panics unwind. In a program built with `panic = "abort"` a panic ends the process, so
/// nothing may be cancelled by one.
#[cfg(not(target_family = "wasm"))]
pub(crate) const CAN_UNWIND: bool = cfg!(panic = "unwind");
