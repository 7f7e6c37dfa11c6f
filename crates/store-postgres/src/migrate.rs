//! Bringing the database up to date.

use tokio_postgres::Client;

use crate::error::{DbError, OpenError};

/// The formats so far, each as the step from the one before.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_initial.sql")];

/// PostgreSQL 15.
const SERVER_VERSION_MIN: i32 = 150_000;

/// Lets one collector at a time bring the database up to date, by a number nobody else is likely to lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7766202611210001)";
const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS queryscope_format (version integer NOT NULL)";
const IS_OURS: &str = "SELECT to_regclass('queryscope_format') IS NOT NULL";
const VERSION: &str = "SELECT coalesce(max(version), 0) FROM queryscope_format";

/// Takes the steps that are missing, all or none; or refuses when some are, unless it may.
pub(crate) async fn migrate(client: &mut Client, upgrade: bool) -> Result<(), OpenError> {
    check_server(client).await?;
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    let failed = |error: tokio_postgres::Error| OpenError::from(DbError::from(error));
    if !upgrade {
        let is_ours: bool = client.query_one(IS_OURS, &[]).await.map_err(failed)?.get(0);
        let found = if is_ours { client.query_one(VERSION, &[]).await.map_err(failed)?.get(0) } else { 0 };
        return match found {
            0 => Err(OpenError::Empty),
            found if found > known => Err(OpenError::TooNew { found, known }),
            found if found < known => Err(OpenError::Earlier { found, known }),
            _ => Ok(()),
        };
    }
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(LOCK).await.map_err(failed)?;
    transaction.batch_execute(VERSION_TABLE).await.map_err(failed)?;
    let found: i32 = transaction.query_one(VERSION, &[]).await.map_err(failed)?.get(0);
    if found > known {
        return Err(OpenError::TooNew { found, known });
    }
    for (step, version) in MIGRATIONS.iter().zip(1..).skip(usize::try_from(found).unwrap_or(0)) {
        transaction.batch_execute(step).await.map_err(failed)?;
        let note = format!("INSERT INTO queryscope_format (version) VALUES ({version})");
        transaction.batch_execute(&note).await.map_err(failed)?;
        tracing::info!(version, "the database is brought up to date");
    }
    transaction.commit().await.map_err(failed)
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
