//! Crowds of tasks of `sateen`.

use super::runtime::{Sateen, runtime};
use crate::adapter::{Crowd, Crowds, Late, OURS, Release};
use crate::error::{Error, input};
use sateen::Runtime;
use sateen::spawn_async;
use sateen::sync::Event;
use sateen::sync::timer::sleep_async;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Crowds for Sateen {
    const NAME: &'static str = OURS;
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        runtime(workers)
    }

    fn gather(
        pool: &Runtime,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release {
        let release = Arc::new(Event::new());
        let (theirs, crowd) = (Arc::clone(&release), Arc::clone(crowd));
        drop(pool.spawn(move || {
            for _ in 0..crowd.size {
                let (release, crowd) = (Arc::clone(&theirs), Arc::clone(&crowd));
                drop(sateen::spawn(move || {
                    crowd.arrive();
                    release.wait();
                    each();
                    crowd.leave();
                }));
            }
        }));
        Box::new(move || release.set())
    }

    fn sleep(pool: &Runtime, spans: Vec<Duration>, late: &Arc<Late>) {
        let late = Arc::clone(late);
        drop(pool.spawn(move || {
            for span in spans {
                let late = Arc::clone(&late);
                drop(sateen::spawn(move || {
                    let start = Instant::now();
                    sateen::sleep(span);
                    late.report(span, start.elapsed());
                }));
            }
        }));
    }
}

/// The same on stacks of 64 KiB, as a program with very many blocked tasks sets them.
pub(crate) struct SmallStacks;

impl Crowds for SmallStacks {
    const NAME: &'static str = "sateen-64k";
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        let builder = Runtime::builder().workers(workers).stack_size(64 << 10);
        builder.build().map_err(|e| input(e.to_string()))
    }

    fn gather(
        pool: &Runtime,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release {
        Sateen::gather(pool, crowd, each)
    }

    fn sleep(pool: &Runtime, spans: Vec<Duration>, late: &Arc<Late>) {
        Sateen::sleep(pool, spans, late);
    }
}

/// The same by futures, which another worker may resume.
pub(crate) struct Futures;

impl Crowds for Futures {
    const NAME: &'static str = "sateen-async";
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        runtime(workers)
    }

    fn gather(
        pool: &Runtime,
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release {
        let release = Arc::new(Event::new());
        let (theirs, crowd) = (Arc::clone(&release), Arc::clone(crowd));
        drop(pool.spawn(move || {
            for _ in 0..crowd.size {
                let (release, crowd) = (Arc::clone(&theirs), Arc::clone(&crowd));
                drop(spawn_async(async move {
                    crowd.arrive();
                    release.wait_async().await;
                    each();
                    crowd.leave();
                }));
            }
        }));
        Box::new(move || release.set())
    }

    fn sleep(pool: &Runtime, spans: Vec<Duration>, late: &Arc<Late>) {
        let late = Arc::clone(late);
        drop(pool.spawn(move || {
            for span in spans {
                let late = Arc::clone(&late);
                drop(spawn_async(async move {
                    let start = Instant::now();
                    sleep_async(span).await;
                    late.report(span, start.elapsed());
                }));
            }
        }));
    }
}
