//! Graphs of tasks that are recorded once and run many times.

use crate::block::flag;
use crate::cycle::Graph;
use crate::index::OptIndex;
use crate::instance::{Instance, ShedRef};
use crate::layout::Layout;
use crate::list::Chain;
use crate::plan::{Armed, OnDone, Plan};
use crate::shed::{Shed, salt};
use crate::word::{Dependents, State, Status};
use crate::{Node, TaskId, TemplateError};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use sateen_base::prim::Ordering;

/// A graph of tasks, recorded once and then [installed](Self::install) in a shed. There it can be
/// started again and again without naming its dependencies again: a game's frame, for example.
///
/// Each run lends the same payloads to the threads that execute the tasks. For several instances,
/// whose runs may overlap, clone the template.
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
    /// Pairs of a successor and its predecessor.
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
    /// A template without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self { number: salt(), tasks: vec![], edges: vec![], on_done: None }
    }

    /// Records a task, on channel 0.
    pub fn task(&mut self, payload: T) -> Node {
        // More tasks than that fit into no shed.
        let index = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
        self.tasks.push(Task { payload, channel: 0, tag: None });
        Node { template: self.number, index }
    }

    /// Sets the channel that a task is ready on. [`install`](Self::install) checks that the shed
    /// has it.
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
    /// # Examples
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
            let edges = successors.iter().map(|successor| (successor.index, predecessor.index));
            self.edges.extend(edges);
        }
        Ok(())
    }

    /// Sets what is called when a run of an instance has ended, and replaces what was set before.
    ///
    /// The thread that ended the last task of the run calls it, once how the run
    /// [ended](Instance::is_done) can be seen. It must not panic, and may start the next run.
    ///
    /// # Examples
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

    /// How many tasks were recorded. A shed for one instance needs one slot more.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether no task was recorded.
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

    /// Gives the tasks slots in `shed`, which is a `&Shed` or an `Arc<Shed>`. Nothing runs before
    /// [`Instance::start`].
    ///
    /// This takes a slot for each task and one more, to see when all have ended; and a dependency
    /// for each that was recorded and one more for each task without successors.
    ///
    /// # Errors
    /// The template comes back: [`TemplateError::Cycle`], [`TemplateError::NoChannel`],
    /// [`TemplateError::Full`], [`TemplateError::NoDependencies`],
    /// [`TemplateError::TooManyDependencies`], [`TemplateError::TooManyLast`].
    ///
    /// # Cost
    /// Linear in tasks and dependencies; a few allocations.
    ///
    /// # Examples
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
        match self.prepare(&shed) {
            Ok(prepared) => {
                let plan = prepared.fill(self, &shed);
                Ok(Instance::new(shed, plan))
            }
            Err(error) => Err(NotInstalled { template: self, error }),
        }
    }

    /// Checks the graph, and takes all that it needs of the shed.
    fn prepare<L: Layout>(&self, shed: &Shed<T, L>) -> Result<Prepared, TemplateError> {
        let len = self.tasks.len();
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
        let too_many = |in_degree: &u32| *in_degree > State::MAX_PREDECESSORS;
        if let Some(index) = graph.in_degrees.iter().position(too_many) {
            return Err(TemplateError::TooManyDependencies(node(index as u32)));
        }
        let last = (0..len).filter(|&task| graph.successors(task).is_empty()).count();
        if last > State::MAX_PREDECESSORS as usize {
            return Err(TemplateError::TooManyLast(last));
        }
        let mut slots = vec![TaskId::NONE; len + 1];
        if !shed.take_slots(&mut slots) {
            return Err(full);
        }
        let asked = self.edges.len() + last;
        let edges = if asked > 0 { shed.take_edges(asked) } else { None };
        if asked > 0 && edges.is_none() {
            shed.give_slots(&mut slots);
            return Err(TemplateError::NoDependencies {
                asked: asked as u64,
                capacity: shed.memory.sizes().edges.into(),
            });
        }
        Ok(Prepared { graph, slots, last: last as u32, edges })
    }
}

/// A template's graph with all that it needs of the shed.
struct Prepared {
    graph: Graph,
    /// A slot for each task, and one for the milestone.
    slots: Vec<TaskId>,
    /// How many tasks have no successors: the milestone waits for them.
    last: u32,
    edges: Option<Chain>,
}

