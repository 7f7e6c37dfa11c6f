//! The log of what commits did: what one look at it shows.

use std::collections::HashMap;

use deadpool_postgres::{Client, GenericClient, Transaction};
use queryscope_columns::RowState;
use queryscope_issues::Issue;
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{Change, ChunkInfo, Query, Status, StoredChange};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::{FOUND, Format};
use crate::names::TermTexts;
use crate::row::{STATE_COLUMNS, listed_at, state, status_of};
use crate::snapshot::snapshot;
use crate::{changes, issues};

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
    /// Changes of queries that evaluations found, where they were asked for.
    pub(crate) found: Vec<StoredChange>,
    /// Issues that made a transition, where they were asked for.
    pub(crate) issues: Vec<Issue>,
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
    let transaction = snapshot(client).await?;
    let states = format!(
        "SELECT c.query, {STATE_COLUMNS} FROM (SELECT DISTINCT query FROM change WHERE moved AND {SINCE}) AS c
         LEFT JOIN query AS q ON q.id = c.query"
    );
    let changes = if told {
        format!(
            "SELECT query, query_id, status, moved, new, chunk, first_seq, last_seq, bytes FROM change
             WHERE (status IS NOT NULL OR NOT moved) AND {SINCE} ORDER BY id"
        )
    } else {
        // What an evaluation found counts as well: who begins to follow meanwhile is not to miss it.
        format!(
            "SELECT WHERE EXISTS (SELECT FROM change WHERE (status IS NOT NULL OR NOT moved) AND {SINCE})"
        )
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
    let (changes, found, issues) = if told {
        let is_found = |row: &Row| row.get::<_, Option<i16>>(2).is_none();
        let (found, changes): (Vec<Row>, Vec<Row>) = changes.into_iter().partition(is_found);
        let is_issue = |row: &Row| row.get::<_, Option<i64>>(6) == Some(issues::TOLD);
        let (moved, found): (Vec<Row>, Vec<Row>) = found.into_iter().partition(is_issue);
        let changes = told_of(&transaction, terms, &changes).await?;
        let found = found_of(&transaction, terms, &found).await?;
        (Some(changes), found, issues_of(&transaction, &moved).await?)
    } else {
        (changes.is_empty().then(Vec::new), Vec::new(), Vec::new())
    };
    let rows = states.iter().map(moved).collect();
    let snapshot = now.get(0);
    transaction.commit().await?;
    Ok(Look { snapshot, rows, changes, found, issues })
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

async fn found_of(
    transaction: &Transaction<'_>,
    terms: &TermTexts,
    rows: &[Row],
) -> Result<Vec<StoredChange>, DbError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let column = |at| rows.iter().filter_map(|row| row.get::<_, Option<i64>>(at)).collect::<Vec<i64>>();
    changes::beginning(transaction, terms, &column(0), &column(6)).await
}

async fn issues_of(transaction: &Transaction<'_>, rows: &[Row]) -> Result<Vec<Issue>, DbError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    issues::by_number(transaction, &numbers).await
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
    let listed = listed_at(transaction, terms, ids).await?;
    Ok(listed.into_iter().map(|listed| (listed.query.query_id, listed.query)).collect())
}

fn seq(number: i64) -> Result<Seq, DbError> {
    Seq::new(number.cast_unsigned()).map_err(|_| DbError::Damaged("no seq"))
}
