//! Converts the events of all rings to tracks, slices, arrows and counters.
//!
//! The events of all rings are sorted by time. A first pass (`known.rs`) collects what the second
//! needs before it writes.
//!
//! | track | slices |
//! |---|---|
//! | worker | `working` or `idle`; within it `asleep`, or what runs, as it nests |
//! | task | its name, from start to end; within it `running`, `waits for ..`, `ready` |

use super::event::{self, Kind, split};
use super::known::{Item, Known, once};
use super::lane::Lane;
use super::packets::{Details, Packets};
use super::state::{Moment, OUTSIDE, Taken};
use crate::metrics::Doing;
use sateen_base::tsc;
use std::collections::HashMap;
use std::io::{self, Write};

/// The contents of a saved trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceSummary {
    /// Number of events.
    pub events: u64,
    /// Number of older events that were overwritten before it was saved.
    pub overwritten: u64,
}

const PROCESS: u64 = 1;
/// Offset within the numbers of a runtime's tracks.
const WORKERS: u64 = 0x1000;
const TASKS: u64 = 1;
const READY: u64 = 2;
const SLEEPERS: u64 = 3;
const FIBERS: u64 = 4;
const OTHERS: u64 = 5;
/// The first thread that is not a worker.
const THREADS: u64 = 1 << 32;
/// Number spaces of tracks and arrows; the spawn arrow of a task has the task's number.
const OF_TASK: u64 = 1 << 60;
const ARROW: u64 = 1 << 61;
const WAKE: u64 = 1 << 62;
pub(super) const SENT: u64 = 1 << 63;

#[derive(Clone)]
struct Slice {
    name: String,
    category: &'static str,
    /// The task or branch.
    id: u64,
    /// The event that began it.
    begun: Kind,
}

#[derive(Default)]
struct OnFiber {
    slices: Vec<Slice>,
    /// The arrow of a wake-up after which it has not resumed yet; 0 for none.
    woken: u64,
    suspended: bool,
}

/// A task with its own track.
#[derive(Default)]
struct OnTrack {
    open: usize,
    woken: u64,
    begun: bool,
}

/// Writes the events of `all` up to `cut`.
pub(super) fn convert(all: &[Taken], cut: Moment, out: impl Write) -> io::Result<TraceSummary> {
    let clock = Clock::new(cut);
    let (mut lanes, mut items) = (Vec::new(), Vec::new());
    let mut summary = TraceSummary::default();
    for taken in all {
        let end = taken.stopped.map_or(cut.ticks, |stopped| stopped.ticks).min(cut.ticks);
        for traced in &taken.traced {
            let copied = traced.ring.copy(traced.from);
            let lost = copied.first - traced.from;
            let ring = lanes.len() as u32;
            let before = items.len();
            items.extend(copied.events.iter().filter_map(|&[ticks, head, a, b]| {
                let (kind, small, fiber) = split(head)?;
                (ticks <= end).then_some(Item { ticks, ring, small, kind, fiber, a, b })
            }));
            summary.overwritten += lost;
            let first = items.get(before).map_or(traced.since, |item: &Item| item.ticks);
            let since = if lost > 0 { first } else { traced.since.min(first) };
            let turn = items[before..].iter().find(|item| item.kind == Kind::Turn);
            let doing = match turn {
                Some(turn) => Doing::of_number(turn.a),
                None => traced.doing,
            };
            let runtime = taken.number << 40;
            let track = match traced.worker {
                OUTSIDE => runtime | OTHERS,
                worker => runtime | (WORKERS + worker as u64),
            };
            lanes.push(Lane {
                runtime,
                worker: traced.worker,
                track,
                since,
                lost,
                thread: 0,
                base: doing,
                asleep: false,
                fiber: u32::MAX,
                shown: 0,
                name: Vec::new(),
                queued: 0,
                fibers: 0,
            });
        }
    }
    summary.events = items.len() as u64;
    // A stable sort, so the events of a ring stay in order.
    items.sort_by_key(|item| item.ticks);
    once(&mut items, &lanes);
    let known = Known::of(&items);
    let packets = Packets::new(out, summary.overwritten > 0);
    let mut converter = Converter {
        packets,
        clock,
        known,
        lanes,
        fibers: HashMap::new(),
        tasks: HashMap::new(),
        threads: HashMap::new(),
        wakes: WAKE,
    };
    converter.describe(all)?;
    for (index, item) in items.iter().enumerate() {
        converter.item(item, index)?;
    }
    converter.finish(all, cut)?;
    Ok(summary)
}

