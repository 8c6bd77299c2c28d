//! Adapter for `tokio`: closures as futures that are ready at once.

use crate::adapter::{Submit, Tasks};
use crate::error::{Error, input};
use std::future::Future;
use std::pin::Pin;
use tokio::runtime::{Builder, Runtime};

/// The multi-threaded scheduler; skynet on one worker uses the faster current-thread one.
pub(crate) struct Tokio;

fn fail(workers: usize) -> impl Fn(std::io::Error) -> Error {
    move |e| input(format!("tokio: {workers} workers cannot be started: {e}"))
}

impl Submit for Tokio {
    const NAME: &'static str = "tokio";
    const ELSEWHERE: bool = true;
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        Builder::new_multi_thread().worker_threads(workers).build().map_err(fail(workers))
    }

    fn submit(pool: &Runtime, f: impl FnOnce() + Send + 'static) {
        pool.spawn(async move { f() });
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        tokio::spawn(async move { f() });
    }
}

impl Tasks for Tokio {
    const NAME: &'static str = "tokio";
    type Pool = Runtime;

    /// The current-thread scheduler for one worker: it is the faster one.
    fn build(workers: usize) -> Result<Runtime, Error> {
        match workers {
            1 => Builder::new_current_thread().build().map_err(fail(1)),
            _ => <Self as Submit>::build(workers),
        }
    }

    fn skynet(pool: &Runtime, leaves: u64) -> u64 {
        let result = pool.block_on(async move { tokio::spawn(tree(0, leaves)).await });
        result.expect("no task of skynet panics")
    }
}

/// The sum of the ordinals of `leaves` leaves from `first`, by ten tasks for each inner node.
fn tree(first: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let tenth = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|i| tokio::spawn(tree(first + i as u64 * tenth, tenth)));
        let mut sum = 0;
        for child in children {
            sum += child.await.expect("no task of skynet panics");
        }
        sum
    })
}
