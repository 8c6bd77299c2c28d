//! What a runtime costs while it has nothing to do.

use crate::adapter::Submit;
use crate::error::{Error, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::plural;
use crate::registry::for_each;
use sateen_base::os::process_cpu_time;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long the process is watched. Part of the figures' meaning.
const WATCHED: Duration = Duration::from_secs(3);

/// The experiment `idle`.
pub(crate) struct Idle;

impl Experiment for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn about(&self) -> &'static str {
        "The processor time that workers without work use, at rest and right after a burst of work."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        plan.workers_or(&[2]).into_iter().map(|workers| group(plan, workers)).collect()
    }
}

fn group(plan: &Plan, workers: usize) -> Group {
    let figure = |case: &str, what: &str| Figure {
        case: case.to_owned(),
        config: format!("w{workers}"),
        name: format!("processor time {what}/{workers} worker{}", plural(workers)),
        unit: "ms",
        trend: Trend::Lower,
        description: format!("processor time of the process in 3 s, {what}"),
    };
    let figures = vec![figure("cpu", "at rest"), figure("cpu-after-burst", "right after a burst")];
    // No thread computes, so any number of workers fits on any machine.
    let mut group = Group::new(1, figures);
    group.warmups = 0;
    group.min_runs = if plan.short { 1 } else { 3 };
    group.max_runs = Some(group.min_runs);
    let watched = plan.size(WATCHED, Duration::from_millis(40));
    for_each!(P in submits(plan.peers) => add::<P>(&mut group, workers, watched));
    group
}

fn add<P: Submit>(group: &mut Group, workers: usize, watched: Duration) {
    group.add(P::NAME, move || Ok(Resting::<P> { pool: P::build(workers)?, watched }));
    group.keep_apart(P::LINGERS);
}

struct Resting<P: Submit> {
    pool: P::Pool,
    watched: Duration,
}

impl<P: Submit> Session for Resting<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        // Starting the workers is not part of the figure.
        burst::<P>(&self.pool, 10)?;
        thread::sleep(Duration::from_millis(20));
        let at_rest = cpu_over(self.watched)?;
        burst::<P>(&self.pool, 20_000)?;
        Ok(vec![at_rest, cpu_over(self.watched)?])
    }
}

/// Submits `jobs` short jobs and waits for the last.
fn burst<P: Submit>(pool: &P::Pool, jobs: u32) -> Result<(), Error> {
    let (done, all_done) = mpsc::channel();
    for _ in 0..jobs {
        let done = done.clone();
        P::submit(pool, move || drop(done));
    }
    drop(done);
    // The channel closes when the last job is gone. No job sends.
    match all_done.recv() {
        Ok(()) => Err(Error::Wrong("a job of the burst sent something".to_owned())),
        Err(mpsc::RecvError) => Ok(()),
    }
}

/// Returns the milliseconds of processor time of this process while it sleeps for `span`.
pub(super) fn cpu_over(span: Duration) -> Result<f64, Error> {
    let cpu = || {
        process_cpu_time().ok_or_else(|| {
            input(
                "this system does not report processor \
                                                         time",
            )
        })
    };
    let before = cpu()?;
    thread::sleep(span);
    Ok((cpu()? - before).as_secs_f64() * 1e3)
}
