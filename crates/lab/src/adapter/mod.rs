//! What an experiment may ask of an implementation: one trait for each kind of library.
//!
//! Each library, ours included, has one adapter that implements the traits it can. Experiments are
//! written against the traits. The table in [`registry`](crate::registry) lists the
//! implementations, so a new library is one folder and an entry in some rows, and a new experiment
//! measures all libraries at once.

mod channels;
mod crowds;
mod deque;
mod fibers;
mod forkjoin;
pub(crate) mod iterators;
mod locks;
mod pipe;
mod pools;
mod program;
mod queue;
mod scopes;
mod sheds;
mod submit;
mod tasks;
mod throttles;
mod turns;

pub(crate) use channels::{Channels, Use, usual_channels};
pub(crate) use crowds::{Crowd, Crowds, Late, Release};
pub(crate) use deque::{Deque, Taken};
pub(crate) use fibers::Fibers;
pub(crate) use forkjoin::ForkJoin;
pub(crate) use iterators::{Iterators, usual_iterators};
pub(crate) use locks::{Counter, LockKind, SharedLockKind};
pub(crate) use pipe::{Pipe, PipeKind};
pub(crate) use pools::{BLOCK, Content, Pool};
pub(crate) use program::{Environment, Job};
pub(crate) use queue::Queue;
pub(crate) use scopes::Scopes;
pub(crate) use sheds::{BikeshedHeader, SHED_TESTS, ShedLoad, ShedTest};
pub(crate) use submit::Submit;
pub(crate) use tasks::{Form, Tasks};
pub(crate) use throttles::ThrottleClock;
pub(crate) use turns::{Between, Locks, Turns, Way};

/// Name of our default implementation in identities.
pub(crate) const OURS: &str = "sateen";
/// Name of the plain, single-threaded program in identities.
pub(crate) const SERIAL: &str = "serial";
/// Our implementations that each add one step, in order.
pub(crate) const STAGES: [&str; 4] =
    ["sateen-plain", "sateen-padded", "sateen", "sateen-asymmetric"];

/// The pool strategy that is compared with peers in place of all our strategies.
pub(crate) const STRATEGY: &str = "magazine";
