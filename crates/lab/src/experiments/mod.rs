//! The experiments. A new one is a file or folder here, and a line in [`all`].

pub(crate) mod channel;
pub(crate) mod counter;
mod deque;
mod dispatch;
mod fiber;
mod flow;
mod forkjoin;
mod idle;
mod iter;
mod listqueue;
pub(crate) mod lock;
pub(crate) mod pool;
mod queue;
mod rayon;
pub(crate) mod shed;
mod skynet;
mod switch;
pub(crate) mod throttle;
pub(crate) mod through;
mod wake;

use crate::experiment::Experiment;

/// Returns all experiments, in the order of `list` and the tour: first what a newcomer knows.
pub(crate) fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(forkjoin::ForkJoins),
        Box::new(iter::Iter),
        Box::new(skynet::Skynet),
        Box::new(skynet::Skynet100k),
        Box::new(skynet::Skynet10k),
        Box::new(channel::Channel),
        Box::new(lock::Lock),
        Box::new(counter::Counter),
        Box::new(pool::Pools),
        Box::new(queue::Queues),
        Box::new(listqueue::ListQueue),
        Box::new(fiber::Fiber),
        Box::new(switch::Switch),
        Box::new(wake::Wake),
        Box::new(dispatch::Dispatch),
        Box::new(idle::Idle),
        Box::new(shed::Shed),
        Box::new(throttle::Throttles),
        Box::new(flow::Flow),
        Box::new(deque::Deques),
        Box::new(rayon::Rayon),
    ]
}
