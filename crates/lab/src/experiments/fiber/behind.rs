//! A fiber that becomes ready while its worker computes for long without polling.

use super::figure;
use crate::adapter::{Fibers, Submit};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session, Trend};
use crate::registry::for_each;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) fn group(plan: &Plan, workers: usize) -> Group {
    let what = "a task makes a fiber of its worker ready, then computes for 100 ms without \
                polling: time until the fiber runs; other workers are idle, but a started task \
                stays";
    let name = "time behind a computing task";
    let one = figure("resume-behind", workers, name, "µs", Trend::Lower, what);
    let mut group = Group::new(2, vec![one]);
    group.warmups = 0;
    let busy = plan.size(Duration::from_millis(100), Duration::from_millis(5));
    if plan.short {
        (group.min_runs, group.max_runs) = (3, Some(3));
    }
    for_each!(F in fibers(plan.peers) => add::<F>(&mut group, workers, busy));
    group
}

fn add<F: Fibers>(group: &mut Group, workers: usize, busy: Duration) {
    let open = move || Ok(Behind::<F> { pool: <F as Submit>::build(workers)?, busy });
    group.add(<F as Submit>::NAME, open);
}

struct Behind<F: Fibers> {
    pool: <F as Submit>::Pool,
    busy: Duration,
}

impl<F: Fibers> Session for Behind<F> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        // Lets the other workers fall asleep, so that the worker of the one task starts the other
        // too.
        thread::sleep(Duration::from_millis(2));
        // Another worker may still have started the fiber: then tries again.
        for _ in 0..1000 {
            let busy = self.busy;
            let (send, receive) = mpsc::channel();
            F::submit(&self.pool, move || attempt::<F>(busy, &send));
            if let Ok(delay) = receive.recv() {
                return Ok(vec![delay.as_nanos() as f64 / 1e3]);
            }
        }
        Err(Error::Wrong("none of 1000 fibers started on the worker that spawned it".to_owned()))
    }
}

/// Starts a fiber, and computes if the same worker has started it. Sends how long the fiber then
/// waited.
fn attempt<F: Fibers>(busy: Duration, send: &mpsc::Sender<Duration>) {
    let (here, there, release, over) = (F::worker(), mpsc::channel(), F::event(), F::event());
    let started = F::event();
    let (told, theirs) = there;
    let (their_release, their_start, their_end) = (release.clone(), started.clone(), over.clone());
    F::submit_inside(move || {
        // The receivers below wait for these and for nothing else.
        let _ = told.send((F::worker(), Instant::now()));
        F::set(&their_start);
        F::wait(&their_release);
        let _ = told.send((F::worker(), Instant::now()));
        F::set(&their_end);
    });
    F::wait(&started);
    let same = theirs.try_recv().is_ok_and(|(worker, _)| worker == here);
    let set = Instant::now();
    F::set(&release);
    while same && set.elapsed() < busy {
        std::hint::spin_loop();
    }
    F::wait(&over);
    if same && let Ok((_, resumed)) = theirs.try_recv() {
        let _ = send.send(resumed.saturating_duration_since(set));
    }
}
