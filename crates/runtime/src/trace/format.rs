//! The messages of Perfetto's trace format that we write, with the field numbers of its schema.
//!
//! Source: `protos/perfetto/trace` of the Perfetto project. Unused fields are omitted, as the
//! encoding allows.

/// A whole file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// Its packets, in no particular order.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// The packets of a file.
///
/// # Errors
/// The bytes are no such file.
pub fn decode(bytes: &[u8]) -> Result<Trace, prost::DecodeError> {
    prost::Message::decode(bytes)
}

/// One packet.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Whose interned strings it uses.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Something happened.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// Strings for this packet and later ones.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// 1: what was interned before is gone; 2: it uses what was interned.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// Packets before this one are missing.
    #[prost(bool, optional, tag = "42")]
    pub previous_packet_dropped: Option<bool>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// What happened on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// Numbers of interned categories.
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    /// More about it.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// A [`Type`].
    #[prost(enumeration = "Type", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Number of the interned name.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Arrows that begin here, or continue.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// What a [`TrackEvent`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Type {
    /// Not said.
    Unspecified = 0,
    /// A slice begins.
    SliceBegin = 1,
    /// The innermost slice ends.
    SliceEnd = 2,
    /// A moment.
    Instant = 3,
    /// A counter's new value.
    Counter = 4,
}

/// A name and a value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// A number.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// Or text.
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    /// The name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
}

/// Strings by number.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedData {
    /// Of categories.
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<InternedName>,
    /// Of slices and instants.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedName>,
}

/// A string and its number.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedName {
    /// The number, from 1.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The string.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// A track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// That of a process.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// The track that it lies under.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// It counts something.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    /// Its number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A counter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    /// What it counts.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}
