//! Notices an activity that makes no progress: a wake-up was lost, or something waits for ever.

use super::Job;
use crate::report::note;
use sateen::Runtime;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How long an activity may make no progress.
const STUCK: Duration = Duration::from_secs(60);
/// Time between two checks.
const GLANCE: Duration = Duration::from_millis(20);

/// Which activities of a world have ended.
pub(super) struct Watch(Box<[AtomicBool]>);

impl Watch {
    pub(super) fn new(jobs: usize) -> Self {
        Self((0..jobs).map(|_| AtomicBool::new(false)).collect())
    }

    pub(super) fn ended(&self, job: usize) {
        self.0[job].store(true, Relaxed);
    }

    /// Ends the world after `time`, and returns once all activities have ended. If one of them
    /// makes no progress, prints what waits for what and ends the process: its threads cannot be
    /// freed.
    pub(super) fn until(&self, time: Duration, over: &AtomicBool, jobs: &[Job], runtime: &Runtime) {
        let start = Instant::now();
        let mut seen: Vec<(u64, Instant)> = jobs.iter().map(|_| (0, start)).collect();
        while !self.0.iter().all(|ended| ended.load(Relaxed)) {
            if start.elapsed() >= time {
                over.store(true, Relaxed);
            }
            for (i, job) in jobs.iter().enumerate() {
                let now = job.ledger.operations();
                if now != seen[i].0 || self.0[i].load(Relaxed) {
                    seen[i] = (now, Instant::now());
                } else if seen[i].1.elapsed() > STUCK {
                    stuck(job, runtime);
                }
            }
            thread::sleep(GLANCE);
        }
    }
}

fn stuck(job: &Job, runtime: &Runtime) -> ! {
    let metrics = runtime.metrics();
    note(&format!(
        "{} made no progress for {} s after {} operations; \
         {} of {} workers sleep, {} search",
        job.name,
        STUCK.as_secs(),
        job.ledger.operations(),
        metrics.sleeping,
        runtime.workers(),
        metrics.searching,
    ));
    note(&format!("what waits for what:\n{}", runtime.report()));
    std::process::exit(1);
}
