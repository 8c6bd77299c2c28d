//! Panics that go nowhere.

pub(crate) use sateen_base::unwind::{discard, run_and_discard};
