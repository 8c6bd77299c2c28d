//! The graphs in a shed whose workers are plain threads: they execute what is ready, and spin while
//! nothing is.
//!
//! * fan, chain: the graph is in the shed before the time begins;
//! * random: only the memory exists before, and it is new; the workers build the graph together;
//! * frame: a template is installed once. One of the threads starts each run and executes tasks
//!   until its end.

use super::build::{self, Build};
use super::shapes::Shape;
use super::work::{Case, Work};
use crate::adapter::OURS;
use crate::crew::{self, Relax};
use crate::error::{Error, input};
use crate::experiment::{Group, Session};
use sateen_shed::{Central, Instance, Layout, Outcome, Sharded, Shed, Template};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How many tasks a worker takes at once. More save exchanges, and keep ready tasks from idle
/// workers, which does not matter with tasks as short as here.
const TAKEN: u32 = 64;
/// Most pauses between two looks for ready tasks. Each look takes the list's line away from busy
/// workers.
const MOST_PAUSES: u32 = 16;
const STACK: usize = 256 * 1024;

/// Adds our sheds to a group.
pub(super) fn add(group: &mut Group, workers: usize, work: &Rc<Work>) {
    add_layout::<Central>(group, OURS, workers, work);
    add_layout::<Sharded>(group, "sateen-sharded", workers, work);
}

fn add_layout<L: Layout>(
    group: &mut Group,
    implementation: &'static str,
    workers: usize,
    work: &Rc<Work>,
) {
    let work = Rc::clone(work);
    group.add(implementation, move || {
        let frame = (work.case == Case::Frame).then(|| install(work.shape())).transpose()?;
        Ok(Spinning::<L> { work: Rc::clone(&work), workers, frame })
    });
}

struct Spinning<L: Layout> {
    work: Rc<Work>,
    workers: usize,
    frame: Option<Instance<Arc<Shed<(), L>>>>,
}

impl<L: Layout> Session for Spinning<L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let executed = Executed::default();
        let elapsed = match &self.frame {
            Some(frame) => self.frames(frame, &executed)?,
            None => self.graph(&executed)?,
        };
        self.work.judge(executed.get(), elapsed)
    }
}

impl<L: Layout> Spinning<L> {
    /// Runs a graph once, in a shed of its own.
    fn graph(&self, executed: &Executed) -> Result<Duration, Error> {
        let (shape, workers) = (self.work.shape(), self.workers);
        let shed = &new::<L>(shape.tasks.into(), shape.edges.len() as u64)?;
        let built = match self.work.case {
            Case::Random => None,
            _ => Some(Build::new(shed, shape, 1).share(0).map_err(wrong)?),
        };
        let (built, together) = (built.as_deref(), &Build::new(shed, shape, workers));
        let (all, over) = (u64::from(shape.tasks), &Over::default());
        let job = |worker: usize| {
            move || {
                let readied = match (built, worker) {
                    (None, _) => {
                        together.share(worker).and_then(|roots| build::ready(shed, &roots))
                    }
                    (Some(roots), 0) => build::ready(shed, roots),
                    (Some(_), _) => Ok(()),
                };
                if readied.is_err() {
                    over.0.store(true, Ordering::Relaxed);
                }
                let run = || {
                    if executed.add() == all {
                        over.0.store(true, Ordering::Relaxed);
                    }
                };
                execute_until(shed, run, workers, || over.0.load(Ordering::Relaxed))?;
                readied
            }
        };
        Ok(self.crew(job)?.into_iter().min().unwrap_or_default())
    }

    /// Runs the frame again and again.
    fn frames(
        &self,
        frame: &Instance<Arc<Shed<(), L>>>,
        executed: &Executed,
    ) -> Result<Duration, Error> {
        let (times, shed, over) = (self.work.times(), frame.shed(), &Over::default());
        let (workers, run) = (self.workers, || _ = executed.add());
        let job = |worker: usize| {
            move || {
                if worker > 0 {
                    return execute_until(shed, run, workers, || over.0.load(Ordering::Relaxed));
                }
                let result = (0..times).try_for_each(|_| {
                    // If a start is refused, the graph runs too seldom, which the count shows.
                    frame
                        .start()
                        .map_or(Ok(()), |()| execute_until(shed, run, workers, || frame.is_done()))
                });
                over.0.store(true, Ordering::Relaxed);
                result
            }
        };
        Ok(self.crew(job)?[0])
    }

    /// Runs one job for each worker. Returns how long each took.
    fn crew<J>(&self, job: impl Fn(usize) -> J) -> Result<Vec<Duration>, Error>
    where
        J: FnOnce() -> Result<(), sateen_shed::Error> + Send,
    {
        let done = crew::run(STACK, (0..self.workers).map(job).collect())?;
        done.into_iter().map(|d| d.result.map_err(wrong).map(|()| d.elapsed)).collect()
    }
}

/// The counter that each task adds 1 to, on a line of its own.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Executed(AtomicU64);

impl Executed {
    /// Adds 1, and returns the sum.
    #[inline(always)]
    pub(super) fn add(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Whether all is done. It has a line of its own, so that idle threads do not read the counter,
/// whose line the busy threads need.
#[derive(Default)]
#[repr(align(128))]
struct Over(AtomicBool);

/// Executes what is ready, until `done`, which is asked only when nothing is ready.
fn execute_until<L: Layout>(
    shed: &Shed<(), L>,
    count: impl Fn(),
    threads: usize,
    done: impl Fn() -> bool,
) -> Result<(), sateen_shed::Error> {
    let run = |_, &mut (): &mut ()| {
        count();
        Outcome::Complete
    };
    let mut fruitless = 0;
    let mut relax = Relax::new(threads);
    loop {
        if shed.execute_batch(0, TAKEN, run)? > 0 {
            fruitless = 0;
            relax.reset();
            continue;
        }
        if done() {
            return Ok(());
        }
        fruitless = MOST_PAUSES.min(fruitless + 1);
        (0..fruitless).for_each(|_| relax.pause());
    }
}

fn new<L: Layout>(tasks: u64, dependencies: u64) -> Result<Shed<(), L>, Error> {
    let builder = Shed::builder().tasks(tasks).dependencies(dependencies);
    builder.layout::<L>().build().map_err(|error| input(error.to_string()))
}

/// Installs the graph as a template in a shed of its own.
fn install<L: Layout>(shape: &Shape) -> Result<Instance<Arc<Shed<(), L>>>, Error> {
    let (template, [tasks, dependencies]) = record(shape)?;
    template.install(Arc::new(new::<L>(tasks, dependencies)?)).map_err(wrong)
}

/// Records the graph as a template. Returns it with the room for tasks and dependencies that it
/// needs.
pub(super) fn record(shape: &Shape) -> Result<(Template<()>, [u64; 2]), Error> {
    let mut template = Template::new();
    let tasks: Vec<_> = (0..shape.tasks).map(|_| template.task(())).collect();
    for &(predecessor, successor) in &shape.edges {
        template
            .depend(&[tasks[successor as usize]], &[tasks[predecessor as usize]])
            .map_err(wrong)?;
    }
    // The shed needs a few of both besides the recorded ones.
    Ok((template, [2 * u64::from(shape.tasks), 2 * shape.edges.len() as u64]))
}

pub(super) fn wrong(error: impl std::fmt::Display) -> Error {
    Error::Wrong(error.to_string())
}
