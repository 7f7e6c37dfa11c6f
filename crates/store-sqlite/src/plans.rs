//! Physical plans of runs, by number.

use std::sync::Arc;

use queryscope_store::{PlanFingerprint, RunPlan};
use rusqlite::{Connection, OptionalExtension, params};

/// Stores a plan unless it is there, and gives back its number.
pub(crate) fn put(db: &Connection, fingerprint: PlanFingerprint, packed: &[u8]) -> rusqlite::Result<i64> {
    if let Some(id) = find(db, fingerprint)? {
        return Ok(id);
    }
    db.prepare_cached("INSERT INTO run_plan (fingerprint, packed) VALUES (?1, ?2)")?
        .execute(params![fingerprint, packed])?;
    Ok(db.last_insert_rowid())
}

/// The number of a plan that is stored.
pub(crate) fn find(db: &Connection, fingerprint: PlanFingerprint) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM run_plan WHERE fingerprint = ?1")?
        .query_row([fingerprint], |row| row.get(0))
        .optional()
}

/// The plans with these fingerprints that are stored, each once.
pub(crate) fn read(
    db: &Connection,
    mut fingerprints: Vec<PlanFingerprint>,
) -> rusqlite::Result<Vec<RunPlan>> {
    fingerprints.sort_unstable();
    fingerprints.dedup();
    let mut statement = db.prepare_cached("SELECT packed FROM run_plan WHERE fingerprint = ?1")?;
    let mut plans = Vec::with_capacity(fingerprints.len());
    for fingerprint in fingerprints {
        let packed = statement.query_row([fingerprint], |row| row.get::<_, Arc<[u8]>>(0)).optional()?;
        plans.extend(packed.map(|packed| RunPlan { fingerprint, packed }));
    }
    Ok(plans)
}

/// Deletes plans that no run points to.
pub(crate) fn delete_unused(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM run_plan WHERE runs = 0")?.execute([]).map(drop)
}
