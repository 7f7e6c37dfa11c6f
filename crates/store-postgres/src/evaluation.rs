//! What evaluations found: the state of each query, and its last runs.
//!
//! One collector evaluates at a time. Whoever writes here locks the row of `evaluation` first, so that no two wait for
//! each other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deadpool_postgres::{Client, GenericClient, Pool, Transaction};
use queryscope_protocol::QueryId;
use queryscope_store::{EvaluatedRun, Evaluation, HistoryRevision, QueryHistory, QueryKey, TermNumbers};
use uuid::Uuid;

use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;
use crate::names::TermTexts;
use crate::snapshot::snapshot;
use crate::terms::{self, TermIds};
use crate::{changes, issues, plans};

const LEASE: &str = "
    UPDATE evaluation SET holder = $1, until = clock_timestamp() + make_interval(secs => $2)
    WHERE holder IS NULL OR holder = $1 OR until <= clock_timestamp()";
const HOLDS: &str = "
    SELECT FROM evaluation WHERE holder = $1 AND until > clock_timestamp() FOR UPDATE";
pub(crate) const LOCK: &str = "SELECT FROM evaluation FOR UPDATE";
const CONSUME: &str = "DELETE FROM pending_run WHERE query = ANY($1)";
const PUT_QUERIES: &str = "
    INSERT INTO evaluated_query (project, service, label, runs, saved)
    SELECT project, service, label, 0, saved
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS new (project, service, label, saved)
    ON CONFLICT (project, service, label) DO UPDATE SET saved = excluded.saved
    RETURNING project, service, label, id, runs";
/// Has followers look: a row of the log without a status that moved nothing names a query by its row of
/// `evaluated_query` and, as `first_seq`, the start of the first run of a change.
const TELL: &str = "
    INSERT INTO change (query, query_id, moved, new, first_seq)
    SELECT query, '00000000-0000-0000-0000-000000000000', false, false, since
    FROM unnest($1::bigint[], $2::bigint[]) AS told (query, since)";
const PUT_RUNS: &str = "
    INSERT INTO evaluated_run (query, started_unix_ns, query_id, plan, features)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bytea[])
    ON CONFLICT DO NOTHING RETURNING query, plan";
const DROP_OLDEST: &str = "
    DELETE FROM evaluated_run AS run USING (
        SELECT beyond.query, oldest.started_unix_ns, oldest.query_id
        FROM unnest($1::bigint[], $2::bigint[]) AS beyond (query, count), LATERAL (
            SELECT started_unix_ns, query_id FROM evaluated_run WHERE evaluated_run.query = beyond.query
            ORDER BY started_unix_ns, query_id LIMIT beyond.count
        ) AS oldest
    ) AS gone
    WHERE (run.query, run.started_unix_ns, run.query_id) = (gone.query, gone.started_unix_ns, gone.query_id)
    RETURNING run.plan";
const COUNT_RUNS: &str = "
    UPDATE evaluated_query SET runs = new.runs FROM unnest($1::bigint[], $2::bigint[]) AS new (id, runs)
    WHERE evaluated_query.id = new.id";
const HISTORY: &str = "
    SELECT id, saved FROM evaluated_query WHERE project = $1 AND service = $2 AND label = $3";
const REVISION: &str = "
    SELECT saved, runs, oldest.started_unix_ns, oldest.query_id
    FROM evaluated_query AS q LEFT JOIN LATERAL (
        SELECT started_unix_ns, query_id FROM evaluated_run WHERE evaluated_run.query = q.id
        ORDER BY started_unix_ns, query_id LIMIT 1
    ) AS oldest ON true
    WHERE project = $1 AND service = $2 AND label = $3";
const RUNS: &str = "
    SELECT r.query_id, r.started_unix_ns, p.fingerprint, r.features FROM evaluated_run AS r
    JOIN run_plan AS p ON p.id = r.plan WHERE r.query = $1 ORDER BY r.started_unix_ns, r.query_id";
const QUERIES: &str = "
    SELECT project, service, label FROM evaluated_query WHERE (project, service, label) > ($1, $2, $3)
    ORDER BY project, service, label LIMIT $4";
