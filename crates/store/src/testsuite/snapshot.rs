//! All that a store shows, in a form that two stores can be compared by.

use std::collections::BTreeMap;

use queryscope_protocol::{QueryId, Seq, StreamId};

use super::subject::{ALL, chunks_of};
use crate::audit::StoreAudit;
use crate::query::Query;
use crate::seen::SeqRange;
use crate::token::TokenRecord;

/// All that a store shows, what is of its own making left out: ids of chunks, ties, bytes on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Queries in the order they were first stored.
    pub queries: Vec<StoredQuery>,
    /// What has been seen of each stream, and its project.
    pub streams: BTreeMap<StreamId, (String, Vec<SeqRange>)>,
    /// Queries that wait to be sealed, in their order.
    pub unsealed: Vec<QueryId>,
    /// Engines.
    pub engines: Vec<String>,
    /// Tokens.
    pub tokens: Vec<TokenRecord>,
    /// How many queries run.
    pub running: u64,
}

/// A query and its events.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredQuery {
    /// Its row.
    pub query: Query,
    /// The process event of its recording.
    pub process_line: String,
    /// Its sealed recording.
    pub sealed_path: Option<String>,
    /// Its chunks: first and last seq, and lines.
    pub chunks: Vec<(Seq, Seq, Vec<String>)>,
}

impl Snapshot {
    /// Reads all of a store of up to 10,000 queries and streams.
    ///
    /// # Panics
    /// When the store fails or contradicts itself.
    pub async fn of(store: &dyn StoreAudit) -> Self {
        let mut queries = Vec::new();
        for listed in store.scan(None, ALL).await.expect("a store") {
            let id = listed.query.query_id;
            let parts = store.recording(id).await.expect("a store").expect("a query");
            assert_eq!(parts.query, listed.query);
            assert_eq!(store.query(id).await.expect("a store").as_ref(), Some(&listed.query));
            let lines = chunks_of(store, &parts).await;
            let ranges = parts.chunks.iter().map(|chunk| (chunk.first, chunk.last));
            let mut chunks: Vec<_> =
                ranges.zip(lines).map(|((first, last), lines)| (first, last, lines)).collect();
            assert!(chunks.is_sorted_by_key(|(first, ..)| *first));
            chunks.sort();
            queries.push(StoredQuery {
                query: parts.query,
                process_line: parts.process_line,
                sealed_path: parts.sealed.map(|place| place.to_string()),
                chunks,
            });
        }
        let streams = store.streams(None, ALL).await.expect("a store");
        assert_eq!(store.verify().await.expect("a store"), [""; 0], "it finds nothing wrong with itself");
        Self {
            queries,
            streams: streams.into_iter().map(|seen| (seen.stream_id, (seen.project, seen.seen))).collect(),
            unsealed: store.unsealed(ALL).await.expect("a store"),
            engines: store.engines().await.expect("a store"),
            tokens: store.tokens().await.expect("a store"),
            running: store.stats().await.expect("a store").running,
        }
    }
}
