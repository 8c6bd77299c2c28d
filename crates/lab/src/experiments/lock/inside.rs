//! Locks inside of the scheduler, around what its workers share.

use super::figure;
use crate::error::{Error, expect};
use crate::exhibits::work_sharing_locked;
use crate::experiment::{Figure, Group, Plan, Run};
use crate::ours::{LOCK_FREE, RawKind, scheduled, skynet_join};
use crate::registry::for_each;
use sateen::policy::{Scheduling, work_sharing};
use std::time::Instant;

const WORKERS: usize = 2;

/// Group `in-runtime`.
pub(super) fn group(plan: &Plan) -> Group {
    let what = "skynet of 100,000 leaves, spawned tasks, joined, under work sharing, ours or as a \
                policy of the lab's with its queues under this kind of lock: time per leaf";
    let figure = Figure {
        name: format!("time per leaf/{WORKERS} workers"),
        ..figure("in-runtime".to_owned(), format!("w{WORKERS}"), WORKERS, what.to_owned())
    };
    let mut group = Group::new(WORKERS, vec![figure]);
    let leaves = plan.size(100_000, 100);
    add(&mut group, LOCK_FREE, leaves, work_sharing);
    for_each!(K in raw_locks(false) => {
        add(&mut group, K::NAME, leaves, work_sharing_locked::<K>);
    });
    group
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
