//! Writes packets: one after another, each as a field of the file's one message.

use super::format::{
    CounterDescriptor, DebugAnnotation, InternedData, InternedName, ProcessDescriptor, TracePacket,
    TrackDescriptor, TrackEvent, Type,
};
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// All packets are one sequence.
const SEQUENCE: u32 = 1;
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
/// Field 1 of the file's message, length-delimited.
const PACKET: u8 = 1 << 3 | 2;

/// Data of an event besides its time and track.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details<'a> {
    pub(super) category: &'static str,
    pub(super) numbers: &'a [(&'static str, u64)],
    pub(super) text: Option<(&'static str, &'a str)>,
    /// An arrow that begins here; 0 for none.
    pub(super) from_here: u64,
    /// An arrow that ends here; 0 for none.
    pub(super) to_here: u64,
}

/// See the [module's documentation](self).
pub(super) struct Packets<W> {
    out: W,
    buffer: Vec<u8>,
    names: HashMap<String, u64>,
    categories: HashMap<&'static str, u64>,
    /// Whether the first packet has been written.
    begun: bool,
    lost: bool,
}

impl<W: Write> Packets<W> {
    /// `lost` tells whether the oldest events are missing.
    pub(super) fn new(out: W, lost: bool) -> Self {
        let (names, categories) = (HashMap::new(), HashMap::new());
        Self { out, buffer: Vec::new(), names, categories, begun: false, lost }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        let mut flags = NEEDS_STATE;
        if !self.begun {
            flags |= STATE_CLEARED;
            packet.previous_packet_dropped = self.lost.then_some(true);
            self.begun = true;
        }
        packet.sequence_flags = Some(flags);
        self.buffer.clear();
        self.buffer.push(PACKET);
        // Writing into a vector cannot fail.
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.write(TracePacket { track_descriptor: Some(track), ..Default::default() })
    }

    pub(super) fn process(&mut self, uuid: u64, name: String) -> io::Result<()> {
        let pid = i32::try_from(std::process::id()).ok();
        let process = Some(ProcessDescriptor { pid, process_name: Some(name) });
        self.track(TrackDescriptor { uuid: Some(uuid), process, ..Default::default() })
    }

    pub(super) fn named(&mut self, uuid: u64, parent: u64, name: String) -> io::Result<()> {
        let (uuid, name, parent_uuid) = (Some(uuid), Some(name), Some(parent));
        self.track(TrackDescriptor { uuid, name, parent_uuid, ..Default::default() })
    }

    pub(super) fn counter(&mut self, uuid: u64, parent: u64, name: &str) -> io::Result<()> {
        let counter = Some(CounterDescriptor { unit_name: Some("count".to_owned()) });
        let (uuid, name, parent_uuid) = (Some(uuid), Some(name.to_owned()), Some(parent));
        self.track(TrackDescriptor { uuid, name, parent_uuid, counter, ..Default::default() })
    }

    pub(super) fn begin(
        &mut self,
        at: u64,
        track: u64,
        name: &str,
        details: Details<'_>,
    ) -> io::Result<()> {
        self.event(at, track, Type::SliceBegin, name, details)
    }

    pub(super) fn instant(
        &mut self,
        at: u64,
        track: u64,
        name: &str,
        details: Details<'_>,
    ) -> io::Result<()> {
        self.event(at, track, Type::Instant, name, details)
    }

    fn event(
        &mut self,
        at: u64,
        track: u64,
        kind: Type,
        name: &str,
        details: Details<'_>,
    ) -> io::Result<()> {
        let mut fresh = InternedData::default();
        let name_iid = match self.names.get(name) {
            Some(&iid) => iid,
            None => {
                let iid = self.names.len() as u64 + 1;
                self.names.insert(name.to_owned(), iid);
                fresh
                    .event_names
                    .push(InternedName { iid: Some(iid), name: Some(name.to_owned()) });
                iid
            }
        };
        let next = self.categories.len() as u64 + 1;
        let category = *self.categories.entry(details.category).or_insert_with(|| {
            let name = Some(details.category.to_owned());
            fresh.event_categories.push(InternedName { iid: Some(next), name });
            next
        });
        let numbers = details.numbers.iter().map(|&(name, value)| DebugAnnotation {
            uint_value: Some(value),
            string_value: None,
            name: Some(name.to_owned()),
        });
        let text = details.text.map(|(name, text)| DebugAnnotation {
            uint_value: None,
            string_value: Some(text.to_owned()),
            name: Some(name.to_owned()),
        });
        let arrow = |id: u64| if id == 0 { Vec::new() } else { vec![id] };
        let event = TrackEvent {
            category_iids: vec![category],
            debug_annotations: numbers.chain(text).collect(),
            r#type: Some(kind.into()),
            name_iid: Some(name_iid),
            track_uuid: Some(track),
            counter_value: None,
            flow_ids: arrow(details.from_here),
            terminating_flow_ids: arrow(details.to_here),
        };
        let interned_data = (fresh != InternedData::default()).then_some(fresh);
        let (timestamp, track_event) = (Some(at), Some(event));
        self.write(TracePacket { timestamp, track_event, interned_data, ..Default::default() })
    }

    pub(super) fn end(&mut self, at: u64, track: u64) -> io::Result<()> {
        self.plain(at, track, Type::SliceEnd, None)
    }

    pub(super) fn count(&mut self, at: u64, track: u64, value: u64) -> io::Result<()> {
        self.plain(at, track, Type::Counter, Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn plain(
        &mut self,
        at: u64,
        track: u64,
        kind: Type,
        counter_value: Option<i64>,
    ) -> io::Result<()> {
        let (kind, track_uuid) = (Some(kind.into()), Some(track));
        let event = TrackEvent { r#type: kind, track_uuid, counter_value, ..Default::default() };
        let (timestamp, track_event) = (Some(at), Some(event));
        self.write(TracePacket { timestamp, track_event, ..Default::default() })
    }
}
