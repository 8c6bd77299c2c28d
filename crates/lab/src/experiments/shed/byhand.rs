//! The same graphs without a scheduler for dependencies: scopes, and where a task waits for several, a counter for each
//! of them. This is what one writes who has a fork-join library and nothing else.
//!
//! * fan: a scope with a hundred spawns for each, its first and last task around the scope;
//! * chain: each task spawns the next;
//! * random, frame: a counter for each task of the children it waits for; who takes the last spawns it. The graph of
//!   the frame and its counters are kept.

use super::graphs::{Case, Work};
use super::shapes::{FAN_WIDTH, Shape};
use crate::adapter::{Scopes, ScopesVisitor};
use crate::error::Error;
use crate::experiment::{Group, Session};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Adds each library with scopes to a group.
pub(super) struct AddAll<'a> {
    pub(super) group: &'a mut Group,
    pub(super) workers: usize,
    pub(super) work: &'a Rc<Work>,
}

impl ScopesVisitor for AddAll<'_> {
    fn visit<S: Scopes>(&mut self) {
        let (workers, work) = (self.workers, Rc::clone(self.work));
        let open = move || {
            let kept = (work.case == Case::Frame).then(|| Graph::new(work.shape()));
            Ok(ByHand::<S> { pool: S::build(workers)?, work: Rc::clone(&work), kept })
        };
        self.group.add(S::BY_HAND, open);
        self.group.keep_apart(S::LINGERS);
    }
}

struct ByHand<S: Scopes> {
    pool: S::Pool,
    work: Rc<Work>,
    /// The graph, if it is not built in each run.
    kept: Option<Graph>,
}

impl<S: Scopes> Session for ByHand<S> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let executed = Executed::default();
        let counter = &executed;
        let Work { case, size, .. } = *self.work;
        let times = self.work.times();
        let elapsed = match case {
            Case::Fan => self.time(|| fans::<S>(size, counter)),
            Case::Chain => self.time(|| S::scope(|s| link::<S>(s, size, counter))),
            Case::Random | Case::Frame => {
                let (kept, shape) = (self.kept.as_ref(), self.work.shape());
                let mut built = None;
                let built = &mut built;
                self.time(move || {
                    let graph = kept.unwrap_or_else(|| built.insert(Graph::new(shape)));
                    (0..times).for_each(|_| graph.run::<S>(counter));
                })
            }
        };
        self.work.judge(executed.0.into_inner(), elapsed)
    }
}

impl<S: Scopes> ByHand<S> {
    /// How long `f` takes on a worker.
    fn time(&self, f: impl FnOnce() + Send) -> std::time::Duration {
        S::enter(&self.pool, |_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
    }
}

/// The counter that each task adds 1 to, on a line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Executed(AtomicU64);

impl Executed {
    #[inline(always)]
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn fans<S: Scopes>(rounds: u32, executed: &Executed) {
    for _ in 0..rounds {
        executed.add();
        S::scope(|s| (0..FAN_WIDTH).for_each(|_| S::spawn(s, |_| executed.add())));
        executed.add();
    }
}

/// A task, and `tasks - 1` behind it.
fn link<'s, S: Scopes>(scope: &S::Scope<'s>, tasks: u32, executed: &'s Executed) {
    executed.add();
    if tasks > 1 {
        S::spawn(scope, move |s| link::<S>(s, tasks - 1, executed));
    }
}

/// Tasks with their parents one after the other, and a counter each.
struct Graph {
    /// Where each task's parents begin in `parents`; and one more.
    first: Vec<u32>,
    parents: Vec<u32>,
    /// How many children a task has.
    children: Vec<u32>,
    /// How many of them have not been executed in this run; all of them between runs.
    waiting: Vec<AtomicU32>,
    /// Tasks without children.
    roots: Vec<u32>,
}

impl Graph {
    fn new(shape: &Shape) -> Self {
        let tasks = shape.tasks as usize;
        let (mut first, mut children) = (vec![0; tasks + 1], vec![0; tasks]);
        for &(child, parent) in &shape.edges {
            first[child as usize] += 1;
            children[parent as usize] += 1;
        }
        // Sums up to and with each task; the loop below brings them down to where the task begins.
        for task in 0..tasks {
            first[task + 1] += first[task];
        }
        let mut parents = vec![0; shape.edges.len()];
        for &(child, parent) in &shape.edges {
            first[child as usize] -= 1;
            parents[first[child as usize] as usize] = parent;
        }
        let roots = (0..shape.tasks).filter(|task| children[*task as usize] == 0).collect();
        let waiting = children.iter().map(|n| AtomicU32::new(*n)).collect();
        Self { first, parents, children, waiting, roots }
    }

    fn run<S: Scopes>(&self, executed: &Executed) {
        S::scope(|s| {
            for &root in &self.roots {
                S::spawn(s, move |s| self.execute::<S>(s, root, executed));
            }
        });
    }

    fn execute<'s, S: Scopes>(&'s self, scope: &S::Scope<'s>, task: u32, executed: &'s Executed) {
        executed.add();
        let task = task as usize;
        // For the next run, which begins after all tasks of this one.
        self.waiting[task].store(self.children[task], Ordering::Relaxed);
        for &parent in &self.parents[self.first[task] as usize..self.first[task + 1] as usize] {
            // Ordering: the last one sees what all children did; without it the parent would not.
            if self.waiting[parent as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                S::spawn(scope, move |s| self.execute::<S>(s, parent, executed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::shed::shapes;

    #[test]
    fn a_graph_has_the_edges_of_its_shape() {
        for mut shape in [shapes::random(500), shapes::frame(), shapes::fan(2)] {
            let graph = Graph::new(&shape);
            let mut edges = Vec::new();
            for child in 0..shape.tasks {
                let at = child as usize;
                let parents =
                    &graph.parents[graph.first[at] as usize..graph.first[at + 1] as usize];
                edges.extend(parents.iter().map(|parent| (child, *parent)));
            }
            shape.edges.sort_unstable();
            edges.sort_unstable();
            assert_eq!(edges, shape.edges);
            for &root in &graph.roots {
                assert!(!edges.iter().any(|(_, parent)| *parent == root), "{root} waits");
            }
            assert_eq!(graph.children.iter().sum::<u32>() as usize, edges.len());
        }
    }

    #[test]
    fn a_kept_graph_runs_again() {
        let graph = Graph::new(&shapes::frame());
        let executed = Executed::default();
        let runtime =
            <crate::ours::Sateen as crate::adapter::ForkJoin>::build(2).expect("a runtime");
        runtime.install(|| (0..50).for_each(|_| graph.run::<crate::ours::Sateen>(&executed)));
        assert_eq!(executed.0.into_inner(), 50 * 300);
        let armed =
            |(waiting, children): (&AtomicU32, &u32)| waiting.load(Ordering::Relaxed) == *children;
        assert!(graph.waiting.iter().zip(&graph.children).all(armed));
    }
}
