//! The loop of the Bikeshed article: producers create tasks and make them ready, consumers execute
//! them, and each task adds 1 to one counter.
//!
//! A producer creates a batch, sets its channel and makes it ready, as fast as it can. It sleeps
//! for a millisecond only when the shed is full. A consumer executes from the channel that it
//! prefers, and if that is empty, from the others in turn. The time runs from releasing all threads
//! until a consumer sees that the counter has reached the total.

use crate::adapter::ShedLoad;
use crate::crew::{self, Relax};
use crate::error::{Error, expect, input};
use crate::experiment::{Session, per_call};
use sateen_shed::{BuildError, Builder, Layout, Outcome, Shed};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How long a producer sleeps when the shed is full, as in the original.
const FULL: Duration = Duration::from_millis(1);
/// A consumer reads the counter after this many rounds in which all channels were empty. Reading it
/// in each round would take its line from the threads that count. Reading it seldom is enough to
/// end within microseconds.
const LOOKS: u32 = 16;
const STACK: usize = 256 * 1024;

/// The counter that all tasks add to, on lines of its own.
#[repr(align(128))]
pub(super) struct Counter(AtomicU64);

/// The counter of the current run; there is one run at a time.
static EXECUTED: Counter = Counter(AtomicU64::new(0));

/// A payload as in the original: a function, and its context.
#[derive(Clone, Copy)]
pub(super) struct Task {
    function: fn(&Counter),
    context: &'static Counter,
}

impl Task {
    pub(super) const COUNTING: Self = Self {
        function: |counter| {
            counter.0.fetch_add(1, Ordering::Relaxed);
        },
        context: &EXECUTED,
    };

    #[inline(always)]
    pub(super) fn run(&self) -> Outcome {
        (self.function)(self.context);
        Outcome::Complete
    }
}

/// Sets the counter to zero.
pub(super) fn reset() {
    EXECUTED.0.store(0, Ordering::Relaxed);
}

/// Returns the counter.
pub(super) fn executed_by_all() -> u64 {
    EXECUTED.0.load(Ordering::Relaxed)
}

/// Returns the builder of a shed for this many tasks, without dependencies.
pub(super) fn builder<L: Layout>(capacity: u32, channels: u32) -> Builder<Task, L> {
    let builder = Shed::builder().tasks(capacity.into()).dependencies(0);
    builder.channels(channels.into()).layout::<L>()
}

/// Builds a shed, if there is memory for it.
pub(super) fn build<L: Layout>(builder: Builder<Task, L>) -> Result<Shed<Task, L>, Error> {
    let refused = |error: BuildError| match error {
        BuildError::OutOfMemory { .. } => Error::Absent(format!("a shed of this size: {error}")),
        other => input(other.to_string()),
    };
    builder.build().map_err(refused)
}

/// The work of a producer: its share of the tasks, in batches of `BATCH` as long as enough are
/// left.
pub(super) fn produce<L: Layout, const BATCH: usize>(
    shed: &Shed<Task, L>,
    load: ShedLoad,
    producer: u32,
) -> Result<(), sateen_shed::Error> {
    let channel = (producer % u32::from(shed.channels())) as u16;
    let until =
        |producer: u32| u64::from(producer) * u64::from(load.tasks) / u64::from(load.producers);
    let count = until(producer + 1) - until(producer);
    for _ in 0..count / BATCH as u64 {
        send::<L, BATCH>(shed, channel)?;
    }
    (0..count % BATCH as u64).try_for_each(|_| send::<L, 1>(shed, channel))
}

#[inline(always)]
fn send<L: Layout, const N: usize>(
    shed: &Shed<Task, L>,
    channel: u16,
) -> Result<(), sateen_shed::Error> {
    let tasks = loop {
        match shed.create([Task::COUNTING; N]) {
            Ok(tasks) => break tasks,
            Err(_) => thread::sleep(FULL),
        }
    };
    shed.set_channel(&tasks, channel)?;
    shed.ready(&tasks)
}

/// Producers of batches of `BATCH`, and consumers that take up to `TAKEN` tasks at once. The shed
/// exists before the time begins, and all runs of a session use it: only the first finds memory
/// that was not touched.
pub(super) struct Load<L: Layout, const BATCH: usize, const TAKEN: usize> {
    shed: Shed<Task, L>,
    load: ShedLoad,
}

