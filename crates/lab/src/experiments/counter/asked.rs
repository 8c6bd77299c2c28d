//! One context that a user asks about, with all solutions that serve it.

use super::solutions::{Atomic, LocalThenAtomic, Locked, Striped};
use super::{Tally, wall_time};
use crate::adapter::SharedLockKind;
use crate::experiment::{Figure, Group, Run, Trend};
use crate::host::plural;
use crate::registry::for_each;

/// When a thread reads the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// At the end.
    End,
    /// Now and then; an approximate total is enough.
    Sometimes,
    /// At each increment, as the exact total of that moment.
    Each,
}

impl Total {
    /// The name in identities.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Sometimes => "sometimes",
            Self::Each => "each",
        }
    }
}

/// The context that the user asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    pub(crate) total: Total,
    /// Increments of a run with a lock; other solutions have more.
    pub(crate) increments: u64,
}

impl Asked {
    /// Returns the group: time per increment.
    pub(crate) fn group(&self) -> Group {
        let threads = self.threads;
        let figure = Figure {
            case: format!("counter-{}", self.total.name()),
            config: format!("t{threads}"),
            name: format!("time per increment/{threads} thread{}", plural(threads)),
            unit: "ns",
            trend: Trend::Lower,
            description: "threads increment one number: wall time divided by all increments"
                .to_owned(),
        };
        let mut fill = Fill { group: Group::new(threads, vec![figure]), asked: *self };
        if self.total == Total::End {
            fill.add::<LocalThenAtomic>("local-then-atomic", 100);
        }
        if self.total != Total::Each {
            fill.add::<Striped>("striped", 50);
        }
        fill.add::<Atomic>("atomic", 5);
        for_each!(L in shared_locks(true) => fill.add_lock::<L>());
        fill.group
    }
}

struct Fill {
    group: Group,
    asked: Asked,
}

impl Fill {
    fn add<C: Tally + Default>(&mut self, name: &'static str, faster: u64) {
        let (threads, increments) = (self.asked.threads, self.asked.increments * faster);
        self.group.add(name, move || {
            Ok(Run(move || {
                let wall = wall_time(&C::default(), threads, increments)?;
                Ok(vec![wall.as_nanos() as f64 / increments as f64])
            }))
        });
    }

    fn add_lock<L: SharedLockKind>(&mut self) {
        // Leaves out locks that are slow when threads outnumber cores, and those that exist for
        // comparison only.
        if !["ticket", "mcs", "kernel"].contains(&L::NAME) {
            self.add::<Locked<L>>(L::NAME, 1);
        }
    }
}
