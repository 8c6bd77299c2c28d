//! Locks inside of the scheduler: what its workers share is under each kind.

use super::figure;
use crate::error::{Error, expect};
use crate::experiment::{Figure, Group, Plan, Run};
use crate::ours::{LOCK_FREE, RawKind, RawVisitor, scheduled, skynet_join, visit_raw};
use sateen::policy::{Scheduling, work_sharing, work_sharing_locked};
use std::time::Instant;

const WORKERS: usize = 2;

/// Group `in-runtime`.
pub(super) fn group(plan: &Plan) -> Group {
    let what = "skynet of 100,000 leaves, spawned tasks, joined, under work sharing; the shared queue and the \
                workers' own are under locks of the kind (or without one): time by leaves";
    let figure = Figure {
        name: format!("time per leaf/{WORKERS} workers"),
        ..figure("in-runtime".to_owned(), format!("w{WORKERS}"), WORKERS, what.to_owned())
    };
    let mut group = Group::new(WORKERS, vec![figure]);
    let leaves = plan.size(100_000, 100);
    add(&mut group, LOCK_FREE, leaves, work_sharing);
    visit_raw(&mut AddAll { group: &mut group, leaves });
    group
}

struct AddAll<'a> {
    group: &'a mut Group,
    leaves: u64,
}

impl RawVisitor for AddAll<'_> {
    fn visit<K: RawKind + Send + Sync>(&mut self) {
        add(self.group, K::NAME, self.leaves, work_sharing_locked::<K>);
    }
}

fn add(group: &mut Group, name: &'static str, leaves: u64, policy: fn() -> Scheduling) {
    group.add(name, move || {
        let pool = scheduled(WORKERS, policy())?;
        Ok(Run(move || -> Result<Vec<f64>, Error> {
            let start = Instant::now();
            let sum = pool.install(|| skynet_join(0, leaves));
            let elapsed = start.elapsed();
            expect("the sum of the leaves", sum, leaves * (leaves - 1) / 2)?;
            Ok(vec![elapsed.as_nanos() as f64 / leaves as f64])
        }))
    });
}
