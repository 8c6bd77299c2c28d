//! The way to the global runtime, for what is called on a thread outside of any runtime.

use crate::context;
use crate::runtime::{Runtime, warn_once};
use crate::worker::OUTSIDE;
use sateen_base::abort_with;

/// Runs `outside` on the global runtime. Runs `inline` here, by plain calls, if the runtime is shut
/// down or there is none.
///
/// Callers differ in types, and a call from outside takes microseconds. So what the compiler builds
/// for each of them is little: the way itself is the same for all.
pub(crate) fn on_global<A: Send, B: Send, R: Send>(
    a: A,
    b: B,
    outside: impl FnOnce(A, B) -> R + Send,
    inline: impl FnOnce(A, B) -> R,
) -> R {
    let Some(runtime) = runtime() else {
        return inline(a, b);
    };
    let (mut job, mut result) = (Some((a, b, outside)), None);
    install(runtime, &mut || {
        if let Some((a, b, outside)) = job.take() {
            result = Some(outside(a, b));
        }
    });
    result.unwrap_or_else(|| abort_with("a call from outside did not run"))
}

/// Runs `job`: on the global runtime if it is worth that and there is one, else here.
pub(crate) fn run(is_worth_it: bool, job: &mut (dyn FnMut() + Send)) {
    match is_worth_it.then(runtime).flatten() {
        Some(runtime) => install(runtime, job),
        None => job(),
    }
}

/// The global runtime, unless the caller is to run inline.
fn runtime() -> Option<&'static Runtime> {
    debug_assert!(context::with(|c| c.requests() & OUTSIDE != 0), "a worker took the outside path");
    if context::with(context::Context::is_inline) {
        return None;
    }
    Runtime::global().inspect_err(|error| warn_once(error)).ok()
}

#[inline(never)]
fn install(runtime: &Runtime, job: &mut (dyn FnMut() + Send)) {
    runtime.install(job);
}
