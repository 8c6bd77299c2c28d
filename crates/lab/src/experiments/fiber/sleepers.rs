//! A hundred thousand tasks that sleep.

use super::figure;
use crate::adapter::{Crowds, Job, Late};
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan, Session, Trend};
use crate::peers;
use crate::registry::for_each;
use crate::stats::quantile;
use sateen_base::XorShift;
use std::time::Duration;

pub(super) fn group(plan: &Plan, workers: usize) -> Group {
    let what =
        "100,000 tasks sleep for up to a second, each for a random time: how late they go on";
    let one = |case: &str, name: &str| figure(case, workers, name, "µs", Trend::Lower, what);
    let figures = vec![
        one("sleepers-p50", "median lateness of sleepers"),
        one("sleepers-p999", "99.9th percentile of the lateness of sleepers"),
    ];
    let mut group = Group::new(workers, figures);
    // A run takes more than a second.
    group.warmups = 0;
    if plan.short {
        (group.min_runs, group.max_runs) = (1, Some(1));
    }
    let sleepers = plan.size(100_000, 100);
    let longest = plan.size(Duration::from_secs(1), Duration::from_millis(10));
    for_each!(C in crowds(plan.peers) => add::<C>(&mut group, workers, sleepers, longest));
    // Programs sleep for as long whatever the number of sleepers, so they take no part in a smoke
    // run.
    if plan.peers.all() && !plan.smoke {
        let values = |nanoseconds: &[f64], _: &Job| nanoseconds.iter().map(|ns| ns / 1e3).collect();
        let job = Job { case: "", workers, size: sleepers, check: sleepers, values };
        peers::add_programs(&mut group, &["sleepers"], job);
    }
    group
}

fn add<C: Crowds>(group: &mut Group, workers: usize, sleepers: u64, longest: Duration) {
    let open = move || {
        let (pool, rng) = (C::build(workers)?, XorShift::new(20_240_711));
        Ok(Sleeping::<C> { pool, rng, sleepers, longest })
    };
    group.add(C::NAME, open);
    group.keep_apart(C::LINGERS);
    group.set_environment(C::environment(sleepers));
}

struct Sleeping<C: Crowds> {
    pool: C::Pool,
    rng: XorShift,
    sleepers: u64,
    longest: Duration,
}

impl<C: Crowds> Session for Sleeping<C> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let longest = self.longest.as_nanos() as usize;
        let span = |_| Duration::from_nanos(self.rng.below(longest) as u64);
        let spans: Vec<Duration> = (0..self.sleepers).map(span).collect();
        let late = Late::of(self.sleepers);
        C::sleep(&self.pool, spans, &late);
        let sorted = late.sorted()?;
        expect("sleepers that woke", sorted.len() as u64, self.sleepers)?;
        Ok(vec![quantile(&sorted, 0.5), quantile(&sorted, 0.999)])
    }
}
