//! What enables the socket: a builder, or the environment.

use super::registry::{self, Listed};
use super::server;
use crate::builder::Builder;
use crate::shared::Shared;
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::Arc;
use std::sync::OnceLock;

const VARIABLE: &str = "SATEEN_INSPECT";

/// Whether a builder enables the socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice(bool);

impl Choice {
    /// The builder does not enable it.
    pub(crate) const NOT: Self = Self(false);

    /// Lists the new runtime. Opens the socket if it is enabled.
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
    /// Lets `sateen-top` inspect all runtimes of this process, including those of other builders.
    /// Default: off, unless the environment variable `SATEEN_INSPECT` is 1. Requires the feature
    /// `inspect`, and Unix.
    ///
    /// A thread serves the socket `$XDG_RUNTIME_DIR/sateen/NAME-PID.sock`, or one in the folder
    /// `sateen-UID` of the folder for temporary files. Only the user may connect. If the socket
    /// cannot be opened, or the program gained privileges when it started, a line on stderr gives
    /// the reason and the program runs without inspection. `docs/inspect.md` in the repository
    /// describes the protocol.
    ///
    /// # Cost
    /// Two sleeping threads, or three with the feature `trace`; one wakes up each second. A look
    /// takes some microseconds on that thread, and a tenth of one for each live fiber. Workers pay
    /// nothing, except for a report, which interrupts each of them between two tasks.
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
