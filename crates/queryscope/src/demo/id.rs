//! Fresh identities.

use queryscope_protocol::{QueryId, StreamId};
use rand::RngExt;
use rand::rngs::StdRng;
use uuid::Builder;

/// A stream's identity, all random.
pub(super) fn stream_id(rng: &mut StdRng) -> StreamId {
    StreamId::new(Builder::from_random_bytes(rng.random()).into_uuid())
}

/// A query's identity, which says when the query started as those of real senders do.
pub(super) fn query_id(rng: &mut StdRng, started_unix_ns: i64) -> QueryId {
    let started_unix_ms = started_unix_ns.max(0) as u64 / 1_000_000;
    QueryId::new(Builder::from_unix_timestamp_millis(started_unix_ms, &rng.random()).into_uuid())
}
