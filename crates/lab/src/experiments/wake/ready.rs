//! A suspended task that becomes ready while its only worker computes in forked pieces.

use super::{Starts, figure};
use crate::adapter::{Fibers, ForkJoin, Submit};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use crate::registry::for_each;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long one piece of the computation goes on without polling.
const PIECE: Duration = Duration::from_micros(5);

pub(super) fn group(plan: &Plan) -> Group {
    let name = "time until a ready task runs behind a computing one";
    let what = "a suspended task is made ready while its worker computes in forked pieces: time \
                until it runs";
    let mut group = Group::new(1, vec![figure("ready-behind-compute", 1, name, what)]);
    let busy = plan.size(Duration::from_millis(20), Duration::from_millis(4));
    for_each!(F in fibers(plan.peers) => add::<F>(&mut group, busy));
    group
}

fn add<F: Fibers>(group: &mut Group, busy: Duration) {
    let open = move || Ok(Behind::<F> { pool: <F as Submit>::build(1)?, busy });
    group.add(<F as Submit>::NAME, open);
}

struct Behind<F: Fibers> {
    pool: <F as Submit>::Pool,
    busy: Duration,
}

impl<F: Fibers> Session for Behind<F> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let event = F::event();
        let waiting = Arc::new(AtomicBool::new(false));
        let computing = Arc::new(AtomicBool::new(false));
        let (send, resumed) = std::sync::mpsc::channel();
        let (seen, flag) = (event.clone(), Arc::clone(&waiting));
        F::submit(&self.pool, move || {
            // Ordering: pairs with the acquire load in `until`, as below.
            flag.store(true, Ordering::Release);
            F::wait(&seen);
            // The receiver waits for this and for nothing else.
            let _ = send.send(Instant::now());
        });
        until(&waiting);
        let done = Starts::expecting(1);
        let (busy, flag, finished) = (self.busy, Arc::clone(&computing), Arc::clone(&done));
        F::submit(&self.pool, move || {
            // Ordering: pairs with the acquire load in `until`.
            flag.store(true, Ordering::Release);
            let end = Instant::now() + busy;
            while Instant::now() < end {
                pieces::<F>();
            }
            finished.count();
        });
        until(&computing);
        // Sets the event in the middle of the computation.
        thread::sleep(self.busy / 4);
        let set = Instant::now();
        F::set(&event);
        let resumed = resumed.recv().map_err(|_| Error::Wrong("the task is lost".to_owned()))?;
        done.wait();
        Ok(vec![resumed.saturating_duration_since(set).as_nanos() as f64 / 1e3])
    }
}

/// Sleeps until `flag` is set.
fn until(flag: &AtomicBool) {
    // Ordering: pairs with the release stores of the two tasks.
    while !flag.load(Ordering::Acquire) {
        thread::sleep(Duration::from_micros(100));
    }
}

/// Sixteen pieces of computation in a tree of forks.
fn pieces<F: Fibers>() {
    fn tree<L: ForkJoin>(ctx: &mut L::Ctx<'_>, pieces: u32) {
        if pieces > 1 {
            let half = pieces / 2;
            L::join(ctx, |c| tree::<L>(c, half), |c| tree::<L>(c, pieces - half));
            return;
        }
        let end = Instant::now() + PIECE;
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
    F::here(|ctx| tree::<F>(ctx, 16));
}
