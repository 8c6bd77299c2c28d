//! Workloads of rayon's users, for the lab.
//!
//! `workloads NAME WORKERS SIZE` prepares one of them on a pool of so many workers. It makes one
//! run for each line of standard input, and answers with a line: the size, once it has checked the
//! run's result, and the run's nanoseconds. `workloads list` prints names and usual sizes.
//!
//! The time is taken inside the pool: it does not include waking the first worker. Data is made
//! before the first run, and is put back before each run.

mod draw;
mod fib;
mod find;
mod life;
mod map_collect;
mod matmul;
mod nbody;
mod sieve;
mod sorts;
mod text;
mod tiny;
mod tsp;

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::env;
use std::fmt::Debug;
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::time::{Duration, Instant};

/// A program with its data.
trait Workload: Send {
    /// Prepares a run, untimed.
    fn reset(&mut self) {}

    /// Runs on the pool of the calling worker.
    fn run(&mut self);

    /// Runs on `pool` and returns how long it took. One that starts its loops from outside has a
    /// form of its own.
    fn timed(&mut self, pool: &ThreadPool) -> Duration {
        pool.install(|| {
            let began = Instant::now();
            self.run();
            began.elapsed()
        })
    }

    /// Checks the last run's result.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self) -> Result<(), String>;
}

/// What a constructor returns: the workload, or what is wrong with the size.
type Made = Result<Box<dyn Workload>, String>;

struct Row {
    name: &'static str,
    size: usize,
    make: fn(usize) -> Made,
}

const fn row(name: &'static str, size: usize, make: fn(usize) -> Made) -> Row {
    Row { name, size, make }
}

static ROWS: [Row; 18] = [
    row("fib", 32, fib::make),
    row("nbody", 1_000, nbody::make),
    row("life", 256, life::rows),
    row("life-bridge", 256, life::bridge),
    row("quicksort", 1_000_000, sorts::quick),
    row("mergesort", 1_000_000, sorts::merge),
    row("matmul", 256, matmul::make),
    row("sieve", 10_000_000, sieve::make),
    row("tsp", 15, tsp::make),
    row("map-collect-vec", 1_000_000, map_collect::into_vec),
    row("map-collect-hash", 200_000, map_collect::into_map),
    row("map-collect-fold", 200_000, map_collect::by_fold),
    row("map-collect-mutex", 200_000, map_collect::under_mutex),
    row("str-split", 4_000_000, text::make),
    row("find-early", 2_000_000, find::early),
    row("find-late", 2_000_000, find::late),
    row("tiny-loops", 10_000, tiny::inside),
    row("tiny-loops-outside", 10_000, tiny::outside),
];

/// Compares a result with what it must be.
fn expect<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} and not {wanted:?}")) }
}

fn refuse(why: &str) -> ! {
    eprintln!("workloads: {why}");
    exit(2);
}

/// Reads the workload and the pool from the command line.
fn chosen() -> (&'static Row, ThreadPool, usize) {
    let words: Vec<String> = env::args().skip(1).collect();
    let [name, workers, size @ ..] = &words[..] else {
        refuse("wanted: NAME WORKERS [SIZE], or list");
    };
    let Some(row) = ROWS.iter().find(|row| row.name == name) else {
        refuse(&format!("`{name}`: there is no such workload; `workloads list` names them"));
    };
    let size = match size {
        [] => row.size,
        [size] => match size.parse() {
            Ok(size) if size > 0 => size,
            _ => refuse(&format!("`{size}`: {name} wants a size of at least 1")),
        },
        [_, more, ..] => refuse(&format!("`{more}`: nothing comes after the size")),
    };
    let most = rayon::max_num_threads();
    let workers = match workers.parse() {
        Ok(n) if (1..=most).contains(&n) => n,
        _ => refuse(&format!("`{workers}`: {name} wants 1 to {most} workers")),
    };
    match ThreadPoolBuilder::new().num_threads(workers).build() {
        Ok(pool) => (row, pool, size),
        Err(e) => refuse(&format!("cannot start {workers} workers: {e}")),
    }
}

fn main() -> io::Result<()> {
    if env::args().skip(1).eq(["list"]) {
        let mut out = io::stdout().lock();
        return ROWS.iter().try_for_each(|row| writeln!(out, "{} {}", row.name, row.size));
    }
    let (row, pool, size) = chosen();
    let mut workload = match (row.make)(size) {
        Ok(workload) => workload,
        Err(why) => refuse(&format!("`{size}`: {} wants {why}", row.name)),
    };
    for line in io::stdin().lock().lines() {
        line?;
        // On a worker, so that one worker finds in its own cache what it has put back.
        pool.install(|| workload.reset());
        let time = workload.timed(&pool);
        if let Err(why) = workload.check() {
            eprintln!("{}: {why}", row.name);
            exit(1);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{size} {}", time.as_nanos())?;
        out.flush()?;
    }
    Ok(())
}
