//! What evaluations found: the state of each query, and its last runs.

use std::collections::{BTreeMap, BTreeSet};

use queryscope_issues::Issue;
use queryscope_protocol::QueryId;
use queryscope_store::{EvaluatedRun, Evaluation, HistoryRevision, QueryEvaluation, QueryHistory, QueryKey};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::{self, TermIds, TermTexts};
use crate::{changes, inbox, issues, plans};

/// A query in terms; a service of 0 is none.
pub(crate) type KeyIds = (i64, i64, i64);

/// Writes what evaluations found, and takes what they consumed out of the inbox; gives back the issues that made a
/// transition.
pub(crate) fn record(db: &Connection, evaluation: &Evaluation) -> rusqlite::Result<Vec<Issue>> {
    let (mut terms, mut plans) = (TermIds::default(), BTreeMap::new());
    inbox::consume(db, &evaluation.consumed)?;
    for found in &evaluation.queries {
        record_query(db, &mut terms, &mut plans, found)?;
    }
    count_runs(db, plans)?;
    issues::observe(db, &mut terms, &evaluation.issues)
}

/// How many runs more point to plans now, or how many fewer.
type PlanRuns = BTreeMap<i64, i64>;

fn record_query(
    db: &Connection,
    terms: &mut TermIds,
    plans: &mut PlanRuns,
    found: &QueryEvaluation,
) -> rusqlite::Result<()> {
    for plan in &found.plans {
        plans::put(db, plan.fingerprint, &plan.packed)?;
    }
    let QueryKey { project, service, label } = &found.key;
    let key: KeyIds =
        (terms.id(db, project)?, terms.optional(db, service.as_deref())?.unwrap_or(0), terms.id(db, label)?);
    let (query, runs): (i64, usize) = db
        .prepare_cached(
            "INSERT INTO evaluated_query (project, service, label, runs, saved) VALUES (?1, ?2, ?3, 0, ?4)
             ON CONFLICT (project, service, label) DO UPDATE SET saved = excluded.saved RETURNING id, runs",
        )?
        .query_row(params![key.0, key.1, key.2, found.saved], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut insert = db.prepare_cached(
        "INSERT INTO evaluated_run (query, started_unix_ns, query_id, plan, features) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let mut added = 0;
    let mut last = None;
    for run in &found.added {
        let plan = match last {
            Some((fingerprint, plan)) if fingerprint == run.plan => plan,
            _ => plans::find(db, run.plan)?.ok_or_else(|| damaged(0, "no plan of an evaluated run"))?,
        };
        last = Some((run.plan, plan));
        let new = insert.execute(params![
            query,
            run.started_unix_ns,
            run.query_id.uuid().as_bytes(),
            plan,
            run.features
        ])?;
        added += new;
        *plans.entry(plan).or_default() += new as i64;
    }
    let beyond = (runs + added).saturating_sub(found.keep);
    if beyond > 0 {
        let mut oldest = db.prepare_cached(
            "DELETE FROM evaluated_run WHERE query = ?1 AND (started_unix_ns, query_id) IN (
                 SELECT started_unix_ns, query_id FROM evaluated_run WHERE query = ?1
                 ORDER BY started_unix_ns, query_id LIMIT ?2) RETURNING plan",
        )?;
        for plan in oldest.query_map((query, beyond), |row| row.get(0))? {
            *plans.entry(plan?).or_default() -= 1;
        }
    }
    db.prepare_cached("UPDATE evaluated_query SET runs = ?2 WHERE id = ?1")?
        .execute((query, runs + added - beyond))?;
    found.changes.iter().try_for_each(|change| changes::put(db, terms, key, change))
}

/// Counts runs that point to plans, or do no longer.
fn count_runs(db: &Connection, plans: PlanRuns) -> rusqlite::Result<()> {
    let mut count = db.prepare_cached("UPDATE run_plan SET runs = runs + ?2 WHERE id = ?1")?;
    plans.into_iter().filter(|(_, runs)| *runs != 0).try_for_each(|plan| count.execute(plan).map(drop))
}

/// A query in terms, where all are known.
fn find_key(db: &Connection, key: &QueryKey) -> rusqlite::Result<Option<KeyIds>> {
    let service = key.service.as_deref().map(|service| terms::find(db, service));
    let service = service.map_or(Ok(Some(0)), |found| found)?;
    let (project, label) = (terms::find(db, &key.project)?, terms::find(db, &key.label)?);
    Ok(project.zip(service).zip(label).map(|((project, service), label)| (project, service, label)))
}

/// What is known of the runs of a query.
pub(crate) fn history(db: &Connection, key: &QueryKey) -> rusqlite::Result<Option<QueryHistory>> {
    let Some(key) = find_key(db, key)? else { return Ok(None) };
    let found: Option<(i64, Vec<u8>)> = db
        .prepare_cached(
            "SELECT id, saved FROM evaluated_query WHERE project = ?1 AND service = ?2 AND label = ?3",
        )?
        .query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((query, saved)) = found else { return Ok(None) };
    let runs: Vec<EvaluatedRun> = db
        .prepare_cached(
            "SELECT r.query_id, r.started_unix_ns, p.fingerprint, r.features FROM evaluated_run AS r
             JOIN run_plan AS p ON p.id = r.plan WHERE r.query = ?1 ORDER BY r.started_unix_ns, r.query_id",
        )?
        .query_map([query], |row| {
            Ok(EvaluatedRun {
                query_id: QueryId::new(Uuid::from_bytes(row.get(0)?)),
                started_unix_ns: row.get(1)?,
                plan: row.get(2)?,
                features: row.get(3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let plans = plans::read(db, runs.iter().map(|run| run.plan).collect())?;
    Ok(Some(QueryHistory { saved, runs, plans }))
}

/// What tells it from what was known at another time.
pub(crate) fn revision(db: &Connection, key: &QueryKey) -> rusqlite::Result<Option<HistoryRevision>> {
    let Some(key) = find_key(db, key)? else { return Ok(None) };
    let found: Option<(i64, u64, Vec<u8>)> = db
        .prepare_cached(
            "SELECT id, runs, saved FROM evaluated_query WHERE project = ?1 AND service = ?2 AND label = ?3",
        )?
        .query_row(key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((query, runs, saved)) = found else { return Ok(None) };
    let oldest = db
        .prepare_cached(
            "SELECT started_unix_ns, query_id FROM evaluated_run WHERE query = ?1
             ORDER BY started_unix_ns, query_id LIMIT 1",
        )?
        .query_row([query], |row| Ok((row.get(0)?, QueryId::new(Uuid::from_bytes(row.get(1)?)))))
        .optional()?;
    Ok(Some(HistoryRevision::new(&saved, runs, oldest)))
}

/// Queries after one, by the numbers of their names.
pub(crate) fn queries(
    db: &Connection,
    terms: &TermTexts,
    after: Option<&QueryKey>,
    limit: usize,
) -> rusqlite::Result<Vec<QueryKey>> {
    // Texts are never taken out: a query that was read has numbers, and one without was never there.
    let after = after.map_or(Ok(Some((0, 0, 0))), |key| find_key(db, key))?;
    let Some((project, service, label)) = after else { return Ok(Vec::new()) };
    db.prepare_cached(
        "SELECT project, service, label FROM evaluated_query WHERE (project, service, label) > (?1, ?2, ?3)
         ORDER BY project, service, label LIMIT ?4",
    )?
    .query_map((project, service, label, limit), |row| {
        let service: i64 = row.get(1)?;
        Ok(QueryKey {
            project: terms.text(db, row.get(0)?)?.to_string(),
            service: terms.optional(db, Some(service).filter(|service| *service != 0))?,
            label: terms.text(db, row.get(2)?)?.to_string(),
        })
    })?
    .collect()
}

/// Whether all queries were brought forward.
pub(crate) fn is_brought_forward(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT brought_forward FROM evaluation")?.query_row([], |row| row.get(0))
}

/// Deletes what is known of a query, which is not brought forward any more.
pub(crate) fn forget(db: &Connection, key: &QueryKey) -> rusqlite::Result<()> {
    if let Some(key) = find_key(db, key)? {
        let mut plans = PlanRuns::new();
        delete(db, key, &mut plans)?;
        count_runs(db, plans)?;
    }
    plans::delete_unused(db)?;
    db.execute("UPDATE evaluation SET brought_forward = 0", []).map(drop)
}

/// Deletes what is known of queries of which no run is left.
pub(crate) fn delete_without_runs(db: &Connection, keys: &BTreeSet<KeyIds>) -> rusqlite::Result<()> {
    let mut left = db.prepare_cached(
        "SELECT 1 FROM query WHERE label = ?3 AND project = ?1 AND coalesce(service, 0) = ?2 LIMIT 1",
    )?;
    let mut plans = PlanRuns::new();
    for key in keys {
        if !left.exists(*key)? {
            delete(db, *key, &mut plans)?;
            issues::delete_of(db, *key)?;
        }
    }
    count_runs(db, plans)
}

/// Deletes what is known of a query, and takes its runs off those of their plans.
fn delete(db: &Connection, key: KeyIds, plans: &mut PlanRuns) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM query_change WHERE project = ?1 AND service = ?2 AND label = ?3")?
        .execute(key)?;
    let query: Option<i64> = db
        .prepare_cached(
            "DELETE FROM evaluated_query WHERE project = ?1 AND service = ?2 AND label = ?3 RETURNING id",
        )?
        .query_row(key, |row| row.get(0))
        .optional()?;
    let Some(query) = query else { return Ok(()) };
    let mut runs = db.prepare_cached("DELETE FROM evaluated_run WHERE query = ?1 RETURNING plan")?;
    for plan in runs.query_map([query], |row| row.get(0))? {
        *plans.entry(plan?).or_default() -= 1;
    }
    Ok(())
}
