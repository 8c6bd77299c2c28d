//! Sheds whose tasks the workers of a runtime execute. The workers sleep while nothing is ready.

use super::build::{self, Build};
use super::load::{self, Task};
use super::shapes::Shape;
use super::spinning::{Executed, record, wrong};
use super::work::{Case, Work};
use crate::adapter::{OURS, ShedLoad};
use crate::crew::{self, StartLine};
use crate::error::{Error, expect, input};
use crate::experiment::{Figure, Group, Plan, Run, Session, Trend};
use crate::experiments::idle::cpu_over;
use crate::ours;
use sateen::Runtime;
use sateen::policy::work_stealing;
use sateen_flow::{Driven, Map, RunOn};
use sateen_shed::{Central, Instance, Layout, Outcome, Shed};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Name of the implementation in the graphs here.
const DRIVEN: &str = "sateen-driven";
/// How many tasks of a graph a worker takes at once.
const TAKEN: u32 = 8;
/// How long a shed without work is watched. Part of the figure's meaning.
const WATCHED: Duration = Duration::from_secs(2);
const STACK: usize = 256 * 1024;

fn runtime(workers: usize) -> Result<Runtime, Error> {
    ours::scheduled(workers, work_stealing())
}

/// Producers of batches of `BATCH`, and as many workers as there are consumers elsewhere. A worker
/// takes up to `BATCH` tasks at once.
pub(super) struct Workers<L: Layout, const BATCH: usize> {
    // The fields are dropped in this order.
    shed: Driven<Task, L>,
    _runtime: Runtime,
    load: ShedLoad,
}

impl<L: Layout, const BATCH: usize> Workers<L, BATCH> {
    pub(super) fn open(channels: u32, load: ShedLoad) -> Result<Self, Error> {
        let runtime = runtime(load.consumers as usize)?;
        let all = (0..channels as u16).fold(Map::new(), |map, c| map.batch(c, BATCH as u32));
        let shed = load::builder::<L>(load.capacity, channels);
        let shed = shed.run_on(&runtime, all, |_, _, task| task.run());
        Ok(Self { shed: shed.map_err(|e| input(e.to_string()))?, _runtime: runtime, load })
    }
}

impl<L: Layout, const BATCH: usize> Session for Workers<L, BATCH> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        load::reset();
        let ShedLoad { producers, tasks, .. } = self.load;
        let (shed, load) = (&*self.shed, self.load);
        let line = &StartLine::new(producers as usize);
        let job = |producer: u32| {
            move || {
                let start = line.pass();
                load::produce::<L, BATCH>(shed, load, producer).map(|()| start)
            }
        };
        let done = crew::run(STACK, (0..producers).map(job).collect())?;
        self.shed.wait().map_err(wrong)?;
        let start = done[0].result.map_err(wrong)?;
        let elapsed = start.elapsed();
        done.iter().try_for_each(|member| member.result.map(drop).map_err(wrong))?;
        expect("the counter", load::executed_by_all(), tasks.into())?;
        Ok(vec![elapsed.as_nanos() as f64 / f64::from(tasks)])
    }
}

/// Adds a graph in a driven shed to a group.
pub(super) fn add(group: &mut Group, workers: usize, work: &Rc<Work>) {
    let work = Rc::clone(work);
    group.add(DRIVEN, move || {
        let (runtime, executed) = (runtime(workers)?, Arc::<Executed>::default());
        let frames = match work.case {
            Case::Frame => Some(Frames::new(&runtime, work.shape(), &executed)?),
            _ => None,
        };
        Ok(Graphs { frames, work: Rc::clone(&work), workers, executed, runtime })
    });
}

struct Graphs {
    // The fields are dropped in this order.
    frames: Option<Frames>,
    work: Rc<Work>,
    workers: usize,
    executed: Arc<Executed>,
    runtime: Runtime,
}

impl Session for Graphs {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.executed.reset();
        let elapsed = match &self.frames {
            Some(frames) => frames.run(self.work.times())?,
            None => self.graph()?,
        };
        self.work.judge(self.executed.get(), elapsed)
    }
}

/// Creates a shed for the graph, whose tasks count themselves.
fn driven(
    runtime: &Runtime,
    [tasks, dependencies]: [u64; 2],
    executed: &Arc<Executed>,
) -> Result<Driven<(), Central>, Error> {
    let executed = Arc::clone(executed);
    let shed = Shed::builder().tasks(tasks).dependencies(dependencies);
    let shed = shed.run_on(runtime, Map::new().batch(0, TAKEN), move |_, _, ()| {
        _ = executed.add();
        Outcome::Complete
    });
    shed.map_err(|e| input(e.to_string()))
}

