//! Ctrl-C: show what there is, and go; or tell who is at work to end.

use crate::error::{Error, input};
use crate::store::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status after an interruption: 128 and the number of SIGINT.
pub(crate) const INTERRUPTED: i32 = 130;

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

/// From now on an interruption, or a request to end, sets `flag` and nothing else; a second one ends the process.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn raise(flag: &Arc<AtomicBool>) -> Result<(), Error> {
    let raised = Arc::clone(flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    };
    ctrlc::set_handler(handler).map_err(|e| input(format!("cannot handle interrupts: {e}")))?;
    #[cfg(unix)]
    on_signal(signal_hook::consts::SIGTERM, flag)?;
    Ok(())
}

/// So does the end of the terminal, for who depends on it.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn raise_at_hangup(flag: &Arc<AtomicBool>) -> Result<(), Error> {
    #[cfg(unix)]
    on_signal(signal_hook::consts::SIGHUP, flag)?;
    let _ = flag;
    Ok(())
}

#[cfg(unix)]
fn on_signal(signal: i32, flag: &Arc<AtomicBool>) -> Result<(), Error> {
    use signal_hook::flag::{register, register_conditional_shutdown};
    // Whoever writes to a terminal that takes nothing any more does not see the flag.
    let second = register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag));
    second
        .and_then(|_| register(signal, Arc::clone(flag)))
        .map(drop)
        .map_err(|e| input(format!("cannot handle signal {signal}: {e}")))
}
