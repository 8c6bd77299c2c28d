//! Adapter for `rayon`.

use crate::adapter::{ForkJoin, Scopes, Submit, usual_iterators};
use crate::error::{Error, input};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of its own for each measurement, never the global one.
pub(crate) struct Rayon;

fn pool(workers: usize) -> Result<ThreadPool, Error> {
    let built = ThreadPoolBuilder::new().num_threads(workers).build();
    built.map_err(|e| input(format!("rayon: cannot start {workers} workers: {e}")))
}

impl ForkJoin for Rayon {
    const NAME: &'static str = "rayon";
    const RENDEZVOUS: bool = true;
    const SLICES: bool = true;
    type Pool = ThreadPool;
    type Ctx<'a> = ();

    fn build(workers: usize) -> Result<ThreadPool, Error> {
        pool(workers)
    }

    fn enter<R: Send>(pool: &ThreadPool, f: impl FnOnce(&mut ()) -> R + Send) -> R {
        pool.install(|| f(&mut ()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }

    fn for_each(_: &mut (), n: usize, _grain: usize, f: impl Fn(usize) + Sync) {
        (0..n).into_par_iter().for_each(&f);
    }

    fn sum(_: &mut (), values: &[f64], _grain: usize) -> f64 {
        values.par_iter().sum()
    }

    fn sum_slice(_: &mut (), values: &[u64]) -> u64 {
        values.par_iter().sum()
    }

    fn map_slice(_: &mut (), values: &[u64], f: impl Fn(&u64) -> u64 + Sync) -> Vec<u64> {
        values.par_iter().map(&f).collect()
    }

    fn sort(_: &mut (), values: &mut [u64]) {
        values.par_sort_unstable();
    }
}

usual_iterators!(Rayon, rayon::prelude, scan);

/// By hand: the sums of four chunks a worker, then their sums, then each chunk with what is before
/// it.
fn scan(values: &[u64]) -> Vec<u64> {
    let size = values.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let sums: Vec<u64> = values.par_chunks(size).map(|chunk| chunk.iter().sum()).collect();
    let add = |sum: &mut u64, next: u64| Some(std::mem::replace(sum, *sum + next));
    let carries: Vec<u64> = sums.into_iter().scan(0, add).collect();
    let mut results = vec![0; values.len()];
    let chunks = results.par_chunks_mut(size).zip(values.par_chunks(size)).zip(carries);
    chunks.for_each(|((results, values), mut sum)| {
        for (result, value) in results.iter_mut().zip(values) {
            sum += value;
            *result = sum;
        }
    });
    results
}

impl Scopes for Rayon {
    const BY_HAND: &'static str = "rayon";
    type Scope<'s> = rayon::Scope<'s>;

    fn scope<'s>(f: impl FnOnce(&rayon::Scope<'s>) + Send) {
        rayon::scope(f);
    }

    #[inline(always)]
    fn spawn<'s>(scope: &rayon::Scope<'s>, f: impl FnOnce(&rayon::Scope<'s>) + Send + 's) {
        scope.spawn(f);
    }
}

impl Submit for Rayon {
    const NAME: &'static str = "rayon";
    const ELSEWHERE: bool = true;
    type Pool = ThreadPool;

    fn build(workers: usize) -> Result<ThreadPool, Error> {
        pool(workers)
    }

    fn submit(pool: &ThreadPool, f: impl FnOnce() + Send + 'static) {
        pool.spawn(f);
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        rayon::spawn(f);
    }
}
