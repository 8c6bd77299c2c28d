//! Encodes a look as a line of JSON. `docs/inspect.md` says what each field means.

use super::VERSION;
use super::look::{Look, Place, WaitLook, Who, WorkerLook};
use super::registry::Registry;
use crate::metrics::{Doing, WorkerMetrics};
use crate::shared::Shared;
use sateen_base::prim::time::Duration;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::io::Write;

/// What a worker queue reports about itself.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct QueueLook<'a> {
    number: u64,
    name: &'a str,
    /// Items that wait.
    pub depth: usize,
    /// Items that fit; 0 for none.
    pub capacity: usize,
    /// Items accepted so far; `None` if that is not available now.
    pub sent: Option<u64>,
    /// Handler calls that have ended.
    pub handled: u64,
    /// Items dropped by the overflow rule.
    pub dropped: u64,
    /// Workers.
    pub workers: usize,
    /// Workers inside a handler call.
    pub busy: usize,
    /// The most items in one of its lanes.
    pub deepest: usize,
    /// Number of lanes.
    pub lanes: usize,
    /// Whether it refuses further items.
    pub closed: bool,
}

#[derive(Serialize)]
struct Work<'a> {
    id: u64,
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    name_cut: bool,
    #[serde(serialize_with = "display")]
    spawned_at: Option<&'static std::panic::Location<'static>>,
    for_ns: u64,
}

impl<'a> Work<'a> {
    fn of(who: &'a Who, for_ns: u64) -> Self {
        let Who { id, name, spawned_at } = who;
        Self {
            id: *id,
            name: name.text(),
            name_cut: name.is_cut(),
            spawned_at: *spawned_at,
            for_ns,
        }
    }
}

#[derive(Serialize)]
struct Worker<'a> {
    index: usize,
    doing: &'static str,
    busy_ns: u64,
    idle_ns: u64,
    asleep_ns: u64,
    started: u64,
    ended: u64,
    taken: u64,
    steals: u64,
    #[serde(serialize_with = "counts")]
    counts: &'a WorkerMetrics,
    queued: usize,
    pinned: Option<usize>,
    ready: usize,
    suspended: usize,
    runs: Option<Work<'a>>,
}

impl<'a> Worker<'a> {
    fn of(look: &'a WorkerLook) -> Self {
        let metrics = &look.metrics;
        let nanos = |time: Duration| time.as_nanos() as u64;
        Self {
            index: look.index,
            doing: match look.doing {
                Doing::Work => "works",
                Doing::Search => "searches",
                Doing::Sleep => "sleeps",
                Doing::Nothing => "away",
            },
            busy_ns: nanos(metrics.busy),
            idle_ns: nanos(metrics.idle),
            asleep_ns: nanos(metrics.asleep),
            started: metrics.started,
            ended: metrics.ended,
            taken: look.turns(),
            steals: metrics.branches_stolen.wrapping_add(metrics.thefts),
            counts: metrics,
            queued: metrics.queued,
            pinned: look.pinned,
            ready: metrics.ready,
            suspended: metrics.suspended,
            runs: look.runs.as_ref().map(|who| Work::of(who, look.runs_nanos)),
        }
    }
}

#[derive(Serialize)]
struct Wait<'a> {
    worker: usize,
    kind: &'static str,
    #[serde(serialize_with = "hexadecimal")]
    address: usize,
    #[serde(flatten)]
    work: Work<'a>,
}

#[derive(Serialize)]
struct PlaceRow {
    kind: &'static str,
    #[serde(serialize_with = "hexadecimal")]
    address: usize,
    waiters: usize,
    longest_ns: u64,
}

#[derive(Serialize)]
struct Tasks {
    running: usize,
    ready: usize,
    waiting: usize,
    queued: usize,
    futures: u64,
}

#[derive(Serialize)]
struct Runtime<'a> {
    number: u64,
    #[serde(serialize_with = "workers")]
    workers: &'a [WorkerLook],
    tasks: Option<Tasks>,
    queued_outside: usize,
    without_stack: usize,
    sleeping: usize,
    searching: usize,
    #[serde(serialize_with = "waits")]
    waits: &'a [WaitLook],
    #[serde(serialize_with = "places")]
    places: &'a [Place],
}

fn display<S: Serializer>(
    what: &Option<&'static std::panic::Location<'static>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match what {
        Some(what) => to.collect_str(what),
        None => to.serialize_none(),
    }
}

fn counts<S: Serializer>(metrics: &&WorkerMetrics, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(metrics.counts().map(|(name, _, count)| (name, count)))
}

