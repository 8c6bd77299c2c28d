//! Skynet under each scheduling policy.

use super::runtime::{Sateen, scheduled};
use super::skynet;
use crate::adapter::{Form, OURS, Tasks};
use crate::error::Error;
use sateen::Runtime;
use sateen::policy;

/// Each worker has a queue of its own, from which the others steal.
pub(crate) struct Stealing;

/// All workers take from one queue.
pub(crate) struct Sharing;
/// Each worker runs only what it was given.
pub(crate) struct RoundRobin;

/// Implements [`Tasks`] for `$adapter`, with at most `$most` workers, under a policy.
macro_rules! tasks {
    ($adapter:ty, $name:expr, $most:expr, $policy:expr) => {
        impl Tasks for $adapter {
            const NAME: &'static str = $name;
            const MOST_WORKERS: usize = $most;
            const FORMS: &'static [Form] =
                &[Form::Join, Form::Suspend, Form::Detach, Form::Channel, Form::Async];
            type Pool = Runtime;

            fn build(workers: usize) -> Result<Runtime, Error> {
                scheduled(workers, $policy)
            }

            fn skynet(pool: &Runtime, form: Form, leaves: u64) -> u64 {
                pool.install(|| match form {
                    Form::Join => skynet::join(0, leaves),
                    Form::Suspend => skynet::suspend(0, leaves),
                    Form::Detach => skynet::detach(0, leaves),
                    Form::Channel => skynet::channel(0, leaves),
                    Form::Async => skynet::future(0, leaves),
                })
            }
        }
    };
}

tasks!(Sateen, OURS, usize::MAX, policy::work_stealing());
tasks!(Stealing, "sateen-stealing", usize::MAX, policy::work_stealing());
tasks!(Sharing, "sateen-sharing", usize::MAX, policy::work_sharing());
tasks!(RoundRobin, "sateen-roundrobin", 1, policy::round_robin());
