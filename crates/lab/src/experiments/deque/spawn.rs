//! Spawns: parallel Fibonacci as a scheduler would run it.
//!
//! `fib(n)` spawns `fib(n-2)`, computes `fib(n-1)` itself and awaits the spawned one. While it
//! waits, it runs its own newest jobs, and then steals round-robin. A spawn takes a promise from
//! its worker's pool and pushes one word. Frames nest, so the pool is a stack, and taking from it
//! advances an index. That is the nearest thing to the original's garbage-collected allocation: the
//! deque is measured, not `malloc`.

use super::{Open, counted, fill, time_and_rate, values};
use crate::adapter::{Deque, Taken};
use crate::crew::{self, Relax};
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Promises for each worker, far more than frames can be live; running out is a panic. A crew that
/// has more threads than any machine has cores needs fewer.
fn promises_for(workers: usize) -> usize {
    if workers <= 64 { 1 << 14 } else { 1 << 10 }
}

/// Stolen jobs run on top of the waiting frame, so stacks can get deep.
const STACK: usize = 16 << 20;
const UNSET: u64 = 0;

/// Spawns with `workers` workers.
pub(super) fn group(plan: &Plan, workers: usize) -> Group {
    let config = format!("w{workers}");
    let what = "parallel fib, in which each call spawns one of its two";
    let threads = counted(workers, "worker");
    let group = Group::new(workers, time_and_rate("spawn", "spawn", &config, &threads, what));
    // As published: 27, 28, 29, 30 for 1, 2, 4, 8.
    let n = plan.size(27 + workers.ilog2(), 12);
    fill(plan, group, Spawns { workers, n })
}

#[derive(Clone, Copy)]
struct Spawns {
    workers: usize,
    n: u32,
}

impl Open for Spawns {
    fn run<D: Deque>(&self) -> Result<Vec<f64>, Error> {
        let slots = promises_for(self.workers);
        let promises: Vec<Box<[AtomicU64]>> = (0..self.workers)
            .map(|_| (0..slots).map(|_| AtomicU64::new(UNSET)).collect())
            .collect();
        let deques: Vec<D::Worker> = (0..self.workers).map(|_| D::new(slots)).collect();
        let others = |me: usize| (1..self.workers).map(move |k| (me + k) % self.workers);
        let thieves: Vec<Vec<D::Stealer>> = (0..self.workers)
            .map(|me| others(me).map(|o| D::stealer(&deques[o])).collect())
            .collect();
        let over = AtomicBool::new(false);
        let (promises, over, n, workers) = (&promises, &over, self.n, self.workers);
        let jobs = deques.into_iter().zip(thieves).enumerate().map(|(index, (deque, thieves))| {
            move || {
                let (own, live, relax) = (&*promises[index], Cell::new(0), Relax::new(workers));
                let crew = Crew::<D> { index, deque, thieves, promises, own, live, relax };
                if index == 0 {
                    let result = crew.fib(n);
                    // Ordering: pairs with the acquire load in `serve`; nothing but the end itself
                    // is passed on.
                    over.store(true, Ordering::Release);
                    result
                } else {
                    crew.serve(over);
                    0
                }
            }
        });
        let done = crew::run(STACK, jobs.collect())?;
        expect("the sum of fib", done[0].result, fibonacci(n))?;
        // There is one spawn for each call with n of 2 or more.
        Ok(values(&done, fibonacci(n + 1) - 1))
    }
}

/// Returns the n-th Fibonacci number.
fn fibonacci(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// One worker of the simulated scheduler.
struct Crew<'a, D: Deque> {
    index: usize,
    deque: D::Worker,
    /// The other workers' deques, starting with the next worker's.
    thieves: Vec<D::Stealer>,
    promises: &'a [Box<[AtomicU64]>],
    own: &'a [AtomicU64],
    /// Own promises below this index are taken.
    live: Cell<usize>,
    relax: Relax,
}

impl<D: Deque> Crew<'_, D> {
    fn fib(&self, n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let slot = self.live.get();
        let promise = &self.own[slot];
        self.live.set(slot + 1);
        promise.store(UNSET, Ordering::Relaxed);
        D::push(&self.deque, pack(n - 2, self.index, slot));
        let near = self.fib(n - 1);
        let far = self.wait_for(promise);
        self.live.set(slot);
        near + far
    }

    /// Runs own jobs, then others', until the promise is set.
    fn wait_for(&self, promise: &AtomicU64) -> u64 {
        let mut relax = self.relax;
        loop {
            // Ordering: pairs with the release store in `execute`.
            match promise.load(Ordering::Acquire) {
                UNSET if self.step() => relax.reset(),
                UNSET => relax.pause(),
                set => return set - 1,
            }
        }
    }

    fn serve(&self, over: &AtomicBool) {
        let mut relax = self.relax;
        // Ordering: pairs with the root's release store.
        while !over.load(Ordering::Acquire) {
            if self.step() {
                relax.reset();
            } else {
                relax.pause();
            }
        }
    }

    /// Runs one job, own or stolen. Returns false if there was none.
    fn step(&self) -> bool {
        let Some(job) = D::pop(&self.deque).or_else(|| self.steal()) else { return false };
        self.execute(job);
        true
    }

    fn steal(&self) -> Option<u64> {
        self.thieves.iter().find_map(|thief| {
            loop {
                match D::steal(thief) {
                    Taken::Item(job) => return Some(job),
                    Taken::Empty => return None,
                    Taken::Retry => std::hint::spin_loop(),
                }
            }
        })
    }

    fn execute(&self, job: u64) {
        let (n, owner, slot) = unpack(job);
        let result = self.fib(n);
        // Ordering: pairs with the acquire load in `wait_for`.
        self.promises[owner][slot].store(result + 1, Ordering::Release);
    }
}

/// A job in one word: `n` in the low 8 bits, the promise's owner in 24, its slot in 32.
fn pack(n: u32, owner: usize, slot: usize) -> u64 {
    u64::from(n) | (owner as u64) << 8 | (slot as u64) << 32
}

fn unpack(job: u64) -> (u32, usize, usize) {
    ((job & 0xFF) as u32, (job >> 8 & 0xFF_FFFF) as usize, (job >> 32) as usize)
}
