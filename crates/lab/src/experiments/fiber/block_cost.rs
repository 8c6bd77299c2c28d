//! The first time a task blocks: it keeps the stack it is on, and its worker takes another stack.

use super::figure;
use crate::adapter::{Fibers, Submit};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session, Trend};
use crate::registry::for_each;
use crate::stats::median;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Tasks of a round: fewer than the stacks that a runtime keeps, so that none is new.
const TASKS: u32 = 500;

pub(super) fn group(plan: &Plan) -> Group {
    let what = "a worker starts 500 tasks that block, and 500 whose event is set already: \
                difference of the times until all have reached their wait, per task (median of \
                rounds)";
    let one = figure("block-cost", 1, "time to block first", "ns", Trend::Lower, what);
    let mut group = Group::new(1, vec![one]);
    let rounds = plan.size(20, 2);
    for_each!(F in fibers(plan.peers) => add::<F>(&mut group, rounds));
    group
}

fn add<F: Fibers>(group: &mut Group, rounds: u32) {
    let open = move || Ok(Blocking::<F> { pool: <F as Submit>::build(1)?, rounds });
    group.add(<F as Submit>::NAME, open);
}

struct Blocking<F: Fibers> {
    pool: <F as Submit>::Pool,
    rounds: u32,
}

impl<F: Fibers> Session for Blocking<F> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let rounds = self.rounds;
        let (send, receive) = mpsc::channel();
        F::submit(&self.pool, move || {
            for _ in 0..rounds {
                let (free, blocked) = (round::<F>(false), round::<F>(true));
                // The receiver waits for these and for nothing else.
                let _ = send.send(blocked.as_nanos() as f64 - free.as_nanos() as f64);
            }
        });
        let mut differences: Vec<f64> = receive.into_iter().collect();
        crate::error::expect("rounds", differences.len(), rounds as usize)?;
        Ok(vec![median(&mut differences) / f64::from(TASKS)])
    }
}

/// An event with the number of tasks that have not arrived.
struct Countdown<F: Fibers> {
    missing: AtomicU32,
    all: F::Event,
}

impl<F: Fibers> Countdown<F> {
    fn new() -> Self {
        Self { missing: AtomicU32::new(TASKS), all: F::event() }
    }

    fn one(&self) {
        // Ordering: only the count is passed on; the event orders the rest.
        if self.missing.fetch_sub(1, Ordering::Relaxed) == 1 {
            F::set(&self.all);
        }
    }
}

/// On the only worker: returns the time until all tasks have reached a wait, which blocks them if
/// `block`.
fn round<F: Fibers>(block: bool) -> Duration {
    let release = F::event();
    if !block {
        F::set(&release);
    }
    let here = Arc::new((Countdown::<F>::new(), Countdown::<F>::new()));
    let start = Instant::now();
    for _ in 0..TASKS {
        let (release, here) = (release.clone(), Arc::clone(&here));
        F::submit_inside(move || {
            here.0.one();
            F::wait(&release);
            here.1.one();
        });
    }
    F::wait(&here.0.all);
    let elapsed = start.elapsed();
    F::set(&release);
    F::wait(&here.1.all);
    elapsed
}