/// Ticks to nanoseconds since the first trace of the process.
struct Clock {
    origin: u64,
    per_tick: f64,
}

impl Clock {
    fn new(cut: Moment) -> Self {
        let origin = Moment::origin();
        let ticks = cut.ticks.saturating_sub(origin.ticks);
        let nanos = cut.at.saturating_duration_since(origin.at).as_nanos() as f64;
        // Over a short time, the calibration at the start is more precise.
        let per_tick = match nanos > 1e7 && ticks > 0 {
            true => nanos / ticks as f64,
            false => tsc::nanos(1 << 30) as f64 / (1u64 << 30) as f64,
        };
        Self { origin: origin.ticks, per_tick }
    }

    fn nanos(&self, ticks: u64) -> u64 {
        (ticks.saturating_sub(self.origin) as f64 * self.per_tick) as u64
    }
}

struct Converter<W> {
    packets: Packets<W>,
    clock: Clock,
    known: Known,
    lanes: Vec<Lane>,
    fibers: HashMap<u32, OnFiber>,
    tasks: HashMap<u64, OnTrack>,
    /// Tracks of threads that are not workers, by the runtime's number, the thread's number and its
    /// name.
    threads: HashMap<(u64, u32, [u64; 2]), u64>,
    /// The number of the last wake-up arrow.
    wakes: u64,
}

