//! One context that somebody asks about, with all solutions that serve it.

use super::solutions::{Atomic, LocalThenAtomic, Locked, Striped};
use super::{Tally, wall_time};
use crate::adapter::{LockVisitor, SharedLockKind, visit_locks};
use crate::experiment::{Figure, Group, Run, Trend};
use crate::host::plural;

/// Who wants to know the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// Nobody before the end.
    End,
    /// Somebody now and then, and then as it is about then.
    Sometimes,
    /// Everybody who increments: what it was just then.
    Each,
}

impl Total {
    /// As in identities.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Sometimes => "sometimes",
            Self::Each => "each",
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    pub(crate) total: Total,
    /// Increments of a run with a lock; with others more.
    pub(crate) increments: u64,
}

impl Asked {
    /// Time by increments.
    pub(crate) fn group(&self) -> Group {
        let threads = self.threads;
        let figure = Figure {
            case: format!("counter-{}", self.total.name()),
            config: format!("t{threads}"),
            name: format!("time per increment/{threads} thread{}", plural(threads)),
            unit: "ns",
            trend: Trend::Lower,
            description: "threads increment one number: wall time over all increments".to_owned(),
        };
        let mut fill = Fill { group: Group::new(threads, vec![figure]), asked: *self };
        if self.total == Total::End {
            fill.add::<LocalThenAtomic>("local-then-atomic", 100);
        }
        if self.total != Total::Each {
            fill.add::<Striped>("striped", 50);
        }
        fill.add::<Atomic>("atomic", 5);
        visit_locks(true, &mut fill);
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
}

impl LockVisitor for Fill {
    fn visit<L: SharedLockKind>(&mut self) {
        // Not those that keep everybody waiting when threads outnumber cores, or that are there to measure against.
        if !["ticket", "mcs", "kernel"].contains(&L::NAME) {
            self.add::<Locked<L>>(L::NAME, 1);
        }
    }
}
