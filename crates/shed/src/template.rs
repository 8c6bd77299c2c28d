//! Graphs of tasks that are recorded once and run many times.

use crate::canary::relaxed_if;
use crate::cycle::Graph;
use crate::instance::{Instance, ShedRef};
use crate::layout::Layout;
use crate::list::Chain;
use crate::memory::flag;
use crate::plan::{Armed, OnDone, Plan};
use crate::shed::{Shed, salt};
use crate::word::{Dependents, State, Status};
use crate::{NotInstalled, TaskId, TemplateError};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use sateen_base::canary;
use sateen_base::prim::Ordering;

/// A task of a [`Template`]. It means the same task in the template's clones, and in instances of all of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub(crate) template: u32,
    pub(crate) index: u32,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}

/// A graph of tasks, recorded once and then [installed](Self::install) in a shed, where it can be started again and again without
/// redoing its dependencies: a game's frame.
///
/// Each run lends the same payloads to who executes the tasks. For several instances, whose runs may overlap, clone the template.
///
/// ```
/// use sateen::shed::{Outcome, Shed, Template};
///
/// let mut frame = Template::new();
/// let input = frame.task("input");
/// let physics = frame.task("physics");
/// let sound = frame.task("sound");
/// let draw = frame.task("draw");
/// frame.depend(&[physics, sound], &[input])?;
/// frame.depend(&[draw], &[physics])?;
///
/// let shed = Shed::builder().tasks(16).dependencies(16).build()?;
/// let frame = frame.install(&shed)?;
/// for _ in 0..3 {
///     frame.start()?;
///     let mut ran = vec![];
///     while shed.execute_one(0, |_, what| { ran.push(*what); Outcome::Complete })?.is_some() {}
///     assert!(frame.is_done());
///     assert_eq!((ran.len(), ran[0]), (4, "input"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Template<T> {
    number: u32,
    tasks: Vec<Task<T>>,
    /// Who waits, and for whom.
    edges: Vec<(u32, u32)>,
    on_done: Option<OnDone>,
}

#[derive(Clone)]
struct Task<T> {
    payload: T,
    channel: u16,
    tag: Option<u64>,
}

