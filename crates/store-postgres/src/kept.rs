//! Runs, where their events are, and how many they were given.

use std::collections::HashMap;

use deadpool_postgres::Client;
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{Account, ChunkInfo, Kept, QUERY_COLUMNS, RecordingParts};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::names::TermTexts;
use crate::recording::place_at;
use crate::row::listed;
use crate::snapshot::snapshot;

const MORE: &str = "
    s.process_line, q.sealed_day, q.sealed_version, q.pack_offset, q.pack_bytes,
    q.events + coalesce(running.events, 0)";
/// The first of [`MORE`], which follow [`QUERY_COLUMNS`].
const PROCESS_LINE: usize = 24;
const SEALED: usize = 25;
const COMMITTED: usize = 29;

const CHUNKS: &str = "
    SELECT query, id, first_seq, last_seq, length(gzip)::bigint FROM chunk WHERE query = ANY($1)
    ORDER BY query, first_seq, id";

/// What is kept of queries at one moment, in the order asked.
pub(crate) async fn kept(
    client: &mut Client,
    terms: &TermTexts,
    ids: &[QueryId],
) -> Result<Vec<Option<Kept>>, DbError> {
    // A chunk that is sealed between two reads would be in neither.
    let client = snapshot(client).await?;
    let sql = format!(
        "SELECT {QUERY_COLUMNS}, {MORE} FROM query AS q JOIN stream AS s ON s.id = q.stream
         LEFT JOIN running ON running.query = q.id WHERE q.query_id = ANY($1)"
    );
    let uuids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&uuids]).await?;
    let listed = listed(&client, terms, &rows).await?;
    let numbers: Vec<i64> = listed.iter().map(|listed| listed.position.tie).collect();
    let mut chunks: HashMap<i64, Vec<ChunkInfo>> = HashMap::new();
    for row in client.query(&client.prepare_cached(CHUNKS).await?, &[&numbers]).await? {
        chunks.entry(row.get(0)).or_default().push(chunk(&row)?);
    }
    let mut found = HashMap::new();
    for (row, listed) in rows.iter().zip(listed) {
        let id = listed.query.query_id;
        let process_line = String::from_utf8(row.get(PROCESS_LINE));
        let parts = RecordingParts {
            process_line: process_line.map_err(|_| DbError::Damaged("a process event that is not UTF-8"))?,
            sealed: place_at(row, SEALED, id),
            chunks: chunks.remove(&listed.position.tie).unwrap_or_default(),
            query: listed.query,
        };
        let account = Account { committed: row.get::<_, i64>(COMMITTED).cast_unsigned(), lost: 0 };
        found.insert(id, Kept { parts, account: Some(account) });
    }
    Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
}

fn chunk(row: &Row) -> Result<ChunkInfo, DbError> {
    let seq = |number: i64| Seq::new(number.cast_unsigned()).map_err(|_| DbError::Damaged("no seq"));
    Ok(ChunkInfo {
        id: row.get(1),
        first: seq(row.get(2))?,
        last: seq(row.get(3))?,
        bytes: row.get::<_, i64>(4).cast_unsigned(),
    })
}
