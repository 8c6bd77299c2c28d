//! A toy scheduler: workers with a deque each, an injector, and closures that make more closures.
//!
//! Idle workers yield; those of a real scheduler sleep.

use sateen::deque::{Injector, Steal, Stealer, Worker};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A closure that is told which worker it runs on. It may borrow values that outlive the pool.
type Job<'a> = Box<dyn for<'p> FnOnce(&Local<'p, 'a>) + Send + 'a>;

/// The state that all workers share.
struct Pool<'a> {
    injector: Injector<Job<'a>>,
    stealers: Vec<Stealer<Job<'a>>>,
    /// Jobs that were made and have not ended.
    unfinished: AtomicUsize,
}

/// The part of its worker that a job may use.
struct Local<'p, 'a> {
    deque: Worker<Job<'a>>,
    pool: &'p Pool<'a>,
}

impl<'a> Local<'_, 'a> {
    fn spawn(&self, job: impl for<'p> FnOnce(&Local<'p, 'a>) + Send + 'a) {
        self.pool.unfinished.fetch_add(1, Ordering::Relaxed);
        self.deque.push(Box::new(job));
    }

    /// The worker's own jobs come first, the newest of them. Then comes a batch from outside, and
    /// then the jobs of other workers.
    fn find(&self) -> Option<Job<'a>> {
        let pool = self.pool;
        self.deque.pop().or_else(|| {
            let attempt = || {
                let others = || pool.stealers.iter().map(Stealer::steal).collect();
                pool.injector.steal_batch_and_pop(&self.deque).or_else(others)
            };
            std::iter::repeat_with(attempt).find(|s| !s.is_retry()).and_then(Steal::success)
        })
    }

    fn work(&self) {
        while self.pool.unfinished.load(Ordering::Acquire) > 0 {
            match self.find() {
                Some(job) => {
                    job(self);
                    self.pool.unfinished.fetch_sub(1, Ordering::Release);
                }
                None => std::thread::yield_now(),
            }
        }
    }
}

/// Runs `job`, and all jobs it leads to, on `workers` threads.
fn run<'a>(workers: usize, job: impl for<'p> FnOnce(&Local<'p, 'a>) + Send + 'a) {
    let deques: Vec<Worker<Job<'a>>> = (0..workers).map(|_| Worker::new_lifo()).collect();
    let pool = Pool {
        injector: Injector::new(),
        stealers: deques.iter().map(Worker::stealer).collect(),
        unfinished: AtomicUsize::new(1),
    };
    pool.injector.push(Box::new(job));
    std::thread::scope(|s| {
        for deque in deques {
            let pool = &pool;
            s.spawn(move || Local { deque, pool }.work());
        }
    });
}

/// Counts the nodes of a binary tree of `depth` levels, one job a node.
fn count<'a>(local: &Local<'_, 'a>, depth: u32, nodes: &'a AtomicUsize) {
    nodes.fetch_add(1, Ordering::Relaxed);
    if depth > 1 {
        for _ in 0..2 {
            local.spawn(move |local| count(local, depth - 1, nodes));
        }
    }
}

fn main() {
    let nodes = AtomicUsize::new(0);
    run(2, |local| count(local, 16, &nodes));
    println!("{} jobs", nodes.into_inner());
}

#[test]
fn every_job_runs_once() {
    for workers in [1, 2, 4] {
        let nodes = AtomicUsize::new(0);
        run(workers, |local| count(local, 12, &nodes));
        assert_eq!(nodes.into_inner(), (1 << 12) - 1);
    }
}
