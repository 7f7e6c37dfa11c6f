//! Which formats of the database this program knows, and whether it may still use one that has gone on without it.
//!
//! While collectors are replaced one by one, a later version brings the database up to date under earlier ones. A step
//! that only adds leaves these what they need; one that takes away says from which format on a program may go on.
//! A transaction that writes reads that first: a step waits for it, or is waited for.

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::Row;

use crate::error::DbError;

/// A step from one format to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) sql: &'static str,
    /// The oldest format whose programs may use the database afterwards.
    pub(crate) usable_from: i32,
}

/// The formats so far, each as the step from the one before.
pub(crate) const STEPS: &[Step] = &[
    Step { sql: include_str!("../migrations/0001_initial.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0002_status.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0003_segments.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0004_losses.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0005_diagnosis.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0006_issues.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0007_access.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0008_program_version.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0009_deploys.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0010_outbox.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0011_fewer_indexes.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0012_notes_and_views.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0013_cpu_in_segments.sql"), usable_from: 1 },
    Step { sql: include_str!("../migrations/0014_bytes.sql"), usable_from: 1 },
    // A collector before it takes a recording in a pack for one of its own, and finds it missing.
    Step { sql: include_str!("../migrations/0015_packs.sql"), usable_from: 15 },
    Step { sql: include_str!("../migrations/0016_figures_and_edits.sql"), usable_from: 15 },
    Step { sql: include_str!("../migrations/0017_cancelled.sql"), usable_from: 15 },
];

/// The database's format, and from which on a program may use it.
pub(crate) const FOUND: &str =
    "SELECT coalesce(max(version), 0), coalesce(max(usable_from), 0) FROM queryscope_format";

/// The latest format this program knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format(i32);

impl Format {
    /// That to which some steps lead.
    pub(crate) fn of(steps: &[Step]) -> Self {
        Self(i32::try_from(steps.len()).unwrap_or(i32::MAX))
    }

    /// Its number.
    pub(crate) fn number(self) -> i32 {
        self.0
    }

    /// Whether it may use a database, by the row that [`FOUND`] selects.
    pub(crate) fn judge(self, row: &Row) -> Result<(), DbError> {
        let (found, usable_from): (i32, i32) = (row.get(0), row.get(1));
        if usable_from > self.0 { Err(DbError::TooNew { found, known: self.0 }) } else { Ok(()) }
    }

    /// Begins a transaction in which the format stays as it is.
    ///
    /// # Errors
    /// When it is one this program may not use.
    pub(crate) async fn begin(self, client: &mut Client) -> Result<Transaction<'_>, DbError> {
        let transaction = client.transaction().await?;
        self.judge(&transaction.query_one(&transaction.prepare_cached(FOUND).await?, &[]).await?)?;
        Ok(transaction)
    }
}
