//! Runs as history looks at them.

use queryscope_history::{Failure, Point};
use queryscope_store::Status;

use crate::segment::Query;
use crate::state::CANCELLED;

/// A query as a point. Its plan is given; its service goes by the number of its origin.
pub(crate) fn point(query: Query<'_>, plan: u32) -> Point {
    Point {
        started_unix_ns: query.started_unix_ns(),
        time_ms: time_ms(query).unwrap_or(f64::NAN),
        number: query.number(),
        plan,
        service: query.origin(),
        failure: failure_of(query.status()),
    }
}

/// Its part in medians and totals, if it has one.
pub(crate) fn time_ms(query: Query<'_>) -> Option<f64> {
    time_of(query.status(), query.wall_ms())
}

/// The same, of a query of this status that took this long.
pub(crate) fn time_of(status: u8, wall_ms: f64) -> Option<f64> {
    let has_time = status == Status::Finished.number() && wall_ms.is_finite() && wall_ms >= 0.0;
    has_time.then_some(wall_ms)
}

/// How a query of this state ended that did not finish.
pub(crate) fn failure_of(state: u8) -> Failure {
    if state == CANCELLED {
        Failure::Cancelled
    } else if state == Status::Failed.number() {
        Failure::Failed
    } else if state == Status::Unfinished.number() {
        Failure::Unfinished
    } else {
        Failure::None
    }
}
