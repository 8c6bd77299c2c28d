//! Signals that end the lab: SIGINT (Ctrl-C), SIGTERM, and SIGHUP, which comes when a terminal
//! ends. A thread waits for them. It saves what there is, or tells the running command to end.

use crate::error::{Error, input};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The last signal that came; 0 for none.
static LAST: AtomicU8 = AtomicU8::new(0);

/// Returns the name of a signal that ends the lab.
pub(crate) fn name(signal: u8) -> &'static str {
    match signal {
        1 => "SIGHUP",
        15 => "SIGTERM",
        _ => "SIGINT",
    }
}

/// Returns the error that ends a command which has seen its flag; see [`raise`].
pub(crate) fn ended() -> Error {
    Error::Ended(LAST.load(Ordering::Relaxed))
}

/// Calls `save` with the number of the first signal, and ends the process with the status of what
/// `save` returns. Commands that measure cannot look at a flag in the midst of a run. A second
/// signal ends the process at once: the terminal may accept nothing.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn install(save: impl FnOnce(u8) -> Error + Send + 'static) -> Result<(), Error> {
    let mut save = Some(save);
    let busy = Arc::new(AtomicBool::new(false));
    end_if(&busy)?;
    listen(move |signal| {
        if let Some(save) = save.take() {
            busy.store(true, Ordering::Relaxed);
            let error = save(signal);
            crate::report::note(&error.to_string());
            std::process::exit(error.status().into());
        }
    })
}

/// A signal sets `flag` and does nothing else. A second one ends the process: a thread that writes
/// to a terminal which accepts nothing does not see the flag.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn raise(flag: &Arc<AtomicBool>) -> Result<(), Error> {
    let raised = Arc::clone(flag);
    end_if(flag)?;
    listen(move |signal| {
        LAST.store(signal, Ordering::Relaxed);
        raised.store(true, Ordering::Relaxed);
    })
}

/// Ends the process in the signal's own handler if `busy` is set.
///
/// # Errors
/// The system refuses the handler.
fn end_if(busy: &Arc<AtomicBool>) -> Result<(), Error> {
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let busy = Arc::clone(busy);
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, busy)
            .map_err(|e| input(format!("cannot handle signals: {e}")))?;
    }
    let _ = busy;
    Ok(())
}

#[cfg(unix)]
fn listen(mut f: impl FnMut(u8) + Send + 'static) -> Result<(), Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let fail = |e: std::io::Error| input(format!("cannot handle signals: {e}"));
    let hangup = (!crate::proc::ignores(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)).map_err(fail)?;
    let wait = move || signals.forever().for_each(|signal| f(signal as u8));
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).map_err(fail)
}

#[cfg(not(unix))]
fn listen(mut f: impl FnMut(u8) + Send + 'static) -> Result<(), Error> {
    ctrlc::set_handler(move || f(2)).map_err(|e| input(format!("cannot handle interrupts: {e}")))
}
