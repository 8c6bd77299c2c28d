//! The way to the global runtime, for what is called on a thread outside of any runtime.

use crate::context;
use crate::runtime::{Runtime, warn_once};
use crate::worker::OUTSIDE;

/// Runs `outside` on the global runtime. Runs `inline` here, by plain calls, if the runtime is shut
/// down or there is none.
pub(crate) fn on_global<A: Send, B: Send, R: Send>(
    a: A,
    b: B,
    outside: impl FnOnce(A, B) -> R + Send,
    inline: impl FnOnce(A, B) -> R,
) -> R {
    debug_assert!(context::with(|c| c.requests() & OUTSIDE != 0), "a worker took the outside path");
    if !context::with(context::Context::is_inline) {
        match Runtime::global() {
            Ok(runtime) => return runtime.install(move || outside(a, b)),
            Err(error) => warn_once(error),
        }
    }
    inline(a, b)
}
