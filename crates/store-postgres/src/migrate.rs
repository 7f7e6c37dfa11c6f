//! Bringing the database up to date.

use tokio_postgres::Client;

use crate::conflict::Conflicts;
use crate::error::{DbError, OpenError};
use crate::format::{FOUND, Format, Step};

/// PostgreSQL 15.
const SERVER_VERSION_MIN: i32 = 150_000;

/// Lets one collector at a time bring the database up to date, by a number nobody else is likely to lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7766202611210001)";
const FORMAT_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS queryscope_format (version integer NOT NULL, usable_from integer NOT NULL)";
const IS_OURS: &str = "SELECT to_regclass('queryscope_format') IS NOT NULL";
/// Waits for those who write, and has others wait; not for long, since they wait behind this. A step itself may
/// take its time.
const STOP_WRITES: &str = "
    SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = 0;
    LOCK TABLE queryscope_format IN ACCESS EXCLUSIVE MODE";

/// Takes the steps that are missing, all or none; or refuses when some are, unless it may.
pub(crate) async fn migrate(client: &mut Client, steps: &[Step], upgrade: bool) -> Result<(), OpenError> {
    check_server(client).await?;
    let format = Format::of(steps);
    if !upgrade {
        let failed = |error: tokio_postgres::Error| OpenError::from(DbError::from(error));
        let is_ours: bool = client.query_one(IS_OURS, &[]).await.map_err(failed)?.get(0);
        if !is_ours {
            return Err(OpenError::Empty);
        }
        let row = client.query_one(FOUND, &[]).await.map_err(failed)?;
        format.judge(&row)?;
        let (found, known) = (row.get(0), format.number());
        return if found < known { Err(OpenError::Earlier { found, known }) } else { Ok(()) };
    }
    // A step and somebody who reads may lock the same tables in another order: one of them has to give way.
    let mut conflicts = Conflicts::default();
    loop {
        match take_steps(client, steps, format).await {
            Err(error) if conflicts.allow(&error) => {}
            taken => return Ok(taken?),
        }
    }
}

/// One transaction with all steps that are missing.
async fn take_steps(client: &mut Client, steps: &[Step], format: Format) -> Result<(), DbError> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    transaction.batch_execute(FORMAT_TABLE).await?;
    let row = transaction.query_one(FOUND, &[]).await?;
    format.judge(&row)?;
    let (found, known): (i32, _) = (row.get(0), format.number());
    if found > known {
        tracing::info!(found, known, "a later version has brought the database up to date");
    }
    if found < known {
        transaction.batch_execute(STOP_WRITES).await?;
    }
    for (step, version) in steps.iter().zip(1_i32..).skip(usize::try_from(found).unwrap_or(0)) {
        transaction.batch_execute(step.sql).await?;
        let note = "INSERT INTO queryscope_format (version, usable_from) VALUES ($1, $2)";
        transaction.execute(note, &[&version, &step.usable_from]).await?;
        tracing::info!(version, "the database is brought up to date");
    }
    Ok(transaction.commit().await?)
}

async fn check_server(client: &Client) -> Result<(), OpenError> {
    let setting = async |name: &str| -> Result<String, DbError> {
        Ok(client.query_one("SELECT current_setting($1)", &[&name]).await?.get(0))
    };
    let version = setting("server_version_num").await?;
    if version.parse::<i32>().is_ok_and(|version| version < SERVER_VERSION_MIN) {
        return Err(OpenError::TooOld(setting("server_version").await?));
    }
    if setting("fsync").await? != "on" {
        tracing::warn!("the database runs with fsync off: what is acknowledged may be lost with its machine");
    }
    Ok(())
}
