//! Graphs of tasks with results, for users who need nothing else of a shed.

mod dot;
mod error;
mod handle;
mod results;
mod spec;

pub use error::GraphError;
pub use handle::{Handle, Inputs, On, Tasks};
pub use results::Output;

use crate::ready_channels::ReadyChannels;
use crate::trace;
use crate::{Driven, Map, RunOn, WaitError};
use results::Slot;
use sateen_base::unwind::discard;
use sateen_runtime::{Cancelled, Runtime, Spawner};
use sateen_shed::{Instance, Outcome, Shed, Template, TemplateError};
use spec::{Failure, Node, Spec};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

type NodeShed = Shed<Arc<Node>>;

/// Tasks that run after one another, or side by side, in each of any number of runs.
///
/// A task is a closure. [`after`](Handle::after) names the tasks that it comes after.
/// [`task_with`](Self::task_with) gives it the results of other tasks, which it then comes after.
/// [`run`](Self::run) runs all tasks; their results stay until the next run.
///
/// # Cost
/// The first run sets the graph up. Later runs cost about a quarter of a microsecond a task besides
/// the closures, shared by the workers.
///
/// # Examples
/// ```
/// use sateen::flow::Graph;
/// use sateen::Runtime;
///
/// let mut g = Graph::new();
/// let mut frame = 0;
/// let input = g.task(move || { frame += 1; frame }).name("input");
/// let physics = g.task_with(&input, |frame| frame * 100).name("physics");
/// let sound = g.task(|| println!("pling")).after(&[input]);
/// let draw = g.task_with((&physics,), |(physics,)| format!("{physics} px")).after(&sound);
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// g.run(&runtime)?;
/// assert_eq!(*g.result(&draw)?, "100 px");
/// g.run(&runtime)?;
/// assert_eq!(g.take(&draw)?, "200 px");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`dot`](Self::dot) draws it: see the guide.
pub struct Graph {
    spec: Arc<Spec>,
    /// Set up for a runtime.
    ready: Option<Ready>,
}

