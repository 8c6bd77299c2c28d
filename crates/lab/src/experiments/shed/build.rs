//! Putting a graph into a shed: by one thread, or by all workers together.
//!
//! Dependencies are grouped by the child: then the parents of a child go into the shed in one call, and only their
//! counters lie all over the memory.

use super::shapes::{Edge, Shape};
use crate::crew::Gate;
use sateen_shed::{Error, Layout, Shed, TaskId, TaskState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tasks made ready at once.
const BATCH: usize = 64;
/// Groups that the processor is asked for before their turn comes.
const AHEAD: usize = 4;
/// Parts that edges are divided into before they are grouped: then the counters of a part stay in the nearest caches.
const PARTS: usize = 256;

/// A graph that its workers build together.
pub(super) struct Build<'a, L: Layout> {
    shed: &'a Shed<(), L>,
    shape: &'a Shape,
    workers: usize,
    /// Tasks of a worker's piece, a power of two: the last ones may have fewer, or none.
    piece: usize,
    /// Each worker's tasks, and its share of the edges in parts.
    made: Vec<OnceLock<Made>>,
    next_part: AtomicUsize,
    all_made: Gate,
    all_depend: Gate,
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
            all_made: Gate::new(workers),
            all_depend: Gate::new(workers),
        }
    }

    /// One worker's share: afterwards the tasks of its piece that wait for none are returned, not ready yet.
    ///
    /// # Errors
    /// What the shed refuses. The other workers are not kept waiting.
    pub(super) fn share(&self, worker: usize) -> Result<Vec<TaskId>, Error> {
        let made = self.create(worker);
        let created = made.is_ok();
        // Waits for the others, whatever happened, as they wait for this one.
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

    /// In which part the edges of a child are.
    fn part_of(&self, child: u32) -> usize {
        child as usize / self.part_len()
    }

    /// How many children a part has.
    fn part_len(&self) -> usize {
        (self.shape.tasks as usize).div_ceil(PARTS)
    }

    /// Takes parts of the edges, and says in the shed what depends on their children, until none are left.
    fn depend(&self) -> Result<(), Error> {
        let pieces: Vec<&[TaskId]> = (0..self.workers).map(|worker| self.tasks(worker)).collect();
        let (shift, mask) = (self.piece.trailing_zeros(), self.piece - 1);
        let task = |number: usize| pieces[number >> shift][number & mask];
        let len = self.part_len();
        // Where the parents of each of the part's children begin, and one more.
        let mut begins = vec![0_usize; len + 1];
        let mut parents = Vec::new();
        loop {
            let part = self.next_part.fetch_add(1, Ordering::Relaxed);
            if part >= PARTS {
                return Ok(());
            }
            let first = part * len;
            let made = self.made.iter().filter_map(OnceLock::get);
            let edges = || made.clone().filter_map(|made| made.parts.get(part)).flatten();
            begins.fill(0);
            edges().for_each(|&(child, _)| begins[child as usize - first] += 1);
            for at in 1..=len {
                begins[at] += begins[at - 1];
            }
            parents.resize(begins[len], TaskId::NONE);
            for &(child, parent) in edges() {
                let at = &mut begins[child as usize - first];
                *at -= 1;
                parents[*at] = task(parent as usize);
            }
            let group_of = |at: usize| &parents[begins[at]..begins[at + 1]];
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
