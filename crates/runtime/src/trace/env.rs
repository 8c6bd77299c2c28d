//! `SATEEN_TRACE=FILE`: traces all runtimes of the process, from the start of the first to the end
//! of the process, however it ends.
//!
//! The file is written when the process exits, when a thread panics, and on a signal that may end
//! the process. Earlier panic hooks and signal handlers run afterwards. In the signal handler
//! itself only a write to a pipe happens (`sateen_base::os`).

use super::save::{EVENTS, save};
use super::state::{State, Taken};
use sateen_base::os;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, thread};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

const FILE_VARIABLE: &str = "SATEEN_TRACE";
const EVENTS_VARIABLE: &str = "SATEEN_TRACE_EVENTS";
/// Most runtimes whose traces are kept; the oldest are dropped.
const RUNTIMES: usize = 64;
/// Panics that follow each other within this time are saved once.
const BETWEEN_PANICS: Duration = Duration::from_secs(1);

/// What the variables ask for.
struct Asked {
    path: PathBuf,
    events: usize,
    traces: Mutex<Vec<Arc<State>>>,
    /// When a trace was last saved because of a panic.
    panicked: Mutex<Option<Instant>>,
}

/// Called when a runtime is being built.
pub(super) fn begin(state: &Arc<State>) {
    let Some(asked) = asked() else { return };
    state.start(asked.events, std::iter::empty());
    let gone = {
        let mut traces = asked.traces.lock().unwrap_or_else(PoisonError::into_inner);
        traces.push(Arc::clone(state));
        (traces.len() > RUNTIMES).then(|| traces.remove(0))
    };
    drop(gone);
}

fn asked() -> Option<&'static Asked> {
    static ASKED: OnceLock<Option<Asked>> = OnceLock::new();
    ASKED.get_or_init(ask).as_ref()
}

/// Reads the variables, and arranges for the trace to be saved.
fn ask() -> Option<Asked> {
    let name = os::variable(FILE_VARIABLE).filter(|name| !name.is_empty())?;
    // Programs started by this one inherit the variable.
    let name = match name.into_string() {
        Ok(name) => PathBuf::from(name.replace("%p", &std::process::id().to_string())),
        Err(name) => PathBuf::from(name),
    };
    // The program may change its working directory.
    let path = std::path::absolute(&name).unwrap_or(name);
    let complain = |error: std::io::Error| {
        os::say(format_args!(
            "{FILE_VARIABLE}: cannot write the trace `{}`: {error}",
            path.display()
        ));
    };
    os::create_regular(&path).map_err(complain).ok()?;
    os::at_end(save_all).map_err(complain).ok()?;
    // A thread that is panicking cannot change the hook: it is too late for this panic.
    if !thread::panicking() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if is_first_panic() {
                os::end_work_now();
            }
            before(info);
        }));
    }
    let (traces, panicked) = (Mutex::default(), Mutex::default());
    Some(Asked { path, events: events(), traces, panicked })
}

fn events() -> usize {
    let Some(text) = os::variable(EVENTS_VARIABLE) else { return EVENTS };
    match text.to_string_lossy().parse() {
        Ok(events) if events > 0 => events,
        _ => {
            let text = text.to_string_lossy();
            os::say(format_args!(
                "{EVENTS_VARIABLE}: `{text}` is no number above 0; \
                 there is room for {EVENTS} events"
            ));
            EVENTS
        }
    }
}

/// Whether no panic has been saved for a while.
fn is_first_panic() -> bool {
    let Some(asked) = asked() else { return false };
    let mut panicked = asked.panicked.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let first = panicked.is_none_or(|before| now - before > BETWEEN_PANICS);
    if first {
        *panicked = Some(now);
    }
    first
}

/// Writes the file, or reports why it cannot.
fn save_all() {
    let Some(asked) = asked() else { return };
    let traces = asked.traces.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let all: Vec<Taken> = traces.iter().filter_map(|state| state.take()).collect();
    if let Err(error) = save(&all, &asked.path) {
        os::say(format_args!("{FILE_VARIABLE}: {error}"));
    }
}
