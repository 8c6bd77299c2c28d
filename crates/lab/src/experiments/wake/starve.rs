//! Jobs queued by a worker that then computes for long without coming by again.

use super::{Starts, figure};
use crate::adapter::{
    ForkJoin, ForkJoinVisitor, Submit, SubmitVisitor, visit_fork_joins, visit_submits,
};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Jobs queued before the computation.
const JOBS: u32 = 64;

/// By submitting independent jobs, and by nested joins whose innermost branch computes.
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let busy = plan.size(Duration::from_millis(100), Duration::from_millis(5));
    let new = |case: &str, what: &str| {
        let name = format!("time until {what} have started elsewhere");
        let description = format!("{what}, then the worker computes 100 ms without polling");
        let mut group = Group::new(2, vec![figure(case, 2, &name, &description)]);
        group.warmups = 0;
        group
    };
    let mut queued = new("starve", "64 queued jobs");
    visit_submits(plan.peers, &mut AddQueued { group: &mut queued, busy });
    let mut forked = new("starve-fork", "64 forked jobs");
    visit_fork_joins(plan.peers, &mut AddForked { group: &mut forked, busy });
    vec![queued, forked]
}

/// Computes for `span`, without calling the runtime.
fn compute(span: Duration) {
    let start = Instant::now();
    while start.elapsed() < span {
        std::hint::spin_loop();
    }
}

struct AddQueued<'a> {
    group: &'a mut Group,
    busy: Duration,
}

impl SubmitVisitor for AddQueued<'_> {
    fn visit<P: Submit>(&mut self) {
        if P::ELSEWHERE {
            let busy = self.busy;
            self.group.add(P::NAME, move || Ok(Queued::<P> { pool: P::build(2)?, busy }));
            self.group.keep_apart(P::LINGERS);
        }
    }
}

struct Queued<P: Submit> {
    pool: P::Pool,
    busy: Duration,
}

impl<P: Submit> Session for Queued<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let busy = self.busy;
        let observer = std::thread::current();
        let (send, receive) = std::sync::mpsc::channel();
        P::submit(&self.pool, move || {
            let starts = Starts::observed_by(JOBS, observer);
            // The receiver waits for this and for nothing else.
            let _ = send.send(Arc::clone(&starts));
            for _ in 0..JOBS {
                let starts = Arc::clone(&starts);
                P::submit_inside(move || starts.count());
            }
            compute(busy);
        });
        let starts =
            receive.recv().map_err(|_| Error::Wrong("the worker's task is lost".into()))?;
        let latest = starts.wait();
        // The next run begins with a worker that is done computing.
        let rest = self.busy.saturating_sub(starts.from.elapsed());
        std::thread::sleep(rest + super::REST);
        Ok(vec![latest])
    }
}

struct AddForked<'a> {
    group: &'a mut Group,
    busy: Duration,
}

impl ForkJoinVisitor for AddForked<'_> {
    fn visit<L: ForkJoin>(&mut self) {
        // A library that shares only when its owner comes by again shares nothing here.
        if L::RENDEZVOUS {
            let busy = self.busy;
            self.group.add(L::NAME, move || Ok(Forked::<L> { pool: L::build(2)?, busy }));
            self.group.keep_apart(L::LINGERS);
        }
    }
}

struct Forked<L: ForkJoin> {
    pool: L::Pool,
    busy: Duration,
}

impl<L: ForkJoin> Session for Forked<L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let busy = self.busy;
        let starts = L::enter(&self.pool, |ctx| {
            let starts = Starts::expecting(JOBS);
            nest::<L>(ctx, JOBS, &starts, busy);
            starts
        });
        Ok(vec![starts.wait()])
    }
}

/// `depth` joins within one another, each with a job as its second branch.
fn nest<L: ForkJoin>(ctx: &mut L::Ctx<'_>, depth: u32, starts: &Starts, busy: Duration) {
    if depth == 0 {
        compute(busy);
        return;
    }
    L::join(ctx, |c| nest::<L>(c, depth - 1, starts, busy), |_| starts.count());
}
