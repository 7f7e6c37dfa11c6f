//! Chunks, and what seals them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use deadpool_postgres::{Client, GenericClient};
use queryscope_protocol::QueryId;
use queryscope_store::{Pack, PlaceColumns, RecordingPlace, Sealed};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;
use crate::packs::Left;

/// How long nobody else seals a query that a collector has taken. Two that seal one all the same do no harm: that is
/// decided by what their recordings replace.
const TAKEN_FOR: Duration = Duration::from_mins(2);

const GZIP: &str = "SELECT id, gzip FROM chunk WHERE id = ANY($1)";

/// Queries with chunks that do not run, one step of the index a query, in the order they were first stored.
macro_rules! pending {
    ($then:literal) => {
        concat!(
            "WITH RECURSIVE every (query) AS (
                 (SELECT query FROM chunk ORDER BY query LIMIT 1)
                 UNION ALL
                 SELECT (SELECT chunk.query FROM chunk WHERE chunk.query > every.query ORDER BY chunk.query LIMIT 1)
                 FROM every WHERE every.query IS NOT NULL
             ), pending AS (
                 SELECT query FROM every
                 WHERE query IS NOT NULL AND NOT EXISTS (SELECT 1 FROM running WHERE running.query = every.query)
             )",
            $then
        )
    };
}

/// Of those nobody else seals, the first are taken.
const UNSEALED: &str = pending!(
    ", free AS (
        SELECT query FROM pending
        WHERE NOT EXISTS (SELECT 1 FROM sealing
            WHERE sealing.query = pending.query AND sealing.holder <> $1 AND sealing.until > now())
        LIMIT $2
    ), taken AS (
        INSERT INTO sealing (query, holder, until)
        SELECT query, $1, now() + make_interval(secs => $3) FROM free ORDER BY query
        ON CONFLICT (query) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE sealing.holder = excluded.holder OR sealing.until <= now()
        RETURNING query
    )
    SELECT query.query_id FROM taken JOIN query ON query.id = taken.query ORDER BY query.id"
);
const WAITING: &str = pending!("SELECT count(*) FROM (SELECT FROM pending LIMIT $1) AS waiting");

/// In one order for all, so that no two wait for each other.
const LOCK: &str = "
    SELECT id, query_id, sealed_day, sealed_version, pack_offset, pack_bytes FROM query WHERE query_id = ANY($1)
    ORDER BY id FOR NO KEY UPDATE";
const THERE: &str = "SELECT query, id FROM chunk WHERE id = ANY($1)";
const POINT: &str = "
    UPDATE query SET sealed_day = new.day, sealed_version = new.version, pack_offset = new.place,
        pack_bytes = new.bytes
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
        AS new (id, day, version, place, bytes)
    WHERE query.id = new.id";
const DELETE: &str = "
    DELETE FROM chunk USING unnest($1::bigint[], $2::bigint[]) AS gone (query, id)
    WHERE chunk.id = gone.id AND chunk.query = gone.query";
const RELEASE: &str = "DELETE FROM sealing WHERE query = ANY($1)";
const RELEASE_ALL: &str = "DELETE FROM sealing WHERE holder = $1";

/// Reads chunks by id.
pub(crate) async fn chunks(
    client: &impl GenericClient,
    ids: &[i64],
) -> Result<Vec<Option<Vec<u8>>>, DbError> {
    let rows = client.query(&client.prepare_cached(GZIP).await?, &[&ids]).await?;
    let found: HashMap<i64, Vec<u8>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
}

/// Takes queries that wait to be sealed.
pub(crate) async fn unsealed(
    client: &mut Client,
    format: Format,
    holder: Uuid,
    limit: usize,
) -> Result<Vec<QueryId>, DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(UNSEALED).await?;
    let rows = transaction.query(&statement, &[&holder, &bound(limit), &TAKEN_FOR.as_secs_f64()]).await?;
    transaction.commit().await?;
    Ok(rows.iter().map(|row| QueryId::new(row.get::<_, Uuid>(0))).collect())
}

/// How many queries wait to be sealed, up to a number.
pub(crate) async fn waiting(client: &impl GenericClient, limit: usize) -> Result<u64, DbError> {
    let statement = client.prepare_cached(WAITING).await?;
    Ok(client.query_one(&statement, &[&bound(limit)]).await?.get::<_, i64>(0).cast_unsigned())
}

