//! How the twin executes tasks, and how they end.

use super::{Event, List, Status, Twin};
use sateen_shed::{Error, TaskId};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Complete,
    Cancelled,
    Removed,
}

/// The tasks that one operation ends.
pub(super) struct Ending {
    how: How,
    list: VecDeque<TaskId>,
    over: Vec<TaskId>,
    ready: Option<(u16, Vec<TaskId>)>,
    /// The first task that becomes ready on this channel is not pushed, because the caller goes on
    /// with it.
    wants: Option<u16>,
    next: Option<TaskId>,
    slots: usize,
    edges: usize,
}

/// Tasks that were taken out of a list together.
#[derive(Default)]
pub(in super::super) struct Batch {
    channel: u16,
    tasks: VecDeque<TaskId>,
    /// How many more tasks the batch takes of those that become ready because of it.
    room: usize,
    /// These are given back when the batch ends.
    slots: usize,
    edges: usize,
}

impl Twin {
    /// Takes the next task that is to run out of the list of `channel`.
    pub(in super::super) fn take_one(&mut self, channel: u16) -> Result<Option<TaskId>, Error> {
        self.check_channel(channel)?;
        while let Some(task) = self.ready[usize::from(channel)].pop(1).pop_front() {
            if self.claim(task, channel) {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }

    pub(in super::super) fn take_batch(
        &mut self,
        channel: u16,
        most: usize,
    ) -> Result<Batch, Error> {
        self.check_channel(channel)?;
        let list = &mut self.ready[usize::from(channel)];
        let tasks = list.pop(most);
        let room = if list.fifo { 0 } else { most - tasks.len() };
        Ok(Batch { channel, tasks, room, slots: 0, edges: 0 })
    }

    /// The next task of a batch that is to run.
    pub(in super::super) fn next(&mut self, batch: &mut Batch) -> Option<TaskId> {
        while let Some(task) = batch.tasks.pop_front() {
            if self.claim(task, batch.channel) {
                return Some(task);
            }
        }
        None
    }

    fn claim(&mut self, task: TaskId, channel: u16) -> bool {
        let ready = self.tasks[&task].status == Status::Ready;
        if ready {
            let task = self.task(task);
            (task.status, task.runs_on) = (Status::Running, channel);
        } else {
            self.told(task);
        }
        ready
    }

    /// A task has run to its end, in this batch or on its own.
    pub(in super::super) fn complete(&mut self, task: TaskId, batch: Option<&mut Batch>) {
        assert!(self.is_running(task));
        self.ran_on(task).completed += 1;
        self.drop_payload(task);
        let mut ending = Ending::new();
        if let Some(batch) = &batch
            && batch.tasks.is_empty()
            && batch.room > 0
        {
            ending.wants = Some(batch.channel);
        }
        self.end(&mut ending, task, How::Complete);
        self.work(&mut ending);
        if let Some(batch) = batch {
            batch.slots += std::mem::take(&mut ending.slots);
            batch.edges += std::mem::take(&mut ending.edges);
            batch.room -= ending.next.iter().len();
            batch.tasks.extend(ending.next);
        }
        self.finish(ending);
    }

    /// The list from which a running task was taken.
    fn ran_on(&mut self, task: TaskId) -> &mut List {
        &mut self.ready[usize::from(self.tasks[&task].runs_on)]
    }

    pub(in super::super) fn block(&mut self, task: TaskId) {
        assert!(self.is_running(task));
        self.ran_on(task).blocked += 1;
        let known = self.task(task);
        let channel = known.channel;
        if std::mem::take(&mut known.woken) {
            known.status = Status::Ready;
            self.push_ready(channel, &[task]);
        } else {
            known.status = Status::Blocked;
        }
    }

    pub(in super::super) fn panic(&mut self, task: TaskId) {
        assert!(self.is_running(task));
        self.report(task);
        let mut ending = Ending::new();
        self.end(&mut ending, task, How::Cancelled);
        self.work(&mut ending);
        self.finish(ending);
    }

    /// Puts back the tasks that were not executed.
    pub(in super::super) fn leave(&mut self, batch: Batch) {
        self.free_slots += batch.slots;
        self.free_edges += batch.edges;
        if !batch.tasks.is_empty() {
            self.events.push(Event::Ready(batch.channel, batch.tasks.len() as u32));
            self.ready[usize::from(batch.channel)].push_first(&Vec::from(batch.tasks));
        }
    }

    pub(super) fn report(&mut self, task: TaskId) {
        self.ready[usize::from(self.tasks[&task].channel)].cancelled += 1;
        self.events.push(Event::Cancelled(task, self.tasks[&task].number));
        self.drop_payload(task);
    }

    pub(super) fn drop_payload(&mut self, task: TaskId) {
        self.events.push(Event::Dropped(self.tasks[&task].number));
    }

    pub(super) fn end(&mut self, ending: &mut Ending, task: TaskId, how: How) {
        let gone = self.tasks.remove(&task).expect("ended once");
        ending.slots += 1;
        ending.how = if gone.poisoned { How::Cancelled } else { how };
        ending.list = gone.dependents;
    }

    pub(super) fn work(&mut self, ending: &mut Ending) {
        loop {
            if let Some(successor) = ending.list.pop_front() {
                ending.edges += 1;
                let task = self.task(successor);
                if ending.how == How::Cancelled && task.status == Status::Idle {
                    task.status = Status::Cancelled;
                    self.report(successor);
                }
                self.tell(ending, successor);
            } else if let Some(task) = ending.over.pop() {
                self.end(ending, task, How::Cancelled);
            } else {
                return;
            }
        }
    }

    pub(super) fn tell(&mut self, ending: &mut Ending, successor: TaskId) {
        let task = self.task(successor);
        task.in_degree -= 1;
        let complete = ending.how == How::Complete;
        match (task.status, task.in_degree) {
            (Status::Cancelled, 0) => ending.over.push(successor),
            (Status::Cancelled, _) => {}
            (Status::Idle, 0) if complete || task.marked => {
                (task.status, task.marked) = (Status::Ready, false);
                let channel = task.channel;
                if ending.wants == Some(channel) {
                    (ending.wants, ending.next) = (None, Some(successor));
                    self.ready[usize::from(channel)].readied += 1;
                    return;
                }
                match &mut ending.ready {
                    Some((of, range)) if *of == channel => range.push(successor),
                    other => {
                        let before = other.replace((channel, vec![successor]));
                        before.into_iter().for_each(|(of, range)| self.push_ready(of, &range));
                    }
                }
            }
            (Status::Idle, _) => task.marked |= complete,
            (status, _) => unreachable!("{successor} is {status:?} and waits"),
        }
    }

    pub(super) fn finish(&mut self, ending: Ending) {
        self.free_slots += ending.slots;
        self.free_edges += ending.edges;
        if let Some((channel, range)) = ending.ready {
            self.push_ready(channel, &range);
        }
    }
}

impl Ending {
    pub(super) fn new() -> Self {
        Self {
            how: How::Complete,
            list: VecDeque::new(),
            over: Vec::new(),
            ready: None,
            wants: None,
            next: None,
            slots: 0,
            edges: 0,
        }
    }
}
