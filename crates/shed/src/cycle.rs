//! What waits for what, and the cycles in that.

use crate::layout::Layout;
use crate::shed::Shed;
use crate::word::{Dependents, State, Status};
use crate::{Error, TaskId};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use sateen_base::prim::{Ordering, fence};

/// Which of the nodes `0..len` waits for which.
pub(crate) struct Graph {
    /// How many predecessors each node has.
    pub(crate) in_degrees: Vec<u32>,
    /// Where in `successors` those of each node begin; and one more, for the end.
    first: Vec<usize>,
    successors: Vec<u32>,
}

impl Graph {
    /// `edges` are pairs of a successor and its predecessor.
    pub(crate) fn new(len: usize, edges: &[(u32, u32)]) -> Self {
        let mut graph = Self {
            in_degrees: vec![0; len],
            first: vec![0; len + 1],
            successors: vec![0; edges.len()],
        };
        for &(successor, predecessor) in edges {
            graph.in_degrees[successor as usize] += 1;
            graph.first[predecessor as usize] += 1;
        }
        let mut end = 0;
        for first in &mut graph.first {
            end += *first;
            *first = end;
        }
        // Backwards, so that the successors of a node stay in their order: `first` moves from the
        // end of their range to its beginning.
        for &(successor, predecessor) in edges.iter().rev() {
            let first = &mut graph.first[predecessor as usize];
            *first -= 1;
            graph.successors[*first] = successor;
        }
        graph
    }

    pub(crate) fn successors(&self, predecessor: usize) -> &[u32] {
        &self.successors[self.first[predecessor]..self.first[predecessor + 1]]
    }

    /// Some nodes that wait for each other: each for the next, and the last for the first.
    ///
    /// Source: Kahn's topological sort (1962). A node that it cannot sort is on a cycle, or waits
    /// for one.
    pub(crate) fn cycle(&self) -> Option<Vec<u32>> {
        let mut left = self.in_degrees.clone();
        let mut sorted: Vec<u32> =
            (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(i, _)| i).collect();
        let mut next = 0;
        while let Some(&predecessor) = sorted.get(next) {
            next += 1;
            for &successor in self.successors(predecessor as usize) {
                left[successor as usize] -= 1;
                if left[successor as usize] == 0 {
                    sorted.push(successor);
                }
            }
        }
        if sorted.len() == left.len() {
            return None;
        }
        // Each node that is left waits for another one that is.
        let mut waits_for = vec![0; left.len()];
        let mut any = 0;
        for predecessor in (0..left.len()).filter(|&node| left[node] > 0) {
            let successors = self.successors(predecessor);
            successors.iter().for_each(|&s| waits_for[s as usize] = predecessor as u32);
            any = predecessor as u32;
        }
        // After this many steps the walk is on a cycle.
        (0..left.len()).for_each(|_| any = waits_for[any as usize]);
        let mut cycle = vec![any];
        let mut at = waits_for[any as usize];
        while at != any {
            cycle.push(at);
            at = waits_for[at as usize];
        }
        Some(cycle)
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// Tasks that wait for each other, if there are any: each for the next, and the last for the
    /// first. They will never run, nor will what waits for them.
    ///
    /// Ask when nothing can run any more though tasks are left. A cycle that is returned exists,
    /// whatever other threads do meanwhile. `None` is certain only while the shed stands still:
    /// otherwise a cycle that is being made may be missed.
    ///
    /// # Cost
    /// Linear in the slots that were ever taken and their dependencies; allocates.
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().build()?;
    /// let [a, b, c, d] = shed.create(["a", "b", "c", "d"]).unwrap();
    /// shed.depend(&[a], &[b])?;
    /// shed.depend(&[b], &[c])?;
    /// shed.depend(&[d], &[a])?;
    /// assert_eq!(shed.find_cycle(), None);
    /// shed.depend(&[c], &[a])?;
    /// let cycle = shed.find_cycle().unwrap();
    /// assert!(cycle.len() == 3 && !cycle.contains(&d));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn find_cycle(&self) -> Option<Vec<TaskId>> {
        // A seeming cycle that has moved since may have hidden another one.
        const ATTEMPTS: usize = 4;
        for _ in 0..ATTEMPTS {
            let cycle = self.seeming_cycle()?;
            if self.is_cycle(&cycle) {
                return Some(cycle);
            }
        }
        None
    }

