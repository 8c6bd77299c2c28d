//! The asker threads: one for reports, which need answers of workers, and one for traces, which
//! take locks and write files. Each may block for ever; neither the other asker nor the server's
//! thread waits for it.
//!
//! An asker and the server exchange messages at a desk. Its lock is held only for copying, and
//! never during a request.

use super::frame::begin;
#[cfg(feature = "trace")]
use super::frame::error;
use super::registry::{Registry, patiently};
use crate::report::Report;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Most places that a report lists with their holders.
const HELD: usize = 200;
/// Capacity for an answer.
const ROOM: usize = 1 << 16;

/// The names of the askers' threads, by the number of their desk.
#[cfg(feature = "trace")]
pub(super) const ASKERS: [&str; 2] = ["sateen-ask", "sateen-ask-trace"];
#[cfg(not(feature = "trace"))]
pub(super) const ASKERS: [&str; 1] = ["sateen-ask"];

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Report,
    #[cfg(feature = "trace")]
    TraceStart,
    #[cfg(feature = "trace")]
    TraceStop(String),
}

/// The state of the desk.
enum State {
    Free,
    Asked(Question),
    /// The asker is working on it.
    Taken,
    Answered,
}

/// The mailbox between an asker and the server.
pub(super) struct Desk {
    state: Mutex<(State, Vec<u8>)>,
    changed: Condvar,
}

impl Desk {
    pub(super) fn new() -> Self {
        let state = Mutex::new((State::Free, Vec::with_capacity(ROOM)));
        Self { state, changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, (State, Vec<u8>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`Desk::lock`] for the server, which never blocks: a process may be stopped thread by
    /// thread.
    fn try_lock(&self) -> Option<MutexGuard<'_, (State, Vec<u8>)>> {
        patiently(|| match self.state.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })
    }

    /// Puts a question on the desk. Returns false if the last one has not been answered.
    pub(super) fn ask(&self, question: Question) -> bool {
        let Some(mut desk) = self.try_lock() else { return false };
        if matches!(desk.0, State::Asked(_) | State::Taken) {
            return false;
        }
        desk.0 = State::Asked(question);
        drop(desk);
        self.changed.notify_one();
        true
    }

    /// Copies the answer, if it is there.
    pub(super) fn collect(&self, out: &mut Vec<u8>) -> bool {
        let Some(mut desk) = self.try_lock() else { return false };
        let answered = matches!(desk.0, State::Answered);
        if answered {
            desk.0 = State::Free;
            out.clear();
            out.extend_from_slice(&desk.1);
        }
        answered
    }

    /// The asker's main loop.
    pub(super) fn serve(&self) {
        let mut answer = Vec::with_capacity(ROOM);
        loop {
            let question = {
                let mut desk = self.lock();
                loop {
                    match std::mem::replace(&mut desk.0, State::Taken) {
                        State::Asked(question) => break question,
                        other => desk.0 = other,
                    }
                    desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                }
            };
            question.answer(&mut answer);
            let mut desk = self.lock();
            std::mem::swap(&mut desk.1, &mut answer);
            desk.0 = State::Answered;
        }
    }
}

impl Question {
    /// The index of its desk.
    pub(super) fn desk(&self) -> usize {
        usize::from(!matches!(self, Self::Report))
    }

    fn answer(&self, out: &mut Vec<u8>) {
        match self {
            Self::Report => {
                let runtimes = Registry::get().runtimes();
                let reports: Vec<_> = runtimes
                    .iter()
                    .filter(|(_, shared)| !shared.is_orphan())
                    .map(|(number, shared)| Told::new(*number, &Report::take(shared)))
                    .collect();
                begin(out, "report");
                _ = serde_json::to_writer(&mut *out, &Reports { runtimes: &reports });
                out.extend_from_slice(b"}\n");
            }
            #[cfg(feature = "trace")]
            Self::TraceStart | Self::TraceStop(_) => trace(self, out),
        }
    }
}

#[derive(Serialize)]
struct Reports<'a> {
    runtimes: &'a [Told],
}

#[derive(Serialize)]
struct Told {
    number: u64,
    text: String,
    deadlocks: Vec<String>,
    blocked: Option<String>,
    busy: usize,
    held: Vec<Held>,
}

#[derive(Serialize)]
struct Held {
    address: String,
    by: String,
}

impl Told {
    fn new(number: u64, report: &Report) -> Self {
        let owners: BTreeMap<usize, String> = report
            .fibers
            .iter()
            .filter_map(|fiber| {
                let wait = fiber.waits_for.as_ref().filter(|wait| wait.address != 0)?;
                Some((wait.address, wait.owner.as_ref()?.to_string()))
            })
            .take(HELD)
            .collect();
        let held = |(address, by)| Held { address: format!("{address:#x}"), by };
        Self {
            number,
            text: report.to_string(),
            deadlocks: report.deadlocks.iter().map(ToString::to_string).collect(),
            blocked: report.blocked.map(|blocked| blocked.to_string()),
            busy: report.busy,
            held: owners.into_iter().map(held).collect(),
        }
    }
}

/// Starts or stops the traces of all runtimes.
#[cfg(feature = "trace")]
fn trace(what: &Question, out: &mut Vec<u8>) {
    let runtimes = Registry::get().runtimes();
    let states = runtimes
        .iter()
        .map(|(_, shared)| (shared.traces.state(), shared.workers.iter().map(|cell| &**cell)));
    let Question::TraceStop(path) = what else {
        states.for_each(|(state, workers)| state.start(crate::trace::EVENTS, workers));
        begin(out, "trace");
        return out.extend_from_slice(b"{\"running\":true}}\n");
    };
    states.for_each(|(state, workers)| state.stop(workers));
    let taken: Vec<_> =
        runtimes.iter().filter_map(|(_, shared)| shared.traces.state().take()).collect();
    match crate::trace::save(&taken, std::path::Path::new(path)) {
        Ok(summary) => {
            begin(out, "trace");
            let saved = Saved { running: false, file: path, events: summary.events };
            _ = serde_json::to_writer(&mut *out, &saved);
            out.extend_from_slice(b"}\n");
        }
        Err(reason) => error(out, &reason.to_string()),
    }
}

#[cfg(feature = "trace")]
#[derive(Serialize)]
struct Saved<'a> {
    running: bool,
    file: &'a str,
    events: u64,
}
