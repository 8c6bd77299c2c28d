//! The first pass over a trace's events, in order of time. It finds the tasks that get their own
//! track, because they have a name or are suspended, and the arrows with both ends in the trace.

use super::convert::SENT;
use super::event::Kind;
use super::lane::Lane;
use super::state::OUTSIDE;
use std::collections::{HashMap, HashSet};

/// An event whose strings were validated.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) ticks: u64,
    pub(super) ring: u32,
    pub(super) small: u32,
    pub(super) kind: Kind,
    pub(super) fiber: u32,
    pub(super) a: u64,
    pub(super) b: u64,
}

/// The result of the first pass.
pub(super) struct Known {
    /// Tasks with a track.
    pub(super) tracked: HashSet<u64>,
    /// Tasks whose spawn and start are both in the trace.
    pub(super) arrows: HashSet<u64>,
    /// Arrows from sends to receipts, by the indices of both events.
    pub(super) sent: HashMap<usize, u64>,
}

impl Known {
    pub(super) fn of(items: &[Item]) -> Self {
        let (mut tracked, mut arrows) = (HashSet::new(), HashSet::new());
        let (mut spawned, mut begun) = (HashSet::new(), HashSet::new());
        let mut fibers: HashMap<u32, Vec<u64>> = HashMap::new();
        let mut named: HashSet<u32> = HashSet::new();
        // Sends without a receipt so far, by address.
        let (mut under_way, mut sent) = (HashMap::new(), HashMap::new());
        for (index, item) in items.iter().enumerate() {
            match item.kind {
                Kind::Name => _ = named.insert(item.ring),
                Kind::Spawn => _ = spawned.insert(item.a),
                Kind::Start | Kind::PollStart => {
                    if begun.insert(item.a) && spawned.contains(&item.a) {
                        arrows.insert(item.a);
                    }
                    if named.remove(&item.ring) {
                        tracked.insert(item.a);
                    }
                    fibers.entry(item.fiber).or_default().push(item.a);
                }
                Kind::SliceStart | Kind::ShedTask => _ = named.remove(&item.ring),
                Kind::End => _ = fibers.entry(item.fiber).or_default().pop(),
                Kind::PollEnd => {
                    fibers.entry(item.fiber).or_default().pop();
                    if item.small == 0 {
                        tracked.insert(item.a);
                    }
                }
                Kind::Send => _ = under_way.insert(item.a, index),
                Kind::Receive => {
                    if let Some(begun) = under_way.remove(&item.a) {
                        let arrow = SENT | index as u64;
                        sent.extend([(begun, arrow), (index, arrow)]);
                    }
                }
                Kind::Suspend => tracked.extend(fibers.entry(item.fiber).or_default().iter()),
                _ => {}
            }
        }
        Self { tracked, arrows, sent }
    }
}

/// Keeps one copy of each event that a thread wrote into several runtimes' traces.
pub(super) fn once(items: &mut Vec<Item>, lanes: &[Lane]) {
    let mut seen = HashSet::new();
    items.retain(|item| {
        let of_all = matches!(item.kind, Kind::Send | Kind::Receive | Kind::ArrowStart)
            && lanes[item.ring as usize].worker == OUTSIDE;
        !of_all || seen.insert((item.ticks, item.a))
    });
}
