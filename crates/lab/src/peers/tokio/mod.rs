//! Adapter for `tokio`: closures are futures that are ready at once.

use crate::adapter::{Crowd, Crowds, Form, Late, Release, Submit, Tasks, Turns, Way};
use crate::error::{Error, input};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Barrier, Mutex, Notify, Semaphore};
use tokio::task::yield_now;

/// The multi-threaded scheduler. Skynet and turns on one worker use the current-thread scheduler,
/// which is faster.
pub(crate) struct Tokio;

fn fail(workers: usize) -> impl Fn(std::io::Error) -> Error {
    move |e| input(format!("tokio: cannot start {workers} workers: {e}"))
}

impl Submit for Tokio {
    const NAME: &'static str = "tokio";
    const ELSEWHERE: bool = true;
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_time()
            .build()
            .map_err(fail(workers))
    }

    fn submit(pool: &Runtime, f: impl FnOnce() + Send + 'static) {
        pool.spawn(async move { f() });
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        tokio::spawn(async move { f() });
    }
}

/// One worker uses the current-thread scheduler, which is faster.
fn fastest(workers: usize) -> Result<Runtime, Error> {
    match workers {
        1 => Builder::new_current_thread().enable_time().build().map_err(fail(1)),
        _ => <Tokio as Submit>::build(workers),
    }
}

const CALM: &str = "no task panics";

impl Tasks for Tokio {
    const NAME: &'static str = "tokio";
    // Its handles are joined by awaiting them, so this is both forms.
    const FORMS: &'static [Form] = &[Form::Join, Form::Suspend, Form::Async];
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        fastest(workers)
    }

    fn skynet(pool: &Runtime, form: Form, leaves: u64) -> u64 {
        pool.block_on(async move {
            let root = match form {
                Form::Suspend => tokio::spawn(tree::<true>(0, leaves)),
                _ => tokio::spawn(tree::<false>(0, leaves)),
            };
            root.await.expect(CALM)
        })
    }
}

/// Returns the sum of the ordinals of `leaves` leaves from `first`, by ten tasks for each inner
/// node.
fn tree<const YIELD: bool>(first: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            if YIELD {
                yield_now().await;
            }
            return first;
        }
        let tenth = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|i| tokio::spawn(tree::<YIELD>(first + i as u64 * tenth, tenth)));
        let mut sum = 0;
        for child in children {
            sum += child.await.expect(CALM);
        }
        sum
    })
}

impl Turns for Tokio {
    const NAME: &'static str = "tokio";
    const WAYS: &'static [Way] = &[Way::Yield, Way::Mutex, Way::Event];
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        fastest(workers)
    }

    fn hop(pool: &Runtime, way: Way, hops: u64) -> u64 {
        let times = hops / 2;
        match way {
            Way::Yield => pair(pool, |_| by_yield(times)),
            Way::Mutex => {
                let (ring, ready) = (Arc::<[Mutex<()>; 3]>::default(), Arc::new(Barrier::new(2)));
                pair(pool, |me| by_mutex(Arc::clone(&ring), Arc::clone(&ready), me, times))
            }
            _ => {
                let signals = Arc::new([Notify::new(), Notify::new()]);
                signals[0].notify_one();
                pair(pool, |me| by_signal(Arc::clone(&signals), me, times))
            }
        }
    }
}

/// Runs two tasks for the numbers 0 and 1. Returns the sum of their results.
fn pair<F: Future<Output = u64> + Send + 'static>(
    pool: &Runtime,
    each: impl Fn(usize) -> F,
) -> u64 {
    let both = [pool.spawn(each(0)), pool.spawn(each(1))];
    pool.block_on(async move {
        let mut sum = 0;
        for task in both {
            sum += task.await.expect(CALM);
        }
        sum
    })
}

async fn by_yield(times: u64) -> u64 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

async fn by_mutex(ring: Arc<[Mutex<()>; 3]>, ready: Arc<Barrier>, me: usize, times: u64) -> u64 {
    let mut held = ring[me].lock().await;
    ready.wait().await;
    for i in 1..=times {
        let next = ring[(me + i as usize) % 3].lock().await;
        drop(std::mem::replace(&mut held, next));
    }
    times
}

async fn by_signal(signals: Arc<[Notify; 2]>, me: usize, times: u64) -> u64 {
    for _ in 0..times {
        signals[me].notified().await;
        signals[1 - me].notify_one();
    }
    times
}

impl Crowds for Tokio {
    const NAME: &'static str = "tokio";
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        <Self as Submit>::build(workers)
    }

    fn gather(
        pool: &Runtime,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release {
        // Closing it wakes all tasks that wait.
        let release = Arc::new(Semaphore::new(0));
        let (theirs, crowd) = (Arc::clone(&release), Arc::clone(crowd));
        pool.spawn(async move {
            for _ in 0..crowd.size {
                let (release, crowd) = (Arc::clone(&theirs), Arc::clone(&crowd));
                tokio::spawn(async move {
                    crowd.arrive();
                    let closed = release.acquire().await.is_err();
                    debug_assert!(closed);
                    each();
                    crowd.leave();
                });
            }
        });
        Box::new(move || release.close())
    }

    fn sleep(pool: &Runtime, spans: Vec<Duration>, late: &Arc<Late>) {
        let late = Arc::clone(late);
        pool.spawn(async move {
            for span in spans {
                let late = Arc::clone(&late);
                tokio::spawn(async move {
                    let start = Instant::now();
                    tokio::time::sleep(span).await;
                    late.report(span, start.elapsed());
                });
            }
        });
    }
}
