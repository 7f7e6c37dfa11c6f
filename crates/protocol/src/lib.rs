//! The wire formats of queryscope.
//!
//! A process sends *batches* of *events* in the format `events@1`: JSON Lines, the `process` event first,
//! every event with a `seq` that stays the same when it is sent again. A query's plan and counters travel in
//! *profiles* of the format `profile@1`. This crate reads both without copying, writes both, and names every
//! limit of the specification. It does no IO. Of engines it knows only the names of their counters ([`vocabulary`]).

mod batch;
mod check;
mod error;
mod event;
mod format;
mod headers;
mod id;
pub mod limits;
mod number;
mod profile;
mod sample;
mod seq;
mod summary;
mod text;
pub mod vocabulary;
mod writer;

pub use batch::{Batch, Events};
pub use error::{BatchError, BatchErrorKind, MemberPath};
pub use event::{Event, EventKind, Process};
pub use format::{
    EVENTS_FORMAT, FormatError, PROFILE_FORMAT, engine_of_events, engine_of_profile, events_format,
    profile_format,
};
pub use headers::{DROPPED_HEADER, IMPORTED_HEADER, STREAM_HEADER};
pub use id::{IdError, QueryId, Seq, SeqError, StreamId};
pub use profile::{
    CallSite, Counters, Custom, Evidence, EvidenceValue, Finding, INSIGHTS_FORMAT, Insights, Metrics, Node,
    Object, Plan, Profile, Role, SpanId, TraceId, TraceIdError, named_version,
};
pub use sample::{Sample, profile_of};
pub use seq::seq_of;
pub use summary::ProfileSummary;
pub use text::Text;
pub use writer::{BatchWriter, WriteError};