impl<T> Default for Template<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Template<T> {
    /// One without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self { number: salt(), tasks: vec![], edges: vec![], on_done: None }
    }

    /// Records a task, on channel 0.
    pub fn task(&mut self, payload: T) -> Node {
        // What is beyond that fits into no shed.
        let index = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
        self.tasks.push(Task { payload, channel: 0, tag: None });
        Node { template: self.number, index }
    }

    /// Sets the channel that a task is ready on. Whether the shed has it, [`install`](Self::install) says.
    ///
    /// # Errors
    /// [`TemplateError::UnknownNode`].
    pub fn set_channel(&mut self, task: Node, channel: u16) -> Result<(), TemplateError> {
        let index = self.known(task)?;
        self.tasks[index].channel = channel;
        Ok(())
    }

    /// Gives a task a [tag](Shed::set_tag), which it has in each run.
    ///
    /// # Errors
    /// [`TemplateError::UnknownNode`].
    pub fn set_tag(&mut self, task: Node, tag: u64) -> Result<(), TemplateError> {
        let index = self.known(task)?;
        self.tasks[index].tag = Some(tag);
        Ok(())
    }

    /// Lets each of `successors` wait for each of `predecessors`: all or none.
    ///
    /// # Errors
    /// [`TemplateError::SelfDependency`], [`TemplateError::UnknownNode`].
    ///
    /// ```
    /// use sateen::shed::{Template, TemplateError};
    /// let mut template = Template::new();
    /// let [a, b] = ["a", "b"].map(|name| template.task(name));
    /// template.depend(&[b], &[a])?;
    /// assert_eq!(template.depend(&[a], &[a]), Err(TemplateError::SelfDependency(a)));
    /// # Ok::<(), TemplateError>(())
    /// ```
    pub fn depend(
        &mut self,
        successors: &[Node],
        predecessors: &[Node],
    ) -> Result<(), TemplateError> {
        for &node in successors.iter().chain(predecessors) {
            self.known(node)?;
        }
        if let Some(&task) = successors.iter().find(|successor| predecessors.contains(successor)) {
            return Err(TemplateError::SelfDependency(task));
        }
        for predecessor in predecessors {
            self.edges
                .extend(successors.iter().map(|successor| (successor.index, predecessor.index)));
        }
        Ok(())
    }

    /// What is called when a run of an instance has ended, and how it [ended](Instance::is_done) can be seen: by who ended the last of its tasks.
    /// Replaces what was set before. It must not panic, and may start the next run.
    ///
    /// ```
    /// use sateen::shed::{Outcome, Shed, Template};
    /// use std::sync::mpsc::channel;
    ///
    /// let mut template = Template::new();
    /// template.task(());
    /// let (done, wait) = channel();
    /// template.on_done(move || done.send(()).unwrap());
    ///
    /// let shed = Shed::builder().build()?;
    /// let instance = template.install(&shed)?;
    /// instance.start()?;
    /// std::thread::scope(|s| {
    ///     s.spawn(|| shed.execute_one(0, |_, ()| Outcome::Complete));
    ///     wait.recv().unwrap();
    /// });
    /// assert!(instance.is_done());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_done(&mut self, done: impl Fn() + Send + Sync + 'static) {
        self.on_done = Some(Arc::new(done));
    }

    /// How many tasks were recorded.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn known(&self, node: Node) -> Result<usize, TemplateError> {
        let index = node.index as usize;
        if node.template == self.number && index < self.tasks.len() {
            Ok(index)
        } else {
            Err(TemplateError::UnknownNode(node))
        }
    }

    /// Gives the tasks places in `shed` (a `&Shed`, or an `Arc<Shed>`), one more to see when all have ended, and their dependencies, one more for
    /// each task that nothing depends on. Nothing runs before [`Instance::start`].
    ///
    /// Cost: linear in tasks and dependencies, a few allocations.
    ///
    /// # Errors
    /// The template comes back: [`TemplateError::Cycle`], [`TemplateError::NoChannel`], [`TemplateError::Full`],
    /// [`TemplateError::NoDependencies`], [`TemplateError::TooManyDependencies`].
    ///
    /// ```
    /// use sateen::shed::{Shed, Template, TemplateError};
    /// let mut template = Template::new();
    /// let [a, b, c] = [1, 2, 3].map(|n| template.task(n));
    /// template.depend(&[b], &[a])?;
    /// template.depend(&[c], &[b])?;
    /// template.depend(&[a], &[c])?;
    /// let shed = Shed::builder().build()?;
    /// let refused = template.install(&shed).unwrap_err();
    /// assert!(matches!(refused.error, TemplateError::Cycle(tasks) if tasks.len() == 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn install<S: ShedRef<Payload = T>>(self, shed: S) -> Result<Instance<S>, NotInstalled<T>> {
        match self.prepare(shed.shed()) {
            Ok(prepared) => {
                let plan = prepared.fill(self, shed.shed());
                Ok(Instance::new(shed, plan))
            }
            Err(error) => Err(NotInstalled { template: self, error }),
        }
    }

    /// Checks the graph, and takes all that it needs of the shed.
    fn prepare<L: Layout>(&self, shed: &Shed<T, L>) -> Result<Prepared, TemplateError> {
        let len = self.len();
        let full = TemplateError::Full { asked: len + 1, capacity: shed.capacity() };
        if len >= shed.capacity() as usize {
            return Err(full);
        }
        let channels = shed.channels();
        if let Some(&Task { channel, .. }) = self.tasks.iter().find(|t| t.channel >= channels) {
            return Err(TemplateError::NoChannel { channel, channels });
        }
        let node = |index| Node { template: self.number, index };
        let graph = Graph::new(len, &self.edges);
        if let Some(cycle) = graph.cycle() {
            return Err(TemplateError::Cycle(cycle.into_iter().map(node).collect()));
        }
        if let Some(index) = graph.open.iter().position(|open| *open > State::MOST_OPEN) {
            return Err(TemplateError::TooManyDependencies(node(index as u32)));
        }
        let last = (0..len).filter(|&task| graph.successors(task).is_empty()).count();
        if last > State::MOST_OPEN as usize {
            return Err(TemplateError::TooManyLast(last));
        }
        let mut places = vec![TaskId::NONE; len + 1];
        if !shed.take_places(&mut places) {
            return Err(full);
        }
        let asked = self.edges.len() + last;
        let edges = if asked > 0 { shed.take_edges(asked) } else { None };
        if asked > 0 && edges.is_none() {
            shed.give_places(&mut places);
            return Err(TemplateError::NoDependencies {
                asked: asked as u64,
                capacity: shed.memory.sizes().edges.into(),
            });
        }
        Ok(Prepared { graph, places, last: last as u32, edges })
    }
}

