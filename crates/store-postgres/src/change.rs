//! The log of what commits did: what one look at it shows.

use std::collections::HashMap;

use deadpool_postgres::{Client, GenericClient, Transaction};
use queryscope_columns::RowState;
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{Change, ChunkInfo, Query, Status};
use tokio_postgres::{IsolationLevel, Row};
use uuid::Uuid;

use crate::error::DbError;
use crate::format::{FOUND, Format};
use crate::names::TermTexts;
use crate::row::{COLUMNS, STATE_COLUMNS, listed, state, status_of};

const NOW: &str = "SELECT pg_current_snapshot()::text";
/// What a snapshot did not show. `xid` is the transaction's own, so a commit that was on its way when the snapshot was
/// taken is among them, whatever was committed since.
const SINCE: &str = "xid >= pg_snapshot_xmin($1::text::pg_snapshot)
    AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)";
/// By one collector at a time.
const FORGET: &str = "
    DELETE FROM change WHERE xid < pg_snapshot_xmin($1::text::pg_snapshot) 
    AND (SELECT pg_try_advisory_xact_lock(7766202611210002))";
/// Of another server, where this one was restored from its copy: its numbers have not been given here yet.
const FORGET_FOREIGN: &str = "DELETE FROM change WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())";

/// What is new since the last look.
#[derive(Debug)]
pub(crate) struct Look {
    /// What was seen up to now, for the next look.
    pub(crate) snapshot: String,
    /// What the rows that moved are now.
    pub(crate) rows: Vec<RowState>,
    /// What commits did, in an order in which each query's are as they were made; `None` when there was something
    /// that was not asked for.
    pub(crate) changes: Option<Vec<Change>>,
}

/// The present, from which to look on.
pub(crate) async fn now(client: &Client) -> Result<String, DbError> {
    client.execute(FORGET_FOREIGN, &[]).await?;
    Ok(client.query_one(NOW, &[]).await?.get(0))
}

/// Looks at what was committed since a snapshot. Without `told`, changes are left out.
pub(crate) async fn look(
    client: &mut Client,
    format: Format,
    terms: &TermTexts,
    since: &str,
    told: bool,
) -> Result<Look, DbError> {
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let states = format!(
        "SELECT c.query, {STATE_COLUMNS} FROM (SELECT DISTINCT query FROM change WHERE moved AND {SINCE}) AS c
         LEFT JOIN query AS q ON q.id = c.query"
    );
    let changes = if told {
        format!(
            "SELECT query, query_id, status, moved, new, chunk, first_seq, last_seq, bytes FROM change
             WHERE status IS NOT NULL AND {SINCE} ORDER BY id"
        )
    } else {
        format!("SELECT WHERE EXISTS (SELECT FROM change WHERE status IS NOT NULL AND {SINCE})")
    };
    let found = transaction.prepare_cached(FOUND).await?;
    let now = transaction.prepare_cached(NOW).await?;
    let states = transaction.prepare_cached(&states).await?;
    let changes = transaction.prepare_cached(&changes).await?;
    let ((), now, states, changes) = tokio::try_join!(
        biased;
        async { format.judge(&transaction.query_one(&found, &[]).await?) },
        async { Ok(transaction.query_one(&now, &[]).await?) },
        async { Ok(transaction.query(&states, &[&since]).await?) },
        async { Ok(transaction.query(&changes, &[&since]).await?) },
    )?;
    let changes = if told {
        Some(told_of(&transaction, terms, &changes).await?)
    } else {
        changes.is_empty().then(Vec::new)
    };
    let rows = states.iter().map(moved).collect();
    let snapshot = now.get(0);
    transaction.commit().await?;
    Ok(Look { snapshot, rows, changes })
}

/// Forgets changes that were committed before a snapshot was taken.
pub(crate) async fn forget_before(client: &Client, snapshot: &str) -> Result<(), DbError> {
    client.execute(FORGET, &[&snapshot]).await?;
    Ok(())
}

fn moved(row: &Row) -> RowState {
    match row.get::<_, Option<i64>>(1) {
        None => RowState { row: row.get(0), query: None },
        Some(_) => state(row, 1),
    }
}

async fn told_of(
    transaction: &Transaction<'_>,
    terms: &TermTexts,
    rows: &[Row],
) -> Result<Vec<Change>, DbError> {
    let new: Vec<i64> = rows.iter().filter(|row| row.get(4)).map(|row| row.get(0)).collect();
    let mut queries = read_new(transaction, terms, &new).await?;
    let mut told = HashMap::new();
    rows.iter().map(|row| change(row, &mut queries, &mut told)).collect()
}

/// A new query is told as it is at the end of the look; what moved it on meanwhile moves it no more.
fn change(
    row: &Row,
    new: &mut HashMap<QueryId, Query>,
    told: &mut HashMap<QueryId, Status>,
) -> Result<Change, DbError> {
    let query_id = QueryId::new(row.get::<_, Uuid>(1));
    let chunk = match row.get::<_, Option<i64>>(5) {
        None => None,
        Some(id) => Some(ChunkInfo {
            id,
            first: seq(row.get(6))?,
            last: seq(row.get(7))?,
            bytes: row.get::<_, i64>(8).cast_unsigned(),
        }),
    };
    if let Some(query) = row.get::<_, bool>(4).then(|| new.remove(&query_id)).flatten() {
        told.insert(query_id, query.status);
        return Ok(Change { query_id, status: query.status, moved: true, new: Some(Box::new(query)), chunk });
    }
    let status = status_of(row.get(2))?;
    Ok(match told.get(&query_id) {
        Some(now) => Change { query_id, status: *now, moved: false, new: None, chunk },
        None => Change { query_id, status, moved: row.get(3), new: None, chunk },
    })
}

async fn read_new(
    transaction: &Transaction<'_>,
    terms: &TermTexts,
    ids: &[i64],
) -> Result<HashMap<QueryId, Query>, DbError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql =
        format!("SELECT {COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.id = ANY($1)");
    let rows = transaction.query(&transaction.prepare_cached(&sql).await?, &[&ids]).await?;
    let listed = listed(transaction, terms, &rows).await?;
    Ok(listed.into_iter().map(|listed| (listed.query.query_id, listed.query)).collect())
}

fn seq(number: i64) -> Result<Seq, DbError> {
    Seq::new(number.cast_unsigned()).map_err(|_| DbError::Damaged("no seq"))
}
