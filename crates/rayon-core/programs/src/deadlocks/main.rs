//! Programs that may wait for ever if a waiting worker runs unrelated work on its stack.
//!
//! `deadlocks NAME THREADS ROUNDS` runs one of them on a pool of so many threads. It exits with 0
//! once all rounds are done, and fails if a round computes something wrong. A program that hangs
//! does so for ever: the caller ends it. `deadlocks list` prints a line for each program: its name,
//! how many threads the control takes, and what a pool does to it whose waiting workers take any
//! work:
//!
//! * `stops`: it hangs or fails soon;
//! * `either`: it depends on who steals what;
//! * `passes`: it needs nothing but a second thread, and must not be broken by a repair.
//!
//! The numbers are those of rayon's issues. The short forms leave nothing to luck but the moment of
//! a steal. The natural forms are what their reporters had written.

mod natural;
mod short;

use rayon::{Scope, ThreadPool, ThreadPoolBuilder, join};
use std::env;
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// How long a stolen branch keeps its thief, so that its joiner has to wait.
const MOMENT: Duration = Duration::from_millis(2);

/// How long a program waits for another thread that it does not need. So no program depends on
/// what is stolen first.
const PATIENCE: Duration = Duration::from_millis(20);

/// The pools are built anew after so many rounds.
const ROUNDS_OF_A_POOL: u32 = 100;

struct Program {
    name: &'static str,
    /// The threads of the control. A short form has the fewest with which it can go wrong.
    threads: usize,
    elsewhere: &'static str,
    round: fn(&Pools),
}

const fn program(
    name: &'static str,
    threads: usize,
    elsewhere: &'static str,
    round: fn(&Pools),
) -> Program {
    Program { name, threads, elsewhere, round }
}

static PROGRAMS: [Program; 19] = [
    program("issue-592", 2, "stops", short::lock_over_a_join),
    program("issue-592-natural", 8, "either", natural::lock_over_a_collection),
    program("issue-1083", 2, "stops", short::borrow_over_a_join),
    program("issue-1083-natural", 8, "either", natural::buffer_of_each_thread),
    program("issue-1142", 4, "stops", short::two_locks_crosswise),
    program("issue-1142-natural", 8, "either", natural::bridges_that_join),
    program("issue-1174", 1, "stops", short::lock_over_another_pool),
    program("issue-1174-natural", 8, "either", natural::requests_to_a_driver),
    program("issue-1205", 2, "stops", short::readers_behind_a_writer),
    program("issue-1205-natural", 8, "either", natural::readers_and_writers),
    program("once-lock", 2, "stops", short::initialiser_that_joins),
    program("once-lock-natural", 8, "either", natural::initialisers_with_loops),
    program("thread-local", 2, "stops", short::value_of_a_thread),
    program("thread-local-tree", 8, "either", natural::values_down_a_tree),
    program("lock-over-loop", 8, "either", natural::lock_over_a_loop),
    program("lock-over-scope", 8, "either", natural::lock_over_a_scope),
    program("lock-over-tree", 8, "either", natural::lock_over_a_tree),
    program("lock-over-install", 8, "either", natural::lock_over_an_install),
    program("barrier-under-lock", 2, "passes", short::barrier_between_branches),
];

/// What the programs of one run share.
struct Pools {
    threads: usize,
    outer: ThreadPool,
    /// A pool of one thread.
    driver: ThreadPool,
    /// How many branches of [`Pools::join_above`] another worker has taken.
    stolen: AtomicUsize,
}

impl Pools {
    fn new(threads: usize) -> Self {
        let pool = |n| match ThreadPoolBuilder::new().num_threads(n).build() {
            Ok(pool) => pool,
            Err(e) => refuse(&format!("cannot start {n} threads: {e}")),
        };
        Self { threads, outer: pool(threads), driver: pool(1), stolen: AtomicUsize::new(0) }
    }

    /// Joins in such a way that the caller has to wait while the job `stranger`, which is none of
    /// the join's, lies at the young end of its queue. A waiting worker that takes any work runs
    /// the job on top of the caller.
    fn join_above<'s>(&self, scope: &Scope<'s>, stranger: impl FnOnce() + Send + 's) {
        let started = AtomicBool::new(false);
        join(
            || {
                scope.spawn(|_| stranger());
                if until(|| started.load(Ordering::Acquire)) {
                    self.stolen.fetch_add(1, Ordering::Relaxed);
                }
            },
            // The oldest work of the queue, which a thief takes first.
            || {
                started.store(true, Ordering::Release);
                sleep(MOMENT);
            },
        );
    }
}

/// Waits until `there`, but not for ever. Returns whether it is.
fn until(there: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !there() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        yield_now();
    }
    true
}

fn refuse(why: &str) -> ! {
    eprintln!("deadlocks: {why}");
    exit(2);
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let (name, threads, rounds) = match &words[..] {
        [list] if list == "list" => {
            for Program { name, threads, elsewhere, .. } in &PROGRAMS {
                println!("{name} {threads} {elsewhere}");
            }
            return;
        }
        [name, threads, rounds] => (name, threads, rounds),
        _ => refuse("wanted: NAME THREADS ROUNDS, or list"),
    };
    let Some(program) = PROGRAMS.iter().find(|p| p.name == name) else {
        refuse(&format!("`{name}`: there is no such program; `deadlocks list` names them"));
    };
    let least = program.threads.min(2);
    let most = rayon::max_num_threads();
    let threads = match threads.parse() {
        Ok(n) if (least..=most).contains(&n) => n,
        _ => refuse(&format!("`{threads}`: {name} wants {least} to {most} threads")),
    };
    let Ok(rounds) = rounds.parse::<u32>() else {
        refuse(&format!("`{rounds}`: a number of rounds is wanted"));
    };

    let mut stolen = 0;
    for first in (0..rounds).step_by(ROUNDS_OF_A_POOL as usize) {
        let pools = Pools::new(threads);
        for _ in first..rounds.min(first + ROUNDS_OF_A_POOL) {
            (program.round)(&pools);
        }
        stolen += pools.stolen.into_inner();
    }
    // Only the short forms count them. Without any, a run has shown nothing.
    let stolen = if stolen > 0 { format!(", {stolen} branches stolen") } else { String::new() };
    println!("{name}: {rounds} rounds on {threads} threads{stolen}");
}
