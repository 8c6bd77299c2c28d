//! Messages: one adder pushes unthrottled, takers steal.

use super::{Open, counted, fill, time_and_rate, values};
use crate::adapter::{Deque, Taken};
use crate::crew::{self, Relax};
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most messages a taker claims at a time.
const QUOTA: u64 = 1000;
const STACK: usize = 256 << 10;

/// Messages from one adder to `takers` takers.
pub(super) fn group(plan: &Plan, takers: usize) -> Group {
    let threads = format!("1 adder, {}", counted(takers, "taker"));
    let what = "one thread pushes, the others steal";
    let config = format!("t{takers}");
    let figures = time_and_rate("message", "message", &config, &threads, what);
    let messages = plan.size(70_000, 2_000);
    fill(plan, Group::new(takers + 1, figures), Messages { takers, messages })
}

#[derive(Clone, Copy)]
struct Messages {
    takers: usize,
    messages: u64,
}

impl Open for Messages {
    fn run<D: Deque>(&self) -> Result<Vec<f64>, Error> {
        let worker = D::new(self.messages as usize);
        let thieves: Vec<D::Stealer> = (0..self.takers).map(|_| D::stealer(&worker)).collect();
        let unclaimed = AtomicU64::new(self.messages);
        let (unclaimed, messages, threads) = (&unclaimed, self.messages, self.takers + 1);
        // The adder's deque must outlive its loop, so it is returned with the (empty) sum.
        type Job<'a, D> = Box<dyn FnOnce() -> (Option<<D as Deque>::Worker>, u64) + Send + 'a>;
        let mut jobs: Vec<Job<'_, D>> = vec![Box::new(move || {
            for message in 1..=messages {
                D::push(&worker, message);
            }
            (Some(worker), 0)
        })];
        for thief in thieves {
            jobs.push(Box::new(move || (None, take::<D>(&thief, unclaimed, threads))));
        }
        let done = crew::run(STACK, jobs)?;
        let sum: u64 = done.iter().map(|d| d.result.1).sum();
        expect("the sum of the messages taken", sum, messages * (messages + 1) / 2)?;
        Ok(values(&done, messages))
    }
}

/// Claims quotas and steals until they are filled. Returns the sum of what it took.
fn take<D: Deque>(thief: &D::Stealer, unclaimed: &AtomicU64, threads: usize) -> u64 {
    let mut relax = Relax::new(threads);
    let mut sum = 0;
    let claim = |left: u64| (left > 0).then(|| left - left.min(QUOTA));
    // Relaxed: only the number itself is passed on.
    while let Ok(left) = unclaimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim) {
        let mut quota = left.min(QUOTA);
        while quota > 0 {
            match D::steal(thief) {
                Taken::Item(message) => {
                    sum += message;
                    quota -= 1;
                    relax.reset();
                }
                Taken::Empty | Taken::Retry => relax.pause(),
            }
        }
    }
    sum
}
