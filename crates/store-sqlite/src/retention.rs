//! Deleting old runs.

use std::collections::BTreeSet;

use queryscope_protocol::QueryId;
use queryscope_store::{Deleted, Pack, RecordingPlace};
use rusqlite::Connection;
use uuid::Uuid;

use crate::packs::Left;
use crate::recording::{PLACE, place_at};
use crate::{changes, deploys, evaluation, issues, outbox, packs, plans};

/// The events of a query are its stream's from now on.
const UNKEPT: &str = "
    UPDATE stream SET unkept = unkept + query.events FROM query WHERE query.id = ?1 AND stream.id = query.stream";

/// Deletes up to `limit` queries that started before and do not run.
///
/// Streams and what has been seen of them stay, so that nothing resent is stored again. Evaluated runs stay while their
/// query has any run left, since they are bounded; then all that is known of the query goes. Changes go that were over
/// before, issues that were resolved before, deploys that were seen last before, messages that were made before, and
/// plans nothing points to.
pub(crate) fn delete_before(
    db: &Connection,
    started_unix_ns: i64,
    limit: usize,
) -> rusqlite::Result<Deleted> {
    let mut keys = BTreeSet::new();
    let old: Vec<(i64, QueryId, Option<RecordingPlace>)> = db
        .prepare_cached(&format!(
            "SELECT id, query_id, project, coalesce(service, 0), label, {PLACE}
             FROM query AS q INDEXED BY query_by_start
             WHERE started_unix_ns < ?1 AND status <> 0 ORDER BY started_unix_ns LIMIT ?2"
        ))?
        .query_map((started_unix_ns, limit), |row| {
            let query_id = QueryId::new(Uuid::from_bytes(row.get(1)?));
            if let Some(label) = row.get(4)? {
                keys.insert((row.get(2)?, row.get(3)?, label));
            }
            Ok((row.get(0)?, query_id, place_at(row, 5, query_id)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let (mut queries, mut left) = (Vec::with_capacity(old.len()), Left::default());
    for (row, query_id, place) in old {
        db.prepare_cached("DELETE FROM chunk WHERE query = ?1")?.execute([row])?;
        db.prepare_cached("DELETE FROM loss WHERE query = ?1")?.execute([row])?;
        db.prepare_cached("DELETE FROM pending_run WHERE query = ?1")?.execute([row])?;
        db.prepare_cached(UNKEPT)?.execute([row])?;
        db.prepare_cached("DELETE FROM query WHERE id = ?1")?.execute([row])?;
        queries.push(query_id);
        if let Some(place) = place {
            left.unpoint(&place);
        }
    }
    let orphans = left.settle(db)?;
    evaluation::delete_without_runs(db, &keys)?;
    // Where a run of before is left, the change that began with it is, too.
    if queries.len() < limit {
        changes::delete_before(db, started_unix_ns)?;
        issues::delete_before(db, started_unix_ns)?;
        deploys::delete_before(db, started_unix_ns)?;
        outbox::delete_before(db, started_unix_ns)?;
        packs::forget_before(db, Pack::forgotten_before(started_unix_ns))?;
    }
    plans::delete_unused(db)?;
    Ok(Deleted { queries, orphans })
}