/// A template's graph with all that it needs.
struct Prepared {
    graph: Graph,
    /// A place for each task, and one for the milestone.
    places: Vec<TaskId>,
    /// How many tasks nothing depends on, so that the milestone does.
    last: u32,
    edges: Option<Chain>,
}

impl Prepared {
    /// Puts the tasks into their places. From here on nothing fails.
    fn fill<T, L: Layout>(self, template: Template<T>, shed: &Shed<T, L>) -> Arc<Plan> {
        let Self { graph, places, last, edges } = self;
        let milestone = places[template.len()].index();
        let state = |index, pending| {
            let place = State(shed.memory.place(index).state.load(Ordering::Relaxed));
            let status = if pending == 0 { Status::Ready } else { Status::Idle };
            State::new(place.generation(), status).with_pending(pending).link()
        };
        let mut next_edge = edges.map_or(0, |edges| edges.first + 1);
        let mut list = |task: usize| {
            let mut successors =
                graph.successors(task).iter().map(|&successor| places[successor as usize].index());
            let first = next_edge;
            let mut successor = Some(successors.next().unwrap_or(milestone));
            while let Some(index) = successor {
                let edge = shed.memory.edge(next_edge - 1);
                edge.successor.store(index, Ordering::Relaxed);
                next_edge = edge.next.load(Ordering::Relaxed);
                successor = successors.next();
                if successor.is_none() {
                    edge.next.store(0, Ordering::Relaxed);
                }
            }
            first
        };
        let mut tasks = Vec::with_capacity(template.len());
        for (i, Task { payload, channel, tag }) in template.tasks.into_iter().enumerate() {
            let index = places[i].index();
            // SAFETY: taken, so nobody else looks at the payload; there is none in a free place.
            shed.memory.place(index).payload.with_mut(|p| unsafe { (*p).write(payload) });
            let task = Armed { index, channel: channel.into(), state: state(index, graph.open[i]) };
            let flags = flag::KEPT | if tag.is_some() { flag::TAGGED } else { 0 };
            task.settle(shed, flags, list(i), || {
                let tag = tag.unwrap_or_default();
                shed.memory.tag(index).store(tag, Ordering::Relaxed);
            });
            tasks.push(task);
        }
        let mut roots: Vec<&Armed> = tasks.iter().filter(|t| t.state.is(Status::Ready)).collect();
        roots.sort_by_key(|task| task.channel);
        let roots = roots.into_iter().map(|task| task.index).collect();
        // Also if it waits for nobody it is not ready: nobody executes it.
        let idle = state(milestone, last).with_status(Status::Idle);
        let milestone = Armed { index: milestone, channel: 0, state: idle };
        let plan = Arc::new(Plan {
            template: template.number,
            tasks: tasks.into(),
            milestone,
            roots,
            on_done: template.on_done,
        });
        milestone.settle(shed, flag::KEPT | flag::MILESTONE, 0, || plan.settle(shed));
        plan
    }
}

impl Armed {
    /// Puts the task, done until it starts, into its place, which the caller has taken. `tag` writes its tag.
    fn settle<T, L: Layout>(&self, shed: &Shed<T, L>, flags: u32, first: u32, tag: impl FnOnce()) {
        let generation = self.state.generation();
        let place = shed.memory.place(self.index);
        place.channel.store(self.channel, Ordering::Relaxed);
        shed.set_flags(place, flags);
        // After the flags: before that, who tags an earlier task here may still write.
        tag();
        let dependents = Dependents::new(generation, first);
        let settled = relaxed_if(canary!("install_dependents"), Ordering::Release);
        // Ordering: Release, for the Acquire of who is late to depend on an earlier task here: it
        // must find that one stale, or would take this word for one that nobody has used since.
        shed.memory.dependents(self.index).store(dependents.0, settled);
        // Ordering: Release, for the Acquire of whoever learns the name, in whatever way.
        let release = relaxed_if(canary!("install"), Ordering::Release);
        place.state.store(State::new(generation, Status::Done).link().0, release);
    }
}

impl<T> fmt::Debug for Template<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template")
            .field("tasks", &self.tasks.len())
            .field("dependencies", &self.edges.len())
            .finish_non_exhaustive()
    }
}
