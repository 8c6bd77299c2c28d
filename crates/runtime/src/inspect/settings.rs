//! What asks for the socket: a builder, or the environment.

use super::registry::{self, Listed};
use super::server;
use crate::builder::Builder;
use crate::shared::Shared;
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::Arc;
use std::sync::OnceLock;

const VARIABLE: &str = "SATEEN_INSPECT";

/// Whether a builder asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice(bool);

impl Choice {
    /// The builder does not ask.
    pub(crate) const NOT: Self = Self(false);

    /// The runtime has been made. Opens the socket if that is asked for.
    pub(crate) fn list(self, shared: &Arc<Shared>) -> Listed {
        // Each process tries once.
        static SERVED: PerProcess<OnceLock<()>> = PerProcess::new();
        if self.0 || by_variable() {
            SERVED.get(OnceLock::new).get_or_init(server::start);
        }
        registry::list_runtime(shared)
    }
}

fn by_variable() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| {
        let value = os::variable(VARIABLE).unwrap_or_default();
        match value.to_str().map(str::trim) {
            Some("1") => true,
            Some("0" | "") => false,
            _ => {
                let value = value.to_string_lossy();
                os::say(format_args!(
                    "{VARIABLE}: `{value}` is neither 0 nor 1; nobody can look at this \
                     program"
                ));
                false
            }
        }
    })
}

impl Builder {
    /// Lets `sateen-top` look at all runtimes of this process, also at those that another builder
    /// makes. Default: off, unless the environment variable `SATEEN_INSPECT` is 1. With the feature
    /// `inspect`, on Unix.
    ///
    /// A thread serves the socket `$XDG_RUNTIME_DIR/sateen/NAME-PID.sock`, or one in the folder
    /// `sateen-UID` of the folder for temporary files. Only the user may connect. Where there can
    /// be no socket, and in a program that gained privileges when it started, a line on stderr says
    /// why, and the program runs as without it.
    /// `docs/inspect.md` in the repository has the protocol.
    ///
    /// # Cost
    /// Two threads that sleep, or three with the feature `trace`; one wakes up each second. A look
    /// takes it some microseconds, and a tenth of one for each live fiber. Workers pay nothing, but
    /// for a report, which interrupts each of them between two tasks.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(1).inspect(false).build()?;
    /// assert_eq!(runtime.install(|| 1 + 1), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn inspect(mut self, inspect: bool) -> Self {
        self.inspect = Choice(inspect);
        self
    }
}