/// Of some queries those of which no run is left.
const WITHOUT_RUNS: &str = "
    SELECT project, service, label
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS key (project, service, label)
    WHERE NOT EXISTS (
        SELECT FROM query WHERE query.label = key.label AND query.project = key.project
        AND coalesce(query.service, 0) = key.service)";
const DELETE_QUERIES: &str = "
    DELETE FROM evaluated_query USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS key (project, service, label)
    WHERE (evaluated_query.project, evaluated_query.service, evaluated_query.label)
        = (key.project, key.service, key.label)
    RETURNING id";
const DELETE_RUNS: &str = "DELETE FROM evaluated_run WHERE query = ANY($1) RETURNING plan";

/// A query in terms: project, service (0 for none) and label.
pub(crate) type KeyIds = (i64, i64, i64);

/// Takes or renews the lease; `false` when another holder has it.
pub(crate) async fn lease(
    client: &mut Client,
    format: Format,
    holder: &str,
    ttl: Duration,
) -> Result<bool, DbError> {
    let transaction = format.begin(client).await?;
    let lease = transaction.prepare_cached(LEASE).await?;
    let taken = transaction.execute(&lease, &[&holder, &ttl.as_secs_f64()]).await?;
    transaction.commit().await?;
    Ok(taken > 0)
}

/// What became of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The holder does not have the lease: nothing was written.
    NotLeased,
    /// It is written.
    Done {
        /// Whether followers are told of issues.
        tells_issues: bool,
    },
}

/// Writes what evaluations found, moves issues, and takes what was consumed out of the inbox.
pub(crate) async fn record(
    pool: &Pool,
    format: Format,
    terms: &TermIds,
    evaluation: &Evaluation,
) -> Result<Recorded, DbError> {
    let mut client = pool.get().await?;
    let observed = evaluation.issues.iter().map(|query| &query.key);
    let keys = evaluation.queries.iter().map(|found| &found.key).chain(observed);
    let of_keys = keys
        .flat_map(|key| [Some(&key.project), key.service.as_ref(), Some(&key.label)].into_iter().flatten());
    let changes = evaluation.queries.iter().flat_map(|found| &found.changes);
    let of_changes = changes.flat_map(|change| [&change.environment, &change.host]).flatten();
    let names: BTreeSet<&str> = of_keys.chain(of_changes).map(String::as_str).collect();
    let numbers = terms.numbers(&client, names).await?;
    let transaction = format.begin(&mut client).await?;
    let holds = transaction.prepare_cached(HOLDS).await?;
    if transaction.query_opt(&holds, &[&evaluation.holder]).await?.is_none() {
        return Ok(Recorded::NotLeased);
    }
    transaction.execute(&transaction.prepare_cached(CONSUME).await?, &[&evaluation.consumed]).await?;
    if !evaluation.queries.is_empty() {
        write(&transaction, &numbers, evaluation).await?;
    }
    let tells_issues = issues::observe(&transaction, &numbers, &evaluation.issues).await?;
    transaction.commit().await?;
    Ok(Recorded::Done { tells_issues })
}

