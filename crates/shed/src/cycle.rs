//! Who waits for whom, and the cycles among them.

use crate::layout::Layout;
use crate::shed::{Heads, Shed};
use crate::word::{Dependents, State, Status};
use crate::{Error, TaskId};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use sateen_base::canary;
use sateen_base::prim::{Ordering, fence};

/// Who waits for whom among `0..len`.
pub(crate) struct Graph {
    /// How many each waits for.
    pub(crate) open: Vec<u32>,
    /// Where in `successors` those begin that wait for each; one more for the end.
    first: Vec<usize>,
    successors: Vec<u32>,
}

impl Graph {
    /// `edges` are pairs of who waits, and for whom.
    pub(crate) fn new(len: usize, edges: &[(u32, u32)]) -> Self {
        let mut graph =
            Self { open: vec![0; len], first: vec![0; len + 1], successors: vec![0; edges.len()] };
        for &(successor, predecessor) in edges {
            graph.open[successor as usize] += 1;
            graph.first[predecessor as usize] += 1;
        }
        let mut end = 0;
        for first in &mut graph.first {
            end += *first;
            *first = end;
        }
        // From behind, so that those of a predecessor stay in their order: `first` moves from the end to the beginning.
        for &(successor, predecessor) in edges.iter().rev() {
            let first = &mut graph.first[predecessor as usize];
            *first -= 1;
            graph.successors[*first] = successor;
        }
        graph
    }

    /// Who waits for `predecessor`.
    pub(crate) fn successors(&self, predecessor: usize) -> &[u32] {
        &self.successors[self.first[predecessor]..self.first[predecessor + 1]]
    }

    /// Some that wait for each other: each for the next, and the last for the first. Kahn's topological sort (1962): what it cannot sort
    /// is on a cycle, or waits for one.
    pub(crate) fn cycle(&self) -> Option<Vec<u32>> {
        let mut open = self.open.clone();
        let mut sorted: Vec<u32> =
            (0..).zip(&open).filter(|(_, open)| **open == 0).map(|(i, _)| i).collect();
        let mut next = 0;
        while let Some(&predecessor) = sorted.get(next) {
            next += 1;
            for &successor in self.successors(predecessor as usize) {
                open[successor as usize] -= 1;
                if open[successor as usize] == 0 {
                    sorted.push(successor);
                }
            }
        }
        if sorted.len() == open.len() {
            return None;
        }
        // Each of the rest waits for one of the rest.
        let mut waits_for = vec![0; open.len()];
        let mut any = 0;
        for predecessor in (0..open.len()).filter(|&predecessor| open[predecessor] > 0) {
            self.successors(predecessor)
                .iter()
                .for_each(|&p| waits_for[p as usize] = predecessor as u32);
            any = predecessor as u32;
        }
        // After so many steps we are on a cycle.
        (0..open.len()).for_each(|_| any = waits_for[any as usize]);
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
    /// Tasks that wait for each other, if there are any: each for the next, and the last for the first. They will never run, nor what waits for
    /// them. To be asked when nothing can run any more though tasks are left.
    ///
    /// What it returns is so, whatever other threads do meanwhile. That there is no cycle is certain only if nobody does anything: else
    /// one that is being made may be missed.
    ///
    /// Cost: linear in the places that were ever taken and their dependencies; allocates.
    ///
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
        // What seemed to be one but has moved since may have hidden another.
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
        let places = self.memory.head(Heads::<L>::FRESH_PLACES).load(Ordering::Relaxed) as u32;
        let (mut edges, mut names) = (vec![], vec![TaskId::NONE; places as usize]);
        for predecessor in 0..places {
            let before = edges.len();
            match self.who_waits_for(predecessor, |successor| edges.push((successor, predecessor)))
            {
                Some(name) => names[predecessor as usize] = name,
                None => edges.truncate(before),
            }
        }
        // Without those that were created meanwhile.
        edges.retain(|&(successor, _)| successor < places);
        let cycle = Graph::new(places as usize, &edges).cycle()?;
        Some(cycle.into_iter().map(|index| names[index as usize]).collect())
    }

    /// Whether tasks that have waited for each other still do. Then at some moment they all did, and so they always will.
    fn is_cycle(&self, cycle: &[TaskId]) -> bool {
        let next = cycle.iter().cycle().skip(1);
        cycle.iter().zip(next).all(|(successor, predecessor)| {
            let mut waits = false;
            let name = self
                .who_waits_for(predecessor.index(), |index| waits |= index == successor.index());
            waits && name == Some(*predecessor)
        })
    }

    /// Calls `each` with the index of every task that waits for the one at `predecessor`, if that waits itself: then returns its name. `None`: it does
    /// not, or no longer, and what `each` was told may be nonsense.
    fn who_waits_for(&self, predecessor: u32, each: impl FnMut(u32)) -> Option<TaskId> {
        // Relaxed: the list of dependents says whether it is of this task, and cycles are looked at
        // twice.
        let state = State(self.memory.place(predecessor).state.load(Ordering::Relaxed));
        let waits =
            matches!(state.status(), Status::Idle | Status::Cancelled) && state.pending() > 0;
        let predecessor = self.name(predecessor, state);
        (waits && self.each_dependent(predecessor, each)).then_some(predecessor)
    }

    /// Calls `each` with the index of every task that waits for `predecessor`. `false`: that has ended meanwhile, and what `each` was told may be nonsense.
    fn each_dependent(&self, predecessor: TaskId, mut each: impl FnMut(u32)) -> bool {
        let word = self.memory.dependents(predecessor.index());
        let is_open = |list: Dependents| list.is_of(predecessor.generation()) && !list.is_closed();
        // Ordering: Acquire, with the Release of `depend`, for the dependencies in the list.
        let acquire = if canary!("cycle-seen") { Ordering::Relaxed } else { Ordering::Acquire };
        let list = Dependents(word.load(acquire));
        if !is_open(list) {
            return !list.is_of(predecessor.generation());
        }
        let (mut next, mut left) = (list.first(), self.memory.sizes().edges);
        // A list that is freed under our feet may lead anywhere, also in a circle.
        while next != 0 && left > 0 {
            let edge = self.memory.edge(next - 1);
            each(edge.successor.load(Ordering::Relaxed));
            (next, left) = (edge.next.load(Ordering::Relaxed), left - 1);
        }
        // Ordering: Acquire, so that the list is looked at again after it was read: a list that is still open has only grown at its beginning.
        fence(Ordering::Acquire);
        is_open(Dependents(word.load(Ordering::Relaxed)))
    }

    /// Fails if one of `predecessors` waits for one of `successors`, directly or not, which so must not wait for it. The caller holds the lock without which
    /// nobody adds dependencies.
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
                if let Some(&predecessor) =
                    predecessors.iter().find(|predecessor| predecessor.index() == index)
                {
                    return Err(Error::Cycle { successor, predecessor });
                }
                if seen.insert(index) {
                    // Ordering: Acquire, with the Release of `create`.
                    let state = State(self.memory.place(index).state.load(Ordering::Acquire));
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