impl<L: Layout, const BATCH: usize, const TAKEN: usize> Load<L, BATCH, TAKEN> {
    /// With `fifo`, channels hand out the oldest task first.
    pub(super) fn open(channels: u32, load: ShedLoad, fifo: bool) -> Result<Self, Error> {
        let builder = builder(load.capacity, channels);
        Ok(Self { shed: build(if fifo { builder.fifo_all() } else { builder })?, load })
    }

    /// Executes tasks until the counter has reached the total, or `abandoned` is set. Returns how
    /// many.
    fn consume(&self, preferred: u16, abandoned: &AtomicBool) -> Result<u64, sateen_shed::Error> {
        let (mut executed, mut fruitless) = (0, 0_u32);
        let ShedLoad { producers, consumers, tasks, .. } = self.load;
        let mut relax = Relax::new((producers + consumers) as usize);
        loop {
            let ran = self.round(preferred)?;
            if ran > 0 {
                executed += u64::from(ran);
                fruitless = 0;
                relax.reset();
                continue;
            }
            if fruitless.is_multiple_of(LOOKS)
                && (executed_by_all() >= tasks.into() || abandoned.load(Ordering::Relaxed))
            {
                return Ok(executed);
            }
            fruitless += 1;
            relax.pause();
        }
    }

    /// Executes from the first channel that is not empty, starting with the preferred one. Returns
    /// how many tasks.
    #[inline(always)]
    fn round(&self, preferred: u16) -> Result<u32, sateen_shed::Error> {
        let mut channel = preferred;
        loop {
            let ran = if TAKEN == 1 {
                self.shed.execute_one(channel, |_, task| task.run())?.is_some().into()
            } else {
                self.shed.execute_batch(channel, TAKEN as u32, |_, task| task.run())?
            };
            if ran > 0 {
                return Ok(ran);
            }
            channel += 1;
            if channel == self.shed.channels() {
                channel = 0;
            }
            if channel == preferred {
                return Ok(0);
            }
        }
    }
}

impl<L: Layout, const BATCH: usize, const TAKEN: usize> Session for Load<L, BATCH, TAKEN> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        reset();
        let ShedLoad { producers, consumers, tasks, .. } = self.load;
        let (this, abandoned) = (&*self, &AtomicBool::new(false));
        let job = |i: u32| {
            move || {
                if let Some(consumer) = i.checked_sub(producers) {
                    let preferred = consumer % u32::from(this.shed.channels());
                    return this.consume(preferred as u16, abandoned);
                }
                let result = produce::<L, BATCH>(&this.shed, this.load, i);
                if result.is_err() {
                    abandoned.store(true, Ordering::Relaxed);
                }
                result.map(|()| 0)
            }
        };
        let done = crew::run(STACK, (0..producers + consumers).map(job).collect())?;
        let mut executed = 0;
        for member in &done {
            executed += member.result.map_err(|error| Error::Wrong(error.to_string()))?;
        }
        expect("the counter", executed_by_all(), tasks.into())?;
        expect("the number of executed tasks", executed, tasks.into())?;
        let first = done[producers as usize..].iter().map(|d| d.elapsed).min().unwrap_or_default();
        Ok(vec![first.as_nanos() as f64 / f64::from(tasks)])
    }
}

/// One thread that creates a task, makes it ready and executes it, again and again.
pub(super) struct Single {
    shed: Shed<Task>,
    tasks: u32,
}

impl Single {
    pub(super) fn open(tasks: u32) -> Result<Self, Error> {
        Ok(Self { shed: build(builder(1024, 1))?, tasks })
    }
}

impl Session for Single {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        reset();
        let refused = Cell::new(0);
        let values = per_call(self.tasks, || {
            let created = self.shed.create([Task::COUNTING]);
            let ready = created.is_ok_and(|tasks| self.shed.ready(&tasks).is_ok());
            let ran = self.shed.execute_one(0, |_, task| task.run());
            if !ready || !matches!(ran, Ok(Some(_))) {
                refused.set(refused.get() + 1);
            }
        });
        expect("the number of refusals", refused.get(), 0)?;
        expect("the counter", executed_by_all(), self.tasks.into())?;
        values
    }
}