async fn write(
    transaction: &Transaction<'_>,
    numbers: &TermNumbers,
    evaluation: &Evaluation,
) -> Result<(), DbError> {
    let queries = &evaluation.queries;
    let keys = queries.iter().map(|found| key_ids(numbers, &found.key));
    let keys: Vec<KeyIds> = keys.collect::<Option<_>>().ok_or(DbError::Damaged("no number of a text"))?;
    let new_plans: BTreeMap<&[u8], &[u8]> = queries
        .iter()
        .flat_map(|found| &found.plans)
        .map(|plan| (plan.fingerprint.as_slice(), &*plan.packed))
        .collect();
    if !new_plans.is_empty() {
        let (fingerprints, packed): (Vec<&[u8]>, Vec<&[u8]>) = new_plans.into_iter().unzip();
        let put = transaction.prepare_cached(plans::PUT).await?;
        transaction.execute(&put, &[&fingerprints, &packed]).await?;
    }
    let saved: Vec<&[u8]> = queries.iter().map(|found| found.saved.as_slice()).collect();
    let (projects, services, labels) = columns(&keys);
    let put = transaction.prepare_cached(PUT_QUERIES).await?;
    let rows = transaction.query(&put, &[&projects, &services, &labels, &saved]).await?;
    let stored: BTreeMap<KeyIds, (i64, i64)> =
        rows.iter().map(|row| ((row.get(0), row.get(1), row.get(2)), (row.get(3), row.get(4)))).collect();
    let gone = DbError::Damaged("no row of an evaluated query");
    let stored: Vec<(i64, i64)> =
        keys.iter().map(|key| stored.get(key).copied()).collect::<Option<_>>().ok_or(gone)?;

    let mut counts = put_runs(transaction, evaluation, &stored).await?;
    let (mut beyond, mut totals) = (Vec::new(), Vec::new());
    for (found, (query, runs)) in queries.iter().zip(&stored) {
        let total = runs + counts.added.get(query).copied().unwrap_or(0);
        let keep = bound(found.keep);
        if total > keep {
            beyond.push((*query, total - keep));
        }
        totals.push((*query, total.min(keep)));
    }
    if !beyond.is_empty() {
        let (ids, many): (Vec<i64>, Vec<i64>) = beyond.into_iter().unzip();
        let oldest = transaction.prepare_cached(DROP_OLDEST).await?;
        for row in transaction.query(&oldest, &[&ids, &many]).await? {
            *counts.plans.entry(row.get(0)).or_default() -= 1;
        }
    }
    let (ids, runs): (Vec<i64>, Vec<i64>) = totals.into_iter().unzip();
    transaction.execute(&transaction.prepare_cached(COUNT_RUNS).await?, &[&ids, &runs]).await?;
    count_plans(transaction, counts.plans).await?;
    let changes =
        keys.iter().zip(queries).flat_map(|(key, found)| found.changes.iter().map(|change| (*key, change)));
    changes::put(transaction, numbers, changes.collect()).await?;
    let told = queries.iter().zip(&stored).flat_map(|(found, (query, _))| {
        let told = found.changes.iter().filter(|change| evaluation.told.contains(&change.id));
        told.map(|change| (*query, change.since_unix_ns))
    });
    let (queries, since): (Vec<i64>, Vec<i64>) = told.unzip();
    if !queries.is_empty() {
        transaction.execute(&transaction.prepare_cached(TELL).await?, &[&queries, &since]).await?;
    }
    Ok(())
}

/// How many runs were added: to each query, and to each plan.
#[derive(Default)]
struct Added {
    added: BTreeMap<i64, i64>,
    plans: BTreeMap<i64, i64>,
}

async fn put_runs(
    transaction: &Transaction<'_>,
    evaluation: &Evaluation,
    stored: &[(i64, i64)],
) -> Result<Added, DbError> {
    let runs = evaluation.queries.iter().zip(stored);
    let runs: Vec<(i64, &EvaluatedRun)> =
        runs.flat_map(|(found, (query, _))| found.added.iter().map(|run| (*query, run))).collect();
    if runs.is_empty() {
        return Ok(Added::default());
    }
    let fingerprints: BTreeSet<&[u8]> = runs.iter().map(|(_, run)| run.plan.as_slice()).collect();
    let fingerprints: Vec<&[u8]> = fingerprints.into_iter().collect();
    let find = transaction.prepare_cached(plans::FIND).await?;
    let found = transaction.query(&find, &[&fingerprints]).await?;
    let plans: BTreeMap<&[u8], i64> = found.iter().map(|row| (row.get(0), row.get(1))).collect();
    let plan_of = |run: &EvaluatedRun| plans.get(run.plan.as_slice()).copied();
    let plan_ids = runs.iter().map(|(_, run)| plan_of(run)).collect::<Option<Vec<i64>>>();
    let plan_ids = plan_ids.ok_or(DbError::Damaged("no plan of an evaluated run"))?;
    let put = transaction.prepare_cached(PUT_RUNS).await?;
    let rows = transaction
        .query(
            &put,
            &[
                &runs.iter().map(|(query, _)| *query).collect::<Vec<_>>(),
                &runs.iter().map(|(_, run)| run.started_unix_ns).collect::<Vec<_>>(),
                &runs.iter().map(|(_, run)| run.query_id.uuid()).collect::<Vec<Uuid>>(),
                &plan_ids,
                &runs.iter().map(|(_, run)| run.features.as_slice()).collect::<Vec<_>>(),
            ],
        )
        .await?;
    let mut counts = Added::default();
    for row in rows {
        *counts.added.entry(row.get(0)).or_default() += 1;
        *counts.plans.entry(row.get(1)).or_default() += 1;
    }
    Ok(counts)
}

