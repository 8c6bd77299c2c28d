//! One context that somebody asks about, with all pools.

use super::bench::Case;
use super::context::Context;
use super::{AddAlone, AddHandoff, AddTimed, Shape, threads};
use crate::adapter::{visit_lone_pools, visit_pools};
use crate::experiment::{Figure, Group, Trend};
use std::time::Duration;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) threads: usize,
    /// Bytes of a block.
    pub(crate) size: usize,
    /// How long blocks live.
    pub(crate) shape: Shape,
    /// Blocks that a thread has at once, where they live long.
    pub(crate) live: u32,
    /// Another thread gives them back.
    pub(crate) handed_over: bool,
    /// Length of a run, about.
    pub(crate) window: Duration,
}

impl Asked {
    /// Time by pairs.
    pub(crate) fn group(&self) -> Group {
        let (case, config) = (self.case(), format!("t{}", self.threads));
        let figure = Figure {
            name: format!("time per pair, {}/{}", case.replace('-', " "), threads(self.threads)),
            description: "a block is taken and given back: wall time by pairs of all threads"
                .to_owned(),
            unit: "ns",
            trend: Trend::Lower,
            case,
            config,
        };
        let mut group = Group::new(self.threads, vec![figure]);
        // Each run rehearses.
        group.warmups = 0;
        // Short runs stop at the window; about as many blocks go over, or fit into it.
        let blocks = (self.window.as_nanos() / 20).clamp(1024, 1_000_000) as u32;
        // More than the usual caches hold.
        let least = (32 << 20) / self.size.max(16);
        if self.handed_over {
            let (capacity, size) = (least.max(1 << 14), self.size);
            let mut add = AddHandoff { group: &mut group, blocks, capacity, size };
            visit_pools(true, &mut add);
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
            visit_lone_pools(true, &mut AddAlone { group: &mut group, case, only: None });
        } else {
            visit_pools(true, &mut AddTimed { group: &mut group, case });
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