impl Prepared {
    /// Puts the tasks into their slots. From here on nothing fails.
    fn fill<T, L: Layout>(self, template: Template<T>, shed: &Shed<T, L>) -> Arc<Plan> {
        let Self { graph, slots, last, edges } = self;
        let milestone = slots[template.tasks.len()].index();
        let state = |index, in_degree| {
            let slot = State(shed.memory.slot(index).state.load(Ordering::Relaxed));
            let status = if in_degree == 0 { Status::Ready } else { Status::Idle };
            State::new(slot.generation(), status).with_in_degree(in_degree).link()
        };
        let mut next_edge = edges.map_or(OptIndex::NONE, |edges| OptIndex::some(edges.first));
        let mut list = |task: usize| {
            let successors = graph.successors(task);
            let mut successors =
                successors.iter().map(|&successor| slots[successor as usize].index());
            let first = next_edge;
            let mut successor = Some(successors.next().unwrap_or(milestone));
            while let Some(index) = successor {
                let edge = shed.memory.edge(next_edge.index());
                edge.successor.store(index, Ordering::Relaxed);
                next_edge = edge.next.get();
                successor = successors.next();
                if successor.is_none() {
                    edge.next.set(OptIndex::NONE);
                }
            }
            first
        };
        let mut tasks = Vec::with_capacity(template.tasks.len());
        for (i, Task { payload, channel, tag }) in template.tasks.into_iter().enumerate() {
            let index = slots[i].index();
            // SAFETY: the slot was taken, so no other thread looks at the payload; a free slot has
            // none.
            shed.memory.slot(index).payload.with_mut(|p| unsafe { (*p).write(payload) });
            let state = state(index, graph.in_degrees[i]);
            let task = Armed { index, channel: channel.into(), state };
            let flags = flag::KEPT | if tag.is_some() { flag::TAGGED } else { 0 };
            task.install(shed, flags, list(i), || {
                let tag = tag.unwrap_or_default();
                shed.memory.tag(index).store(tag, Ordering::Relaxed);
            });
            tasks.push(task);
        }
        let mut roots: Vec<&Armed> = tasks.iter().filter(|t| t.state.is(Status::Ready)).collect();
        roots.sort_by_key(|task| task.channel);
        let roots = roots.into_iter().map(|task| task.index).collect();
        // Never ready, even without predecessors: a milestone is not executed.
        let idle = state(milestone, last).with_status(Status::Idle);
        let milestone = Armed { index: milestone, channel: 0, state: idle };
        let plan = Arc::new(Plan {
            template: template.number,
            tasks: tasks.into(),
            milestone,
            roots,
            on_done: template.on_done,
        });
        let flags = flag::KEPT | flag::MILESTONE;
        milestone.install(shed, flags, OptIndex::NONE, || plan.attach(shed));
        plan
    }
}

impl Armed {
    /// Puts the task into its slot, which the caller has taken; it is done until it starts. `tag`
    /// writes its tag.
    fn install<T, L: Layout>(
        &self,
        shed: &Shed<T, L>,
        flags: u32,
        first: OptIndex,
        tag: impl FnOnce(),
    ) {
        let generation = self.state.generation();
        let slot = shed.memory.slot(self.index);
        slot.channel.store(self.channel, Ordering::Relaxed);
        shed.set_flags(slot, flags);
        // After the flags: before that, a thread that tags an earlier task here may still write.
        tag();
        let dependents = Dependents::new(generation, first);
        // Ordering: Release, for the Acquire of a thread that is late to depend on an earlier task
        // here. It must find that task stale. Otherwise it would take this word for one that was
        // not used since.
        shed.memory.dependents(self.index).store(dependents.0, Ordering::Release);
        // Ordering: Release, for the Acquire of a thread that learns the name, in whatever way.
        slot.state.store(State::new(generation, Status::Done).link().0, Ordering::Release);
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

/// A template that a shed has refused.
pub struct NotInstalled<T> {
    /// As it was.
    pub template: Template<T>,
    /// Why.
    pub error: TemplateError,
}

impl<T> fmt::Debug for NotInstalled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotInstalled").field(&self.error).finish()
    }
}

impl<T> fmt::Display for NotInstalled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the template cannot be installed: {}", self.error)
    }
}

impl<T> core::error::Error for NotInstalled<T> {}