impl<W: Write> Converter<W> {
    fn describe(&mut self, all: &[Taken]) -> io::Result<()> {
        let program = std::env::current_exe().ok();
        let name = program.as_ref().and_then(|path| path.file_name());
        let name = name.map_or_else(|| "?".into(), |name| name.to_string_lossy().into_owned());
        self.packets.process(PROCESS, name)?;
        for taken in all {
            let runtime = taken.number << 40;
            self.packets.named(runtime, PROCESS, format!("runtime {}", taken.number))?;
            let counters =
                [(READY, "ready tasks"), (SLEEPERS, "sleepers"), (FIBERS, "live fibers")];
            for (number, name) in counters {
                self.packets.counter(runtime | number, runtime, name)?;
            }
        }
        for lane in &mut self.lanes {
            let at = self.clock.nanos(lane.since);
            let name = match lane.worker {
                OUTSIDE => "other threads".to_owned(),
                worker => format!("worker {worker}"),
            };
            self.packets.named(lane.track, lane.runtime, name)?;
            if lane.lost > 0 {
                let numbers = &[("events", lane.lost)];
                let details = Details { category: "trace", numbers, ..Details::default() };
                self.packets.instant(at, lane.track, "older events were overwritten", details)?;
            }
            let doing = std::mem::replace(&mut lane.base, Doing::Nothing);
            if lane.worker != OUTSIDE {
                lane.turn(&mut self.packets, at, doing)?;
            }
        }
        for lane in &self.lanes {
            if lane.worker == OUTSIDE {
                let asleep = self.of_runtime(lane.runtime, |lane| u64::from(lane.asleep));
                // If this ring has lost events, events kept by other rings may be older.
                let of_it = self.lanes.iter().filter(|other| other.runtime == lane.runtime);
                let since = of_it.map(|other| other.since).min().unwrap_or(lane.since);
                let at = self.clock.nanos(since);
                self.packets.count(at, lane.runtime | SLEEPERS, asleep)?;
            }
        }
        for taken in all {
            self.packets.named((taken.number << 40) | TASKS, taken.number << 40, "tasks".into())?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, index: usize) -> io::Result<()> {
        let at = self.clock.nanos(item.ticks);
        if item.kind == Kind::Thread {
            let thread = self.thread(item)?;
            self.lanes[item.ring as usize].thread = thread;
            return Ok(());
        }
        let lane = &mut self.lanes[item.ring as usize];
        let track = match std::mem::take(&mut lane.thread) {
            0 => lane.track,
            thread => thread,
        };
        let instant = |category| Details { category, ..Details::default() };
        match item.kind {
            Kind::Name => event::add_piece(&mut lane.name, item.small, item.a, item.b),
            Kind::Spawn => {
                let numbers = &[("task", item.a)];
                let from_here = if self.known.arrows.contains(&item.a) { item.a } else { 0 };
                let details = Details { numbers, from_here, ..instant("task") };
                self.packets.instant(at, track, "spawn", details)?;
            }
            Kind::Start | Kind::PollStart => self.start(item, at)?,
            Kind::BranchStart => {
                let name = if item.small == 0 { "call" } else { "branch" };
                let numbers = &[("task", item.b)];
                let numbers = if item.b == 0 { &numbers[..0] } else { &numbers[..] };
                self.begin(item, at, name.to_owned(), "branch", numbers, 0)?;
            }
            Kind::SliceStart => {
                // SAFETY: the event is whole, so the word is what `pack` made.
                let kind = unsafe { event::unpack(item.a) }.unwrap_or("slice");
                let name = std::mem::take(&mut lane.name);
                let name =
                    if name.is_empty() { kind.into() } else { String::from_utf8_lossy(&name) };
                let arrow = if item.b == 0 { 0 } else { ARROW | item.b };
                self.begin(item, at, name.into_owned(), kind, &[], arrow)?;
            }
            Kind::ShedTask => {
                let named = Item { kind: Kind::SliceStart, ..*item };
                let name = self.name_or_place(item, item.a, "shed task");
                let (slot, generation) = (item.b & u64::from(u32::MAX), item.b >> 32);
                let numbers = &[("slot", slot), ("generation", generation)];
                self.begin(&named, at, name, "shed task", numbers, 0)?;
            }
            Kind::End => self.end(item, at, true)?,
            Kind::PollEnd => self.end(item, at, item.small == 1)?,
            Kind::BranchEnd | Kind::SliceEnd => self.end(item, at, false)?,
            Kind::Suspend => self.suspend(item, at)?,
            Kind::Resume => self.resume(item, at)?,
            Kind::Wake => {
                self.wakes += 1;
                let numbers = &[("runs", item.a)];
                let details = Details { numbers, from_here: self.wakes, ..instant("wake") };
                self.packets.instant(at, track, "wake", details)?;
                let fiber = self.fibers.entry(item.fiber).or_default();
                fiber.woken = self.wakes;
                if fiber.suspended {
                    let tasks: Vec<u64> = fiber.slices.iter().map(|slice| slice.id).collect();
                    tasks.into_iter().try_for_each(|task| self.state(task, at, "ready", None))?;
                }
            }
            Kind::WakeFuture => {
                self.wakes += 1;
                let numbers = &[("task", item.a)];
                let details = Details { numbers, from_here: self.wakes, ..instant("wake") };
                self.packets.instant(at, track, "wake", details)?;
                if self.known.tracked.contains(&item.a) {
                    self.tasks.entry(item.a).or_default().woken = self.wakes;
                    self.state(item.a, at, "ready", None)?;
                }
            }
            Kind::StealTask | Kind::StealBranch => {
                let what =
                    if item.kind == Kind::StealTask { "steals a task" } else { "steals a branch" };
                let details = Details { numbers: &[("from worker", item.a)], ..instant("steal") };
                self.packets.instant(at, track, what, details)?;
            }
            Kind::WakeWorker => {
                let details = Details { numbers: &[("worker", item.a)], ..instant("wake") };
                self.packets.instant(at, track, "wakes a worker", details)?;
            }
            Kind::Timers => {
                let details = Details { numbers: &[("timers", item.a)], ..instant("timer") };
                self.packets.instant(at, track, "timers fire", details)?;
            }
            Kind::JoinStolen => {
                self.packets.instant(at, track, "joins a stolen branch", instant("branch"))?;
            }
            Kind::ArrowStart => {
                // SAFETY: as above.
                let kind = unsafe { event::unpack(item.b) }.unwrap_or("arrow");
                let details = Details { from_here: ARROW | item.a, ..instant("send") };
                self.packets.instant(at, track, kind, details)?;
            }
            Kind::Send | Kind::Receive => {
                let arrow = self.known.sent.get(&index).copied().unwrap_or(0);
                let sends = item.kind == Kind::Send;
                let (name, from_here, to_here) =
                    if sends { ("send", arrow, 0) } else { ("receive", 0, arrow) };
                let details = Details { from_here, to_here, ..instant("channel") };
                self.packets.instant(at, track, name, details)?;
            }
            Kind::Thread => {}
            Kind::Turn => {
                let was_asleep = lane.asleep;
                lane.turn(&mut self.packets, at, Doing::of_number(item.b))?;
                if was_asleep != lane.asleep {
                    let runtime = lane.runtime;
                    let asleep = self.of_runtime(runtime, |lane| u64::from(lane.asleep));
                    self.packets.count(at, runtime | SLEEPERS, asleep)?;
                }
            }
            Kind::Sample => {
                let queued = (item.a >> 32) + (item.a & u64::from(u32::MAX));
                let fibers = item.b >> 32;
                let changed = (queued != lane.queued, fibers != lane.fibers);
                (lane.queued, lane.fibers) = (queued, fibers);
                let runtime = lane.runtime;
                if changed.0 {
                    let ready = self.of_runtime(runtime, |lane| lane.queued);
                    self.packets.count(at, runtime | READY, ready)?;
                }
                if changed.1 {
                    let fibers = self.of_runtime(runtime, |lane| lane.fibers);
                    self.packets.count(at, runtime | FIBERS, fibers)?;
                }
            }
        }
        Ok(())
    }

    /// The track of a thread that is not a worker.
    fn thread(&mut self, item: &Item) -> io::Result<u64> {
        let lane = &self.lanes[item.ring as usize];
        let key = (lane.runtime, item.small, [item.a, item.b]);
        if let Some(&track) = self.threads.get(&key) {
            return Ok(track);
        }
        let track = lane.runtime | (THREADS + self.threads.len() as u64);
        let bytes = [item.a.to_le_bytes(), item.b.to_le_bytes()].concat();
        let name = String::from_utf8_lossy(&bytes);
        let name = name.trim_end_matches('\0');
        let number = item.small;
        let name = match name.is_empty() {
            true => format!("thread {number}"),
            false => format!("thread {number}: {name}"),
        };
        self.packets.named(track, lane.track, name)?;
        self.threads.insert(key, track);
        Ok(track)
    }

    fn of_runtime(&self, runtime: u64, read: impl Fn(&Lane) -> u64) -> u64 {
        self.lanes.iter().filter(|lane| lane.runtime == runtime).map(read).sum()
    }

    /// The name that came before the item, or else the location in its word `place`.
    fn name_or_place(&mut self, item: &Item, place: u64, otherwise: &str) -> String {
        let name = std::mem::take(&mut self.lanes[item.ring as usize].name);
        // SAFETY: the event is whole, so the word is what `pack_place` made.
        let place = unsafe { event::unpack_place(place) };
        match (name.is_empty(), place) {
            (true, Some(place)) => format!("{}:{}", place.file(), place.line()),
            (true, None) => otherwise.to_owned(),
            (false, _) => String::from_utf8_lossy(&name).into_owned(),
        }
    }

    /// A task begins, or a future's poll.
    fn start(&mut self, item: &Item, at: u64) -> io::Result<()> {
        let task = item.a;
        let name = self.name_or_place(item, item.b, "task");
        let mut arrow = if self.known.arrows.remove(&task) { task } else { 0 };
        if self.known.tracked.contains(&task) {
            let runtime = self.lanes[item.ring as usize].runtime;
            let known = self.tasks.entry(task).or_default();
            if known.woken != 0 {
                arrow = std::mem::take(&mut known.woken);
            }
            if !known.begun {
                self.track_of(task, runtime, &name, at)?;
            }
            self.state(task, at, "running", None)?;
        }
        self.begin(item, at, name, "task", &[("task", task)], arrow)
    }

    /// Opens the task's own track.
    fn track_of(&mut self, task: u64, runtime: u64, name: &str, at: u64) -> io::Result<()> {
        let track = OF_TASK | task;
        self.packets.named(track, runtime | TASKS, format!("{name} #{task}"))?;
        let details =
            Details { category: "task", numbers: &[("task", task)], ..Details::default() };
        self.packets.begin(at, track, name, details)?;
        let known = self.tasks.entry(task).or_default();
        (known.begun, known.open) = (true, 1);
        Ok(())
    }

    /// Changes the state of the task, if it has a track.
    fn state(&mut self, task: u64, at: u64, name: &str, address: Option<u64>) -> io::Result<()> {
        let Some(known) = self.tasks.get_mut(&task).filter(|known| known.begun) else {
            return Ok(());
        };
        let track = OF_TASK | task;
        if known.open > 1 {
            self.packets.end(at, track)?;
        }
        known.open = 2;
        let numbers = [("address", address.unwrap_or(0))];
        let numbers = if address.is_some() { &numbers[..] } else { &[] };
        self.packets.begin(
            at,
            track,
            name,
            Details { category: "state", numbers, ..Details::default() },
        )
    }

    /// Begins a slice on the fiber.
    fn begin(
        &mut self,
        item: &Item,
        at: u64,
        name: String,
        category: &'static str,
        numbers: &[(&'static str, u64)],
        to_here: u64,
    ) -> io::Result<()> {
        let lane = &mut self.lanes[item.ring as usize];
        lane.show(&mut self.packets, at, item.fiber)?;
        let details = Details { category, numbers, to_here, ..Details::default() };
        self.packets.begin(at, lane.track, &name, details)?;
        lane.shown += 1;
        let fiber = self.fibers.entry(item.fiber).or_default();
        fiber.suspended = false;
        fiber.slices.push(Slice { name, category, id: item.a, begun: item.kind });
        Ok(())
    }

    /// Ends a slice of the fiber, with all that is open within it. `over` tells whether a task
    /// ends.
    fn end(&mut self, item: &Item, at: u64, over: bool) -> io::Result<()> {
        let fiber = self.fibers.entry(item.fiber).or_default();
        let lane = &mut self.lanes[item.ring as usize];
        // Without a beginning there is no slice to end: it began before the trace.
        let begun = match item.kind {
            Kind::SliceEnd => fiber.slices.len().checked_sub(1),
            _ => fiber.slices.iter().rposition(|slice| slice.id == item.a),
        };
        let fits = |index: &usize| {
            let is_named = fiber.slices[*index].begun == Kind::SliceStart;
            is_named == (item.kind == Kind::SliceEnd)
        };
        if let Some(index) = begun.filter(fits) {
            for _ in fiber.slices.drain(index..) {
                if lane.fiber == item.fiber && lane.shown > 0 {
                    lane.shown -= 1;
                    self.packets.end(at, lane.track)?;
                }
            }
        }
        if item.kind == Kind::PollEnd && !over {
            self.state(item.a, at, "waits", None)?;
        }
        if over && let Some(known) = self.tasks.remove(&item.a) {
            (0..known.open).try_for_each(|_| self.packets.end(at, OF_TASK | item.a))?;
        }
        Ok(())
    }

    fn suspend(&mut self, item: &Item, at: u64) -> io::Result<()> {
        let lane = &mut self.lanes[item.ring as usize];
        lane.hide(&mut self.packets, at)?;
        let fiber = self.fibers.entry(item.fiber).or_default();
        fiber.suspended = true;
        // A waker may have been faster than this event.
        let ready = fiber.woken != 0 || item.a == 0;
        let tasks: Vec<u64> = fiber.slices.iter().map(|slice| slice.id).collect();
        // SAFETY: the event is whole, so the word is what `pack` made.
        let name = match unsafe { event::unpack(item.a) } {
            Some(kind) if !ready => format!("waits for {kind}"),
            _ => "ready".to_owned(),
        };
        let address = (item.b != 0 && !ready).then_some(item.b);
        tasks.into_iter().try_for_each(|task| self.state(task, at, &name, address))
    }

    fn resume(&mut self, item: &Item, at: u64) -> io::Result<()> {
        let fiber = self.fibers.entry(item.fiber).or_default();
        fiber.suspended = false;
        let mut arrow = std::mem::take(&mut fiber.woken);
        if fiber.slices.is_empty() && item.a != 0 {
            // Its beginning is lost.
            let name = format!("task {}", item.a);
            fiber.slices.push(Slice { name, category: "task", id: item.a, begun: Kind::Resume });
        }
        let slices = fiber.slices.clone();
        let lane = &mut self.lanes[item.ring as usize];
        lane.show(&mut self.packets, at, item.fiber)?;
        for slice in &slices {
            let to_here = std::mem::take(&mut arrow);
            let details = Details { category: slice.category, to_here, ..Details::default() };
            self.packets.begin(at, lane.track, &slice.name, details)?;
        }
        lane.shown = slices.len();
        slices.iter().try_for_each(|slice| self.state(slice.id, at, "running", None))
    }

    /// Ends everything that is open.
    fn finish(&mut self, all: &[Taken], cut: Moment) -> io::Result<()> {
        let ends: HashMap<u64, u64> = all
            .iter()
            .map(|taken| {
                let end = taken.stopped.map_or(cut.ticks, |stopped| stopped.ticks);
                (taken.number << 40, self.clock.nanos(end.min(cut.ticks)))
            })
            .collect();
        for lane in &mut self.lanes {
            let at = ends.get(&lane.runtime).copied().unwrap_or(0);
            lane.turn(&mut self.packets, at, Doing::Nothing)?;
        }
        let last = ends.values().max().copied().unwrap_or(0);
        for (task, known) in &self.tasks {
            (0..known.open).try_for_each(|_| self.packets.end(last, OF_TASK | task))?;
        }
        self.packets.flush()
    }
}
