//! A list under a lock beside a queue without locks. Each thread pushes, pops, and in one case
//! searches the list in between. The list has about a hundred elements.

use crate::adapter::{Queue, SharedLockKind};
use crate::crew;
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use crate::registry::for_each;
use sateen_base::XorShift;
use std::collections::LinkedList;
use std::hint::black_box;

/// Elements in the queue, besides one for each thread that has pushed and not yet popped.
const STEADY: usize = 100;
/// Values are below this; about two fifths of them are in the queue.
const VALUES: usize = 200;
const STACK: usize = 1 << 18;
/// The locks that are compared here; the experiment `lock` has all of them.
const LOCKS: [&str; 4] = ["mutex", "ttas-adaptive-futex", "std", "parking_lot"];

/// The experiment `listqueue`.
pub(crate) struct ListQueue;

impl Experiment for ListQueue {
    fn name(&self) -> &'static str {
        "listqueue"
    }

    fn about(&self) -> &'static str {
        "Whether a queue without locks is faster than a linked list under a lock. Each round \
         pushes and pops, with 100 elements in the queue. The list is also measured with a search \
         in between (time per round)."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for case in Case::ALL {
            for threads in plan.workers_or(&[1, 2, 4, 8]) {
                let mut group = Group::new(threads, vec![case.figure(threads)]);
                group.in_tour = threads == 2;
                // Long enough for some of the system's time slices.
                let rounds = if case == Case::Search { 1 << 18 } else { 1 << 20 };
                let rounds = plan.size(rounds, 1 << 8) / threads as u64;
                let load = Load { threads, rounds, case };
                match case {
                    Case::LockFree => {
                        for_each!(Q in queues(plan.peers) => add_queue::<Q>(&mut group, load));
                    }
                    Case::List | Case::Search => {
                        for_each!(L in shared_locks(plan.peers) => add_list::<L>(&mut group, load));
                    }
                }
                groups.push(group);
            }
        }
        groups
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Search,
    List,
    LockFree,
}

impl Case {
    const ALL: [Self; 3] = [Self::Search, Self::List, Self::LockFree];

    fn figure(self, threads: usize) -> Figure {
        let (case, what) = match self {
            Self::Search => {
                ("locked-list-search", "push, search of a random value, pop, each under the lock")
            }
            Self::List => ("locked-list", "push, pop, each under the lock"),
            Self::LockFree => ("lockfree-queue", "push, pop, without a lock"),
        };
        Figure {
            case: case.to_owned(),
            config: format!("t{threads}"),
            name: format!(
                "time per round of {}/{threads} thread{}",
                case.replace('-', " "),
                plural(threads)
            ),
            unit: "ns",
            trend: Trend::Lower,
            description: format!("{STEADY} elements; {what}: time per round"),
        }
    }
}

/// What the threads do.
#[derive(Clone, Copy)]
struct Load {
    threads: usize,
    /// Rounds of each thread.
    rounds: u64,
    case: Case,
}

/// Sums of the values that one thread has pushed and popped.
struct Sums {
    pushed: u64,
    popped: u64,
}

impl Load {
    /// Makes one run: all threads `push`, `search` and `pop`. Then takes out what is left, and
    /// checks that nothing is lost.
    fn run(
        self,
        push: impl Fn(u64) + Sync,
        search: impl Fn(u64) -> bool + Sync,
        pop: impl Fn() -> Option<u64> + Sync,
    ) -> Result<Vec<f64>, Error> {
        let mut values = XorShift::new(7);
        let mut pushed = 0;
        for _ in 0..STEADY {
            let value = values.below(VALUES) as u64;
            push(value);
            pushed += value;
        }
        let member = |seed: u64| {
            let (mut values, mut sums) = (XorShift::new(seed), Sums { pushed: 0, popped: 0 });
            for _ in 0..self.rounds {
                let value = values.below(VALUES) as u64;
                push(value);
                sums.pushed += value;
                if self.case == Case::Search {
                    black_box(search(values.below(VALUES) as u64));
                }
                // There are as many elements as at the start. If the queue is empty, another thread
                // is between push and pop.
                sums.popped += loop {
                    match pop() {
                        Some(value) => break value,
                        None => std::hint::spin_loop(),
                    }
                };
            }
            sums
        };
        let member = &member;
        let jobs = (1..=self.threads as u64).map(|seed| move || member(seed)).collect();
        let done = crew::run(STACK, jobs)?;
        let wall = done.iter().map(|d| d.elapsed).max().unwrap_or_default();
        pushed += done.iter().map(|d| d.result.pushed).sum::<u64>();
        let mut popped = done.iter().map(|d| d.result.popped).sum::<u64>();
        let mut left = 0;
        while let Some(value) = pop() {
            popped += value;
            left += 1;
        }
        expect("elements left", left, STEADY)?;
        expect("the sum of what came out", popped, pushed)?;
        Ok(vec![wall.as_nanos() as f64 / (self.rounds * self.threads as u64) as f64])
    }
}

fn add_list<L: SharedLockKind>(group: &mut Group, load: Load) {
    if !LOCKS.contains(&L::NAME) {
        return;
    }
    group.add(L::NAME, move || {
        let list = L::new(LinkedList::<u64>::new());
        Ok(Run(move || {
            load.run(
                |value| L::with(&list, |list| list.push_back(value)),
                |value| L::with(&list, |list| list.contains(&value)),
                || L::with(&list, LinkedList::pop_front),
            )
        }))
    });
}

fn add_queue<Q: Queue>(group: &mut Group, load: Load) {
    group.add(Q::NAME, move || {
        let queue = Q::new(STEADY + load.threads);
        Ok(Run(move || load.run(|value| Q::push(&queue, value), |_| false, || Q::pop(&queue))))
    });
}