/// Points queries to their recordings; gives back the paths that are no longer pointed to.
pub(crate) async fn seal(
    client: &mut Client,
    format: Format,
    sealed: &[Sealed],
) -> Result<Vec<String>, DbError> {
    loop {
        // Each time, one more pack is known to be given up.
        if let Some(orphans) = try_seal(client, format, sealed).await? {
            return Ok(orphans);
        }
    }
}

async fn try_seal(
    client: &mut Client,
    format: Format,
    sealed: &[Sealed],
) -> Result<Option<Vec<String>>, DbError> {
    let transaction = format.begin(client).await?;
    let ids: Vec<Uuid> = sealed.iter().map(|recording| recording.query_id.uuid()).collect();
    let rows = transaction.query(&transaction.prepare_cached(LOCK).await?, &[&ids]).await?;
    let mut found = HashMap::new();
    for row in &rows {
        let id = QueryId::new(row.get(1));
        found.insert(id, (row.get::<_, i64>(0), place_at(row, 2, id)));
    }
    // While the rows of its runs are locked, no other transaction deletes a chunk of theirs.
    let chunks: Vec<i64> = sealed.iter().flat_map(|recording| &recording.chunks).copied().collect();
    let rows = transaction.query(&transaction.prepare_cached(THERE).await?, &[&chunks]).await?;
    let mut there: HashSet<(i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let packs: BTreeSet<Pack> = sealed.iter().filter_map(|recording| recording.place.pack()).collect();
    let mut left = Left::of(&transaction, &packs).await?;
    let (mut pointed, mut done, mut gone) = (BTreeMap::new(), Vec::new(), Vec::new());
    for recording in sealed {
        let id = recording.query_id;
        let columns = recording
            .place
            .columns(id)
            .ok_or(DbError::Damaged("a recording that is not where one of its query can be"))?;
        let Some((row, old)) = found.get_mut(&id) else {
            left.leave(&recording.place);
            continue;
        };
        let chunks = recording.chunks.iter().map(|chunk| (*row, *chunk));
        if old.as_ref() != Some(&recording.place) {
            let in_time = *old == recording.replaces && chunks.clone().all(|chunk| there.contains(&chunk));
            if !in_time || !left.point(&recording.place) {
                left.leave(&recording.place);
                continue;
            }
            pointed.insert(*row, columns);
            if let Some(old) = old.replace(recording.place.clone()) {
                left.unpoint(&old);
            }
        }
        done.push(*row);
        for chunk in chunks {
            there.remove(&chunk);
            gone.push(chunk);
        }
    }
    point(&transaction, &pointed).await?;
    let (rows, chunks): (Vec<i64>, Vec<i64>) = gone.into_iter().unzip();
    transaction.execute(&transaction.prepare_cached(DELETE).await?, &[&rows, &chunks]).await?;
    transaction.execute(&transaction.prepare_cached(RELEASE).await?, &[&done]).await?;
    let orphans = left.settle(&transaction).await?;
    if orphans.is_some() {
        transaction.commit().await?;
    } else {
        transaction.rollback().await?;
    }
    Ok(orphans)
}

/// Points rows to places.
async fn point(client: &impl GenericClient, places: &BTreeMap<i64, PlaceColumns>) -> Result<(), DbError> {
    let rows: Vec<i64> = places.keys().copied().collect();
    let column = |of: fn(&PlaceColumns) -> Option<i64>| places.values().map(of).collect::<Vec<_>>();
    let days = column(|place| Some(place.day));
    let versions = column(|place| place.version);
    let (offsets, bytes) = (column(|place| place.offset), column(|place| place.bytes));
    let statement = client.prepare_cached(POINT).await?;
    client.execute(&statement, &[&rows, &days, &versions, &offsets, &bytes]).await?;
    Ok(())
}

/// The place of a sealed recording from four columns, of which this is the first: its day, version, and where it is in
/// a pack.
pub(crate) fn place_at(row: &Row, column: usize, id: QueryId) -> Option<RecordingPlace> {
    let day: Option<i64> = row.get(column);
    let (version, offset, bytes) = (row.get(column + 1), row.get(column + 2), row.get(column + 3));
    day.map(|day| RecordingPlace::of_columns(id, PlaceColumns { day, version, offset, bytes }))
}

/// Leaves to others what was taken and not sealed.
pub(crate) async fn release(client: &impl GenericClient, holder: Uuid) -> Result<(), DbError> {
    client.execute(RELEASE_ALL, &[&holder]).await?;
    Ok(())
}
