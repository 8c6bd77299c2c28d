//! The twin does what a shed does, with one thread and collections of the standard library.

mod ends;

use super::{Event, Payload};
pub(super) use ends::Batch;
use ends::{Ending, How};
use sateen_shed::{Error, TaskId, TaskState};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Idle,
    Ready,
    Running,
    Blocked,
    Cancelled,
}

#[derive(Clone, Debug)]
struct Task {
    number: u32,
    status: Status,
    channel: u16,
    /// The channel on which the task was last executed.
    runs_on: u16,
    tag: Option<u64>,
    /// How many predecessors it waits for. For a cancelled task this includes the list that it lies
    /// in.
    in_degree: u32,
    /// Whether a predecessor has ended by itself.
    marked: bool,
    /// Whether it was cancelled while it ran.
    poisoned: bool,
    /// Whether it was made ready while it ran. Used only without std, where the shed cannot tell
    /// whether the task did that itself.
    woken: bool,
    /// Its successors, in the order in which they are told.
    dependents: VecDeque<TaskId>,
}

/// The ready tasks of a channel, and how many of its tasks ended in which way.
#[derive(Default)]
struct List {
    fifo: bool,
    /// The task that comes next is in front.
    tasks: VecDeque<TaskId>,
    /// Used in a channel that hands out the oldest first: tasks that come after all of `tasks`.
    inbox: VecDeque<TaskId>,
    readied: u64,
    completed: u64,
    blocked: u64,
    cancelled: u64,
}

impl List {
    fn push(&mut self, range: &[TaskId]) {
        if self.fifo {
            self.inbox.extend(range);
        } else {
            self.push_first(range);
        }
    }

    fn push_first(&mut self, range: &[TaskId]) {
        range.iter().rev().for_each(|&task| self.tasks.push_front(task));
    }

    /// Takes up to `most` tasks from the front. If there are none, the whole inbox moves there
    /// first.
    fn pop(&mut self, most: usize) -> VecDeque<TaskId> {
        if self.tasks.is_empty() && most > 0 {
            std::mem::swap(&mut self.tasks, &mut self.inbox);
        }
        let most = most.min(self.tasks.len());
        self.tasks.drain(..most).collect()
    }
}

pub(super) struct Twin {
    capacity: u32,
    edges: usize,
    free_slots: usize,
    free_edges: usize,
    tasks: BTreeMap<TaskId, Task>,
    /// One list for each channel.
    ready: Vec<List>,
    /// What the user should have noticed so far.
    pub(super) events: Vec<Event>,
}

