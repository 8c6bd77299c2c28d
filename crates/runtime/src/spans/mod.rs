//! Spans of the crate `tracing` that follow tasks, with the feature of that name.

#[cfg(all(feature = "trace", feature = "tracing"))]
mod layer;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

#[cfg(all(feature = "trace", feature = "tracing"))]
pub use layer::TraceLayer;
#[cfg(not(feature = "tracing"))]
pub(crate) use off::*;
#[cfg(feature = "tracing")]
pub(crate) use on::*;
