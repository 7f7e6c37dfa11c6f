//! Runs for tests.

use queryscope_protocol::QueryId;
use uuid::Uuid;

use crate::run::{Run, RunStatus};

/// A run of one millisecond that finished, with an id that follows its start.
pub(crate) fn run(started_unix_ns: i64) -> Run<'static> {
    Run {
        query_id: id(started_unix_ns.unsigned_abs().into()),
        started_unix_ns,
        status: RunStatus::Finished,
        wall_ms: Some(1.0),
        service: None,
        fingerprint: None,
        rules: &[],
    }
}

/// An id by number: larger numbers come later.
pub(crate) fn id(number: u128) -> QueryId {
    QueryId::new(Uuid::from_u128(number))
}
