//! Headers by which a sender tells of itself in `POST /v1/events`. A request without them is as good.

/// The stream of the batch, as its process event names it: it is known, too, where the body cannot be read.
pub const STREAM_HEADER: &str = "queryscope-stream";
/// How many events the process made for this collector and dropped since its start.
pub const DROPPED_HEADER: &str = "queryscope-dropped";
/// Header of a batch that is no news, as `1`: a run in it without an end is not running.
pub const IMPORTED_HEADER: &str = "queryscope-imported";