/// Counts runs that point to plans, or do no longer.
async fn count_plans(transaction: &Transaction<'_>, plans: BTreeMap<i64, i64>) -> Result<(), DbError> {
    let (ids, runs): (Vec<i64>, Vec<i64>) = plans.into_iter().filter(|(_, runs)| *runs != 0).unzip();
    if !ids.is_empty() {
        transaction.execute(&transaction.prepare_cached(plans::COUNT).await?, &[&ids, &runs]).await?;
    }
    Ok(())
}

pub(crate) fn columns(keys: &[KeyIds]) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
    (
        keys.iter().map(|key| key.0).collect(),
        keys.iter().map(|key| key.1).collect(),
        keys.iter().map(|key| key.2).collect(),
    )
}

/// A query in terms, where all are known.
pub(crate) fn key_ids(numbers: &TermNumbers, key: &QueryKey) -> Option<KeyIds> {
    let number = |text: &String| numbers.get(text.as_str()).copied();
    let service = key.service.as_ref().map_or(Some(0), number);
    Some((number(&key.project)?, service?, number(&key.label)?))
}

async fn find_key(client: &Client, key: &QueryKey) -> Result<Option<KeyIds>, DbError> {
    let texts = [Some(&key.project), key.service.as_ref(), Some(&key.label)];
    let texts: BTreeSet<&str> = texts.into_iter().flatten().map(String::as_str).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    Ok(key_ids(&terms::find(client, &texts).await?, key))
}

/// What is known of the runs of a query, as it is at one moment.
pub(crate) async fn history(client: &mut Client, key: &QueryKey) -> Result<Option<QueryHistory>, DbError> {
    let Some((project, service, label)) = find_key(client, key).await? else { return Ok(None) };
    let moment = snapshot(client).await?;
    let statement = moment.prepare_cached(HISTORY).await?;
    let Some(row) = moment.query_opt(&statement, &[&project, &service, &label]).await? else {
        return Ok(None);
    };
    let (query, saved): (i64, Vec<u8>) = (row.get(0), row.get(1));
    let rows = moment.query(&moment.prepare_cached(RUNS).await?, &[&query]).await?;
    let run = |row: &tokio_postgres::Row| {
        Ok::<_, DbError>(EvaluatedRun {
            query_id: QueryId::new(row.get(0)),
            started_unix_ns: row.get(1),
            plan: plans::fingerprint(row.get(2))?,
            features: row.get(3),
        })
    };
    let runs: Vec<EvaluatedRun> = rows.iter().map(run).collect::<Result<_, _>>()?;
    let fingerprints: BTreeSet<_> = runs.iter().map(|run| run.plan).collect();
    let plans = plans::read(&moment, &fingerprints.into_iter().collect::<Vec<_>>()).await?;
    moment.commit().await?;
    Ok(Some(QueryHistory { saved, runs, plans }))
}

/// What tells it from what was known at another time.
pub(crate) async fn revision(client: &Client, key: &QueryKey) -> Result<Option<HistoryRevision>, DbError> {
    let Some((project, service, label)) = find_key(client, key).await? else { return Ok(None) };
    let statement = client.prepare_cached(REVISION).await?;
    let row = client.query_opt(&statement, &[&project, &service, &label]).await?;
    Ok(row.map(|row| {
        let (saved, runs): (&[u8], i64) = (row.get(0), row.get(1));
        let oldest = row.get::<_, Option<i64>>(2).zip(row.get::<_, Option<Uuid>>(3));
        HistoryRevision::new(saved, runs.cast_unsigned(), oldest.map(|(at, id)| (at, QueryId::new(id))))
    }))
}

