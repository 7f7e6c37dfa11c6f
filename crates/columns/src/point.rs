//! Queries as history looks at them.

use queryscope_history::Point;
use queryscope_store::Status;

use crate::segment::Row;

/// A query as a point. Its plan is given; its service goes by the number of its origin.
pub(crate) fn point(number: u32, row: &Row, plan: u32) -> Point {
    let is = |status: Status| row.status == status.number();
    let has_time = is(Status::Finished) && row.wall_ms.is_finite() && row.wall_ms >= 0.0;
    Point {
        started_unix_ns: row.started_unix_ns,
        time_ms: if has_time { row.wall_ms } else { f64::NAN },
        number,
        plan,
        service: row.origin,
        failed: is(Status::Failed),
    }
}
