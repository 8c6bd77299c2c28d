//! The same graphs without a scheduler for dependencies: with scopes and, for tasks that wait for
//! several, a counter for each of them. A user of a fork-join library without dependencies writes
//! this.
//!
//! * fan: a scope with a hundred spawns for each, its first and last task around the scope;
//! * chain: each task spawns the next;
//! * random, frame: each task has a counter of the predecessors it waits for; the last predecessor
//!   spawns it. The graph of the frame and its counters are kept.

use super::shapes::{FAN_WIDTH, Shape};
use super::work::{Case, Work};
use crate::adapter::Scopes;
use crate::error::Error;
use crate::experiment::{Group, Session};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Adds the library `S` to a group.
pub(super) fn add<S: Scopes>(group: &mut Group, workers: usize, work: &Rc<Work>) {
    let work = Rc::clone(work);
    let open = move || {
        let kept = (work.case == Case::Frame).then(|| Graph::new(work.shape()));
        Ok(ByHand::<S> { pool: S::build(workers)?, work: Rc::clone(&work), kept })
    };
    group.add(S::BY_HAND, open);
    group.keep_apart(S::LINGERS);
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
    /// Returns how long `f` takes on a worker.
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

/// Runs a task, and `tasks - 1` behind it.
fn link<'s, S: Scopes>(scope: &S::Scope<'s>, tasks: u32, executed: &'s Executed) {
    executed.add();
    if tasks > 1 {
        S::spawn(scope, move |s| link::<S>(s, tasks - 1, executed));
    }
}

/// All tasks' successors one after the other, and a counter for each task.
struct Graph {
    /// Where each task's successors begin in `successors`, and one more.
    first: Vec<u32>,
    successors: Vec<u32>,
    /// The in-degree: how many predecessors a task has.
    in_degrees: Vec<u32>,
    /// How many of them have not run in this run; all of them between runs.
    waiting: Vec<AtomicU32>,
    /// Tasks without predecessors.
    roots: Vec<u32>,
}

impl Graph {
    fn new(shape: &Shape) -> Self {
        let tasks = shape.tasks as usize;
        let (mut first, mut in_degrees) = (vec![0; tasks + 1], vec![0; tasks]);
        for &(predecessor, successor) in &shape.edges {
            first[predecessor as usize] += 1;
            in_degrees[successor as usize] += 1;
        }
        // Sums up to and including each task; the loop below lowers each sum to where its task
        // begins.
        for task in 0..tasks {
            first[task + 1] += first[task];
        }
        let mut successors = vec![0; shape.edges.len()];
        for &(predecessor, successor) in &shape.edges {
            first[predecessor as usize] -= 1;
            successors[first[predecessor as usize] as usize] = successor;
        }
        let roots = (0..shape.tasks).filter(|task| in_degrees[*task as usize] == 0).collect();
        let waiting = in_degrees.iter().map(|n| AtomicU32::new(*n)).collect();
        Self { first, successors, in_degrees, waiting, roots }
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
        self.waiting[task].store(self.in_degrees[task], Ordering::Relaxed);
        for &successor in &self.successors[self.first[task] as usize..self.first[task + 1] as usize]
        {
            // Ordering: the last predecessor sees what all of them did, and passes it on to the
            // successor.
            if self.waiting[successor as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                S::spawn(scope, move |s| self.execute::<S>(s, successor, executed));
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
            for predecessor in 0..shape.tasks {
                let at = predecessor as usize;
                let successors =
                    &graph.successors[graph.first[at] as usize..graph.first[at + 1] as usize];
                edges.extend(successors.iter().map(|successor| (predecessor, *successor)));
            }
            shape.edges.sort_unstable();
            edges.sort_unstable();
            assert_eq!(edges, shape.edges);
            for &root in &graph.roots {
                assert!(!edges.iter().any(|(_, successor)| *successor == root), "{root} waits");
            }
            assert_eq!(graph.in_degrees.iter().sum::<u32>() as usize, edges.len());
        }
    }

    #[test]
    fn a_kept_graph_runs_again() {
        let graph = Graph::new(&shapes::frame());
        let executed = Executed::default();
        let runtime = <crate::ours::runtime::Sateen as crate::adapter::ForkJoin>::build(2)
            .expect("a runtime");
        runtime
            .install(|| (0..50).for_each(|_| graph.run::<crate::ours::runtime::Sateen>(&executed)));
        assert_eq!(executed.0.into_inner(), 50 * 300);
        let armed = |(waiting, in_degree): (&AtomicU32, &u32)| {
            waiting.load(Ordering::Relaxed) == *in_degree
        };
        assert!(graph.waiting.iter().zip(&graph.in_degrees).all(armed));
    }
}