/// A graph in a shed. The instance is dropped first.
struct Ready {
    instance: Instance<Arc<NodeShed>>,
    driven: Driven<Arc<Node>>,
    spawner: Spawner,
    /// The specification's version then.
    version: u64,
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// A graph without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self { spec: Arc::new(Spec::default()), ready: None }
    }

    /// Adds a task that calls `f` in each run.
    ///
    /// ```
    /// let mut g = sateen::flow::Graph::new();
    /// let a = g.task(|| 1);
    /// let b = g.task(|| 2).after(&[a]);
    /// # drop(b);
    /// ```
    pub fn task<R>(&mut self, mut f: impl FnMut() -> R + Send + 'static) -> Handle<R>
    where
        R: Send + Sync + 'static,
    {
        self.task_with((), move |()| f())
    }

    /// Adds a task that comes after `inputs` and calls `f` with their results. `inputs` is a
    /// handle, a slice of handles, or a tuple of up to eight.
    ///
    /// ```
    /// use sateen::flow::Graph;
    /// let mut g = Graph::new();
    /// let numbers: Vec<_> = (1..=4).map(|n| g.task(move || n)).collect();
    /// let text = g.task(|| "sum: ");
    /// let sum = g.task_with(&numbers[..], |numbers| numbers.into_iter().sum::<i32>());
    /// let both = g.task_with((&text, &sum), |(text, sum)| format!("{text}{sum}"));
    /// let runtime = sateen::Runtime::builder().workers(2).build()?;
    /// g.run(&runtime)?;
    /// assert_eq!(*g.result(&both)?, "sum: 10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn task_with<I, R, F>(&mut self, inputs: I, mut f: F) -> Handle<R>
    where
        I: Inputs,
        R: Send + Sync + 'static,
        F: for<'a> FnMut(I::Refs<'a>) -> R + Send + 'static,
    {
        let slot = Arc::new(Slot::new());
        let (slots, runs) = (inputs.slots(), Arc::clone(&self.spec.runs));
        let index = self.spec.add({
            let slot = Arc::clone(&slot);
            Box::new(move || {
                let result = I::call(&slots, &mut f);
                slot.set(runs.current(), result);
            })
        });
        Handle::new(Arc::clone(&self.spec), index, slot).after(inputs)
    }

    /// Runs all tasks, each after those that it comes after, and waits for them.
    ///
    /// Blocks a thread, suspends a task. Tasks [on](Handle::on) the main thread run on the calling
    /// thread meanwhile. The first run sets up a shed of exactly the size, and so does a run after
    /// a change or with another runtime.
    ///
    /// # Errors
    /// [`GraphError`]. After a panic all tasks have run that do not come after the task that
    /// panicked. The graph can run again.
    ///
    /// # Examples
    /// ```
    /// use sateen::flow::{Graph, GraphError};
    /// let mut g = Graph::new();
    /// let a = g.task(|| ()).name("hen");
    /// let b = g.task(|| ()).name("egg").after(&a);
    /// let a = a.after(&b);
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let error = g.run(&runtime).unwrap_err();
    /// assert!(matches!(error, GraphError::Cycle(names) if names.len() == 2));
    /// # drop(a);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&mut self, runtime: &Runtime) -> Result<(), GraphError> {
        let ready = match self.ready.take() {
            Some(ready)
                if ready.version == self.spec.version() && ready.spawner == runtime.spawner() =>
            {
                ready
            }
            _ => self.set_up(runtime)?,
        };
        self.spec.runs.begin();
        if ready.instance.start().is_err() {
            // Impossible: a run takes the graph exclusively.
            panic!("a graph was run while it was running");
        }
        let waited = ready.driven.wait_until(|| ready.instance.is_done());
        let failed = ready.instance.is_cancelled();
        if failed {
            // Once all runner tasks have left, the failure is in `spec`.
            discard(ready.driven.wait());
        }
        let result = match (self.spec.take_failure(), waited) {
            (Some(Failure { task, payload, others }), _) => Err(GraphError::Panicked {
                task: self.spec.name(task),
                payload: payload.into(),
                others,
            }),
            (None, Err(WaitError::Refused)) => Err(GraphError::Refused),
            (None, _) if failed => Err(GraphError::Cancelled),
            (None, _) => Ok(()),
        };
        if ready.instance.is_done() {
            self.ready = Some(ready);
        }
        result
    }

    #[cold]
    fn set_up(&self, runtime: &Runtime) -> Result<Ready, GraphError> {
        let (spec, version) = (&self.spec, self.spec.version());
        if let Some(task) = spec.foreign() {
            return Err(GraphError::Foreign { task });
        }
        let all_on = spec.all_on();
        let mut map = Map::new();
        for (channel, on) in all_on.iter().enumerate() {
            let channel = channel as u16;
            map = match on {
                On::Any => map.all(channel),
                On::Main => map.caller(channel),
                On::Worker(worker) if *worker >= runtime.workers() => {
                    let task = spec.first_on(on);
                    let workers = runtime.workers();
                    return Err(GraphError::NoWorker { task, worker: *worker, workers });
                }
                On::Worker(worker) => map.worker(channel, *worker),
            };
        }
        let mut template = Template::new();
        let nodes: Vec<_> = spec.nodes().into_iter().map(|node| template.task(node)).collect();
        let mut lasts = vec![true; nodes.len()];
        let mut edges = 0;
        for (task, (on, after)) in spec.links().into_iter().enumerate() {
            let channel = all_on.binary_search(&on).unwrap_or(0);
            let mut put = template.set_channel(nodes[task], channel as u16);
            for predecessor in after {
                (lasts[predecessor], edges) = (false, edges + 1);
                put = put.and_then(|()| template.depend(&[nodes[task]], &[nodes[predecessor]]));
            }
            put.map_err(|error| self.refusal(error, &nodes))?;
        }
        let lasts = lasts.into_iter().filter(|last| *last).count();
        let driven = Shed::builder()
            .tasks(nodes.len() as u64 + 1)
            .dependencies((edges + lasts) as u64)
            .channels(all_on.len().max(1) as u64)
            .run_on(runtime, map.unnamed(), {
                let spec = Arc::clone(spec);
                move |_, _, node: &mut Arc<Node>| run(&spec, node)
            })
            .map_err(GraphError::Run)?;
        let ready: Arc<ReadyChannels> = Arc::clone(driven.ready());
        template.on_done(move || ready.quiet.notify());
        let instance = template
            .install(Arc::clone(driven.shared()))
            .map_err(|refused| self.refusal(refused.error, &nodes))?;
        Ok(Ready { instance, driven, spawner: runtime.spawner(), version })
    }

    fn refusal(&self, error: TemplateError, nodes: &[sateen_shed::Node]) -> GraphError {
        let indices: HashMap<_, _> = nodes.iter().zip(0..).collect();
        let name = |node| indices.get(&node).map_or_else(String::new, |&i| self.spec.name(i));
        match error {
            TemplateError::Cycle(cycle) => GraphError::Cycle(cycle.into_iter().map(name).collect()),
            TemplateError::SelfDependency(task) => GraphError::Cycle(vec![name(task)]),
            other => GraphError::Template(other),
        }
    }

    /// The task's result of the last run.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::NoResult`] if the task has not run, or its result was
    /// taken.
    pub fn result<'g, R>(&'g self, task: &'g Handle<R>) -> Result<Output<'g, R>, GraphError> {
        self.check(task)?;
        task.slot().get(self.spec.runs.current()).ok_or_else(|| self.no_result(task))
    }

    /// Takes the task's result of the last run.
    ///
    /// # Errors
    /// As [`result`](Self::result); [`GraphError::Held`]: an [`Output`] of it was leaked.
    pub fn take<R>(&mut self, task: &Handle<R>) -> Result<R, GraphError> {
        self.check(task)?;
        match task.slot().take(self.spec.runs.current()) {
            None => Err(self.no_result(task)),
            Some(None) => Err(GraphError::Held { task: task.to_string() }),
            Some(Some(result)) => Ok(result),
        }
    }

    fn check<R>(&self, task: &Handle<R>) -> Result<(), GraphError> {
        if task.is_of(&self.spec) {
            Ok(())
        } else {
            Err(GraphError::Foreign { task: task.to_string() })
        }
    }

    fn no_result<R>(&self, task: &Handle<R>) -> GraphError {
        GraphError::NoResult { task: task.to_string() }
    }

    /// The graph in the language of Graphviz: tasks by name, and where they run if that is not any
    /// worker.
    ///
    /// ```
    /// let mut g = sateen::flow::Graph::new();
    /// let a = g.task(|| ()).name("input");
    /// let b = g.task(|| ()).name("draw").on(sateen::flow::On::Main).after(&a);
    /// let dot = g.dot();
    /// assert!(dot.contains(r#"t0 [label="input"]"#));
    /// assert!(dot.contains(r#"t1 [label="draw\nmain"]"#));
    /// assert!(dot.contains("t0 -> t1"));
    /// # drop(b);
    /// ```
    #[must_use]
    pub fn dot(&self) -> String {
        dot::dot(&self.spec)
    }
}

/// Runs a task's closure. The graph keeps the payload of a panic, with the task; the shed learns
/// only that there was one.
fn run(spec: &Spec, node: &Node) -> Outcome {
    let _slice = trace::named("graph task", || spec.name(node.index));
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| node.call())) {
        if panic.is::<Cancelled>() {
            resume_unwind(panic);
        }
        spec.note_failure(node.index, panic);
        resume_unwind(Box::new("a task of a graph panicked"));
    }
    Outcome::Complete
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("tasks", &self.spec.len()).finish_non_exhaustive()
    }
}
