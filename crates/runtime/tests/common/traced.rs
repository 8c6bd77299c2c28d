//! A saved trace, read as Perfetto reads it.
#![allow(dead_code)]

use sateen_runtime::trace::format::{Trace, TrackEvent, Type, decode};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A slice of a track.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) name: String,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) depth: usize,
    pub(crate) numbers: HashMap<String, u64>,
}

/// A moment on a track.
#[derive(Clone, Debug)]
pub(crate) struct Instant {
    pub(crate) name: String,
    pub(crate) at: u64,
    pub(crate) numbers: HashMap<String, u64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) parent: u64,
    pub(crate) slices: Vec<Slice>,
    pub(crate) instants: Vec<Instant>,
    pub(crate) counts: Vec<(u64, i64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) tracks: BTreeMap<u64, Track>,
    /// Where arrows begin and end.
    pub(crate) from: HashMap<u64, u64>,
    pub(crate) to: HashMap<u64, u64>,
    pub(crate) lost: bool,
}

/// Reads the file, and checks that its slices nest and its times go up.
pub(crate) fn read(bytes: &[u8]) -> Read {
    let Trace { packet } = decode(bytes).expect("it decodes whole");
    let mut read = Read::default();
    let (mut names, mut categories) = (HashMap::new(), HashSet::new());
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    let mut last: HashMap<u64, u64> = HashMap::new();
    for (index, packet) in packet.into_iter().enumerate() {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        assert_eq!(packet.sequence_flags, Some(if index == 0 { 3 } else { 2 }));
        read.lost |= packet.previous_packet_dropped == Some(true);
        let fresh = packet.interned_data.unwrap_or_default();
        names.extend(fresh.event_names.into_iter().map(|n| (n.iid.unwrap(), n.name.unwrap())));
        categories.extend(fresh.event_categories.into_iter().map(|c| c.iid.unwrap()));
        if let Some(track) = packet.track_descriptor {
            let (uuid, parent) = (track.uuid.expect("a number"), track.parent_uuid.unwrap_or(0));
            assert!(parent == 0 || read.tracks.contains_key(&parent), "a track without a parent");
            let process = track.process.and_then(|process| process.process_name);
            let name = track.name.or(process).expect("a name");
            let before = read.tracks.insert(uuid, Track { name, parent, ..Default::default() });
            assert!(before.is_none(), "a track twice");
            continue;
        }
        let at = packet.timestamp.expect("a time");
        let TrackEvent {
            category_iids,
            debug_annotations,
            r#type,
            name_iid,
            track_uuid,
            counter_value,
            flow_ids,
            terminating_flow_ids,
        } = packet.track_event.expect("an event");
        let uuid = track_uuid.expect("a track");
        let track = read.tracks.get_mut(&uuid).expect("a track that was described");
        assert!(last.insert(uuid, at).is_none_or(|before| before <= at), "time goes back");
        assert!(category_iids.iter().all(|iid| categories.contains(iid)));
        for id in flow_ids {
            assert!(read.from.insert(id, at).is_none(), "an arrow begins twice");
        }
        for id in terminating_flow_ids {
            assert!(read.to.insert(id, at).is_none(), "an arrow ends twice");
        }
        let numbers: HashMap<String, u64> = debug_annotations
            .into_iter()
            .map(|a| (a.name.expect("a name"), a.uint_value.expect("a number")))
            .collect();
        let name = || names[&name_iid.expect("a name")].clone();
        let open = open.entry(uuid).or_default();
        match Type::try_from(r#type.expect("a type")).expect("a known type") {
            Type::SliceBegin => {
                let depth = open.len();
                open.push(Slice { name: name(), begin: at, end: 0, depth, numbers });
            }
            Type::SliceEnd => {
                let slice = open.pop().unwrap_or_else(|| panic!("{}: an end too many", track.name));
                track.slices.push(Slice { end: at, ..slice });
            }
            Type::Instant => track.instants.push(Instant { name: name(), at, numbers }),
            Type::Counter => track.counts.push((at, counter_value.expect("a value"))),
            Type::Unspecified => panic!("an event without a type"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "a slice without an end");
    for (id, end) in &read.to {
        let begin = read.from.get(id).expect("an arrow with a beginning");
        assert!(begin <= end, "an arrow into the past");
    }
    read
}

impl Read {
    pub(crate) fn track(&self, name: &str) -> &Track {
        self.tracks.values().find(|track| track.name == name).expect("a track of this name")
    }

    pub(crate) fn tracks_like(&self, prefix: &str) -> Vec<&Track> {
        self.tracks.values().filter(|track| track.name.starts_with(prefix)).collect()
    }

    pub(crate) fn workers(&self) -> Vec<&Track> {
        self.tracks_like("worker ")
    }

    /// Slices of all workers.
    pub(crate) fn on_workers(&self, name: &str) -> Vec<&Slice> {
        let all = self.workers().into_iter().flat_map(|track| &track.slices);
        all.filter(|slice| slice.name == name).collect()
    }

    /// What threads did that are no workers.
    pub(crate) fn outside(&self, name: &str) -> Vec<&Instant> {
        let all = self.tracks_like("thread ").into_iter().flat_map(|track| &track.instants);
        all.filter(|instant| instant.name == name).collect()
    }

    pub(crate) fn instants(&self, name: &str) -> Vec<&Instant> {
        let all = self.tracks.values().flat_map(|track| &track.instants);
        all.filter(|instant| instant.name == name).collect()
    }
}

impl Track {
    /// The time that its outermost slices cover, and its first and last moment.
    pub(crate) fn covered(&self) -> (u64, u64, u64) {
        let outer = || self.slices.iter().filter(|slice| slice.depth == 0);
        let sum = outer().map(|slice| slice.end - slice.begin).sum();
        let first = outer().map(|slice| slice.begin).min().unwrap_or(0);
        (sum, first, outer().map(|slice| slice.end).max().unwrap_or(0))
    }
}
