//! The stored events of one run.

use queryscope_protocol::{QueryId, Seq};

use crate::query::Query;

/// Where the events of a query are.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingParts {
    /// The query.
    pub query: Query,
    /// The process event of its stream as it was sent, without its line feed.
    pub process_line: String,
    /// Path of the sealed recording, where there is one.
    pub sealed_path: Option<String>,
    /// Chunks that are not in the sealed recording yet, by first seq.
    pub chunks: Vec<ChunkInfo>,
}

/// One stored chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Names the chunk; while the store is open never used again for another.
    pub id: i64,
    /// Lowest seq in it.
    pub first: Seq,
    /// Highest seq in it.
    pub last: Seq,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A recording that has been written and replaces chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The query.
    pub query_id: QueryId,
    /// Where the recording was written.
    pub path: String,
    /// The sealed recording it takes the place of, as it was when the chunks were read.
    pub replaces: Option<String>,
    /// The chunks whose events it holds, beside those of the sealed recording before it.
    pub chunks: Vec<i64>,
}