impl Twin {
    /// `fifo` says for each channel whether it hands out the oldest first.
    pub(super) fn new(capacity: u32, edges: u32, fifo: &[bool]) -> Self {
        Self {
            capacity,
            edges: edges as usize,
            free_slots: capacity as usize,
            free_edges: edges as usize,
            tasks: BTreeMap::new(),
            ready: fifo.iter().map(|&fifo| List { fifo, ..List::default() }).collect(),
            events: Vec::new(),
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn channels(&self) -> u16 {
        self.ready.len() as u16
    }

    pub(super) fn free_slots(&self) -> usize {
        self.free_slots
    }

    pub(super) fn free_edges(&self) -> usize {
        self.free_edges
    }

    /// The names of all existing tasks.
    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = TaskId> {
        self.tasks.keys().copied()
    }

    fn known(&mut self, task: TaskId) -> Result<&mut Task, Error> {
        if task.to_bits() as u32 >= self.capacity {
            return Err(Error::UnknownTask(task));
        }
        self.tasks.get_mut(&task).ok_or(Error::StaleTask(task))
    }

    fn task(&mut self, task: TaskId) -> &mut Task {
        self.tasks.get_mut(&task).expect("a task that others know is there")
    }

    fn is_running(&self, task: TaskId) -> bool {
        self.tasks[&task].status == Status::Running
    }

    fn refusal(task: TaskId, status: Status) -> Error {
        match status {
            Status::Idle => unreachable!("idle tasks are not refused"),
            Status::Ready => Error::AlreadyReady(task),
            Status::Running => Error::Running(task),
            Status::Blocked => Error::Blocked(task),
            Status::Cancelled => Error::Cancelled(task),
        }
    }

    fn check_channel(&self, channel: u16) -> Result<(), Error> {
        let channels = self.channels();
        if channel < channels { Ok(()) } else { Err(Error::NoChannel { channel, channels }) }
    }

    pub(super) fn state(&mut self, task: TaskId) -> Result<TaskState, Error> {
        let task = self.known(task)?;
        Ok(match task.status {
            Status::Idle if task.in_degree > 0 => TaskState::Waiting(task.in_degree),
            Status::Idle => TaskState::Idle,
            Status::Ready => TaskState::Ready,
            Status::Running => TaskState::Running,
            Status::Blocked => TaskState::Blocked,
            Status::Cancelled => TaskState::Cancelled,
        })
    }

    pub(super) fn channel(&mut self, task: TaskId) -> Result<u16, Error> {
        self.known(task).map(|task| task.channel)
    }

    pub(super) fn create(&mut self, ids: &[TaskId], first: u32) {
        assert!(ids.len() <= self.free_slots);
        self.free_slots -= ids.len();
        for (number, &id) in (first..).zip(ids) {
            assert!((id.to_bits() as u32) < self.capacity, "{id} is no slot of this shed");
            let task = Task {
                number,
                status: Status::Idle,
                channel: 0,
                runs_on: 0,
                tag: None,
                in_degree: 0,
                marked: false,
                poisoned: false,
                woken: false,
                dependents: VecDeque::new(),
            };
            assert!(self.tasks.insert(id, task).is_none(), "{id} was given twice");
        }
    }

    pub(super) fn set_channel(&mut self, tasks: &[TaskId], channel: u16) -> Result<(), Error> {
        self.check_channel(channel)?;
        for &task in tasks {
            match self.known(task)?.status {
                Status::Idle | Status::Running | Status::Blocked => {}
                status => return Err(Self::refusal(task, status)),
            }
        }
        tasks.iter().for_each(|&task| self.task(task).channel = channel);
        Ok(())
    }

    pub(super) fn ready(&mut self, tasks: &[TaskId]) -> Result<(), Error> {
        for (i, &task) in tasks.iter().enumerate() {
            let Task { status, in_degree, .. } = *self.known(task)?;
            match status {
                Status::Idle if in_degree > 0 => return Err(Error::Waiting { task, in_degree }),
                Status::Running if !cfg!(feature = "std") => {}
                Status::Idle | Status::Blocked if tasks[..i].contains(&task) => {
                    return Err(Error::AlreadyReady(task));
                }
                Status::Idle | Status::Blocked => {}
                status => return Err(Self::refusal(task, status)),
            }
        }
        let (running, tasks): (Vec<TaskId>, Vec<TaskId>) =
            tasks.iter().partition(|task| self.is_running(**task));
        running.into_iter().for_each(|task| self.task(task).woken = true);
        for &task in &tasks {
            self.task(task).status = Status::Ready;
        }
        let channels: Vec<u16> = tasks.iter().map(|task| self.tasks[task].channel).collect();
        let mut rest = &tasks[..];
        for range in channels.chunk_by(u16::eq) {
            let (tasks, others) = rest.split_at(range.len());
            self.push_ready(range[0], tasks);
            rest = others;
        }
        Ok(())
    }

    fn push_ready(&mut self, channel: u16, range: &[TaskId]) {
        let list = &mut self.ready[usize::from(channel)];
        list.readied += range.len() as u64;
        list.push(range);
        self.events.push(Event::Ready(channel, range.len() as u32));
    }

    /// How often the tasks of a channel were readied, completed, blocked and cancelled.
    pub(super) fn progress(&self, channel: u16) -> [u64; 4] {
        let List { readied, completed, blocked, cancelled, .. } = self.ready[usize::from(channel)];
        [readied, completed, blocked, cancelled]
    }

    pub(super) fn set_tag(&mut self, tasks: &[TaskId], tag: u64) -> Result<(), Error> {
        for &task in tasks {
            match self.known(task)?.status {
                Status::Idle | Status::Ready | Status::Blocked => {}
                Status::Running if cfg!(feature = "std") => {}
                status => return Err(Self::refusal(task, status)),
            }
        }
        tasks.iter().for_each(|&task| self.task(task).tag = Some(tag));
        Ok(())
    }

    pub(super) fn tag(&mut self, task: TaskId) -> Result<Option<u64>, Error> {
        self.known(task).map(|task| task.tag)
    }

    fn is_tagged(&self, task: TaskId, tag: u64) -> bool {
        let known = self.tasks.get(&task);
        known.is_some_and(|task| task.tag == Some(tag) && task.status != Status::Cancelled)
    }

    pub(super) fn count_tag(&self, tag: u64) -> u32 {
        self.names().filter(|&task| self.is_tagged(task, tag)).count() as u32
    }

    pub(super) fn cancel_tag(&mut self, tag: u64) -> u32 {
        let mut names: Vec<TaskId> = self.names().collect();
        names.sort_unstable_by_key(|task| task.to_bits() as u32);
        let mut cancelled = 0;
        for task in names {
            // This cancellation may also have cancelled others.
            let found = self.is_tagged(task, tag);
            cancelled += u32::from(found && self.cancel(task) == Ok(true));
        }
        cancelled
    }

    pub(super) fn depend(
        &mut self,
        successors: &[TaskId],
        predecessors: &[TaskId],
    ) -> Result<(), Error> {
        if successors.is_empty() || predecessors.is_empty() {
            return Ok(());
        }
        if let Some(&both) = successors.iter().find(|successor| predecessors.contains(successor)) {
            return Err(Error::SelfDependency(both));
        }
        let asked = successors.len() * predecessors.len();
        let full = Error::NoDependencies { asked: asked as u64, capacity: self.edges as u64 };
        if asked > self.edges {
            return Err(full);
        }
        for &predecessor in predecessors {
            match self.known(predecessor)?.status {
                Status::Idle => {}
                status => return Err(Self::refusal(predecessor, status)),
            }
        }
        if asked > self.free_edges {
            return Err(full);
        }
        for &successor in successors {
            match self.known(successor)?.status {
                Status::Idle => {}
                status => return Err(Self::refusal(successor, status)),
            }
        }
        self.free_edges -= asked;
        for &successor in successors {
            self.task(successor).in_degree += predecessors.len() as u32;
        }
        for &predecessor in predecessors {
            let list = &mut self.task(predecessor).dependents;
            successors.iter().rev().for_each(|&successor| list.push_front(successor));
        }
        Ok(())
    }

    pub(super) fn free(&mut self, tasks: &[TaskId]) -> Result<(), Error> {
        for (i, &task) in tasks.iter().enumerate() {
            let Task { status, in_degree, .. } = *self.known(task)?;
            match status {
                Status::Idle if tasks[..i].contains(&task) => return Err(Error::StaleTask(task)),
                Status::Idle if in_degree > 0 => return Err(Error::Waiting { task, in_degree }),
                Status::Idle => {}
                status => return Err(Self::refusal(task, status)),
            }
        }
        let mut ending = Ending::new();
        for &task in tasks {
            self.drop_payload(task);
            self.end(&mut ending, task, How::Removed);
            self.work(&mut ending);
        }
        self.finish(ending);
        Ok(())
    }

    pub(super) fn cancel(&mut self, task: TaskId) -> Result<bool, Error> {
        let known = self.known(task)?;
        let held = match known.status {
            Status::Idle => known.in_degree + 1,
            Status::Ready => 2,
            Status::Blocked => 1,
            Status::Running => {
                known.poisoned = true;
                return Ok(false);
            }
            status @ Status::Cancelled => return Err(Self::refusal(task, status)),
        };
        (known.status, known.in_degree) = (Status::Cancelled, held);
        self.report(task);
        self.told(task);
        Ok(true)
    }

    /// One more predecessor of `task` has ended, and nothing else has happened.
    fn told(&mut self, task: TaskId) {
        let mut ending = Ending::new();
        self.tell(&mut ending, task);
        self.work(&mut ending);
        self.finish(ending);
    }

    /// The shed is dropped, and with it the payloads that are still there.
    pub(super) fn drop_all(&self) -> Vec<u32> {
        let there = self.tasks.values().filter(|task| task.status != Status::Cancelled);
        let mut numbers: Vec<u32> = there.map(|task| task.number).collect();
        numbers.sort_unstable();
        numbers
    }

    pub(super) fn check_payload(&self, task: TaskId, payload: &Payload) {
        assert_eq!(payload.number(), self.tasks[&task].number, "{task} has another's payload");
    }
}
