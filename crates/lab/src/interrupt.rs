//! Ctrl-C: show what there is, and go.

use crate::error::{Error, input};
use crate::store::Shared;

/// Exit status after an interruption: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// From now on an interruption prints the tables that `show` makes of what was not shown yet, and
/// ends the process with status 130. No file is written.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn install(
    store: Shared,
    show: impl Fn(&[crate::store::Record]) + Send + 'static,
) -> Result<(), Error> {
    ctrlc::set_handler(move || {
        let mut store = store.lock();
        show(&store.take_unshown());
        eprintln!(
            "sateen: interrupted; what was measured until then is above, no file was written"
        );
        std::process::exit(INTERRUPTED);
    })
    .map_err(|e| input(format!("cannot handle interrupts: {e}")))
}
