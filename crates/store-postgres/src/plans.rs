//! Physical plans of evaluated runs.

use deadpool_postgres::{Client, GenericClient};
use queryscope_store::{PlanFingerprint, RunPlan};

use crate::error::DbError;
use crate::format::Format;

pub(crate) const PUT: &str = "
    INSERT INTO run_plan (fingerprint, packed)
    SELECT * FROM unnest($1::bytea[], $2::bytea[]) AS new (fingerprint, packed)
    WHERE NOT EXISTS (SELECT FROM run_plan WHERE run_plan.fingerprint = new.fingerprint)
    ORDER BY fingerprint ON CONFLICT (fingerprint) DO NOTHING";
/// No other collector deletes them meanwhile.
pub(crate) const FIND: &str =
    "SELECT fingerprint, id FROM run_plan WHERE fingerprint = ANY($1) FOR KEY SHARE";
/// Counts runs that point to plans, or do no longer.
pub(crate) const COUNT: &str = "
    UPDATE run_plan SET runs = run_plan.runs + more.runs FROM unnest($1::bigint[], $2::bigint[]) AS more (id, runs)
    WHERE run_plan.id = more.id";
const READ: &str = "SELECT fingerprint, packed FROM run_plan WHERE fingerprint = ANY($1)";
/// What another collector is about to point to is left for the next time.
const DELETE_UNUSED: &str = "
    DELETE FROM run_plan WHERE id IN (SELECT id FROM run_plan WHERE runs = 0 FOR UPDATE SKIP LOCKED)";

/// The plans with these fingerprints that are stored.
pub(crate) async fn read(
    client: &impl GenericClient,
    fingerprints: &[PlanFingerprint],
) -> Result<Vec<RunPlan>, DbError> {
    let fingerprints: Vec<&[u8]> = fingerprints.iter().map(<[u8; 6]>::as_slice).collect();
    let rows = client.query(&client.prepare_cached(READ).await?, &[&fingerprints]).await?;
    let plan = |row: &tokio_postgres::Row| {
        Ok(RunPlan { fingerprint: fingerprint(row.get(0))?, packed: row.get::<_, &[u8]>(1).into() })
    };
    rows.iter().map(plan).collect()
}

pub(crate) fn fingerprint(bytes: &[u8]) -> Result<PlanFingerprint, DbError> {
    bytes.try_into().map_err(|_| DbError::Damaged("a plan's fingerprint of another length"))
}

/// Deletes plans that no run points to.
pub(crate) async fn delete_unused(client: &mut Client, format: Format) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    transaction.execute(&transaction.prepare_cached(DELETE_UNUSED).await?, &[]).await?;
    Ok(transaction.commit().await?)
}
