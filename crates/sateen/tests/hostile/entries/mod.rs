//! The entry points: one entry for each moment at which Sateen calls user code.

mod flow;
mod iter;
mod queues;
mod shed;
mod sync;
mod tasks;
#[cfg(all(feature = "trace", feature = "tracing"))]
mod traces;
mod wakers;
mod work;

use crate::behaviour::Behaviour;
use crate::cell::Cell;
use std::sync::Arc;

/// An entry point, with user code at one moment.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) call: fn(&Arc<Cell>),
    /// Whether the moment may not come, because the work is refused, cancelled or shut down before.
    pub(crate) may_not_strike: bool,
    /// Whether a panic there ends the process, as the documentation says.
    pub(crate) panic_aborts: bool,
    /// A behaviour that does not fit this entry, and why.
    pub(crate) except: Option<(Behaviour, &'static str)>,
}

/// An entry for all behaviours.
const fn entry(name: &'static str, call: fn(&Arc<Cell>)) -> Entry {
    Entry { name, call, may_not_strike: true, panic_aborts: false, except: None }
}

/// An entry for all behaviours but one.
const fn except(behaviour: Behaviour, why: &'static str, entry: Entry) -> Entry {
    Entry { except: Some((behaviour, why)), ..entry }
}

pub(crate) fn all() -> Vec<&'static Entry> {
    let lists = [
        work::ALL,
        iter::SOURCES,
        iter::ADAPTERS,
        iter::ENDS,
        tasks::ALL,
        sync::ALL,
        wakers::ALL,
        queues::ALL,
        shed::ALL,
        flow::ALL,
        #[cfg(all(feature = "trace", feature = "tracing"))]
        traces::ALL,
    ];
    lists.into_iter().flatten().collect()
}
