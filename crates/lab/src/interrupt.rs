//! Ctrl-C: prints what there is and ends the process, or tells the running command to end.

use crate::error::{Error, input};
use crate::store::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status after an interruption: 128 and the number of SIGINT.
pub(crate) const INTERRUPTED: i32 = 130;

/// Installs a handler: an interruption prints the tables that `show` makes of what was not shown
/// yet, and ends the process with status 130. It writes no file.
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
        eprintln!("sateen: interrupted; the results so far are above, and no file was written");
        std::process::exit(INTERRUPTED);
    })
    .map_err(|e| input(format!("cannot handle interrupts: {e}")))
}

/// Installs a handler: an interruption, or a request to end, sets `flag` and does nothing else. A
/// second one ends the process.
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

/// Installs a handler: the end of the terminal does the same, for commands that depend on a
/// terminal.
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
    // A thread that writes to a terminal that accepts nothing does not see the flag.
    let second = register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag));
    second
        .and_then(|_| register(signal, Arc::clone(flag)))
        .map(drop)
        .map_err(|e| input(format!("cannot handle signal {signal}: {e}")))
}
