//! Chooses where nested work runs if the caller is on no fiber or its stack is nearly full.
//!
//! | the caller | its nested work runs |
//! |---|---|
//! | is on a thread outside of any runtime | on the global runtime; inline if there is none |
//! | is in a hook, or its runtime is shut down | inline, by plain calls |
//! | has a nearly full stack | on a [fresh stack](crate::fresh), or here if there is none |

use crate::context;
use crate::fresh::Fresh;
use crate::runtime::{Runtime, warn_once};
use crate::unwind::discard;
use sateen_base::abort_with;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// See the [module's documentation](self).
pub(crate) enum Elsewhere {
    /// On the caller's stack, even though it is nearly full.
    Here,
    Inline,
    Global(&'static Runtime),
    Fresh(Fresh),
}

/// Chooses where nested work of the caller runs.
#[cold]
#[inline(never)]
pub(crate) fn elsewhere() -> Elsewhere {
    match context::here() {
        None => outside(),
        Some((worker, fiber)) => {
            Fresh::take(worker, fiber).map_or(Elsewhere::Here, Elsewhere::Fresh)
        }
    }
}

/// [`elsewhere`], for a caller that is on no fiber.
pub(crate) fn outside() -> Elsewhere {
    debug_assert!(context::fiber().is_none(), "a task took the outside path");
    if context::with(context::Context::is_inline) {
        return Elsewhere::Inline;
    }
    let global = Runtime::global().inspect_err(|error| warn_once(error));
    global.map_or(Elsewhere::Inline, Elsewhere::Global)
}

impl Elsewhere {
    /// Runs `nested` there, or `inline` here.
    ///
    /// This is instantiated for each caller's types. The long part of the path,
    /// [`Elsewhere::call`], is compiled once.
    pub(crate) fn run<A: Send, B: Send, R: Send>(
        self,
        a: A,
        b: B,
        nested: impl FnOnce(A, B) -> R + Send,
        inline: impl FnOnce(A, B) -> R,
    ) -> R {
        if matches!(self, Self::Inline) {
            return inline(a, b);
        }
        let (mut job, mut result) = (Some((a, b, nested)), None);
        let called = self.call(&mut || {
            if let Some((a, b, nested)) = job.take() {
                result = Some(nested(a, b));
            }
        });
        if let Err(panic) = called {
            discard(result);
            resume_unwind(panic);
        }
        result.unwrap_or_else(|| abort_with("nested work did not run elsewhere"))
    }

    /// Calls `job` there, once. The caller resumes a panic after it has discarded what `job`
    /// produced.
    #[inline(never)]
    pub(crate) fn call(self, job: &mut (dyn FnMut() + Send)) -> std::thread::Result<()> {
        match self {
            Self::Here => catch_unwind(AssertUnwindSafe(|| context::without_limit(job))),
            Self::Inline => catch_unwind(AssertUnwindSafe(job)),
            Self::Global(runtime) => catch_unwind(AssertUnwindSafe(|| runtime.install(job))),
            Self::Fresh(fresh) => fresh.call(job),
        }
    }
}