    /// Tasks that waited for each other, each when it was looked at.
    fn seeming_cycle(&self) -> Option<Vec<TaskId>> {
        let slots = self.used_slots();
        let (mut edges, mut names) = (vec![], vec![TaskId::NONE; slots as usize]);
        for predecessor in 0..slots {
            let before = edges.len();
            let each = |successor| edges.push((successor, predecessor));
            match self.each_successor(predecessor, each) {
                Some(name) => names[predecessor as usize] = name,
                None => edges.truncate(before),
            }
        }
        // Without those that were created meanwhile.
        edges.retain(|&(successor, _)| successor < slots);
        let cycle = Graph::new(slots as usize, &edges).cycle()?;
        Some(cycle.into_iter().map(|index| names[index as usize]).collect())
    }

    /// Whether tasks that have waited for each other still do. Then at some moment they all did,
    /// and so they always will.
    fn is_cycle(&self, cycle: &[TaskId]) -> bool {
        let next = cycle.iter().cycle().skip(1);
        cycle.iter().zip(next).all(|(successor, predecessor)| {
            let mut waits = false;
            let name = self.each_successor(predecessor.index(), |index| {
                waits |= index == successor.index();
            });
            waits && name == Some(*predecessor)
        })
    }

    /// Calls `each` with the index of every task that waits for the one at `predecessor`, if that
    /// waits itself; then returns its name. `None`: it does not wait (any more), and what `each`
    /// was told may be meaningless.
    fn each_successor(&self, predecessor: u32, each: impl FnMut(u32)) -> Option<TaskId> {
        // Relaxed: the list of dependents says whether it is of this task, and cycles are looked at
        // twice.
        let state = State(self.memory.slot(predecessor).state.load(Ordering::Relaxed));
        let waits =
            matches!(state.status(), Status::Idle | Status::Cancelled) && state.in_degree() > 0;
        let predecessor = self.name(predecessor, state);
        (waits && self.each_dependent(predecessor, each)).then_some(predecessor)
    }

    /// Calls `each` with the index of every task that waits for `predecessor`. `false`: that has
    /// ended meanwhile, and what `each` was told may be meaningless.
    fn each_dependent(&self, predecessor: TaskId, mut each: impl FnMut(u32)) -> bool {
        let word = self.memory.dependents(predecessor.index());
        let is_open = |list: Dependents| list.is_of(predecessor.generation()) && !list.is_closed();
        // Ordering: Acquire, with the Release of `depend`, for the dependencies in the list.
        let list = Dependents(word.load(Ordering::Acquire));
        if !is_open(list) {
            return !list.is_of(predecessor.generation());
        }
        let (mut next, mut left) = (list.first(), self.memory.sizes().edges);
        // A list that is freed during this walk may lead anywhere, also in a circle.
        while let Some(index) = next.get()
            && left > 0
        {
            let edge = self.memory.edge(index);
            each(edge.successor.load(Ordering::Relaxed));
            (next, left) = (edge.next.get(), left - 1);
        }
        // Ordering: Acquire, so that the word is read again after the list was: a list that is
        // still open has only grown at its beginning.
        fence(Ordering::Acquire);
        is_open(Dependents(word.load(Ordering::Relaxed)))
    }

    /// Fails if one of `predecessors` waits for one of `successors`, directly or not: then the
    /// successor must not wait for it. The caller holds the lock under which dependencies are
    /// added.
    #[cold]
    pub(crate) fn check_cycle(
        &self,
        successors: &[TaskId],
        predecessors: &[TaskId],
    ) -> Result<(), Error> {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![]);
        for &successor in successors {
            self.known(successor)?;
            let mut next = Some(successor.index());
            while let Some(index) = next {
                if let Some(&predecessor) = predecessors.iter().find(|task| task.index() == index) {
                    return Err(Error::Cycle { successor, predecessor });
                }
                if seen.insert(index) {
                    // Ordering: Acquire, with the Release of `create`.
                    let state = State(self.memory.slot(index).state.load(Ordering::Acquire));
                    let before = todo.len();
                    if !self.each_dependent(self.name(index, state), |waits| todo.push(waits)) {
                        todo.truncate(before);
                    }
                }
                next = todo.pop();
            }
        }
        Ok(())
    }
}