/// Queries after one, by the numbers of their names.
pub(crate) async fn queries(
    client: &Client,
    terms: &TermTexts,
    after: Option<&QueryKey>,
    limit: usize,
) -> Result<Vec<QueryKey>, DbError> {
    // Texts are never taken out: a query that was read has numbers, and one without was never there.
    let after = match after {
        None => Some((0, 0, 0)),
        Some(key) => find_key(client, key).await?,
    };
    let Some((project, service, label)) = after else { return Ok(Vec::new()) };
    let statement = client.prepare_cached(QUERIES).await?;
    let rows = client.query(&statement, &[&project, &service, &label, &bound(limit)]).await?;
    let ids = rows.iter().flat_map(|row| [row.get(0), row.get(1), row.get(2)]);
    let texts = terms.texts(client, ids.collect()).await?;
    let key = |row: &tokio_postgres::Row| {
        Ok(QueryKey {
            project: texts.text(row.get(0))?,
            service: texts.optional(row.get::<_, i64>(1))?,
            label: texts.text(row.get(2))?,
        })
    };
    rows.iter().map(key).collect()
}

/// Whether all queries were brought forward.
pub(crate) async fn is_brought_forward(client: &Client) -> Result<bool, DbError> {
    let statement = client.prepare_cached("SELECT brought_forward FROM evaluation").await?;
    Ok(client.query_one(&statement, &[]).await?.get(0))
}

/// Notes that they were.
pub(crate) async fn mark_brought_forward(client: &mut Client, format: Format) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    transaction.execute("UPDATE evaluation SET brought_forward = true", &[]).await?;
    Ok(transaction.commit().await?)
}

/// Deletes what is known of a query, which is not brought forward any more; `false` without the lease.
pub(crate) async fn forget(
    client: &mut Client,
    format: Format,
    holder: &str,
    key: &QueryKey,
) -> Result<bool, DbError> {
    let key = find_key(client, key).await?;
    let transaction = format.begin(client).await?;
    let holds = transaction.prepare_cached(HOLDS).await?;
    if transaction.query_opt(&holds, &[&holder]).await?.is_none() {
        return Ok(false);
    }
    delete(&transaction, key.as_slice()).await?;
    transaction.execute("UPDATE evaluation SET brought_forward = false", &[]).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Deletes what is known of those queries of which no run is left.
pub(crate) async fn delete_without_runs(
    transaction: &Transaction<'_>,
    keys: &BTreeSet<KeyIds>,
) -> Result<(), DbError> {
    if keys.is_empty() {
        return Ok(());
    }
    let (projects, services, labels) = columns(&keys.iter().copied().collect::<Vec<_>>());
    let statement = transaction.prepare_cached(WITHOUT_RUNS).await?;
    let rows = transaction.query(&statement, &[&projects, &services, &labels]).await?;
    let gone: Vec<KeyIds> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    delete(transaction, &gone).await?;
    issues::delete_of(transaction, &gone).await
}

/// Deletes what is known of some queries.
async fn delete(transaction: &Transaction<'_>, keys: &[KeyIds]) -> Result<(), DbError> {
    let (projects, services, labels) = columns(keys);
    changes::delete_of(transaction, &projects, &services, &labels).await?;
    let statement = transaction.prepare_cached(DELETE_QUERIES).await?;
    let rows = transaction.query(&statement, &[&projects, &services, &labels]).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    let rows = transaction.query(&transaction.prepare_cached(DELETE_RUNS).await?, &[&ids]).await?;
    let mut plans = BTreeMap::new();
    for row in rows {
        *plans.entry(row.get(0)).or_default() -= 1;
    }
    count_plans(transaction, plans).await
}
