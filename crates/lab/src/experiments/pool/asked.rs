//! One context that a user asks about, with all pools.

use super::bench::Case;
use super::context::Context;
use super::handoff::Handoff;
use super::{Shape, add_alone, add_timed, threads};
use crate::experiment::{Figure, Group, Trend};
use crate::registry::for_each;
use std::time::Duration;

/// The context that the user asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    /// Size of a block in bytes.
    pub(crate) size: usize,
    /// How long blocks live.
    pub(crate) shape: Shape,
    /// How many blocks a thread has at once, if they live long.
    pub(crate) live: u32,
    /// Whether another thread gives the blocks back.
    pub(crate) handed_over: bool,
    /// Approximate length of a run.
    pub(crate) window: Duration,
}

impl Asked {
    /// Returns the group: time per pair.
    pub(crate) fn group(&self) -> Group {
        let (case, config) = (self.case(), format!("t{}", self.threads));
        let figure = Figure {
            name: format!("time per pair, {}/{}", case.replace('-', " "), threads(self.threads)),
            description:
                "a block is taken and given back: wall time divided by the pairs of all threads"
                    .to_owned(),
            unit: "ns",
            trend: Trend::Lower,
            case,
            config,
        };
        let mut group = Group::new(self.threads, vec![figure]);
        // Each run rehearses, so nothing else warms up.
        group.warmups = 0;
        // Short runs stop at the window; in the others about as many blocks as fit into it are
        // handed over.
        let blocks = (self.window.as_nanos() / 20).clamp(1024, 1_000_000) as u32;
        // More than the usual caches hold.
        let least = (32 << 20) / self.size.max(16);
        if self.handed_over {
            let (capacity, size) = (least.max(1 << 14), self.size);
            for_each!((P, name) in pools(true) => {
                group.add(name, move || Handoff::<P>::open(capacity, size, blocks));
            });
            return group;
        }
        let pairs = if self.shape == Shape::Long { self.live } else { u32::MAX };
        let case = Case {
            shape: self.shape,
            context: Context::Fresh,
            threads: self.threads,
            size: self.size,
            pairs,
            least,
            limit: self.window,
        };
        if self.threads == 1 {
            for_each!((P, name) in lone_pools(true) => add_alone::<P>(&mut group, name, case));
        } else {
            for_each!((P, name) in pools(true) => add_timed::<P>(&mut group, name, case));
        }
        group
    }

    fn case(&self) -> String {
        if self.handed_over {
            return format!("pool-handoff-{}B", self.size);
        }
        format!("pool-{}-{}B", self.shape.name(), self.size)
    }
}
