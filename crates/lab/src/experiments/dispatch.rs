//! The shortest fork whose halves really run on two workers.

use crate::adapter::ForkJoin;
use crate::crew::Relax;
use crate::error::Error;
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::registry::for_each;
use crate::stats::median;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The experiment `dispatch`.
pub(crate) struct Dispatch;

impl Experiment for Dispatch {
    fn name(&self) -> &'static str {
        "dispatch"
    }

    fn about(&self) -> &'static str {
        "Small parallel regions: the time until a second, wide-awake worker has run its half of a \
         fork and both halves are joined."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let figure = |case: &str, name: &str, what: &str| Figure {
            case: case.to_owned(),
            config: "w2".to_owned(),
            name: format!("{name}/2 workers"),
            unit: "ns",
            trend: Trend::Lower,
            description: format!(
                "two-way fork on awake workers, each half waits until the other has started: \
                 {what} of the forks"
            ),
        };
        let figures = vec![
            figure("empty", "time of an empty fork", "median"),
            figure("empty-mean", "mean time of an empty fork", "mean"),
        ];
        let mut group = Group::new(2, figures);
        let forks = plan.size(2_000, 5);
        for_each!(L in fork_joins(plan.peers) => add::<L>(&mut group, forks));
        vec![group]
    }
}

fn add<L: ForkJoin>(group: &mut Group, forks: u32) {
    // A library that shares work only when its owner polls would wait for ever here.
    if L::RENDEZVOUS {
        group.add(L::NAME, move || Ok(Hot::<L> { pool: L::build(2)?, forks }));
        group.keep_apart(L::LINGERS);
    }
}

/// How long a half waits for the other. A pool that has lost a wake-up would never start it.
const MEETING_TIMEOUT: Duration = Duration::from_millis(100);

struct Hot<L: ForkJoin> {
    pool: L::Pool,
    forks: u32,
}

impl<L: ForkJoin> Session for Hot<L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let forks = self.forks;
        let started = AtomicU32::new(0);
        let meet = |both: u32| {
            // Ordering: pairs with the other half's acquire load below.
            started.fetch_add(1, Ordering::AcqRel);
            let (mut relax, mut pauses) = (Relax::new(2), 0u32);
            let begun = Instant::now();
            // Ordering: pairs with the other half's increment above.
            while started.load(Ordering::Acquire) < both {
                relax.pause();
                pauses = pauses.wrapping_add(1);
                if pauses.is_multiple_of(1024) && begun.elapsed() > MEETING_TIMEOUT {
                    break;
                }
            }
        };
        let mut times = L::enter(&self.pool, |ctx| {
            let mut times = Vec::with_capacity(forks as usize);
            let mut last = Instant::now();
            for fork in 1..=forks {
                L::join(ctx, |_| meet(2 * fork), |_| meet(2 * fork));
                let now = Instant::now();
                times.push((now - last).as_nanos() as f64);
                last = now;
            }
            times
        });
        // Both halves of every fork have run. A fork whose halves did not meet took
        // `MEETING_TIMEOUT`, which shows in the mean. The forks are joined, so any ordering reads
        // the last value.
        crate::error::expect("halves that started", started.load(Ordering::Relaxed), 2 * forks)?;
        let mean = times.iter().sum::<f64>() / f64::from(forks);
        Ok(vec![median(&mut times), mean])
    }
}