fn hexadecimal<S: Serializer>(address: &usize, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{address:#x}"))
}

fn each<T, R: Serialize, S: Serializer>(
    all: &[T],
    row: impl Fn(&T) -> R,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut rows = to.serialize_seq(Some(all.len()))?;
    all.iter().try_for_each(|it| rows.serialize_element(&row(it)))?;
    rows.end()
}

fn workers<S: Serializer>(all: &&[WorkerLook], to: S) -> Result<S::Ok, S::Error> {
    let mut rows = to.serialize_seq(Some(all.len()))?;
    all.iter().try_for_each(|look| rows.serialize_element(&Worker::of(look)))?;
    rows.end()
}

fn waits<S: Serializer>(all: &&[WaitLook], to: S) -> Result<S::Ok, S::Error> {
    let mut rows = to.serialize_seq(Some(all.len()))?;
    for look in *all {
        rows.serialize_element(&Wait {
            worker: look.worker,
            kind: look.kind,
            address: look.address,
            work: Work::of(&look.who, look.nanos()),
        })?;
    }
    rows.end()
}

fn places<S: Serializer>(all: &&[Place], to: S) -> Result<S::Ok, S::Error> {
    let row = |place: &Place| PlaceRow {
        kind: place.kind,
        address: place.address,
        waiters: place.waiters,
        longest_ns: place.longest_nanos(),
    };
    each(all, row, to)
}

impl<'a> Runtime<'a> {
    fn of(number: u64, shared: &Shared, look: &'a Look) -> Self {
        let queues = |worker: &WorkerLook| worker.metrics.queued + worker.pinned.unwrap_or(0);
        let common = shared.workers.iter().next().map_or(0, |first| first.policy_view.shared_len());
        let outside = shared.injector.len() + common;
        let counts = look.counts;
        let tasks = look.has_fibers.then(|| Tasks {
            running: counts.running,
            ready: counts.ready,
            waiting: counts.waiting,
            queued: outside + look.workers.iter().map(queues).sum::<usize>(),
            futures: shared.futures.count(),
        });
        Self {
            number,
            workers: &look.workers,
            tasks,
            queued_outside: outside,
            without_stack: shared.aside.count(),
            sleeping: shared.sleep.sleepers(),
            searching: shared.sleep.searching(),
            waits: &look.waits,
            places: &look.places,
        }
    }
}

/// The program's name, with which each answer begins.
pub(super) struct Program {
    /// The first fields of a JSON object, with a trailing comma.
    head: String,
}

impl Program {
    pub(super) fn new(name: &str) -> Self {
        let (pid, trace) = (std::process::id(), cfg!(feature = "trace"));
        // The name has no character that JSON escapes.
        let head = format!("{{\"program\":\"{name}\",\"pid\":{pid},\"can_trace\":{trace}");
        Self { head }
    }

    /// Writes the answer to `hello`.
    pub(super) fn hello(&self, out: &mut Vec<u8>) {
        begin(out, "hello");
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(b"}}\n");
    }

    /// Writes a frame.
    pub(super) fn frame(&self, time: u64, look: &mut Look, out: &mut Vec<u8>) {
        let registry = Registry::get();
        begin(out, "frame");
        out.extend_from_slice(self.head.as_bytes());
        // Here and below, writing into a vector cannot fail.
        _ = write!(out, ",\"time_ns\":{time},\"runtimes\":");
        match registry.try_runtimes() {
            None => out.extend_from_slice(b"null"),
            Some(runtimes) => {
                out.push(b'[');
                look.begin_round();
                for (at, entry) in runtimes.iter().enumerate() {
                    comma(at, out);
                    look.at(entry.number, &entry.shared);
                    let runtime = Runtime::of(entry.number, &entry.shared, look);
                    _ = serde_json::to_writer(&mut *out, &runtime);
                }
                look.end_round();
                out.push(b']');
            }
        }
        out.extend_from_slice(b",\"queues\":");
        match registry.try_queues() {
            None => out.extend_from_slice(b"null"),
            Some(queues) => {
                out.push(b'[');
                for (at, (number, queue)) in queues.iter().enumerate() {
                    comma(at, out);
                    let mut look = QueueLook::new(*number, queue.name());
                    queue.look(&mut look);
                    _ = serde_json::to_writer(&mut *out, &look);
                }
                out.push(b']');
            }
        }
        out.extend_from_slice(b"}}\n");
    }
}

impl<'a> QueueLook<'a> {
    fn new(number: u64, name: &'a str) -> Self {
        Self {
            number,
            name,
            depth: 0,
            capacity: 0,
            sent: None,
            handled: 0,
            dropped: 0,
            workers: 0,
            busy: 0,
            deepest: 0,
            lanes: 0,
            closed: false,
        }
    }
}

fn comma(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
}

/// The start of each line, up to the value of `what`.
pub(super) fn begin(out: &mut Vec<u8>, what: &str) {
    out.clear();
    _ = write!(out, "{{\"version\":{VERSION},\"{what}\":");
}

/// Writes an error line.
pub(super) fn error(out: &mut Vec<u8>, text: &str) {
    begin(out, "error");
    _ = serde_json::to_writer(&mut *out, text);
    out.extend_from_slice(b"}\n");
}
