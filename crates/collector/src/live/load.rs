//! The running runs and their latest samples, from the store.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_protocol::QueryId;
use queryscope_store::{ChunkInfo, ListRequest, Order, Query, QueryFilter, Status, Store, StoreError};

use super::digest::{Report, digest};
use super::progress::{Progress, THREADS_MAX};

/// Queries read at once from the list.
const PAGE: usize = 1000;
/// Running queries that are followed; the ones started last.
const RUNNING_MAX: usize = 100_000;
/// Queries whose samples are read at the same time.
const AT_ONCE: usize = 4;
/// Chunks at a query's begin, where its plan is.
const HEAD_CHUNKS: usize = 4;
/// Chunks at its end: a sender that posts each sample twice as often as it takes one fills `threads` from them.
const TAIL_CHUNKS: usize = 2 * THREADS_MAX;
/// Packed bytes that are read at once; one chunk is always read, however large.
const READ_BYTES: u64 = 1 << 20;

/// Reads all running queries and how far they are.
pub(super) async fn running(store: Arc<dyn Store>) -> Result<Vec<(Query, Progress)>, StoreError> {
    let mut queries = Vec::new();
    let mut after = None;
    loop {
        let filter = QueryFilter { status: Some(Status::Running), ..QueryFilter::default() };
        let request = ListRequest { filter, sort: None, order: Order::Newest, after, offset: 0, limit: PAGE };
        let page = store.queries(request).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.position);
        queries.extend(page.into_iter().map(|listed| listed.query));
        if queries.len() >= RUNNING_MAX {
            tracing::warn!(followed = RUNNING_MAX, "too many runs are running, not all are followed live");
            break;
        }
    }
    let load = |query: Query| {
        let store = Arc::clone(&store);
        async move {
            let progress = progress(&*store, query.query_id, &HashSet::new()).await?;
            Ok::<_, StoreError>((query, progress))
        }
    };
    stream::iter(queries).map(load).buffered(AT_ONCE).try_collect().await
}

/// Reads how far a query is without the chunks in `news`. Of a long one the samples in the middle are passed over.
pub(super) async fn progress(
    store: &dyn Store,
    id: QueryId,
    news: &HashSet<i64>,
) -> Result<Progress, StoreError> {
    let mut progress = Progress::default();
    let Some(parts) = store.recording(id).await? else { return Ok(progress) };
    let chunks: Vec<_> = parts.chunks.into_iter().filter(|chunk| !news.contains(&chunk.id)).collect();
    if chunks.len() <= HEAD_CHUNKS + TAIL_CHUNKS {
        hear(store, &chunks, &mut progress).await?;
    } else {
        hear(store, &chunks[..HEAD_CHUNKS], &mut progress).await?;
        progress.skip();
        hear(store, &chunks[chunks.len() - TAIL_CHUNKS..], &mut progress).await?;
    }
    Ok(progress)
}

async fn hear(store: &dyn Store, chunks: &[ChunkInfo], progress: &mut Progress) -> Result<(), StoreError> {
    for reports in read(store, chunks).await? {
        progress.hear(&reports);
    }
    Ok(())
}

/// Reads what chunks report, in their order. One that has been sealed meanwhile, or is damaged, reports
/// nothing: its query has ended, or is shown without.
pub(super) async fn read(store: &dyn Store, chunks: &[ChunkInfo]) -> Result<Vec<Vec<Report>>, StoreError> {
    let mut reports = Vec::with_capacity(chunks.len());
    let mut rest = chunks;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |chunk: &&ChunkInfo| {
            bytes += chunk.bytes;
            bytes <= READ_BYTES
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (page, later) = rest.split_at(count);
        rest = later;
        for (info, gzip) in page.iter().zip(store.chunks(page.iter().map(|chunk| chunk.id).collect()).await?)
        {
            let read = digest(gzip.unwrap_or_default()).await.unwrap_or_else(|error| {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(chunk = info.id, error, "a chunk cannot be followed live");
                Vec::new()
            });
            reports.push(read);
        }
    }
    Ok(reports)
}
