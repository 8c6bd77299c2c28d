//! One thread alone: a random sequence of pushes and takes, at both ends.

use super::{Open, fill, time_and_rate, values};
use crate::adapter::{Deque, Taken};
use crate::crew;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use sateen_base::XorShift;
use std::sync::OnceLock;

const STACK: usize = 256 << 10;

/// FIFO (takes by steal) and LIFO (takes by pop).
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let messages = plan.size(150_000, 2_000);
    let one = |fifo: bool, case: &str, threads: &str, what: &str| {
        let figures = time_and_rate("message", case, "w1", threads, what);
        fill(plan, Group::new(1, figures), Domain { messages, fifo })
    };
    vec![
        one(true, "fifo", "one domain (FIFO)", "random pushes and steals by one thread"),
        one(false, "lifo", "one domain (LIFO)", "random pushes and pops by one thread"),
    ]
}

#[derive(Clone, Copy)]
struct Domain {
    messages: usize,
    fifo: bool,
}

impl Open for Domain {
    fn run<D: Deque>(&self) -> Result<Vec<f64>, Error> {
        let (steps, messages, fifo) = (sequence(self.messages), self.messages as u64, self.fifo);
        let job = move || {
            let worker = D::new(self.messages);
            let thief = D::stealer(&worker);
            let (mut next, mut sum) = (0, 0);
            for &push in steps {
                if push {
                    next += 1;
                    D::push(&worker, next);
                } else if fifo {
                    sum += steal::<D>(&thief);
                } else {
                    sum += D::pop(&worker).unwrap_or(0);
                }
            }
            sum
        };
        let done = crew::run(STACK, vec![job])?;
        expect("the sum of the messages", done[0].result, messages * (messages + 1) / 2)?;
        Ok(values(&done, messages))
    }
}

/// Returns 0 if there is nothing; then the sum is wrong.
fn steal<D: Deque>(thief: &D::Stealer) -> u64 {
    loop {
        match D::steal(thief) {
            Taken::Item(message) => return message,
            Taken::Empty => return 0,
            Taken::Retry => std::hint::spin_loop(),
        }
    }
}

/// Returns `messages` pushes (true) and as many takes in random order. No take comes before its
/// message. All implementations get the same sequence.
fn sequence(messages: usize) -> &'static [bool] {
    static FULL: OnceLock<Vec<bool>> = OnceLock::new();
    FULL.get_or_init(|| {
        let mut rng = XorShift::new(1);
        let (mut pushes, mut held) = (messages, 0);
        let mut steps = Vec::with_capacity(2 * messages);
        while pushes + held > 0 {
            let push = held == 0 || (pushes > 0 && rng.below(2) == 0);
            steps.push(push);
            if push {
                pushes -= 1;
                held += 1;
            } else {
                held -= 1;
            }
        }
        steps
    })
}