impl Graphs {
    /// Runs a graph once, in a shed of its own. As many threads as there are workers build a random
    /// one, and sleep meanwhile.
    fn graph(&self) -> Result<Duration, Error> {
        let shape = self.work.shape();
        let sizes = [shape.tasks.into(), shape.edges.len() as u64];
        let driven = driven(&self.runtime, sizes, &self.executed)?;
        let shed: &Shed<()> = &driven;
        let start;
        if self.work.case == Case::Random {
            let (together, line) =
                (&Build::new(shed, shape, self.workers), &StartLine::new(self.workers));
            let job = |worker| {
                move || {
                    let start = line.pass();
                    let roots = together.share(worker)?;
                    build::ready(shed, &roots).map(|()| start)
                }
            };
            let done = crew::run(STACK, (0..self.workers).map(job).collect())?;
            let starts: Result<Vec<Instant>, _> = done.into_iter().map(|d| d.result).collect();
            start = starts.map_err(wrong)?[0];
        } else {
            let roots = Build::new(shed, shape, 1).share(0).map_err(wrong)?;
            start = Instant::now();
            build::ready(shed, &roots).map_err(wrong)?;
        }
        driven.wait().map_err(wrong)?;
        Ok(start.elapsed())
    }
}

/// A frame whose end starts the next one.
struct Frames {
    frame: Arc<Frame>,
    over: Receiver<()>,
    driven: Driven<(), Central>,
}

#[derive(Default)]
struct Frame {
    instance: OnceLock<Instance<Arc<Shed<()>>>>,
    /// Runs that have not begun.
    left: AtomicU32,
}

impl Frame {
    /// Begins the next run. Returns `false` if none is left.
    fn next(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        // No other thread changes it: one run ends at a time.
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        // If the start is refused, the count lacks tasks.
        left > 0 && self.instance.get().is_some_and(|instance| instance.start().is_ok())
    }
}

impl Frames {
    fn new(runtime: &Runtime, shape: &Shape, executed: &Arc<Executed>) -> Result<Self, Error> {
        let (mut template, sizes) = record(shape)?;
        let driven = driven(runtime, sizes, executed)?;
        let frame = Arc::<Frame>::default();
        let (end, over) = channel();
        let weak: Weak<Frame> = Arc::downgrade(&frame);
        template.on_done(move || {
            if !weak.upgrade().is_some_and(|frame| frame.next()) {
                // The receiver is gone only when no thread waits.
                let _ = end.send(());
            }
        });
        let instance = template.install(Arc::clone(driven.shared())).map_err(wrong)?;
        // The channel was empty.
        let _ = frame.instance.set(instance);
        Ok(Self { frame, over, driven })
    }

    fn run(&self, times: u32) -> Result<Duration, Error> {
        self.frame.left.store(times, Ordering::Relaxed);
        let start = Instant::now();
        if self.frame.next() {
            self.over.recv().map_err(wrong)?;
        }
        let elapsed = start.elapsed();
        self.driven.wait().map_err(wrong)?;
        Ok(elapsed)
    }
}

/// Processor time of a driven shed in which nothing is ready.
pub(super) fn starved(plan: &Plan) -> Group {
    let figure = Figure {
        case: "starved-cpu".to_owned(),
        config: "w2".to_owned(),
        name: "processor time of a shed with nothing ready/2 workers".to_owned(),
        unit: "ms",
        trend: Trend::Lower,
        description:
            "processor time of the process in 2 s, with two workers for a shed in which nothing is \
             ready"
                .to_owned(),
    };
    let mut group = Group::new(1, vec![figure]);
    group.warmups = 0;
    (group.min_runs, group.max_runs, group.in_tour) = (3, Some(3), false);
    let watched = plan.size(WATCHED, Duration::from_millis(40));
    group.add(OURS, move || {
        let (runtime, executed) = (runtime(2)?, Arc::<Executed>::default());
        let shed = driven(&runtime, [1000, 0], &executed)?;
        Ok(Run(move || {
            // The runtime lives as long as the shed.
            let _ = &runtime;
            // Makes the shed known to the workers, and gives them time to fall asleep.
            executed.reset();
            for _ in 0..10 {
                let tasks = shed.create([(); 100]).map_err(wrong)?;
                shed.ready(&tasks).map_err(wrong)?;
            }
            shed.wait().map_err(wrong)?;
            expect("the number of executed tasks", executed.get(), 1000)?;
            std::thread::sleep(Duration::from_millis(20));
            Ok(vec![cpu_over(watched)?])
        }))
    });
    group
}
