//! Skynet under each scheduling policy.

use super::runtime::{Sateen, runtime};
use super::skynet;
use crate::adapter::{Form, OURS, Tasks};
use crate::error::Error;
use sateen::Runtime;

/// Each worker has a queue of its own that the others steal from.
pub(crate) struct Stealing;

/// Implements [`Tasks`] for `$policy`.
macro_rules! tasks {
    ($policy:ty, $name:expr, $build:expr) => {
        impl Tasks for $policy {
            const NAME: &'static str = $name;
            const FORMS: &'static [Form] = &[Form::Join, Form::Detach];
            type Pool = Runtime;

            fn build(workers: usize) -> Result<Runtime, Error> {
                $build(workers)
            }

            fn skynet(pool: &Runtime, form: Form, leaves: u64) -> u64 {
                pool.install(|| match form {
                    Form::Join => skynet::join(0, leaves),
                    Form::Suspend => unreachable!("not among the forms"),
                    Form::Detach => skynet::detach(0, leaves),
                    Form::Async => unreachable!("not among the forms"),
                })
            }
        }
    };
}

tasks!(Sateen, OURS, runtime);
tasks!(Stealing, "sateen-stealing", runtime);
