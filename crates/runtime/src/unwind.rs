//! Panics that go nowhere, values that must not meet one, and programs in which nothing unwinds.

pub(crate) use sateen_base::unwind::{Held, discard, run_and_discard};

/// Whether a panic unwinds. In a program that is built with `panic = "abort"` it ends the process,
/// so nothing may be cancelled by one.
pub(crate) const CAN_UNWIND: bool = cfg!(panic = "unwind");
