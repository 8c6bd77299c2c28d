//! Puts a graph into a shed: by one thread, or by all workers together.
//!
//! Dependencies are grouped by the predecessor. So the successors of a task go into the shed in one
//! call, and only their counters are scattered over the memory.

use super::shapes::{Edge, Shape};
use crate::crew::StartLine;
use sateen_shed::{Error, Layout, Shed, TaskId, TaskState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many tasks are made ready at once.
const BATCH: usize = 64;
/// How many groups ahead the processor prefetches.
const AHEAD: usize = 4;
/// How many parts the edges are divided into before they are grouped, so that the counters of a
/// part stay in the nearest caches.
const PARTS: usize = 256;

/// A graph that its workers build together.
pub(super) struct Build<'a, L: Layout> {
    shed: &'a Shed<(), L>,
    shape: &'a Shape,
    workers: usize,
    /// How many tasks a worker's piece has, a power of two. The last pieces may have fewer, or
    /// none.
    piece: usize,
    /// Each worker's tasks, and its share of the edges in parts.
    made: Vec<OnceLock<Made>>,
    next_part: AtomicUsize,
    all_made: StartLine,
    all_depend: StartLine,
}

struct Made {
    tasks: Vec<TaskId>,
    parts: Vec<Vec<Edge>>,
}

impl<'a, L: Layout> Build<'a, L> {
    pub(super) fn new(shed: &'a Shed<(), L>, shape: &'a Shape, workers: usize) -> Self {
        Self {
            shed,
            shape,
            workers,
            piece: (shape.tasks as usize).div_ceil(workers).next_power_of_two(),
            made: (0..workers).map(|_| OnceLock::new()).collect(),
            next_part: AtomicUsize::new(0),
            all_made: StartLine::new(workers),
            all_depend: StartLine::new(workers),
        }
    }

    /// Builds one worker's share. Returns the tasks of its piece that wait for none, not ready yet.
    ///
    /// # Errors
    /// The shed refuses something. The other workers are not kept waiting.
    pub(super) fn share(&self, worker: usize) -> Result<Vec<TaskId>, Error> {
        let made = self.create(worker);
        let created = made.is_ok();
        // Waits for the others even after a failure, because they wait for this worker.
        let _ = self.made[worker].set(made.unwrap_or(Made { tasks: vec![], parts: vec![] }));
        self.all_made.pass();
        let depended = if created { self.depend() } else { Ok(()) };
        self.all_depend.pass();
        depended?;
        let is_root = |task: &&TaskId| matches!(self.shed.state(**task), Ok(TaskState::Idle));
        Ok(self.tasks(worker).iter().filter(is_root).copied().collect())
    }

    fn tasks(&self, worker: usize) -> &[TaskId] {
        self.made[worker].get().map_or(&[], |made| &made.tasks)
    }

    fn create(&self, worker: usize) -> Result<Made, ()> {
        let all = self.shape.tasks as usize;
        let (begin, end) = (worker * self.piece, (worker + 1) * self.piece);
        let mut tasks = vec![TaskId::NONE; end.min(all).saturating_sub(begin)];
        for batch in tasks.chunks_mut(BATCH) {
            self.shed.create_all(&mut std::iter::repeat_n((), batch.len()), batch).map_err(drop)?;
        }
        let edges = &self.shape.edges;
        let share = |worker: usize| worker * edges.len() / self.workers;
        let edges = &edges[share(worker)..share(worker + 1)];
        let some = edges.len() / PARTS * 5 / 4;
        let mut parts: Vec<_> = (0..PARTS).map(|_| Vec::with_capacity(some)).collect();
        for &edge in edges {
            parts[self.part_of(edge.0)].push(edge);
        }
        Ok(Made { tasks, parts })
    }

    /// Returns the part of a predecessor's edges.
    fn part_of(&self, predecessor: u32) -> usize {
        predecessor as usize / self.part_len()
    }

    /// Returns how many predecessors a part has.
    fn part_len(&self) -> usize {
        (self.shape.tasks as usize).div_ceil(PARTS)
    }

    /// Takes parts of the edges, and tells the shed what depends on their predecessors, until no
    /// part is left.
    fn depend(&self) -> Result<(), Error> {
        let pieces: Vec<&[TaskId]> = (0..self.workers).map(|worker| self.tasks(worker)).collect();
        let (shift, mask) = (self.piece.trailing_zeros(), self.piece - 1);
        let task = |number: usize| pieces[number >> shift][number & mask];
        let len = self.part_len();
        // Where the successors of each predecessor of the part begin, and one more.
        let mut begins = vec![0_usize; len + 1];
        let mut successors = Vec::new();
        loop {
            let part = self.next_part.fetch_add(1, Ordering::Relaxed);
            if part >= PARTS {
                return Ok(());
            }
            let first = part * len;
            let made = self.made.iter().filter_map(OnceLock::get);
            let edges = || made.clone().filter_map(|made| made.parts.get(part)).flatten();
            begins.fill(0);
            edges().for_each(|&(predecessor, _)| begins[predecessor as usize - first] += 1);
            for at in 1..=len {
                begins[at] += begins[at - 1];
            }
            successors.resize(begins[len], TaskId::NONE);
            for &(predecessor, successor) in edges() {
                let at = &mut begins[predecessor as usize - first];
                *at -= 1;
                successors[*at] = task(successor as usize);
            }
            let group_of = |at: usize| &successors[begins[at]..begins[at + 1]];
            for at in 0..len {
                if at + AHEAD < len {
                    self.shed.prefetch(group_of(at + AHEAD));
                }
                let group = group_of(at);
                if !group.is_empty() {
                    self.shed.depend(group, &[task(first + at)])?;
                }
            }
        }
    }
}

/// Makes `tasks` ready.
pub(super) fn ready<L: Layout>(shed: &Shed<(), L>, tasks: &[TaskId]) -> Result<(), Error> {
    tasks.chunks(BATCH).try_for_each(|batch| shed.ready(batch))
}
